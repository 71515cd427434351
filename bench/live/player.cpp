#include "bench/live/player.hpp"

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <deque>
#include <memory>
#include <queue>
#include <unordered_map>

#include "bench/live/event_stream.hpp"

namespace sluice::bench {
namespace {

using Micros = std::int64_t;  // since the clock of the load started

/// One workload as the client knows it.
struct Known {
  Micros created = 0;
  Micros admitted = -1;      // -1: not now
  std::uint32_t starts = 0;  // what a timer has to find unchanged
  bool asked_to_finish = false;
};

struct Timer {
  Micros at;
  std::size_t workload;
  std::uint32_t start;
  bool operator>(const Timer& other) const { return at > other.at; }
};

struct Request {
  std::size_t workload;
  bool creates;
};

struct Line {
  explicit Line(const Target& target) : socket(target) {}
  Socket socket;
  std::string in;
  Request request{};
  Micros sent = 0;
};

/// The status of a condition in an event: the text between its type and the end of the condition.
bool is_true(std::string_view event, std::string_view type) {
  const std::size_t at = event.find(type);
  if (at == std::string_view::npos) return false;
  const std::size_t begin = event.rfind('{', at), end = event.find('}', at);
  return event.substr(begin, end - begin).find(R"("status":"True")") != std::string_view::npos;
}

class Player {
 public:
  Player(const Target& target, const Load& load, std::size_t connections)
      : load_(load), epoll_(epoll_create1(0)), watch_(target), known_(load.arrivals.size()) {
    for (std::size_t i = 0; i < load.arrivals.size(); ++i) index_.emplace(load.arrivals[i].name, i);
    for (std::size_t i = 0; i < connections; ++i) {
      lines_.push_back(std::make_unique<Line>(target));
      listen(lines_.back()->socket.fd(), lines_.back().get());
      idle_.push_back(lines_.back().get());
    }
    listen(watch_.fd(), nullptr);
    watch_.send(head(target, "GET", load.watch + "?watch=1", "", 0));
    out_.to_admission.resize(load.sorts.size());
  }
  ~Player() { close(epoll_); }
  Player(const Player&) = delete;
  Player& operator=(const Player&) = delete;

  Played run();

 private:
  void listen(int fd, Line* line) const {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = line;
    epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
  }
  Micros now() const {
    return std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin_).count();
  }
  int wait_ms() const;
  void ask_what_is_due();
  void send_what_waits();
  void read_answer(Line& line);
  void read_watch();
  void see(std::string_view event);
  void stop_running(const Arrival& arrival, Known& known);

  const Load& load_;
  const int epoll_;
  Socket watch_;
  EventStream events_;
  Clock::time_point begin_;
  std::vector<std::unique_ptr<Line>> lines_;
  std::vector<Line*> idle_;
  std::deque<Request> waiting_;
  std::priority_queue<Timer, std::vector<Timer>, std::greater<>> timers_;
  std::unordered_map<std::string_view, std::size_t> index_;
  std::vector<Known> known_;
  std::size_t next_arrival_ = 0, finished_ = 0;
  std::string piece_;
  Played out_;
};

Played Player::run() {
  const double cpu = thread_cpu();
  begin_ = Clock::now();
  Micros last_answer = 0;
  std::array<epoll_event, 256> ready;
  while (finished_ < known_.size()) {
    ask_what_is_due();
    send_what_waits();
    const int count = epoll_wait(epoll_, ready.data(), static_cast<int>(ready.size()), wait_ms());
    for (int i = 0; i < count; ++i) {
      last_answer = now();
      if (auto* line = static_cast<Line*>(ready[static_cast<std::size_t>(i)].data.ptr))
        read_answer(*line);
      else
        read_watch();
    }
    if (now() - last_answer > 60'000'000) fail("nothing came for 60 s");
  }
  out_.span_seconds = static_cast<double>(now()) / 1e6;
  out_.client_cpu_seconds = thread_cpu() - cpu;
  return std::move(out_);
}

/// Until the next timer or arrival; a second at most.
int Player::wait_ms() const {
  Micros at = now() + 1'000'000;
  if (!timers_.empty()) at = std::min(at, timers_.top().at);
  if (next_arrival_ < known_.size()) at = std::min(at, load_.arrivals[next_arrival_].at_us);
  return static_cast<int>(std::max<Micros>(0, (at - now() + 999) / 1000));
}

void Player::ask_what_is_due() {
  const Micros time = now();
  for (; next_arrival_ < known_.size() && load_.arrivals[next_arrival_].at_us <= time;
       ++next_arrival_)
    waiting_.push_back({next_arrival_, true});
  for (; !timers_.empty() && timers_.top().at <= time; timers_.pop()) {
    Known& known = known_[timers_.top().workload];
    if (known.starts != timers_.top().start || known.admitted < 0) continue;  // evicted meanwhile
    known.asked_to_finish = true;
    waiting_.push_back({timers_.top().workload, false});
  }
}

void Player::send_what_waits() {
  for (; !waiting_.empty() && !idle_.empty(); waiting_.pop_front(), idle_.pop_back()) {
    Line& line = *idle_.back();
    line.request = waiting_.front();
    line.sent = now();
    const Arrival& arrival = load_.arrivals[line.request.workload];
    if (line.request.creates) {
      known_[line.request.workload].created = line.sent;
      out_.late_ms =
          std::max(out_.late_ms, static_cast<double>(line.sent - arrival.at_us) / 1000.0);
    }
    line.socket.send(line.request.creates ? arrival.create : arrival.finish);
  }
}

void Player::read_answer(Line& line) {
  if (receive_answer(line.socket, line.in).size == 0) return;
  Latencies& latencies = line.request.creates ? out_.create : out_.finish;
  latencies.micros.push_back(static_cast<std::uint32_t>(now() - line.sent));
  if (!line.request.creates) {
    stop_running(load_.arrivals[line.request.workload], known_[line.request.workload]);
    ++finished_;
  }
  line.in.clear();
  idle_.push_back(&line);
}

void Player::read_watch() {
  piece_.clear();
  if (!watch_.receive(piece_, SIZE_MAX)) fail("the host closed the watch");
  events_.feed(piece_);
  for (std::string_view event = events_.next(); !event.empty(); event = events_.next()) see(event);
}

void Player::stop_running(const Arrival& arrival, Known& known) {
  if (known.admitted < 0) return;
  out_.used_cpu_seconds += arrival.cpus * static_cast<double>(now() - known.admitted) / 1e6;
  known.admitted = -1;
  ++known.starts;
}

void Player::see(std::string_view event) {
  const std::size_t metadata = event.find(R"("metadata":{)");
  const auto found = index_.find(member(event.substr(metadata), "name"));
  if (found == index_.end()) fail("a watch tells of an unknown workload: " + std::string(event));
  const Arrival& arrival = load_.arrivals[found->second];
  Known& known = known_[found->second];
  if (known.asked_to_finish) return;
  const bool admitted = is_true(event, R"("type":"Admitted")");
  if (admitted == (known.admitted >= 0)) return;
  if (!admitted) {
    ++out_.evictions;
    return stop_running(arrival, known);
  }
  known.admitted = now();
  ++out_.admissions;
  timers_.push({known.admitted + arrival.runtime_us, found->second, known.starts});
  out_.to_admission[arrival.sort].micros.push_back(
      static_cast<std::uint32_t>(known.admitted - known.created));
}

}  // namespace

Played play(const Target& target, const Load& load, std::size_t connections) {
  return Player(target, load, connections).run();
}

}  // namespace sluice::bench
