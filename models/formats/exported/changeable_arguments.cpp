#include "models/formats/exported/changeable_arguments.h"

#include "models/core/dropout_rates.h"

namespace torchstone::formats::exported {
namespace {

bool is_off(const Argument& argument) {
  return argument.kind == Argument::Kind::constant && argument.constant.isBool() && !argument.constant.toBool();
}

bool drops_sometimes(const Argument& argument) {
  return argument.kind == Argument::Kind::constant && argument.constant.isDouble() &&
         is_dropout_rate(argument.constant.toDouble());
}

}  // namespace

void mark_changeable(Step& step, Program& program) {
  const auto& schema = step.op->schema();
  Argument* rate = nullptr;
  bool on = true;
  for (size_t i = 0; i < step.arguments.size(); ++i) {
    Argument& argument = step.arguments[i];
    const auto& name = schema.arguments()[i].name();
    if (argument.kind == Argument::Kind::dtype) ++program.dtypes;
    if ((name == "train" || name == "training") && is_off(argument)) on = false;
    if (names_dropout_rate(schema.name(), name) && drops_sometimes(argument)) rate = &argument;
  }
  if (!rate || !on) return;
  rate->kind = Argument::Kind::dropout_rate;
  ++program.dropouts;
}

}  // namespace torchstone::formats::exported
