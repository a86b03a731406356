#include "cases/main/ship_measurement.h"

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "fixtures/compile/toolchain.h"
#include "fixtures/core/private_folders.h"
#include "fixtures/core/subprocess.h"
#include "fixtures/isolate/signals.h"
#include "reports/base/files.h"
#include "reports/base/text.h"
#include "reports/base/time.h"

namespace torchstone {
namespace {

namespace fs = std::filesystem;

constexpr const char* folder_prefix = "torchstone-shipped";

/// Runs one step of the script and returns its reply. Calls `tick` meanwhile. Throws std::runtime_error if the script
/// wrote none. Inductor's caches are in this folder, because its default folder has a predictable name that any user
/// could create first.
std::string run_step(const char* step, const fs::path& folder, const RunOptions& options, double limit_s,
                     const std::function<void()>& tick) {
  const fs::path reply = folder / fmt::format("{}.json", step);
  const std::map<std::string, std::string> caches{{"TORCHINDUCTOR_CACHE_DIR", (folder / "cache").string()},
                                                  {"TRITON_CACHE_DIR", (folder / "cache" / "triton").string()}};
  const std::chrono::duration<double> limit(limit_s);
  const auto stop = [&] {
    tick();
    return isolate::interrupted();
  };
  const LimitedRun run =
      run_limited({compile::default_python(options.python), (folder / "measure_shipped.py").string(), step,
                   (folder / "order.json").string(), reply.string()},
                  own_environment(caches), std::chrono::duration_cast<std::chrono::milliseconds>(limit), stop);
  if (isolate::interrupted()) throw std::runtime_error("interrupted");
  if (run.timed_out)
    throw std::runtime_error(
        fmt::format("it took more than {:.0f} s (--torchstone_tournament_ship_limit, for all variants)", limit_s));
  const auto text = read_file(reply);
  if (!text) throw std::runtime_error(fmt::format("its process ended with status {}", run.status));
  return *text;
}

/// Returns why a variant is not measured as shipped; empty if it can be.
std::string why_not_measured(const selection::Shipping& shipping) {
  if (shipping.program.empty()) return "only exported programs (.pt2) are, because they have example inputs";
  if (shipping.python.empty()) return "no line of Python loads it";
  return shipping.make.empty() ? "its command is no Python" : "";
}

}  // namespace

std::string why_not_as_timed(const Case& c, const ModelInfo& file) {
  if (c.batch_size == file.eval_batch) return "";
  return fmt::format("the example inputs of the file have {} samples, and {} were timed", file.eval_batch,
                     c.batch_size);
}

bool read_shipped(const std::string& reply, judge::Entrant& entrant) {
  const auto json = nlohmann::json::parse(reply, nullptr, /*allow_exceptions=*/false);
  const auto number = [&](const char* key) {
    const auto found = json.is_object() ? json.find(key) : json.end();
    return found != json.end() && found->is_number() ? std::optional(found->get<double>()) : std::nullopt;
  };
  if (const auto bytes = number("bytes")) {
    entrant.shipped = judge::Shipped{.bytes = *bytes};
    return true;
  }
  const auto load = number("load_s"), first = number("first_call_s"), call = number("seconds"), error = number("error");
  if (entrant.shipped && load && first && call && error) {
    entrant.shipped->load_s = *load;
    entrant.shipped->first_call_s = *first;
    entrant.shipped->seconds = *call;
    entrant.shipped->error = *error;
    return true;
  }
  const auto refused = json.is_object() ? json.value("refused", nlohmann::json()) : nlohmann::json();
  entrant.shipped.reset();
  entrant.why_not_measured = refused.is_string() ? refused.get<std::string>() : "its process gave no measurement";
  return false;
}

void measure_shipped(const selection::Shipping& shipping, const RunOptions& options, int threads, double limit_s,
                     const std::function<void(std::string_view)>& on_step, judge::Entrant& entrant) {
  const auto start = std::chrono::steady_clock::now();
  entrant.why_not_measured = why_not_measured(shipping);
  if (entrant.why_not_measured.empty() && limit_s <= 0)
    entrant.why_not_measured = "no time is left for it (--torchstone_tournament_ship_limit)";
  if (!entrant.why_not_measured.empty()) return;
  std::optional<HeldFolder> held;
  try {
    remove_abandoned_folders(folder_prefix, [](const fs::path&) {});
    held = make_held_folder(folder_prefix);
    const fs::path made = held->path / "made";
    make_folder(made);
    write_file(held->path / "measure_shipped.py", std::string(measure_shipped_source()));
    write_file(held->path / "order.json", nlohmann::json{{"folder", made.string()},
                                                         {"program", shipping.program},
                                                         {"make", shipping.make},
                                                         {"load", shipping.python},
                                                         {"threads", threads}}
                                              .dump());
    const std::string making = "make the file of " + entrant.name,
                      timing = fmt::format("time {} as shipped", entrant.name);
    if (read_shipped(run_step("make", held->path, options, limit_s, [&] { on_step(making); }), entrant))
      read_shipped(run_step("run", held->path, options, limit_s - seconds_since(start), [&] { on_step(timing); }),
                   entrant);
  } catch (const std::runtime_error& error) {  // CacheError, the system's
    entrant.shipped.reset();
    entrant.why_not_measured = first_line(error.what());
  }
  std::error_code ignored;
  if (held) fs::remove_all(held->path, ignored);
}

}  // namespace torchstone
