#include "reports/record/results_folder/folder_lock.h"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <sstream>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "reports/base/files.h"
#include "reports/base/process.h"
#include "reports/base/text.h"
#include "reports/base/time.h"

namespace torchstone::results_folder {
namespace {

namespace fs = std::filesystem;

std::string process_file(pid_t pid, const char* file) {
  std::ifstream stream(fmt::format("/proc/{}/{}", pid, file), std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

Holder holder_of(pid_t pid, Holder::Kind kind) {
  const ProcessFacts facts = process_facts(pid).value_or(ProcessFacts{});
  return {.kind = kind, .pid = pid, .start_ticks = facts.start_ticks, .since = utc_now(), .command = facts.command};
}

int number_in(const char* variable, int fallback) {
  const auto number = parse_number(environment_variable(variable));
  return number ? static_cast<int>(*number) : fallback;
}

[[noreturn]] void fail(const char* what, const fs::path& path) {
  throw std::system_error(errno, std::generic_category(), fmt::format("{} {}", what, path.string()));
}

void warn_of_no_locks(const fs::path& folder) {
  fmt::print(stderr, "warning: {}: no locks on this file system ({}): nothing keeps a second run out\n",
             folder.string(), std::generic_category().message(errno));
}

/// Takes the folder's own lock. A process holds it only while it reads the holders' files and adds its own. On a file
/// system without locks it only warns.
void lock_folder(int descriptor, const fs::path& folder) {
  constexpr std::chrono::milliseconds time_limit(60'000), retry_interval(10);
  const auto end = std::chrono::steady_clock::now() + time_limit;
  while (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return warn_of_no_locks(folder);
    if (std::chrono::steady_clock::now() > end)
      throw FolderHeld(folder.string() + ": another process has looked for its holders for a minute now");
    std::this_thread::sleep_for(retry_interval);
  }
}

/// An exclusive lock of the whole file.
struct flock whole_file() {
  struct flock range {};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  return range;
}

bool alive(const fs::path& file, const Holder& holder) {
  if (holder.kind == Holder::Kind::group) {
    const auto facts = process_facts(holder.pid);
    return facts && facts->start_ticks == holder.start_ticks;
  }
  const Descriptor opened(open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!opened && errno == ENOENT) return false;  // its process has just ended
  if (!opened) fail("cannot read", file);
  struct flock range = whole_file();
  return fcntl(opened.get(), F_GETLK, &range) == 0 && range.l_type != F_UNLCK;
}

/// Returns the holders whose processes still run, and removes the files of the others.
std::vector<Holder> holders_of(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().filename().string().starts_with(holder_prefix)) files.push_back(entry.path());
  std::vector<Holder> holders;
  for (const auto& file : files) {
    std::error_code ignored;
    if (!fs::exists(file, ignored)) continue;
    const Holder holder = parse_holder(read_at_most(file, mebibyte));
    if (alive(file, holder))
      holders.push_back(holder);
    else
      fs::remove(file, ignored);
  }
  return holders;
}

}  // namespace

std::optional<ProcessFacts> process_facts(pid_t pid) {
  // "PID (NAME) STATE PARENT …": the name may contain anything, so parsing starts after the last ")" (proc(5)).
  const std::string stat = process_file(pid, "stat");
  const size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(stat.substr(name_end + 1));
  std::string state, skipped;
  ProcessFacts facts;
  fields >> state >> facts.parent;
  constexpr int between_parent_and_start = 17;
  for (int i = 0; i < between_parent_and_start; ++i) fields >> skipped;
  if (!(fields >> facts.start_ticks) || state == "Z" || state == "X") return std::nullopt;
  std::vector<std::string> words;
  std::istringstream command(process_file(pid, "cmdline"));
  for (std::string word; std::getline(command, word, '\0');) words.push_back(word);
  facts.command = printable(fmt::format("{}", fmt::join(without_secrets(words), " ")));
  return facts;
}

bool descends_from(pid_t ancestor) {
  for (pid_t pid = getppid(); pid > 0;) {
    if (pid == ancestor) return true;
    const auto facts = process_facts(pid);
    pid = facts ? facts->parent : 0;
  }
  return false;
}

NLOHMANN_JSON_SERIALIZE_ENUM(Holder::Kind, {{Holder::Kind::run, "run"},
                                            {Holder::Kind::shard, "shard"},
                                            {Holder::Kind::part, "part"},
                                            {Holder::Kind::group, "group"}})

Holder this_process(Holder::Kind kind) {
  Holder holder = holder_of(getpid(), kind);
  holder.shards = number_in("GTEST_TOTAL_SHARDS", 1);
  holder.shard = number_in("GTEST_SHARD_INDEX", 0);
  if (kind == Holder::Kind::run && holder.shards > 1) holder.kind = Holder::Kind::shard;
  return holder;
}

Holder parent_process() { return holder_of(getppid(), Holder::Kind::group); }

bool may_share(const Holder& newcomer, const Holder& holder, bool holder_is_ancestor) {
  using enum Holder::Kind;
  if (holder.kind == group) return holder_is_ancestor && (newcomer.kind == part || newcomer.kind == group);
  if (newcomer.kind != holder.kind) return false;
  if (newcomer.kind == shard) return newcomer.shards == holder.shards && newcomer.shard != holder.shard;
  return newcomer.kind == part;
}

std::string to_string(const Holder& holder) {
  constexpr size_t longest = 400;
  return fmt::format("process {} since {}: {}", holder.pid, holder.since, shortened(holder.command, longest));
}

std::string to_json(const Holder& holder) {
  const nlohmann::ordered_json json{{"kind", nlohmann::json(holder.kind)},
                                    {"pid", holder.pid},
                                    {"since", holder.since},
                                    {"command", holder.command},
                                    {"start_ticks", holder.start_ticks},
                                    {"shard", holder.shard},
                                    {"shards", holder.shards}};
  return json.dump() + "\n";
}

Holder parse_holder(const std::string& text) try {
  const auto json = nlohmann::json::parse(text);
  return {json.at("kind"),
          json.at("pid"),
          json.at("start_ticks"),
          json.at("since"),
          printable(json.at("command").get<std::string>()),
          json.at("shard"),
          json.at("shards")};
} catch (const nlohmann::json::exception&) {
  return {};
}

Hold::Hold(const fs::path& folder, const Holder& holder, const std::function<void()>& when_alone,
           const std::function<void()>& when_held) {
  fs::create_directories(folder);
  const Descriptor guard(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!guard) fail("cannot read", folder);
  lock_folder(guard.get(), folder);
  bool alone = true;
  for (const Holder& other : holders_of(folder)) {
    const bool ancestor = other.kind == Holder::Kind::group && descends_from(other.pid);
    if (!may_share(holder, other, ancestor))
      throw FolderHeld(
          fmt::format("{}: another run has this results folder: {}\nWait for its end, or choose another "
                      "folder.",
                      folder.string(), to_string(other)));
    if (!ancestor) alone = false;
  }
  if (alone) when_alone();
  when_held();
  std::string name = (folder / holder_prefix).string() + "XXXXXX";
  descriptor_ = mkostemp(name.data(), O_CLOEXEC);
  if (descriptor_ < 0) fail("cannot write", name);
  file_ = name;
  owner_ = getpid();
  fchmod(descriptor_, 0644);
  if (dprintf(descriptor_, "%s", to_json(holder).c_str()) < 0) fail("cannot write", name);
  struct flock range = whole_file();
  const bool by_lock = holder.kind != Holder::Kind::group;
  if (by_lock && fcntl(descriptor_, F_SETLK, &range) != 0) warn_of_no_locks(folder);
  if (!by_lock) owner_ = 0;  // the file stays when this process ends
}

Hold::~Hold() {
  if (owner_ == getpid()) unlink(file_.c_str());  // a forked child is not the holder
  close(descriptor_);
}

}  // namespace torchstone::results_folder
