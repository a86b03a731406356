// Logs of operator inputs: reading, writing, merging, and calls made from them.
#include <random>

#include <gmock/gmock.h>
#include <torch/torch.h>

#include "models/operators/operator_call.h"
#include "models/operators/operator_log.h"

namespace torchstone::operators {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing::ThrowsMessage;

std::string again(const std::string& text) { return to_text(parse_literal(text)); }

TEST(Literal, EveryTokenOfALogComesBackAsItWas) {
  for (const std::string text : {"None",
                                 "True",
                                 "False",
                                 "0",
                                 "-12",
                                 "9223372036854775807",
                                 "0.5",
                                 "1e-05",
                                 "-2.5e+20",
                                 "inf",
                                 "-inf",
                                 "nan",
                                 "()",
                                 "(1,)",
                                 "(1, 2)",
                                 "[]",
                                 "[1, [2], (3,)]",
                                 "{}",
                                 "{'dtype': f16, 'device': 'cuda'}",
                                 "'a\\'b'",
                                 "bf16",
                                 "c32",
                                 "torch.strided",
                                 "th.float16",
                                 "T([], i64)",
                                 "T([2, 3], f32)",
                                 "T([2, 3], f16, stride=(1, 2))",
                                 "ST([4, 4], f32, torch.sparse_coo, True, 3)",
                                 "ST([4, 4], f32, torch.sparse_coo, False)"})
    EXPECT_EQ(again(text), text);
}

TEST(Literal, OtherSpellingsOfTheSameValueAreUnderstood) {
  EXPECT_EQ(again(" ( ( 1 , 2 , ) , { } ) "), "((1, 2), {})");
  EXPECT_EQ(again("(5)"), "5");
  EXPECT_EQ(again("\"quoted\""), "'quoted'");
  EXPECT_EQ(again("torch.device('cuda')"), "'cuda'");
  EXPECT_EQ(again("torch.device(type='cpu', index=0)"), "'cpu'");
  EXPECT_EQ(again("math.inf"), "inf");
  EXPECT_EQ(again("T([2], f32, (3,))"), "T([2], f32, (3,))");
}

struct Broken {
  std::string text;
  size_t column;
  std::string expected;
};

TEST(Literal, AMistakeIsNamedWithItsColumnAndWhatWasExpected) {
  for (const auto& [text, column, expected] : std::vector<Broken>{{"(1, 2", 6, "a comma or )"},
                                                                  {"[1 2]", 4, "a comma or ]"},
                                                                  {"f33", 1, "a dtype"},
                                                                  {"print(1)", 6, "T(…), ST(…)"},
                                                                  {"{1: 2}", 2, "a quoted key"},
                                                                  {"{'a' 2}", 6, "a colon"},
                                                                  {"'open", 6, "a closing '"},
                                                                  {"", 1, "a value"},
                                                                  {"1 2", 3, "the end of the line"},
                                                                  {"-x", 2, "a number"},
                                                                  {"99999999999999999999e999", 1, "a number that fits"},
                                                                  {"T([2])", 1, "T([sizes], dtype"},
                                                                  {"T([-2], f32)", 1, "integers ≥ 0"},
                                                                  {"T([2], 3)", 1, "a dtype: f32"},
                                                                  {"T([2], f32, stride=(1, 2))", 1, "2 strides for 1"},
                                                                  {"T([2], f32, order=(1,))", 1, "one stride"}}) {
    try {
      parse_literal(text);
      ADD_FAILURE() << text << " was accepted";
    } catch (const LiteralError& error) {
      EXPECT_EQ(error.column, column) << text << ": " << error.what();
      EXPECT_THAT(error.what(), HasSubstr(expected)) << text;
    }
  }
}

TEST(Literal, DeepNestingIsRefusedAndNotFollowed) {
  EXPECT_THAT([] { parse_literal(std::string(100'000, '(')); },
              ThrowsMessage<LiteralError>(HasSubstr("at most 64 nested brackets")));
}

const std::string small_log =
    "Operator: aten.add.Tensor\n"
    "cnt: 2, ((T([2, 3], f16), T([2, 3], f16)), {})\n"
    "cnt: 1, ((T([4], f16), 1), {})\n"
    "cnt: 3, ((T([2, 3], f16), T([2, 3], f16)), {})\n"
    "Operator: aten.sum.SymInt\n"
    "cnt: 7, ((T([8, 5], f16, stride=(1, 8)), [0], True), {})\n";

TEST(OperatorLog, EqualLinesAddTheirCountsAndTheOldNameOfSumIsKnown) {
  const auto log = parse_operator_log(small_log, "log.txt");
  ASSERT_THAT(log, SizeIs(2));
  ASSERT_THAT(log[0].inputs, SizeIs(2));
  EXPECT_EQ(log[0].inputs[0].count, 5);
  EXPECT_EQ(log[0].inputs[1].line, 3);
  EXPECT_EQ(log[1].name, "aten.sum.dim_IntList");
}

TEST(OperatorLog, WhatIsWrittenReadsBackTheSame) {
  const auto text = write_operator_log(parse_operator_log(small_log, "log.txt"));
  EXPECT_EQ(write_operator_log(parse_operator_log(text, "again.txt")), text);
  EXPECT_THAT(text,
              HasSubstr("Operator: aten.sum.dim_IntList\ncnt: 7, ((T([8, 5], f16, stride=(1, 8)), [0], True), {})"));
}

TEST(OperatorLog, ArgumentsInQuotesAndWindowsLineEndsAreRead) {
  const auto log = parse_operator_log("Operator: aten.relu.default\r\n\r\ncnt: 1, '((T([2], f32),), {})'\r\n", "log");
  EXPECT_EQ(to_text(log.at(0).inputs.at(0).positional), "(T([2], f32),)");
}

TEST(OperatorLog, MergingAddsCountsAndKeepsTheRest) {
  auto log = parse_operator_log(small_log, "a");
  merge_logs(log,
             parse_operator_log(small_log + "cnt: 1, ((T([1], f16), [0]), {})\nOperator: aten.neg.default\n", "b"));
  ASSERT_THAT(log, SizeIs(3));
  EXPECT_EQ(log[0].inputs[0].count, 10);
  EXPECT_THAT(log[1].inputs, SizeIs(2));
  EXPECT_EQ(log[1].inputs[1].file, "b");
}

TEST(OperatorLog, MistakesAreNamedWithFileLineAndColumn) {
  const std::string head = "Operator: aten.add.Tensor\n";
  for (const auto& [text, message] : std::vector<std::pair<std::string, std::string>>{
           {"", "log.txt: holds no operator"},
           {"cnt: 1, ((), {})\n", "log.txt:1:1: an input before the first operator"},
           {"hello\n", "log.txt:1:1: 'hello' (expected 'Operator: ' or 'cnt: ')"},
           {"Operator: add\n", "log.txt:1:11: 'add' is not an operator (expected one like aten.add.Tensor)"},
           {"Operator: aten..x\n", "log.txt:1:11: "},
           {head + "cnt: x, ((), {})\n", "log.txt:2:6: no count (expected an integer ≥ 1)"},
           {head + "cnt: 0, ((), {})\n", "log.txt:2:6: no count"},
           {head + "cnt: 1 ((), {})\n", "log.txt:2:7: unexpected text after the count (expected a comma and a space)"},
           {head + "cnt: 1, ((T([2], f32), {})\n", "log.txt:2:27: the end of the line (expected a comma or ))"},
           {head + "cnt: 1, (1, {})\n", "log.txt:2:9: no arguments (expected ((positional…), {named…}))"}})
    EXPECT_THAT(([&, broken = text] { parse_operator_log(broken, "log.txt"); }),
                ThrowsMessage<LogError>(HasSubstr(message)));
  EXPECT_THAT([] { read_operator_log("/no/such/log"); }, ThrowsMessage<LogError>(HasSubstr("/no/such/log: cannot be")));
}

// Reading a randomly damaged log must give a log or a LogError.
TEST(OperatorLog, RandomDamageIsReadOrRefused) {
  std::mt19937 random(7);
  const std::string alphabet = "()[]{},:'\"\\ \nTSf3-.e0123456789stride=cntOperator";
  int refused = 0;
  for (int round = 0; round < 5'000; ++round) {
    std::string text = small_log;
    for (size_t edits = 1 + random() % 4; edits > 0; --edits) {
      const size_t at = random() % text.size();
      switch (random() % 3) {
        case 0:
          text[at] = round % 5 == 0 ? static_cast<char>(random() % 256) : alphabet[random() % alphabet.size()];
          break;
        case 1:
          text.erase(at, 1 + random() % 5);
          break;
        default:
          text.insert(at, 1, alphabet[random() % alphabet.size()]);
      }
      if (text.empty()) break;
    }
    try {
      const auto log = parse_operator_log(text, "log");
      const auto written = write_operator_log(log);
      EXPECT_EQ(write_operator_log(parse_operator_log(written, "again")), written);
    } catch (const LogError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 1'000);
}

TEST(SkipRules, NameUpstreamsOperatorsAndThoseWhoseAnswerIsChance) {
  for (const auto* name : {"aten.embedding.default", "aten.index.Tensor", "aten.convolution_backward.default",
                           "aten.nll_loss_forward.default", "aten.native_dropout.default", "aten.new_empty.default",
                           "aten.max_pool2d_with_indices_backward.default", "aten.scatter.src"})
    EXPECT_TRUE(operator_skip_reason(name)) << name;
  for (const auto* name : {"aten.add.Tensor", "aten.native_dropout_backward.default", "aten.native_batch_norm.default",
                           "aten.max_pool2d_with_indices.default"})
    EXPECT_FALSE(operator_skip_reason(name)) << name;
}

LoggedInput input_of(const std::string& line) {
  return parse_operator_log("Operator: aten.x.y\ncnt: 1, " + line + "\n", "log.txt").at(0).inputs.at(0);
}

c10::IValue called(const std::string& name, const std::string& line, torch::ScalarType dtype = torch::kFloat32) {
  const auto call = bind_call(name, input_of(line));
  Tensors tensors;
  for (const auto& spec : call.tensors) {
    const auto tensor = random_tensor(spec);
    tensors.push_back(tensor.is_floating_point() ? tensor.to(dtype) : tensor);
  }
  return call_operator(call, tensors, dtype, torch::kCPU);
}

TEST(OperatorCall, ArgumentsOfEveryKindReachTheOperator) {
  EXPECT_EQ(called("aten.add.Tensor", "((T([2, 3], f32), T([3], f32)), {'alpha': 2})").toTensor().sizes(),
            (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(called("aten.cat.default", "(([T([2], f32), T([3], f32)],), {})").toTensor().numel(), 5);
  EXPECT_EQ(called("aten.sum.dim_IntList", "((T([2, 3], f32), [1], True), {})").toTensor().size(1), 1);
  EXPECT_EQ(called("aten.clamp.default", "((T([2], f32), None, 0.5), {})").toTensor().numel(), 2);
  EXPECT_EQ(called("aten.gelu.default", "((T([2], f32),), {'approximate': 'tanh'})").toTensor().numel(), 2);
  EXPECT_EQ(called("aten.where.self", "((T([2], b8), T([2], f32), T([], f32)), {})").toTensor().numel(), 2);
  EXPECT_EQ(
      called("aten.max_pool2d_with_indices.default", "((T([1, 1, 4, 4], f32), 2), {})").toTupleRef().elements().size(),
      2U);
  EXPECT_EQ(called("aten.split.Tensor", "((T([4], f32), 2), {})").toListRef().size(), 2U);
}

TEST(OperatorCall, FloatingDtypesAndDevicesAreTheCases) {
  const auto cast = "((T([2], i64),), {'dtype': f16, 'layout': torch.strided, 'device': 'cuda'})";
  EXPECT_EQ(called("aten._to_copy.default", cast).toTensor().scalar_type(), torch::kFloat32);
  EXPECT_EQ(called("aten._to_copy.default", cast, torch::kBFloat16).toTensor().scalar_type(), torch::kBFloat16);
  EXPECT_EQ(called("aten._to_copy.default", "((T([2], f16),), {'dtype': i64})").toTensor().scalar_type(),
            torch::kInt64);
  EXPECT_EQ(called("aten.mul.Tensor", "((T([2], f16), 0.125), {})", torch::kBFloat16).toTensor().scalar_type(),
            torch::kBFloat16)
      << "a number in a tensor's place does not decide the dtype";
}

TEST(OperatorCall, WhatCannotBeCalledIsNamedWithTheLogsLine) {
  for (const auto& [name, line, message] : std::vector<std::tuple<std::string, std::string, std::string>>{
           {"aten.no_such.default", "((), {})", "log.txt:2: operator aten.no_such.default does not exist in torch "},
           {"aten.add.Absent", "((), {})", "operator aten.add.Absent does not exist"},
           {"aten.relu.default", "((ST([2], f32, torch.sparse_coo, True, 1),), {})", "cannot be made"},
           {"aten.relu.default", "((), {})", "the argument self is missing"},
           {"aten.relu.default", "((T([2], f32), 1), {})", "more than aten.relu.default takes"},
           {"aten.relu.default", "((T([2], f32),), {'x': 1})", "more than aten.relu.default takes"},
           {"aten.relu.default", "(('x',), {})", "argument self of aten.relu.default: 'x' (expected a tensor)"},
           {"aten.sum.dim_IntList", "((T([2], f32), [0.5]), {})", "0.5 (expected an integer)"},
           {"aten._to_copy.default", "((T([2], f32),), {'dtype': 'cpu'})", "'cpu' (expected a dtype)"}})
    EXPECT_THAT(([&, n = name, l = line] { bind_call(n, input_of(l)); }),
                ThrowsMessage<std::invalid_argument>(HasSubstr(message)));
}

TEST(RandomTensor, HasTheRangeStridesAndTypeOfTheLog) {
  torch::manual_seed(1);
  const auto real = random_tensor({{50, 40}, {1, 50}, "float16"});
  EXPECT_EQ(real.scalar_type(), torch::kFloat32);
  EXPECT_THAT(real.strides().vec(), ElementsAre(1, 50));
  EXPECT_LT(real.max().item<double>(), 9);
  EXPECT_GT(real.max().item<double>(), 8);
  EXPECT_LT(real.min().item<double>(), -8);
  const auto whole = random_tensor({{2000}, {}, "int32"});
  EXPECT_EQ(whole.scalar_type(), torch::kInt32);
  EXPECT_EQ(whole.max().item<int64_t>(), 9);
  EXPECT_EQ(whole.min().item<int64_t>(), -9);
  EXPECT_EQ(random_tensor({{2000}, {}, "uint8"}).max().item<int64_t>(), 9);
  EXPECT_EQ(random_tensor({{9}, {}, "bool"}).scalar_type(), torch::kBool);
  EXPECT_EQ(random_tensor({{3}, {}, "complex128"}).scalar_type(), torch::kComplexDouble);
  EXPECT_EQ(random_tensor({{0, 3}, {}, "float32"}).numel(), 0);
  EXPECT_EQ(random_tensor({{4, 3}, {0, 1}, "float32"}).stride(0), 0) << "an expanded tensor";
}

TEST(HasKernel, KnowsWhatIsWrittenForADevice) {
  EXPECT_TRUE(has_kernel("aten.mul.Tensor", torch::kCPU));
  EXPECT_TRUE(has_kernel("aten.reshape.default", torch::kCPU)) << "composed of other operators";
  EXPECT_TRUE(has_kernel("aten.no_such_thing.default", torch::kCPU)) << "an unknown operator is another error";
  EXPECT_TRUE(has_kernel("aten._scaled_dot_product_flash_attention_for_cpu.default", torch::kCPU));
  EXPECT_FALSE(has_kernel("aten._scaled_dot_product_flash_attention_for_cpu.default", torch::kCUDA));
}

TEST(OperatorModel, IsAModelWhoseInputsAreItsTensors) {
  const auto input = input_of("((T([2, 3, 4, 5], f32), T([2, 3, 4, 5], f32)), {})");
  const auto info = operator_model_info("aten.mul.Tensor", input, 3, OperatorLayout::channels_last);
  EXPECT_EQ(info.name, "aten.mul.Tensor.3_channels_last");
  EXPECT_EQ(info.family, "aten.mul.Tensor");
  EXPECT_THAT(info.not_trained, HasSubstr("no input has a gradient"));
  const auto model = info.make({});
  const auto inputs = model->example_inputs({});
  ASSERT_THAT(inputs, SizeIs(2));
  EXPECT_TRUE(inputs[0].is_contiguous(at::MemoryFormat::ChannelsLast));
  EXPECT_TRUE(torch::equal(model->forward(inputs).toTensor(), inputs[0] * inputs[1]));
  const auto* facts = operator_facts(info.name);
  ASSERT_NE(facts, nullptr);
  EXPECT_EQ(facts->logged_at, "log.txt:2");
  EXPECT_EQ(facts->arguments, "((T([2, 3, 4, 5], f32), T([2, 3, 4, 5], f32)), {})");
  EXPECT_EQ(operator_facts("resnet18"), nullptr);
}

}  // namespace
}  // namespace torchstone::operators
