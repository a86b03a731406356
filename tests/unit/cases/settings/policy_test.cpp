#include "cases/settings/policy.h"

#include <gtest/gtest.h>

#include "tests/unit/cases/support.h"

namespace torchstone::policy {
namespace {

using test::error_of;
using test::fake;
using testing::AllOf;
using testing::HasSubstr;

Policy shipped(const std::string& name) {
  return read_policy(std::string(TORCHSTONE_SOURCE_DIR) + "/cases/policies/" + name + ".yaml", name);
}

Policy written(const std::string& text, const std::string& suite = "torchbench") {
  const test::Folder folder;
  return read_policy(folder.write("p.yaml", text), suite);
}

std::string policy_error(const std::string& text) {
  const test::Folder folder;
  return error_of([&] { read_policy(folder.write("p.yaml", text), "torchbench"); }, folder.path());
}

// One row of the table of tolerances in upstream's get_tolerance_and_cosine_flag.
struct Row {
  const char* model;
  Conditions conditions;
  double tolerance;
  bool cosine = false;
};

Conditions inference(DType dtype, const char* device = "cpu") {
  Conditions conditions;
  conditions.dtype = dtype;
  conditions.device = device;
  return conditions;
}
Conditions training(DType dtype, const char* device = "cpu") {
  Conditions conditions = inference(dtype, device);
  conditions.mode = Mode::training;
  return conditions;
}
Conditions with(Conditions conditions, bool Conditions::*flag) {
  conditions.*flag = true;
  return conditions;
}

void expect_tolerances(const Policy& policy, const std::vector<Row>& rows) {
  for (size_t i = 0; i < rows.size(); ++i) {
    Conditions conditions = rows[i].conditions;
    conditions.model = rows[i].model;
    const Tolerance got = tolerance_of(policy, conditions);
    EXPECT_DOUBLE_EQ(got.tolerance, rows[i].tolerance) << "row " << i << ", " << conditions.model;
    EXPECT_EQ(got.cosine, rows[i].cosine) << "row " << i << ", " << conditions.model;
    EXPECT_FALSE(got.origin.empty());
  }
}

constexpr auto f32 = DType::float32;
constexpr auto f16 = DType::float16;
constexpr auto bf16 = DType::bfloat16;

TEST(ToleranceRule, OfTorchbenchFollowsUpstreamsTable) {
  expect_tolerances(shipped("torchbench"), {
                                               {"resnet18", inference(f32), 1e-4},
                                               {"resnet18", inference(bf16), 1e-4},
                                               {"resnet18", inference(f16), 1e-3},
                                               {"resnet18", with(inference(f32), &Conditions::amp), 1e-3},
                                               {"drq", inference(f16), 1e-2},
                                               {"drq", inference(bf16), 1e-2},
                                               {"yolov3", inference(f16), 8e-2},
                                               {"yolov3", inference(f32), 1e-4},
                                               {"yolov3", inference(bf16), 1e-4},
                                               {"mobilenet_v2", with(inference(f16), &Conditions::freezing), 8e-2},
                                               {"mobilenet_v2", with(inference(f32), &Conditions::freezing), 1e-4},
                                               {"mobilenet_v2", inference(f16), 1e-3},
                                               {"squeezenet1_1", inference(bf16, "xpu"), 8e-2},
                                               {"squeezenet1_1", inference(bf16, "cuda"), 1e-4},
                                               {"resnet18", training(f32), 1e-4},
                                               {"yolov3", training(f32), 1e-4},
                                               {"resnet18", training(f32, "cuda"), 1e-3},
                                               {"resnet18", training(bf16, "xpu"), 1e-3},
                                               {"alexnet", training(f32, "cuda"), 1e-3},
                                               {"yolov3", training(f32, "cuda"), 8e-2},
                                               {"yolov3", training(f32, "xpu"), 8e-2},
                                           });
  const Policy policy = written("tolerance: {cosine: [m], even_higher: [m], freezing: {higher_fp16: [m]}}");
  expect_tolerances(policy, {{"m", training(f32, "cuda"), 1e-3, true},
                             {"m", training(f32), 1e-4},
                             {"m", inference(f32, "cuda"), 1e-4},
                             {"m", with(inference(f16), &Conditions::freezing), 1e-2}});
}

TEST(ToleranceRule, OfTimmFollowsUpstreamsTable) {
  expect_tolerances(shipped("timm"), {
                                         {"resnet18", inference(f32), 1e-3},
                                         {"inception_v3", inference(f16), 1e-3},
                                         {"adv_inception_v3", with(inference(f32), &Conditions::freezing), 8e-2},
                                         {"adv_inception_v3", inference(f32), 1e-3},
                                         {"beit_base_patch16_224", training(f32), 16e-2},
                                         {"deit_base_distilled_patch16_224", training(f32), 8e-2},
                                         {"inception_v3", training(bf16), 4e-2},
                                         {"botnet26t_256", training(f16, "xpu"), 4e-2},
                                         {"botnet26t_256", training(f16, "cuda"), 1e-2},
                                         {"adv_inception_v3", with(training(f32), &Conditions::freezing), 1e-2},
                                         {"resnet18", training(f32), 1e-2},
                                     });
  const Policy policy = written("tolerance: {even_higher_max_autotune: [m], higher_amp: [n]}", "timm");
  expect_tolerances(policy, {{"m", with(training(f32), &Conditions::max_autotune), 8e-2},
                             {"m", training(f32), 1e-2},
                             {"n", with(training(f32), &Conditions::amp), 4e-2},
                             {"n", training(f32), 1e-2}});
}

TEST(ToleranceRule, OfHuggingfaceFollowsUpstreamsTable) {
  expect_tolerances(shipped("huggingface"), {
                                                {"T5Small", inference(f32), 1e-3},
                                                {"GPT2ForSequenceClassification", inference(f32), 5e-3},
                                                {"GPT2ForSequenceClassification", inference(bf16, "cuda"), 4e-3},
                                                {"GPT2ForSequenceClassification", training(f32), 1e-2},
                                                {"MT5ForConditionalGeneration", training(f32), 2e-2},
                                                {"MT5ForConditionalGeneration", inference(f32), 1e-3},
                                                {"T5Small", training(bf16, "cuda"), 1e-2},
                                            });
  const Policy policy = written("tolerance: {higher_max_autotune_training: [m]}", "huggingface");
  expect_tolerances(policy, {{"m", with(training(f32), &Conditions::max_autotune), 2e-2}, {"m", training(f32), 1e-2}});
}

TEST(ToleranceRule, IsChosenByKeyOrBySuite) {
  EXPECT_EQ(written("skip:").rule, Rule::torchbench);
  EXPECT_EQ(written("skip:", "timm").rule, Rule::timm);
  EXPECT_EQ(written("skip:", "mine").rule, Rule::torchbench);
  EXPECT_EQ(written("tolerance_rule: huggingface", "mine").rule, Rule::huggingface);
  EXPECT_THAT(policy_error("a: 1\n"), HasSubstr("unknown key"));
  EXPECT_EQ(policy_error("tolerance_rule: tim\n"),
            "p.yaml:1: tolerance_rule: 'tim' is not a tolerance rule (expected one of torchbench, timm, huggingface; "
            "did you mean timm?)");
}

TEST(ToleranceRule, NamesTheLineThatDecides) {
  const Policy policy = written("tolerance:\n  higher_bf16:\n    - x\n    - m\n");
  Conditions conditions = inference(bf16);
  conditions.model = "m";
  EXPECT_THAT(tolerance_of(policy, conditions).origin, testing::EndsWith("p.yaml:4 (tolerance.higher_bf16)"));
  conditions.model = "other";
  EXPECT_EQ(tolerance_of(policy, conditions).origin,
            "tolerance rule of torchbench: all else (not float16 or amp, nor training on cuda or xpu), in no list of " +
                policy.file);
  EXPECT_THAT(policy.file, testing::EndsWith("p.yaml"));
  conditions.dtype = DType::float16;
  EXPECT_THAT(tolerance_of(policy, conditions).origin, HasSubstr("torchbench: float16 or amp, in no list of "));
}

struct BatchRow {
  const char* policy;
  ModelInfo info;
  std::string check;
  Mode mode;
  Preset preset;
  int64_t expected;
};

TEST(BatchSizeRule, FollowsUpstreamsAndKeepsMiniSmall) {
  constexpr auto accuracy = "accuracy";
  constexpr auto performance = "performance";
  constexpr auto full = Preset::full;
  constexpr auto mini = Preset::mini;
  constexpr auto eval = Mode::inference;
  constexpr auto train = Mode::training;
  const std::vector<BatchRow> rows{
      {"torchbench", fake("resnet18", 16, 8), accuracy, eval, full, 4},
      {"timm", fake("resnet18", 16, 8), accuracy, eval, full, 8},
      {"huggingface", fake("resnet18", 16, 8), accuracy, eval, full, 1},
      {"torchbench", fake("resnet18", 16, 8), performance, eval, full, 8},
      {"torchbench", fake("resnet18", 16, 8), performance, train, full, 16},
      {"torchbench", fake("resnet18", 16, 8), performance, eval, mini, 4},
      {"torchbench", fake("resnet18", 16, 8), "tolerance", eval, full, 8},
      {"torchbench", fake("pytorch_unet", 1, 1), accuracy, eval, full, 2},
      {"torchbench", fake("pytorch_unet", 1, 1), performance, eval, full, 1},
      {"torchbench", fake("yolov3", 16, 8), performance, train, full, 8},
      {"torchbench", fake("densenet121", 256, 64), performance, train, full, 4},
      {"torchbench", fake("densenet121", 256, 64), performance, eval, full, 64},
      {"torchbench", fake("demucs", 64, 8), accuracy, eval, mini, 8},
      {"torchbench", fake("demucs", 64, 8), accuracy, train, mini, 4},
      {"torchbench", fake("demucs", 64, 8), performance, train, full, 4},
      {"torchbench", fake("soft_actor_critic", 256, 256, true), accuracy, eval, mini, 256},
      {"torchbench", fake("speech_transformer", 32, 1, true), accuracy, train, mini, 32},
      {"huggingface", fake("BertForMaskedLM", 32, 32), performance, eval, full, 16},
      {"huggingface", fake("BlenderbotForCausalLM", 4, 4), performance, eval, full, 1},
      {"timm", fake("mobilevit_s", 128, 128), performance, train, full, 64},
      {"torchbench", fake("unstated", 0, 0), performance, eval, full, 4},
  };
  for (size_t i = 0; i < rows.size(); ++i) {
    Conditions conditions;
    conditions.model = rows[i].info.name;
    conditions.check = rows[i].check;
    conditions.mode = rows[i].mode;
    conditions.preset = rows[i].preset;
    EXPECT_EQ(batch_size_of(shipped(rows[i].policy), conditions, rows[i].info).size, rows[i].expected)
        << "row " << i << ", " << conditions.model;
  }
}

TEST(BatchSizeRule, OfCiAccuracyHoldsForTrainingWithInductorOnCuda) {
  const Policy policy = written("batch_size: {ci_accuracy: {m: 32}}", "timm");
  Conditions conditions = training(f32, "cuda");
  conditions.model = "m";
  EXPECT_EQ(batch_size_of(policy, conditions, fake("m", 64, 64)).size, 8);
  conditions.inductor = true;
  EXPECT_EQ(batch_size_of(policy, conditions, fake("m", 64, 64)).size, 32);
  conditions.mode = Mode::inference;
  EXPECT_EQ(batch_size_of(policy, conditions, fake("m", 64, 64)).size, 8);
}

std::string why_excluded(const char* policy, const char* model, Conditions conditions) {
  conditions.model = model;
  const auto decision = exclusion(shipped(policy), conditions);
  return decision ? decision->reason : "";
}

TEST(Policy, LeavesOutWhatUpstreamSkips) {
  EXPECT_EQ(why_excluded("torchbench", "resnet18", inference(f32)), "");
  EXPECT_EQ(why_excluded("torchbench", "hf_T5_generate", inference(f32)), "not run anywhere (policy skip.all)");
  EXPECT_EQ(why_excluded("torchbench", "sam", inference(f32)), "not run on cpu (policy skip.device.cpu)");
  EXPECT_EQ(why_excluded("torchbench", "sam", inference(f32, "cuda")), "");
  EXPECT_EQ(why_excluded("torchbench", "detectron2_maskrcnn_r_50_c4", inference(f32, "xpu")),
            "not run on xpu (policy skip.device.xpu)");
  EXPECT_EQ(why_excluded("torchbench", "detectron2_maskrcnn_r_50_c4", training(f32)),
            "not run in training (policy skip.test.training)");
  EXPECT_EQ(why_excluded("torchbench", "moco", with(inference(f32, "cuda"), &Conditions::freezing)),
            "not run with freezing on cuda (policy skip.freezing.cuda)");
  EXPECT_EQ(why_excluded("torchbench", "simple_gpt", inference(f32, "cuda")),
            "needs several processes (policy skip.multiprocess)");
  EXPECT_EQ(why_excluded("torchbench", "tts_angular", inference(f32)), "");
  EXPECT_EQ(why_excluded("torchbench", "tts_angular", inference(bf16)), "") << "bfloat16 becomes autocast";
  EXPECT_EQ(why_excluded("huggingface", "GoogleFnet", inference(f16)), "runs in float32 only (policy only_fp32)");
  EXPECT_EQ(why_excluded("huggingface", "GoogleFnet", inference(f32)), "");
  EXPECT_EQ(why_excluded("huggingface", "openai/whisper-tiny", inference(f32)),
            "not run on cpu (policy skip.device.cpu)");
  // torch.export and Torchstone's tracer refuse different models.
  EXPECT_EQ(why_excluded("torchbench", "soft_actor_critic", inference(f32)), "");
  Conditions exported = with(inference(f32), &Conditions::exported);
  exported.model = "soft_actor_critic";
  EXPECT_THAT(not_exported(shipped("torchbench"), exported)->reason, HasSubstr("skip.export_not_supported"));
  exported.model = "speech_transformer_masked";
  EXPECT_THAT(not_exported(shipped("torchbench"), exported)->reason, HasSubstr("skip.control_flow"));
  exported.exported = false;
  EXPECT_FALSE(not_exported(shipped("torchbench"), exported).has_value());
}

TEST(Policy, LetsLargeModelsPassBySkipWhereTheyAreCompared) {
  Conditions conditions;
  conditions.model = "maml";
  EXPECT_FALSE(passes_by_skip(shipped("torchbench"), conditions).has_value()) << "a mini is not too large";
  conditions.preset = Preset::full;
  EXPECT_THAT(passes_by_skip(shipped("torchbench"), conditions)->reason, HasSubstr("accuracy.skip.large_models"));
  conditions.check = "tolerance";
  EXPECT_TRUE(passes_by_skip(shipped("torchbench"), conditions).has_value());
  conditions.check = "performance";
  EXPECT_FALSE(passes_by_skip(shipped("torchbench"), conditions).has_value());
  conditions.model = "resnet18";
  EXPECT_FALSE(passes_by_skip(shipped("torchbench"), conditions).has_value());
}

Case applied(const char* policy, const char* model, Mode mode, DType dtype, const std::string& check = "accuracy") {
  Case c;
  c.model = model;
  c.mode = mode;
  c.dtype = dtype;
  c.check = check;
  apply_policy(shipped(policy), fake(model, 4, 4), c);
  return c;
}

TEST(Policy, FillsHowACaseIsJudged) {
  const Case plain = applied("torchbench", "resnet18", Mode::inference, f32);
  EXPECT_FALSE(plain.equal_nan);
  EXPECT_FALSE(plain.iou_threshold.has_value());
  EXPECT_EQ(plain.accuracy_check_runs, 1);
  EXPECT_FALSE(plain.eager_not_deterministic);
  EXPECT_TRUE(applied("torchbench", "resnet18", Mode::inference, bf16).equal_nan);

  const Case sam = applied("torchbench", "sam", Mode::inference, f32);
  EXPECT_EQ(sam.accuracy_check_runs, 5);
  EXPECT_EQ(sam.iou_threshold, 0.95);
  EXPECT_THAT(sam.origin.at("iou_threshold"), HasSubstr("torchbench.yaml:"));
  EXPECT_EQ(applied("torchbench", "vision_maskrcnn", Mode::inference, f32).iou_threshold, 0.99);
  EXPECT_EQ(applied("torchbench", "vision_maskrcnn", Mode::inference, bf16).dtype, f16);
  EXPECT_TRUE(applied("torchbench", "yolov3", Mode::inference, f32).larger_multiplier_for_smaller_tensor);
  EXPECT_TRUE(applied("huggingface", "BertForMaskedLM", Mode::inference, f32).larger_multiplier_for_smaller_tensor);
}

TEST(Policy, DoesNotCompareWhatIsNotDeterministic) {
  EXPECT_TRUE(applied("torchbench", "mobilenet_v3_large", Mode::inference, f32).eager_not_deterministic);
  EXPECT_FALSE(
      applied("torchbench", "mobilenet_v3_large", Mode::inference, f32, "performance").eager_not_deterministic);
  EXPECT_TRUE(applied("torchbench", "pytorch_unet", Mode::training, f32).eager_not_deterministic);
  EXPECT_FALSE(applied("torchbench", "pytorch_unet", Mode::inference, f32).eager_not_deterministic);
}

TEST(Policy, TrainsInEvalModeWhereUpstreamDoes) {
  EXPECT_TRUE(applied("torchbench", "resnet18", Mode::training, f32).eval_in_training);
  EXPECT_FALSE(applied("torchbench", "yolov3", Mode::training, f32).eval_in_training);
  EXPECT_FALSE(applied("torchbench", "resnet18", Mode::training, f32, "performance").eval_in_training);
  EXPECT_FALSE(applied("torchbench", "resnet18", Mode::inference, f32).eval_in_training);
  EXPECT_FALSE(applied("timm", "resnet18", Mode::training, f32).eval_in_training);
  EXPECT_TRUE(applied("huggingface", "M2M100ForConditionalGeneration", Mode::training, f32).eval_in_training);
}

TEST(Policy, ClaimsNoEvalModeOfAModelWhoseFileFixesTheMode) {
  for (const auto& [policy, name] :
       {std::pair("torchbench", "resnet18"), std::pair("huggingface", "M2M100ForConditionalGeneration")}) {
    ModelInfo info = fake(name, 4, 4);
    info.fixed_mode = true;
    Case c;
    c.model = name;
    c.mode = Mode::training;
    c.check = "accuracy";
    apply_policy(shipped(policy), info, c);
    EXPECT_FALSE(c.eval_in_training) << name;
  }
}

TEST(Policy, RefusesUnknownKeysAndWrongTypesWithTheirLine) {
  EXPECT_EQ(policy_error("skip:\n  devices:\n    cpu: [a]\n").substr(0, 42),
            "p.yaml:2: skip.devices: unknown key (expec");
  EXPECT_THAT(policy_error("skip:\n  devices: {}\n"), HasSubstr("did you mean device?"));
  EXPECT_THAT(policy_error("tolerance: {highr: [a]}\n"), HasSubstr("p.yaml:1: tolerance.highr: unknown key"));
  EXPECT_EQ(policy_error("slow: {a: 1}\n"), "p.yaml:1: slow: a map (expected a list)");
  EXPECT_EQ(policy_error("tolerance: [a]\n"), "p.yaml:1: tolerance: a list (expected a map key: value)");
  EXPECT_EQ(policy_error("batch_size:\n  training: {a: many}\n"),
            "p.yaml:2: batch_size.training.a: 'many' (expected a whole number from 1 to 1000000000)");
  EXPECT_EQ(policy_error("batch_size: {divisors: {a: 0}}\n"),
            "p.yaml:1: batch_size.divisors.a: '0' (expected a whole number from 1 to 1000000000)");
  EXPECT_EQ(policy_error("tolerance: {iou_thresholds: {a: 2}}\n"),
            "p.yaml:1: tolerance.iou_thresholds.a: '2' (expected a number from 0 to 1)");
  EXPECT_EQ(policy_error("slow: [{a: 1}]\n"), "p.yaml:1: slow[0]: a map (expected a text)");
  EXPECT_EQ(policy_error("- a\n"), "p.yaml:1: a list (expected a map key: value)");
}

TEST(Policy, ReadsEveryKeyOfItsSchemaAndSaysItsUse) {
  for (const auto& key : policy_schema()) {
    EXPECT_FALSE(key.use.empty()) << key.path;
    std::string text, indent;
    size_t begin = 0;
    for (size_t dot; (dot = key.path.find('.', begin)) != std::string::npos; begin = dot + 1, indent += "  ")
      text += indent + key.path.substr(begin, dot - begin) + ":\n";
    text += indent + key.path.substr(begin) + (key.kind == PolicyKey::Kind::models ? ": [m]\n" : ": {m: 1}\n");
    EXPECT_NE(written(text).find(key.path, "m"), nullptr) << text;
  }
}

TEST(Policy, TurnsHalfPrecisionIntoAutocastWhereItSaysSo) {
  const Case forced = applied("torchbench", "tts_angular", Mode::inference, f16);
  EXPECT_EQ(forced.dtype, DType::amp);
  EXPECT_EQ(forced.amp_dtype, f16);
  EXPECT_EQ(forced.tolerance, 1e-3) << "autocast's tier";
  EXPECT_THAT(forced.origin.at("dtype"), HasSubstr("torchbench.yaml:"));
  EXPECT_EQ(applied("torchbench", "resnet18", Mode::inference, DType::amp).amp_dtype, bf16) << "the default of the CPU";
  EXPECT_TRUE(applied("torchbench", "resnet18", Mode::inference, DType::amp).equal_nan);
}

TEST(Policy, TurnsCudaGraphsOffAndEmulatesCastsWhereItSaysSo) {
  const Policy policy = written("disable_cudagraph: [m]\nemulate_precision_casts: [m]\n");
  for (const auto& [backend, options] : {std::pair("inductor", 1U), std::pair("eager", 0U)}) {
    Case c;
    c.model = "m";
    c.backend.name = backend;
    c.cuda_graphs = CudaGraphs::compiled;
    apply_policy(policy, fake("m", 4, 4), c);
    EXPECT_EQ(c.backend.options.size(), options);
    apply_disable_cudagraph(policy, fake("m", 4, 4), c);
    EXPECT_EQ(c.cuda_graphs, CudaGraphs::none);
    EXPECT_THAT(c.origin.at("cuda_graphs"), HasSubstr("p.yaml:1 (disable_cudagraph)"));
  }
  Case own;
  own.model = "m";
  own.backend = {"inductor", {{"emulate_precision_casts", "false"}}};
  apply_policy(policy, fake("m", 4, 4), own);
  EXPECT_EQ(own.backend.options.at("emulate_precision_casts"), "false")
      << "the policy must not replace the user's option";
}

TEST(Policy, OfInductorHoldsForTorchCompileToo) {
  const Policy policy = written(
      "disable_cudagraph: [m]\nemulate_precision_casts: [m]\nbatch_size: {ci_accuracy: {m: 32}}\n"
      "optimizer: {sgd_with_inductor: [m]}\nskip: {control_flow: [m]}\n",
      "timm");
  const auto applied_to = [&](const char* backend) {
    Case c;
    c.model = "m";
    c.mode = Mode::training;
    c.device = "cuda";
    c.backend = parse_backend(backend);
    apply_policy(policy, fake("m", 64, 64), c);
    apply_disable_cudagraph(policy, fake("m", 64, 64), c);
    return c;
  };
  for (const char* backend : {"inductor", "torch_compile", "torch_compile:backend=inductor"}) {
    const Case c = applied_to(backend);
    EXPECT_EQ(c.backend.options.at("emulate_precision_casts"), "true") << backend;
    EXPECT_THAT(c.origin.at("backend"), AllOf(HasSubstr("emulate_precision_casts by "), HasSubstr("p.yaml:2")));
    EXPECT_EQ(c.batch_size, 32) << backend;
    EXPECT_EQ(c.optimizer, OptimizerKind::sgd) << backend;
    EXPECT_FALSE(c.backend.options.contains("triton.cudagraphs")) << backend << " records no CUDA graphs by itself";
  }
  const Case other = applied_to("torch_compile:backend=aot_eager");
  EXPECT_EQ(other.backend.options.size(), 1U) << "other backends get no options of Inductor";
  EXPECT_EQ(other.batch_size, 8);
  EXPECT_EQ(other.optimizer, OptimizerKind::adam);
  for (const char* mode : {"reduce-overhead", "max-autotune"})
    EXPECT_EQ(applied_to(("torch_compile:mode=" + std::string(mode)).c_str()).backend.options.at("triton.cudagraphs"),
              "false")
        << mode;
  EXPECT_EQ(applied_to("torch_compile:triton.cudagraphs=true").backend.options.at("triton.cudagraphs"), "false");
  const Case tuned = applied_to("torch_compile:mode=max-autotune-no-cudagraphs");
  EXPECT_FALSE(tuned.backend.options.contains("triton.cudagraphs"));
  EXPECT_TRUE(conditions_of(tuned, fake("m", 64, 64)).max_autotune);
  Conditions conditions = conditions_of(tuned, fake("m", 64, 64));
  conditions.mode = Mode::inference;
  EXPECT_FALSE(not_exported(policy, conditions).has_value()) << "torch.compile exports nothing";
}

TEST(BatchSizeRule, GivesBatchInvarianceUpstreamsSizes) {
  Conditions conditions = with(inference(f32), &Conditions::batch_invariance);
  conditions.model = "m";
  for (const auto& [suite, size] : {std::pair("torchbench", 8), std::pair("huggingface", 8), std::pair("timm", 16)})
    EXPECT_EQ(batch_size_of(shipped(suite), conditions, fake("m", 2, 2)).size, size) << suite;
  EXPECT_TRUE(batch_is_fixed(shipped("torchbench"), fake("demucs", 64, 8))) << "the policy fixes its batch size";
}

TEST(BatchSizeRule, TakesUpstreamsSizeOfAModelWhoseSourceStatesNone) {
  Conditions conditions = inference(f32);
  conditions.check = "performance";
  conditions.preset = Preset::full;
  const auto size_of = [&](const char* suite, const char* model) {
    conditions.model = model;
    return batch_size_of(shipped(suite), conditions, fake(model, 0, 0));
  };
  EXPECT_EQ(size_of("timm", "pnasnet5large").size, 16) << "32 divided by 2";
  EXPECT_EQ(size_of("torchbench", "hf_Whisper").size, 8);
  EXPECT_THAT(size_of("torchbench", "hf_Whisper").origin, HasSubstr("torchbench.yaml:"));
  EXPECT_EQ(size_of("torchbench", "maml_omniglot").size, 5) << "fixed";
  EXPECT_EQ(size_of("torchbench", "hf_T5_generate").size, 4) << "upstream states none";
  Policy of_files = shipped("torchbench");
  of_files.keeps_batch_size = true;
  conditions.model = "demucs";
  EXPECT_EQ(batch_size_of(of_files, conditions, fake("demucs", 2, 2, true)).size, 2)
      << "the batch size of the saved inputs";
}

TEST(BatchSizeRule, LeavesAUsersPythonModuleItsOwnUnlessAnEntryStatesOne) {
  Policy policy = written("own_batch_size: {inference: {listed: 6}}");
  policy.keeps_batch_size = true;
  const auto batch_of = [&](ModelInfo info) {
    Conditions conditions = inference(f32);
    conditions.model = info.name;
    return batch_size_of(policy, conditions, info);
  };
  const auto module = [](const std::string& name, int64_t batch) {
    ModelInfo info = fake(name, batch, batch);
    info.python = "path:net.py,class:Net";
    return info;
  };
  const BatchSize own = batch_of(module("m", 0));
  EXPECT_EQ(own.source, BatchSource::module);
  EXPECT_EQ(own.size, 1) << "that of a module without a default";
  EXPECT_EQ(own.origin, "zoo.cpp: the default of get_example_inputs(), or 1 without one");
  const BatchSize listed = batch_of(module("listed", 0));
  EXPECT_EQ(listed.source, BatchSource::stated);
  EXPECT_EQ(listed.size, 6);
  EXPECT_EQ(batch_of(module("m", 3)).source, BatchSource::stated) << "its registration states one";
  EXPECT_EQ(batch_of(fake("m", 0, 0)).source, BatchSource::stated) << "a C++ model states its batch size";
  ModelInfo of_package = module("m", 0);
  of_package.upstream = UpstreamModel{"timm", "m"};
  EXPECT_EQ(batch_of(of_package).source, BatchSource::stated) << "its package makes the inputs";
  policy.keeps_batch_size = false;
  EXPECT_EQ(batch_of(module("m", 0)).source, BatchSource::stated) << "the rule of upstream's suite";
}

TEST(Policy, MayHaveAnotherDefaultOptimizer) {
  EXPECT_EQ(optimizer_of(written("default_optimizer: sgd"), training(f32)).kind, OptimizerKind::sgd);
  EXPECT_THAT(optimizer_of(shipped("python"), training(f32)).origin, HasSubstr("python.yaml (default_optimizer)"));
  EXPECT_THAT(policy_error("default_optimizer: none\n"), HasSubstr("expected one of adam, sgd"));
}

TEST(Policy, DividesTheLossOfUpstreamsListInTraining) {
  EXPECT_EQ(applied("timm", "mobilevit_s", Mode::training, f32).loss_divisor, 1000);
  EXPECT_EQ(applied("timm", "mobilevit_s", Mode::inference, f32).loss_divisor, 1);
  EXPECT_EQ(applied("timm", "nfnet_l0", Mode::training, f32).loss_divisor, 1);
}

TEST(Policy, ChoosesUpstreamsOptimizerInTraining) {
  EXPECT_EQ(applied("torchbench", "resnet18", Mode::inference, f32).optimizer, OptimizerKind::none);
  EXPECT_EQ(applied("torchbench", "resnet18", Mode::training, f32).optimizer, OptimizerKind::sgd);
  EXPECT_THAT(applied("torchbench", "resnet50", Mode::training, f32).origin.at("optimizer"),
              testing::MatchesRegex(".*/torchbench.yaml:[0-9]+ .optimizer.sgd_in_ci."));
  EXPECT_EQ(applied("torchbench", "tts_angular", Mode::training, f32).optimizer, OptimizerKind::adam);
  EXPECT_EQ(applied("torchbench", "lstm_aten", Mode::training, DType::float16).optimizer, OptimizerKind::sgd);
  EXPECT_EQ(applied("torchbench", "lstm_aten", Mode::training, DType::amp).optimizer, OptimizerKind::adam);
  EXPECT_EQ(applied("huggingface", "MobileBertForMaskedLM", Mode::training, f32).optimizer, OptimizerKind::none);
  Conditions conditions = training(f32, "cuda");
  conditions.model = "convnextv2_nano";
  EXPECT_EQ(optimizer_of(shipped("timm"), conditions).kind, OptimizerKind::adam);
  conditions.inductor = true;
  EXPECT_EQ(optimizer_of(shipped("timm"), conditions).kind, OptimizerKind::sgd);
}

}  // namespace
}  // namespace torchstone::policy
