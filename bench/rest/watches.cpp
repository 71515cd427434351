#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <charconv>
#include <cstring>
#include <mutex>
#include <thread>

#include "bench/rest/client.hpp"

namespace sluice::bench {
namespace {

constexpr std::size_t kSlowBytes = 4096;  // at a time
constexpr auto kSlowEvery = std::chrono::milliseconds(10);

// Events end in `}\n`; a chunk's own lines end in `\r\n`.
std::size_t count_events(std::string_view text, char before) {
  std::size_t out = 0;
  const char* at = text.data();
  const char* const end = at + text.size();
  while ((at = static_cast<const char*>(
              std::memchr(at, '\n', static_cast<std::size_t>(end - at)))) != nullptr) {
    if ((at == text.data() ? before : at[-1]) == '}') ++out;
    ++at;
  }
  return out;
}

std::string_view text_after(std::string_view event, std::string_view name) {
  const std::size_t at = event.find(name);
  if (at == std::string_view::npos) return {};
  const std::size_t begin = at + name.size();
  return event.substr(begin, event.find('"', begin) - begin);
}

struct Stream {
  Stream(const Target& target, int buffer) : socket(target, buffer) {}
  Socket socket;
  bool sampled = false;
  bool open = true;
  char last = 0;
  std::atomic<std::size_t> events{0};
  std::string rest;  // sampled: the beginning of an event
  std::uint64_t version = 0;
};

}  // namespace

struct WatchSet::State {
  Target target;
  int epoll = epoll_create1(0);
  std::vector<std::unique_ptr<Stream>> streams;
  std::unique_ptr<Stream> never, slow;
  std::atomic<bool> stop{false}, in_order{true}, slow_closed{false};
  std::atomic<std::size_t> events{0}, closed{0};
  std::atomic<double> cpu{0};
  mutable std::mutex mutex;
  std::vector<std::pair<std::string, Clock::time_point>> arrivals;  // guarded by mutex
  std::thread thread;

  std::unique_ptr<Stream> open(const std::string& path, int buffer = 0) const {
    auto out = std::make_unique<Stream>(target, buffer);
    out->socket.send(head(target, "GET", path, "", 0));
    return out;
  }
  void run();
  void read(Stream& stream);
  void look_at(Stream& stream, std::string_view text);
};

void WatchSet::State::look_at(Stream& stream, std::string_view text) {
  const auto now = Clock::now();
  stream.rest.append(text);
  std::size_t begin = 0;
  for (std::size_t end; (end = stream.rest.find("}\n", begin)) != std::string::npos;
       begin = end + 2) {
    const std::string_view event = std::string_view(stream.rest).substr(begin, end - begin);
    const std::string_view version = text_after(event, R"("resourceVersion":")");
    std::uint64_t number = 0;
    const char* const end_of_it = version.data() + version.size();
    const bool whole = std::from_chars(version.data(), end_of_it, number).ptr == end_of_it;
    if (!whole) continue;  // the frame of a chunk is in the middle of it
    if (number <= stream.version) in_order = false;
    stream.version = number;
    if (event.find(R"("type":"ADDED")") == std::string_view::npos) continue;
    const std::lock_guard lock(mutex);
    arrivals.emplace_back(text_after(event, R"("name":")"), now);
  }
  stream.rest.erase(0, begin);
}

void WatchSet::State::read(Stream& stream) {
  static thread_local std::string text;
  text.clear();
  stream.open = stream.socket.receive(text, SIZE_MAX);
  const std::size_t found = count_events(text, stream.last);
  if (!text.empty()) stream.last = text.back();
  stream.events.fetch_add(found, std::memory_order_relaxed);
  events.fetch_add(found, std::memory_order_relaxed);
  if (stream.sampled) look_at(stream, text);
  if (stream.open) return;
  closed.fetch_add(1);
  epoll_ctl(epoll, EPOLL_CTL_DEL, stream.socket.fd(), nullptr);
}

void WatchSet::State::run() {
  std::array<epoll_event, 256> ready;
  auto slow_at = Clock::now();
  std::string slow_text;
  while (!stop) {
    const int count = epoll_wait(epoll, ready.data(), static_cast<int>(ready.size()), 10);
    for (int i = 0; i < count; ++i)
      read(*static_cast<Stream*>(ready[static_cast<std::size_t>(i)].data.ptr));
    cpu = thread_cpu();
    if (!slow || slow_closed || Clock::now() < slow_at) continue;
    slow_at = Clock::now() + kSlowEvery;
    slow_text.clear();
    if (!slow->socket.receive(slow_text, kSlowBytes)) slow_closed = true;
    slow->events += count_events(slow_text, slow->last);
    if (!slow_text.empty()) slow->last = slow_text.back();
  }
}

WatchSet::WatchSet(const Target& target, const WatchOptions& options)
    : state_(std::make_unique<State>()) {
  state_->target = target;
  for (const std::string& path : options.paths) {
    state_->streams.push_back(state_->open(path));
    Stream& stream = *state_->streams.back();
    stream.sampled = state_->streams.size() <= options.sampled;
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = &stream;
    epoll_ctl(state_->epoll, EPOLL_CTL_ADD, stream.socket.fd(), &event);
  }
  if (options.one_never_reads) state_->never = state_->open(options.paths.front(), 4096);
  if (options.one_reads_slowly) state_->slow = state_->open(options.paths.front(), 4096);
  state_->thread = std::thread([state = state_.get()] { state->run(); });
}

WatchSet::~WatchSet() {
  state_->stop = true;
  state_->thread.join();
  close(state_->epoll);
}

std::size_t WatchSet::events() const { return state_->events; }
std::size_t WatchSet::closed() const { return state_->closed; }
bool WatchSet::slow_closed() const { return state_->slow_closed; }
bool WatchSet::in_order() const { return state_->in_order; }
double WatchSet::cpu_seconds() const { return state_->cpu; }

std::size_t WatchSet::fewest() const {
  std::size_t out = SIZE_MAX;
  for (const auto& stream : state_->streams) out = std::min(out, stream->events.load());
  return out;
}

std::size_t WatchSet::events_of_slow() const {
  return state_->slow ? state_->slow->events.load() : 0;
}

std::vector<std::pair<std::string, Clock::time_point>> WatchSet::arrivals() const {
  const std::lock_guard lock(state_->mutex);
  return state_->arrivals;
}

}  // namespace sluice::bench
