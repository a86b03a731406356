#include "models/formats/exported/numbers.h"

#include <map>

#include "models/formats/exported/python_numbers.h"

namespace torchstone::formats::exported {
namespace numbers {
namespace {

IValue nothing(const Arguments&) { return {}; }

IValue assert_true(const Arguments& a) {
  if (truth(at(a, 0))) return {};
  const bool says = a.size() > 1 && a[1].isString();
  throw std::invalid_argument(says ? a[1].toStringRef() : "an assertion of the program fails");
}

const std::map<std::string, NumberFunction>& table() {
  static const std::map<std::string, NumberFunction> functions = {
      {"_operator.add", arithmetic<add, add>},
      {"_operator.sub", arithmetic<subtract, subtract>},
      {"_operator.mul", arithmetic<multiply, multiply>},
      {"_operator.floordiv", arithmetic<floor_divide, floor_divide>},
      {"_operator.mod", arithmetic<modulo, modulo>},
      {"_operator.truediv", divide},
      {"_operator.pow", power},
      {"_operator.lshift", shift<true>},
      {"_operator.rshift", shift<false>},
      {"_operator.neg",
       [](const Arguments& a) -> IValue {
         return arithmetic<subtract, subtract>({IValue(int64_t{0}), at(a, 0)});
       }},
      {"_operator.pos", [](const Arguments& a) { return at(a, 0); }},
      {"_operator.and_",
       [](const Arguments& a) -> IValue {
         if (at(a, 0).isBool() && at(a, 1).isBool()) return a[0].toBool() && a[1].toBool();
         return integer(a, 0) & integer(a, 1);
       }},
      {"_operator.or_",
       [](const Arguments& a) -> IValue {
         if (at(a, 0).isBool() && at(a, 1).isBool()) return a[0].toBool() || a[1].toBool();
         return integer(a, 0) | integer(a, 1);
       }},
      {"_operator.eq", [](const Arguments& a) { return compared(a, [](auto x, auto y) { return x == y; }); }},
      {"_operator.ne", [](const Arguments& a) { return compared(a, [](auto x, auto y) { return x != y; }); }},
      {"_operator.lt", [](const Arguments& a) { return compared(a, [](auto x, auto y) { return x < y; }); }},
      {"_operator.le", [](const Arguments& a) { return compared(a, [](auto x, auto y) { return x <= y; }); }},
      {"_operator.gt", [](const Arguments& a) { return compared(a, [](auto x, auto y) { return x > y; }); }},
      {"_operator.ge", [](const Arguments& a) { return compared(a, [](auto x, auto y) { return x >= y; }); }},
      {"math.trunc", whole_part},
      {"torch.sym_int", whole_part},
      {"torch.sym_float", [](const Arguments& a) -> IValue { return number(a, 0); }},
      {"torch.sym_not", [](const Arguments& a) -> IValue { return !truth(at(a, 0)); }},
      {"torch.sym_ite", [](const Arguments& a) { return truth(at(a, 0)) ? at(a, 1) : at(a, 2); }},
      {"torch.sym_max",
       [](const Arguments& a) { return compared(a, [](auto x, auto y) { return x > y; }).toBool() ? a[0] : a[1]; }},
      {"torch.sym_min",
       [](const Arguments& a) { return compared(a, [](auto x, auto y) { return x < y; }).toBool() ? a[0] : a[1]; }},
      {"torch._sym_sqrt", [](const Arguments& a) -> IValue { return std::sqrt(number(a, 0)); }},
      {"torch.ops.aten.sym_size.int", [](const Arguments& a) -> IValue { return tensor(a).size(integer(a, 1)); }},
      {"torch.ops.aten.sym_stride.int", [](const Arguments& a) -> IValue { return tensor(a).stride(integer(a, 1)); }},
      {"torch.ops.aten.sym_numel.default", [](const Arguments& a) -> IValue { return tensor(a).numel(); }},
      {"torch.ops.aten.sym_storage_offset.default",
       [](const Arguments& a) -> IValue { return tensor(a).storage_offset(); }},
      {"torch.ops.aten._assert_scalar.default", assert_true},
      // Dtypes and devices follow the model, and a check of values on the device would wait for it.
      {"torch.ops.aten._assert_tensor_metadata.default", nothing},
      {"torch.ops.aten._assert_async.msg", nothing},
      {"torch.ops.aten._assert_async.default", nothing},
      {"torch.ops.aten.sym_constrain_range.default", nothing},
      {"torch.ops.aten.sym_constrain_range_for_size.default", nothing},
  };
  return functions;
}

}  // namespace
}  // namespace numbers

NumberFunction number_function(const std::string& target) {
  const auto found = numbers::table().find(target);
  return found == numbers::table().end() ? nullptr : found->second;
}

}  // namespace torchstone::formats::exported
