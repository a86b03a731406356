#include "tests/unit/reports/sample.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <sys/wait.h>

namespace torchstone {
namespace {

Result timing_of(const std::string& model, double speedup, const std::string& preset = "full") {
  Result r =
      simple_result("torchbench/Performance.CompiledIsFaster/" + model + "_inference_float32_inductor_cpu_" + preset,
                    Status::pass, "performance");
  r.model = model;
  r.preset = preset;
  r.outcome.metrics = {{"speedup", speedup},
                       {"speedup_low", speedup - 0.03},
                       {"speedup_high", speedup + 0.03},
                       {"required_speedup", 1.0},
                       {"eager_ms", 12.5 * speedup},
                       {"compiled_ms", 12.5},
                       {"compile_s", 8.125},
                       {"peak_ratio", 1.25},
                       {"compression_ratio", 1.25},
                       {"eager_peak_bytes", 2.5e9},
                       {"compiled_peak_bytes", 2e9},
                       {"eager_peak_mem", 3.5e9},
                       {"dynamo_peak_mem", 2.8e9},
                       {"rounds", 31},
                       {"calls_captured", 69},
                       {"unique_graphs", 1},
                       {"artifact_bytes", 46 * 1024 * 1024}};
  r.outcome.samples = {{"eager_s", {0.0125, 0.013, 0.0121}}, {"compiled_s", {0.1, nan_value, infinity}}};
  r.outcome.notes = {{"stop_reason", "interval narrow enough"}};
  return r;
}

std::vector<Result> one_of_every_status() {
  std::vector<Result> results;
  for (const auto& info : status_table()) {
    const std::string status(info.name);
    Result r = simple_result(
        "torchbench/Accuracy.CompiledMatchesEager/" + status + "_model_inference_float32_inductor_cpu", info.status);
    r.model = status + "_model";
    if (info.status != Status::pass) r.outcome.reason = "why it is " + status;
    if (!info.passing) r.outcome.phase = "compiled";
    if (info.status == Status::pass)
      r.outcome.metrics = {{"error_of_limit", 0.12}, {"compile_s", 8.1}, {"max_abs_error", 1e-7}};
    if (info.status == Status::fail_accuracy) {
      r.outcome.metrics = {{"error_of_limit", 3.4}, {"max_abs_error", nan_value}, {"max_rel_error", infinity}};
      r.outcome.detail = "worst element [0, 17]: eager 1.5, compiled 2.5\n  < 1e-3: 998\n  < 1e-2: 2 & more";
    }
    results.push_back(r);
  }
  return results;
}

}  // namespace

Result simple_result(const std::string& name, Status status, const std::string& check) {
  Result r;
  r.name = name;
  r.suite = "torchbench";
  r.model = name;
  r.check = check;
  r.mode = "inference";
  r.dtype = "float32";
  r.device = "cpu";
  r.backend = "inductor";
  r.preset = "mini";
  r.batch_size = 4;
  r.reproduce = "./torchstone --gtest_filter='" + name + "'";
  r.file = "cases/torchbench.yaml";
  r.line = 12;
  r.duration_s = 1.5;
  r.recorded = "2026-01-31T12:00:00.000Z";
  r.outcome.status = status;
  return r;
}

std::vector<Result> sample_results() {
  std::vector<Result> results = one_of_every_status();
  results.push_back(timing_of("resnet50", 1.43));
  results.push_back(timing_of("alexnet", 2.0));
  results.push_back(timing_of("alexnet", 1.5, "mini"));
  Result slow = timing_of("slow_net", 0.5);
  slow.outcome.status = Status::fail_speedup;
  slow.outcome.reason = "0.500x [0.470 0.530] is below the required 1.000x";
  results.push_back(slow);
  Result wrong = timing_of("fail_accuracy_model", 9.0, "mini");
  results.push_back(wrong);

  Result tolerance = simple_result("torchbench/Tolerance.IsMeasured/resnet50_training_bfloat16_inductor_cuda",
                                   Status::pass, "tolerance");
  tolerance.model = "resnet50";
  tolerance.mode = "training";
  tolerance.dtype = "bfloat16";
  tolerance.device = "cuda:1";
  tolerance.backend = "inductor:freezing=true,shape_padding=false";
  tolerance.outcome.metrics = {{"tolerance_max", 0.0123456789}, {"tolerance_mean", 1e-5}, {"tolerance_std", nan_value}};
  results.push_back(tolerance);

  Result hostile = simple_result("torchbench/Accuracy.<script>&\"'/größe,\t模型_\x01\xff", Status::fail_to_compile);
  hostile.model = "<script>&\"', größe 模型";
  hostile.outcome.reason = "]]> & <b>\"quoted\", 'single'\x1b[31m red\x07\r\nsecond line, with \xc3\x28 broken UTF-8";
  hostile.outcome.detail = std::string(3, '\n') + "tab\tand nul:" + std::string(1, '\0') + "!";
  hostile.outcome.metrics = {{"own_metric", -0.0}, {"speedup", -infinity}};
  hostile.outcome.notes = {{"note \xff", "value\n\x02"}};
  hostile.outcome.samples = {{"empty", {}}};
  results.push_back(hostile);

  Result expected = simple_result("torchbench/Accuracy.CompiledMatchesEager/known_bug", Status::fail_accuracy);
  expected.expected = "fail_accuracy";
  expected.outcome.reason = "known";
  results.push_back(expected);
  Result repaired = simple_result("torchbench/Accuracy.CompiledMatchesEager/repaired", Status::pass);
  repaired.expected = "fail_accuracy";
  results.push_back(repaired);
  Result unfinished = simple_result("torchbench/Accuracy.CompiledMatchesEager/unfinished", Status::fail_to_run);
  unfinished.finished = false;
  results.push_back(unfinished);
  results.push_back(repaired);
  return results;
}

RunInfo sample_run() {
  RunInfo run;
  run.id = "2026-01-31T12:00:00.000Z-1a";
  run.started = "2026-01-31T12:00:00.000Z";
  run.duration_s = 312.4;
  run.argv = {"./torchstone", "--gtest_filter=*<&>*"};
  run.directory = "/somewhere/\xff";
  run.exit_reason = "interrupted";
  run.machine = {{"cpu", "Some CPU @ 3.0 GHz"}, {"cores", "8"}, {"host", "00c0ffee"}};
  run.build = {{"torch", "2.13.0"}};
  run.environment = {{"OMP_NUM_THREADS", "4"}};
  run.policy = {{"confidence", "0.95"}};
  return run;
}

size_t count_of(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

Finished run_line(const std::string& line) {
  std::FILE* pipe = popen(("{ " + line + "\n} 2>&1").c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("no shell");
  std::string output;
  std::array<char, 4096> buffer;
  for (size_t count; (count = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) output.append(buffer.data(), count);
  const int status = pclose(pipe);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, output};
}

bool is_installed(const std::string& program) { return run_line("command -v " + program).exit_code == 0; }

}  // namespace torchstone
