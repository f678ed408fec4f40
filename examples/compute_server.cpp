// SPDX-License-Identifier: Apache-2.0
// "My compute server enumerates the devices and starts a worker for each; after fork, no device is left."
// Here the workers are threads of one process, each bound to its device. The server answers requests from a
// bounded queue, in the order in which they came, until it is told to stop; see `compute_server --help`.
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <tbb/concurrent_queue.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "heddle/heddle.hpp"

namespace {

constexpr const char* footer = R"(
A request is a line: "sum 1 2 3", "norm 3 4", "primes 1000". The line "stop", the end of the input, SIGINT and
SIGTERM end the server once what it has accepted is answered. Without --stdin it serves requests that it generates,
and checks each answer.

Exit code: 0 all served, 1 a checked answer was wrong, 2 refused to start.)";

constexpr std::size_t longest_request = 65536;

struct settings {
  int devices = 3;
  int queue = 8;
  int generated = 60;
  bool from_stdin = false;
  std::optional<int> broken;
  bool lenient = false;
};

struct reply {
  int gpu;
  double value;
};

double primes_below(double limit) {
  if (!(limit >= 0 && limit <= 1e6)) throw std::invalid_argument("primes takes one number from 0 to 1000000");
  int count = 0;
  for (int n = 2; n < limit; ++n) {
    bool prime = true;
    for (int d = 2; prime && d * d <= n; ++d) prime = n % d != 0;
    count += prime ? 1 : 0;
  }
  return count;
}

/// Runs on a worker. What it throws is the answer to this request alone.
reply answer(const std::string& request) {
  if (request.size() > longest_request) throw std::invalid_argument("the request is longer than 65536 bytes");
  std::istringstream words(request);
  std::string name, word;
  words >> name;
  std::vector<double> x;
  while (words >> word) {
    double value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size()) {
      throw std::invalid_argument("argument " + std::to_string(x.size() + 1) + " is not a number");
    }
    x.push_back(value);
  }
  const int gpu = heddle::this_device::id();
  if (name == "sum") return {gpu, std::accumulate(x.begin(), x.end(), 0.0)};
  if (name == "norm") return {gpu, std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.0))};
  if (name == "primes" && x.size() == 1) return {gpu, primes_below(x[0])};
  throw std::invalid_argument("the operations are: sum X…, norm X…, primes N, stop");
}

/// The requests that the server makes up for itself, and what is right; empty: an error is.
struct generated_request {
  std::string line;
  std::optional<double> right;
};
generated_request generate(int k) {
  const std::string n = std::to_string(k);
  switch (k % 4) {
    case 0:
      return {"sum " + n + " 1 " + n, 2.0 * k + 1};
    case 1:
      return {"norm " + std::to_string(3 * k) + " " + std::to_string(4 * k), 5.0 * k};
    case 2:
      return {"primes 10000", 1229};
    default:
      return {"divide " + n + " 0", std::nullopt};
  }
}

/// Where requests come from. Between two of them it hears SIGINT and SIGTERM, which main() has blocked.
class request_source {
 public:
  request_source(const settings& s, const sigset_t& signals)
      : settings_(s), signals_(::signalfd(-1, &signals, SFD_CLOEXEC)) {}
  request_source(const request_source&) = delete;
  request_source& operator=(const request_source&) = delete;
  ~request_source() { ::close(signals_); }

  /// The next request; empty once the server is to stop. Blocks.
  std::optional<std::string> next() {
    std::optional<std::string> line;
    do {
      if (told_to_stop(0)) return std::nullopt;
      line = settings_.from_stdin ? read_line() : generated_line();
    } while (line && line->empty());
    return line == "stop" ? std::nullopt : line;
  }

 private:
  std::optional<std::string> generated_line() {
    return number_ < settings_.generated ? std::optional(generate(number_++).line) : std::nullopt;
  }
  std::optional<std::string> read_line() {
    std::string line;
    if (signals_ == STDIN_FILENO) return std::nullopt;  // which was closed, and so was free to be used
    for (;;) {
      while (at_ < end_) {
        const char c = bytes_[at_++];
        if (c == '\n') {
          if (line.ends_with('\r')) line.pop_back();
          return line;
        }
        if (line.size() <= longest_request) line += c;
      }
      if (told_to_stop(-1)) return std::nullopt;
      const auto count = ::read(STDIN_FILENO, bytes_.data(), bytes_.size());
      if (count <= 0) return line.empty() ? std::nullopt : std::optional(line);
      at_ = 0;
      end_ = static_cast<std::size_t>(count);
    }
  }
  // Waits for input, or for a signal to end the server; -1: without a limit.
  bool told_to_stop(int milliseconds) {
    std::array<pollfd, 2> both{{{signals_, POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}}};
    ::poll(both.data(), settings_.from_stdin ? 2 : 1, milliseconds);
    return both[0].revents != 0;
  }

