#pragma once
#include <cstddef>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

// What the registries of models, backends, checks and report writers have in common. Includes nothing of the project,
// so that every folder may include it (tests/architecture/rooms.py).

namespace torchstone {

/// What registers while a plug-in is loaded.
struct Registrations {
  std::string library;  ///< path of the plug-in; empty for the program
  size_t added = 0;
  std::vector<std::string> errors;
};

/// The registrations of the plug-in that is being loaded; nullptr when none is.
inline Registrations* registrations_of_plugin = nullptr;

/// Counts registrations and collects their errors in `registrations()` while it lives: an exception must not leave a
/// static initialiser that dlopen runs.
class CollectRegistrations {
 public:
  explicit CollectRegistrations(std::string library = "") : registrations_{std::move(library), 0, {}} {
    registrations_of_plugin = &registrations_;
  }
  ~CollectRegistrations() { registrations_of_plugin = nullptr; }
  CollectRegistrations(const CollectRegistrations&) = delete;
  CollectRegistrations& operator=(const CollectRegistrations&) = delete;
  const Registrations& registrations() const { return registrations_; }

 private:
  Registrations registrations_;
};

/// False where errors are collected; throws std::invalid_argument otherwise.
inline bool refuse_registration(const std::string& error) {
  if (!registrations_of_plugin) throw std::invalid_argument(error);
  registrations_of_plugin->errors.push_back(error);
  return false;
}

/// Entries of one kind by name, each registered by a static initialiser. Keep the registry in a function-local static,
/// because static initialisers run before main, in any order of files.
template <typename T>
class Registry {
 public:
  struct Entry {
    T value;
    std::string file;
    int line = 0;
    std::string library{};  ///< the plug-in that registered it; empty for the program
  };

  /// `kind` names an entry in messages: "model", "backend".
  explicit Registry(std::string kind) : kind_(std::move(kind)) {}

  /// A name that is taken is refused with both places, and with the plug-in that has the name. True when the entry was
  /// added.
  bool add(const std::string& name, T value, const char* file, int line) {
    const std::string library = registrations_of_plugin ? registrations_of_plugin->library : "";
    const auto [entry, added] = entries_.try_emplace(name, Entry{std::move(value), file, line, library});
    if (!added) {
      const Entry& first = entry->second;
      return refuse_registration(std::string(file) + ":" + std::to_string(line) + ": " + kind_ + " " + name +
                                 " is already registered at " + first.file + ":" + std::to_string(first.line) +
                                 (first.library.empty() ? "" : " of the plug-in " + first.library));
    }
    if (registrations_of_plugin) ++registrations_of_plugin->added;
    return true;
  }

  /// nullptr when there is none of that name.
  const T* find(const std::string& name) const {
    const auto found = entries_.find(name);
    return found == entries_.end() ? nullptr : &found->second.value;
  }

  /// By name.
  const std::map<std::string, Entry>& entries() const { return entries_; }

 private:
  std::string kind_;
  std::map<std::string, Entry> entries_;
};

/// Loads a shared library whose static initialisers register models, backends, checks or report writers, and keeps it
/// loaded. Throws std::runtime_error for a missing file, an error of the dynamic linker, a name that is taken, and a
/// library that registers nothing.
void load_plugin(const std::string& path);

}  // namespace torchstone
