// Planted faults in processes: models that misuse their process or the program's pipes.
#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <poll.h>
#include <stdexcept>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <climits>
#include <torchstone/model.h>

namespace torchstone::misbehaving_faults {
namespace {

using Deed = std::function<void()>;

/// A healthy linear net that calls its deed in the first forward of each process. A deed that throws is called again in
/// every forward.
class Misbehaving : public Model {
 public:
  Misbehaving(Deed deed, std::shared_ptr<bool> done) : deed_(std::move(deed)), done_(std::move(done)) {
    linear_ = register_module("linear", torch::nn::Linear(8, 8));
  }
  c10::IValue forward(const Tensors& inputs) override {
    if (!*done_) deed_();
    *done_ = true;
    return linear_(inputs.at(0));
  }
  Tensors example_inputs(const ModelOptions& options) const override { return {torch::randn({options.batch_size, 8})}; }

 private:
  Deed deed_;
  std::shared_ptr<bool> done_;  ///< shared by all models of this name in this process
  torch::nn::Linear linear_{nullptr};
};

bool register_misbehaving(const char* name, Deed deed) {
  return register_model(
      ModelInfo{.name = name,
                .family = "fault",
                .suites = {"faults"},
                .train_batch = 4,
                .eval_batch = 4,
                .make = [deed, done = std::make_shared<bool>(false)](const ModelOptions&) -> std::shared_ptr<Model> {
                  return std::make_shared<Misbehaving>(deed, done);
                }},
      __FILE__, __LINE__);
}

[[noreturn]] void sleep_for_ever() {
  for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
}

/// Returns whether an earlier process has already called this function. The first caller creates the file that
/// TORCHSTONE_TEST_MARK names; later callers find it. Always false if the variable is not set.
bool is_a_later_process() {
  const char* mark = std::getenv("TORCHSTONE_TEST_MARK");
  if (mark == nullptr) return false;
  const int made = open(mark, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
  if (made < 0) return true;
  close(made);
  return false;
}

/// Returns the writable pipes of this process, except for stdout and stderr.
std::vector<int> writable_pipes() {
  std::vector<int> pipes;
  for (int fd = 3; fd < 64; ++fd) {  // higher descriptors may be pipes inherited from a test runner
    struct stat state {};
    if (fstat(fd, &state) == 0 && S_ISFIFO(state.st_mode) && (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY)
      pipes.push_back(fd);
  }
  return pipes;
}

void write_whole(int fd, const char* data, size_t size) {
  while (size > 0) {
    const ssize_t n = write(fd, data, size);
    if (n <= 0) return;
    data += n;
    size -= static_cast<size_t>(n);
  }
}

/// Writes the text to all writable pipes. Some belong to libraries and have no reader, so text that does not fit into a
/// pipe is dropped.
void write_everywhere(const std::string& text) {
  for (const int fd : writable_pipes()) {
    for (size_t done = 0; done < text.size(); done += PIPE_BUF) {
      pollfd ready{fd, POLLOUT, 0};
      if (poll(&ready, 1, 0) <= 0 || (ready.revents & POLLOUT) == 0) break;
      write_whole(fd, text.data() + done, std::min<size_t>(PIPE_BUF, text.size() - done));
    }
  }
}

/// Writes an answer in the program's format, but without the fields that identify this job.
void write_stray_line() {
  write_everywhere(R"({"answer":"outcome","case":0,"attempt":1,"outcome":{"status":"pass"}})"
                   "\n");
}

/// Intercepts what the case writes to the program, and forwards every line twice.
void double_replies() {
  for (const int fd : writable_pipes()) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe");
    const int onward = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    dup2(ends[1], fd);
    close(ends[1]);
    std::thread([from = ends[0], onward] {
      std::string line;
      for (char c = 0; read(from, &c, 1) == 1;) {
        line += c;
        if (c != '\n') continue;
        line += line;
        write_whole(onward, line.data(), line.size());
        line.clear();
      }
    }).detach();
  }
}

void flood() {
  const std::string piece(65536, 'x');
  for (;;) write_everywhere(piece);
}

void close_and_hang() {
  for (int fd = 0; fd < 64; ++fd) close(fd);
  sleep_for_ever();
}

void close_and_exit() {
  for (int fd = 0; fd < 64; ++fd) close(fd);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  _exit(3);
}

/// Prints 80 MB.
void print_much() {
  std::string line(1024, '.');
  line.back() = '\n';
  std::printf("the first line\n");
  for (int i = 0; i < 80 * 1024; ++i) std::fwrite(line.data(), 1, line.size(), stdout);
  std::printf("the last line\n");
  std::fflush(stdout);
}

/// Leaves a daemon behind: an orphaned process in its own session that ignores SIGTERM and keeps every descriptor of
/// the case open.
void leave_daemon() {
  const pid_t between = fork();
  if (between > 0) {
    waitpid(between, nullptr, 0);
    return;
  }
  setsid();
  const pid_t daemon = fork();
  if (daemon != 0) {
    dprintf(STDOUT_FILENO, "daemon %d\n", daemon);
    _exit(0);
  }
  std::signal(SIGTERM, SIG_IGN);
  sleep_for_ever();
}

void die_when_idle() {
  std::thread([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    _exit(5);
  }).detach();
}

void read_input() {
  char c = 0;
  const ssize_t n = read(STDIN_FILENO, &c, 1);
  if (n != 0) throw std::runtime_error("planted: the input was there to be read");
}

void leak_thread() { std::thread(sleep_for_ever).detach(); }

/// Reads outside a tensor on the GPU, as a miscompiled kernel would. Afterwards the process cannot use CUDA any more.
/// Does nothing without a GPU.
void lose_device() {
  if (!torch::cuda::is_available()) return;
  const auto outside = torch::full({1}, 100, torch::device(torch::kCUDA).dtype(torch::kLong));
  torch::zeros({4}, torch::kCUDA).index({outside});
}

void block_signals() {
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, nullptr);
  std::signal(SIGTERM, SIG_IGN);
  std::signal(SIGINT, SIG_IGN);
}

[[maybe_unused]] const bool registered =
    register_misbehaving("throws_text",
                         [] {
                           throw std::runtime_error(
                               "planted: \x1b[31m\xff"
                               "forward throws");
                         }) &&
    register_misbehaving("throws_no_exception", [] { throw 1; }) &&
    register_misbehaving("traps", [] { raise(SIGSEGV); }) && register_misbehaving("aborts", [] { std::abort(); }) &&
    register_misbehaving("crashes_later",
                         [] {
                           if (is_a_later_process()) raise(SIGSEGV);
                         }) &&
    register_misbehaving("hangs_later",
                         [] {
                           if (is_a_later_process()) sleep_for_ever();
                         }) &&
    register_misbehaving("exits", [] { std::exit(0); }) && register_misbehaving("exits_at_once", [] { _exit(3); }) &&
    register_misbehaving("closes_and_hangs", close_and_hang) &&
    register_misbehaving("closes_and_exits", close_and_exit) &&
    register_misbehaving("writes_stray_line", write_stray_line) &&
    register_misbehaving("doubles_replies", double_replies) && register_misbehaving("floods", flood) &&
    register_misbehaving("prints_much", print_much) && register_misbehaving("leaves_daemon", leave_daemon) &&
    register_misbehaving("leaves_daemon_and_dies",
                         [] {
                           leave_daemon();
                           std::abort();
                         }) &&
    register_misbehaving("dies_when_idle", die_when_idle) && register_misbehaving("reads_input", read_input) &&
    register_misbehaving("leaks_thread", leak_thread) && register_misbehaving("blocks_signals", block_signals) &&
    register_misbehaving("loses_device", lose_device) &&
    register_misbehaving("loses_device_once",
                         [] {
                           if (!is_a_later_process()) lose_device();
                         }) &&
    register_misbehaving("stops_itself", [] { raise(SIGSTOP); }) && register_misbehaving("leaves_its_group", [] {
      setpgid(0, getpgid(getppid()));
      sleep_for_ever();
    });

}  // namespace
}  // namespace torchstone::misbehaving_faults