  const settings& settings_;
  const int signals_;
  int number_ = 0;
  std::array<char, 4096> bytes_{};
  std::size_t at_ = 0, end_ = 0;
};

/// Prints answers in the order of the requests, on a thread of its own; counts those that are not as they
/// should be.
class printer {
 public:
  explicit printer(const settings& s) : settings_(s) { answers_.set_capacity(s.queue); }
  printer(const printer&) = delete;
  printer& operator=(const printer&) = delete;
  ~printer() { finish(); }

  /// Blocks while as many answers as the queue holds are not printed yet.
  void add(heddle::future<reply> answer) { answers_.push(std::move(answer)); }
  void finish() {
    if (!thread_.joinable()) return;
    answers_.push({});
    thread_.join();
  }
  // After finish().
  int printed() const { return printed_; }
  int errors() const { return errors_; }
  int wrong() const { return wrong_; }

 private:
  void run() {
    heddle::future<reply> next;
    for (answers_.pop(next); next.valid(); answers_.pop(next)) {
      next.wait();
      const int gpu = next.ran_on().value_or(-1);
      std::optional<double> value;
      std::string text;
      try {
        const reply got = next.get();
        value = got.value;
        std::array<char, 32> digits;
        text.assign(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), *value).ptr);
        if (got.gpu != gpu) ++wrong_;
      } catch (const std::exception& e) {
        text = std::string("error: ") + e.what();
        ++errors_;
      }
      if (gpu < 0 || gpu == settings_.broken) ++wrong_;
      if (!settings_.from_stdin && value != generate(printed_).right) ++wrong_;
      std::printf("#%d gpu %d: %s\n", ++printed_, gpu, text.c_str());
      std::fflush(stdout);
    }
  }

  const settings& settings_;
  tbb::concurrent_bounded_queue<heddle::future<reply>> answers_;
  int printed_ = 0, errors_ = 0, wrong_ = 0;
  std::thread thread_{[this] { run(); }};  // last: it uses the others
};

int serve(const settings& s, const sigset_t& signals) {
  heddle::scheduler_options options;
  options.host.devices = s.devices;
  options.queue_capacity = static_cast<std::size_t>(s.queue);  // submit() waits while it is full
  options.at_start = s.lenient ? heddle::on_start_failure::lenient : heddle::on_start_failure::strict;
  options.on_start = [&](heddle::device_context& device) {
    // Here a worker loads what it needs, on its own thread and with its device bound.
    if (device.id() == s.broken) throw std::runtime_error("cannot load its tables (--break-device)");
  };
  options.on_error = [](const heddle::error_event& e) {
    std::fprintf(stderr, "compute_server: %s\n", e.message.c_str());
  };
  heddle::scheduler server(options);

  for (const auto& device : server.devices())
    std::printf("gpu %d: %s, ready\n", device.id, device.name.c_str());
  for (const auto& each : server.failed())
    std::printf("gpu %d: %s, left out\n", each.info.id, each.info.name.c_str());
  std::fflush(stdout);

  request_source requests(s, signals);
  printer answers(s);
  while (auto request = requests.next()) {
    answers.add(server.submit([line = std::move(*request)] { return answer(line); }));
  }
  answers.finish();
  server.join();

  for (const auto& device : server.stats().devices) {
    std::printf("gpu %d served %llu\n", device.id, static_cast<unsigned long long>(device.started));
  }
  std::printf("%d requests served, %d of them with an error\n", answers.printed(), answers.errors());
  if (answers.wrong() > 0) std::fprintf(stderr, "compute_server: %d answers are wrong\n", answers.wrong());
  return answers.wrong() > 0 ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  settings s;
  CLI::App app("A compute server with one worker thread bound to each device");
  app.footer(footer);
  app.add_option("--devices", s.devices, "how many host devices")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app.add_option("--queue", s.queue, "requests that may wait")
      ->check(CLI::Range(1, 65536))
      ->capture_default_str();
  auto* generated = app.add_option("--requests", s.generated, "how many requests to generate, and to check");
  generated->check(CLI::Range(0, 10'000'000))->capture_default_str();
  app.add_flag("--stdin", s.from_stdin, "read requests from standard input")->excludes(generated);
  app.add_option("--break-device", s.broken, "let the worker of this gpu id fail to start");
  app.add_flag("--lenient", s.lenient, "go on without workers that fail to start; else: refuse");

  // Before any thread exists, so that all of them block the signals that the server hears between requests.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  try {
    app.parse(argc, argv);
    if (s.broken && (*s.broken < 0 || *s.broken >= s.devices)) {
      throw CLI::ValidationError("--break-device", "there is no gpu " + std::to_string(*s.broken) +
                                                       ": give 0 to " + std::to_string(s.devices - 1));
    }
    return serve(s, signals);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  } catch (const heddle::error& e) {
    std::fprintf(stderr, "compute_server: %s\n", e.what());
    return 2;
  }
}
