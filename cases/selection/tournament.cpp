#include "cases/selection/tournament.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cases/selection/expand.h"
#include "cases/selection/tournament_flags.h"
#include "cases/suite/suite.h"
#include "fixtures/backends/catalogue.h"

namespace torchstone::selection {
namespace {

/// `devices: [cpu]` of an entry.
std::vector<std::string> read_devices(const config::Yaml& node) {
  std::vector<std::string> kinds;
  for (const auto& item : config::list_of(node)) {
    const std::string kind = config::device_of(item);
    if (kind.find(':') != std::string::npos)
      config::fail(item, fmt::format("'{}' is one device (expected a kind of device: cpu or cuda)", kind));
    kinds.push_back(kind);
  }
  if (kinds.empty()) config::fail(node, "no device (expected cpu or cuda)");
  return kinds;
}

/// `torchscript`, `{inductor: {freezing: true}}`, or the latter with `devices` beside the backend.
void read_variant(config::Yaml node, Variants& variants) {
  if (const auto* devices = node.find("devices")) {
    variants.devices[config::origin_of(node)] = read_devices(*devices);
    std::erase_if(node.entries, [](const auto& entry) { return entry.first == "devices"; });
    if (node.entries.empty()) config::fail(node, "devices without a backend (expected {BACKEND: {}, devices: [cpu]})");
  }
  variants.backends.push_back({config::backend_spec_of(node), node});
}

std::string own_list() { return (suite::own_suites().parent_path() / "tournament/variants.yaml").string(); }

std::string name_in(const std::string& backend) { return backend.substr(0, backend.find(':')); }

/// The lines of the list's `ship`, in the place of all that `lines` has of the same backends.
void take_shipping(const config::Yaml& list, std::map<std::string, ShippingLines>& lines) {
  const config::Yaml* ship = list.find("ship");
  if (!ship) return;
  config::require_map(*ship);
  for (const auto& entry : ship->entries)
    std::erase_if(lines, [&](const auto& line) { return name_in(line.first) == name_in(entry.first); });
  for (const auto& [backend, node] : ship->entries) lines[backend] = read_shipping(node);
}

}  // namespace

Variants read_variants(const std::string& file, const std::vector<std::string>& registered) {
  const std::string path = file.empty() ? own_list() : file;
  const config::Yaml root = config::read_yaml(path);
  config::require_map(root);
  config::require_keys(root, {"variants", "left_out", "ship"});
  Variants variants;
  std::vector<std::string> named;
  for (const auto& node : config::list_of(config::require(root, "variants"))) {
    read_variant(node, variants);
    named.push_back(variants.backends.back().value.name);
  }
  if (const auto* left_out = root.find("left_out"))
    for (const auto& node : config::list_of(*left_out)) named.push_back(text_of(node));
  for (const auto& name : registered)
    if (std::ranges::find(named, name) == named.end())
      variants.backends.push_back({BackendSpec{name, {}}, {path, 0, "variants"}});
  if (!file.empty()) take_shipping(config::read_yaml(own_list()), variants.shipping);
  take_shipping(root, variants.shipping);
  return variants;
}

std::optional<std::string> left_out(const Variants& variants, const Case& c) {
  const auto decided = c.origin.find("backend");
  if (decided == c.origin.end()) return std::nullopt;
  const std::string kind = c.device.substr(0, c.device.find(':'));
  for (const auto& [place, kinds] : variants.devices) {
    const bool is_this = decided->second == place || decided->second.starts_with(place + ",");  // a policy adds to it
    if (is_this && std::ranges::find(kinds, kind) == kinds.end())
      return fmt::format("not tried on {}: {} has it for {}", kind, place, fmt::join(kinds, ", "));
  }
  return std::nullopt;
}

void select_tournament(flags::Flags& flags) {
  require_tournament_flags(flags);
  const config::Place place{"flag --torchstone_tournament"};
  auto& axes = flags.axes;
  axes.checks = {{"tournament", place}};
  if (axes.modes.empty()) axes.modes = {{Mode::inference, place}};
  if (axes.dtypes.empty() && !only_is_file(flags)) axes.dtypes = {{DType::float32, place}};  // a file has its own
  if (axes.backends.empty()) axes.backends = read_variants(flags.tournament_variants, backend_names()).backends;
  const BackendSpec eager{"eager", {}};
  if (!contains(axes.backends, eager)) axes.backends.insert(axes.backends.begin(), {eager, place});
}

}  // namespace torchstone::selection
