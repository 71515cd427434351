#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "bench/rest/client.hpp"

namespace sluice::bench {
namespace {

Answer parse(std::string_view text) {
  const std::size_t end = text.find("\r\n\r\n");
  if (end == std::string_view::npos) return {};
  Answer out;
  const std::string_view head = text.substr(0, end);
  std::from_chars(head.data() + 9, head.data() + 12, out.status);
  constexpr std::string_view kLength = "Content-Length: ";
  const std::size_t begin = end + 4;
  if (const std::size_t at = head.find(kLength); at != std::string_view::npos) {
    std::size_t length = 0;
    std::from_chars(head.data() + at + kLength.size(), head.data() + head.size(), length);
    if (text.size() < begin + length) return {};
    out.size = begin + length;
  } else {  // chunked: nothing follows, since nothing else was asked for
    if (!text.ends_with("\r\n0\r\n\r\n")) return {};
    out.size = text.size();
  }
  out.body = text.substr(begin, out.size - begin);
  return out;
}

struct Line {
  explicit Line(const Target& target) : socket(target) {}
  Socket socket;
  std::string in, request;
  Clock::time_point sent;
  bool busy = false;
};

class Calls {
 public:
  Calls(const Target& target, const CallOptions& options, const NextRequest& next)
      : options_(options), next_(next), epoll_(epoll_create1(0)) {
    for (std::size_t i = 0; i < options.connections; ++i) {
      lines_.push_back(std::make_unique<Line>(target));
      epoll_event event{};
      event.events = EPOLLIN;
      event.data.ptr = lines_.back().get();
      epoll_ctl(epoll_, EPOLL_CTL_ADD, lines_.back()->socket.fd(), &event);
    }
  }
  ~Calls() { close(epoll_); }
  Calls(const Calls&) = delete;
  Calls& operator=(const Calls&) = delete;

  CallResult run() {
    const auto begin = Clock::now();
    const double cpu = thread_cpu();
    if (std::isfinite(options_.seconds))
      stop_ = begin + std::chrono::microseconds(static_cast<std::int64_t>(options_.seconds * 1e6));
    for (const auto& line : lines_) start(*line);
    std::array<epoll_event, 128> events;
    while (busy_ > 0) {
      const int count = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), 30'000);
      if (count == 0) fail("no answer for 30 s");
      for (int i = 0; i < count; ++i)
        readable(*static_cast<Line*>(events[static_cast<std::size_t>(i)].data.ptr));
    }
    result_.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    result_.client_cpu = thread_cpu() - cpu;
    return std::move(result_);
  }

 private:
  void start(Line& line) {
    line.sent = Clock::now();
    if (line.sent >= stop_ || !next_(line.request)) return;
    line.busy = true;
    ++busy_;
    line.socket.send(line.request);
  }

  void readable(Line& line) {
    const Answer answer = receive_answer(line.socket, line.in);
    if (!line.busy || answer.size == 0) return;
    const auto now = Clock::now();
    result_.latencies.micros.push_back(static_cast<std::uint32_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(now - line.sent).count()));
    ++result_.requests;
    result_.bytes += answer.size;
    if (options_.answered) options_.answered(answer.body, line.sent);
    line.in.clear();
    line.busy = false;
    --busy_;
    start(line);
  }

  const CallOptions& options_;
  const NextRequest& next_;
  const int epoll_;
  std::vector<std::unique_ptr<Line>> lines_;
  std::size_t busy_ = 0;
  Clock::time_point stop_ = Clock::time_point::max();
  CallResult result_;
};

}  // namespace

Answer receive_answer(Socket& socket, std::string& in) {
  const bool open = socket.receive(in, 1U << 20);
  if (!socket.flush()) return {};
  const Answer answer = parse(in);
  if (answer.size == 0 && !open) fail("the host closed a connection before it answered");
  if (answer.size > 0 && answer.status / 100 != 2)
    fail("status " + std::to_string(answer.status) + ": " + std::string(answer.body));
  return answer;
}

std::string member(std::string_view json, std::string_view name) {
  const std::string key = "\"" + std::string(name) + "\":\"";
  const std::size_t at = json.find(key);
  if (at == std::string_view::npos) fail("an answer without " + std::string(name));
  const std::size_t begin = at + key.size();
  return std::string(json.substr(begin, json.find('"', begin) - begin));
}

double Latencies::percentile(double part) {
  if (micros.empty()) return 0;
  const auto at = static_cast<std::ptrdiff_t>(part * static_cast<double>(micros.size() - 1));
  std::nth_element(micros.begin(), micros.begin() + at, micros.end());
  return micros[static_cast<std::size_t>(at)] / 1000.0;
}

CallResult call_many(const Target& target, const CallOptions& options, const NextRequest& next) {
  return Calls(target, options, next).run();
}

std::string call_once(const Target& target, std::string_view method, std::string_view path,
                      std::string_view body) {
  std::string out;
  bool made = false;
  CallOptions options;
  options.connections = 1;
  options.seconds = INFINITY;
  options.answered = [&](std::string_view text, Clock::time_point) { out = text; };
  call_many(target, options, [&](std::string& text) {
    if (std::exchange(made, true)) return false;
    text = head(target, method, path, body.empty() ? "" : "application/json", body.size());
    text.append(body);
    return true;
  });
  return out;
}

}  // namespace sluice::bench
