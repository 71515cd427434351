#include "host/apiserver/worker.hpp"

#include <fmt/chrono.h>
#include <pthread.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <ctime>
#include <exception>
#include <optional>
#include <utility>

#include "host/apiserver/connection.hpp"
#include "host/apiserver/responder.hpp"
#include "host/base/log.hpp"

namespace sluice::host {
namespace {

constexpr auto kSweepEvery = std::chrono::milliseconds(500);
constexpr auto kPumpsAtATime = std::chrono::milliseconds(1);  // then requests have their turn
// After streams took a while, they rest for several times as long: what comes meanwhile goes out
// together, which costs little more than one event alone.
constexpr int kRestFactor = 3;
constexpr auto kLongestRest = std::chrono::seconds(1);
// Requests in hand of one I/O thread from which on users have shares: enough for whatever answers
// many at a time.
constexpr std::size_t kInHand = 32;
constexpr std::int64_t kForgetUsersMs = 200;  // who asks that often has a share all the time

}  // namespace

Worker::Worker(std::shared_ptr<ListenerShared> shared)
    : shared_(std::move(shared)),
      limits_(shared_->options.limits),
      io_(1),
      guard_(io_.get_executor()),
      timer_(io_),
      scratch_(std::make_unique<std::array<char, 64U << 10>>()),
      shares_(kInHand) {}

Worker::~Worker() = default;

void Worker::start() {
  auto self = shared_from_this();
  thread_ = std::thread([self] { self->run(); });
}

void Worker::run() {
  thread_id_ = std::this_thread::get_id();
  pthread_setname_np(pthread_self(), ("io-" + shared_->options.name).substr(0, 15).c_str());
  while (true) {
    try {
      io_.run();
      return;
    } catch (const std::exception& error) {
      // A handler that throws (no memory, say) loses its own request: its exchange answers 500.
      log(LogLevel::kError, "api", "a request ended in an exception", {{"what", error.what()}});
    }
  }
}

void Worker::stop() {
  auto self = shared_from_this();
  post([self] {
    self->closing_ = true;
    while (!self->open_.empty()) (*self->open_.begin())->close();
    self->timers_.clear();
    self->timer_.cancel();
    self->guard_.reset();
  });
  if (thread_.joinable()) thread_.join();
  thread_id_ = std::thread::id();
  std::vector<Task> dropped;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    dropped.swap(posted_);
  }
}

void Worker::post(Task task) {
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    first = posted_.empty();
    posted_.push_back(std::move(task));
  }
  // One wake-up for all tasks that pile up until the thread comes to them.
  if (first) boost::asio::post(io_, [self = shared_from_this()] { self->run_posted(); });
}

void Worker::dispatch(Task task) {
  if (is_this_thread())
    task();
  else
    post(std::move(task));
}

void Worker::run_posted() {
  std::vector<Task> tasks;
  {
    const std::lock_guard lock(mutex_);
    tasks.swap(posted_);
  }
  for (auto& task : tasks) {
    try {
      task();
    } catch (const std::exception& error) {
      log(LogLevel::kError, "api", "a task ended in an exception", {{"what", error.what()}});
    }
    task = nullptr;
  }
}

void Worker::take_turn(const std::string& user, Task task) {
  turns_.push(user, std::move(task));
  if (std::exchange(taking_turns_, true)) return;
  boost::asio::post(io_, [self = shared_from_this()] { self->carry_out_turns(); });
}

void Worker::carry_out_turns() {
  constexpr int kAtOnce = 4;
  for (int i = 0; i < kAtOnce && !turns_.empty(); ++i) {
    const std::optional<Task> task = turns_.pop();
    try {
      (*task)();
    } catch (const std::exception& error) {
      // Dropped without an answer, its exchange answers 500.
      log(LogLevel::kError, "api", "a request ended in an exception", {{"what", error.what()}});
    }
  }
  taking_turns_ = !turns_.empty();
  if (taking_turns_)
    boost::asio::post(io_, [self = shared_from_this()] { self->carry_out_turns(); });
}

void Worker::request_begins(const std::string& user) {
  shares_.begin(user);
  if (std::exchange(forgetting_, true)) return;
  after(kForgetUsersMs, [this] { forget_users(); });
}

void Worker::forget_users() {
  forgetting_ = shares_.forget();
  if (forgetting_) after(kForgetUsersMs, [this] { forget_users(); });
}

void Worker::request_ends(const std::string& user) {
  shares_.end(user);
  if (!shares_.waits(user)) return;
  to_resume_.insert(user);
  if (to_resume_.size() == 1)
    boost::asio::post(io_, [self = shared_from_this()] { self->resume_some(); });
}

bool Worker::let_wait(const std::string& user, const std::shared_ptr<Connection>& connection) {
  if (!shares_.full(user)) return false;
  shares_.wait(user, connection);
  return true;
}

/// Each is asked at once what it has: one that has nothing leaves its place to the next.
void Worker::resume_some() {
  for (const std::string& user : std::exchange(to_resume_, {}))
    while (const auto waiting = shares_.next(user))
      if (const auto connection = waiting->lock()) connection->resume();
}

void Worker::pump_soon(std::weak_ptr<Sender> sender) {
  to_pump_.push_back(std::move(sender));
  if (std::exchange(pumping_, true)) return;
  pumped_ = {};
  boost::asio::post(io_, [self = shared_from_this()] { self->pump_some(); });
}

void Worker::pump_some() {
  const auto begin = std::chrono::steady_clock::now();
  auto now = begin;
  while (!to_pump_.empty() && now - begin < kPumpsAtATime) {
    const auto sender = to_pump_.front().lock();
    to_pump_.pop_front();
    try {
      if (sender) sender->pump();
    } catch (const std::exception& error) {
      log(LogLevel::kError, "api", "a stream ended in an exception", {{"what", error.what()}});
      sender->give_up();
    }
    now = std::chrono::steady_clock::now();
  }
  pumped_ += now - begin;
  pumping_ = !to_pump_.empty();
  if (pumping_) return boost::asio::post(io_, [self = shared_from_this()] { self->pump_some(); });
  if (pumped_ > kPumpsAtATime)
    pumps_rest_until_ = now + std::min<SteadyTime::duration>(kRestFactor * pumped_, kLongestRest);
}

SteadyTime Worker::streams_rest_until() const {
  // Not for ever: streams that read the history at their own pace may keep it busy for long.
  const bool busy = pumping_ && pumped_ < kLongestRest;
  return busy ? std::chrono::steady_clock::now() + kPumpsAtATime : pumps_rest_until_;
}

void Worker::after(std::int64_t delay_ms, Task task) {
  if (closing_) return;
  const auto when = std::chrono::steady_clock::now() + std::chrono::milliseconds(delay_ms);
  const auto place = timers_.emplace(when, std::move(task));
  if (place == timers_.begin()) arm();
}

void Worker::arm() {
  if (timers_.empty()) return;
  timer_.expires_at(timers_.begin()->first);
  timer_.async_wait([self = shared_from_this()](const boost::system::error_code& error) {
    if (error) return;
    const auto now = std::chrono::steady_clock::now();
    while (!self->timers_.empty() && self->timers_.begin()->first <= now) {
      const Task task = std::move(self->timers_.begin()->second);
      self->timers_.erase(self->timers_.begin());
      task();
    }
    self->arm();
  });
}

void Worker::add(const std::shared_ptr<Connection>& connection) {
  open_.insert(connection);
  count_.fetch_add(1, std::memory_order_relaxed);
  if (sweeping_) return;
  sweeping_ = true;
  after(kSweepEvery.count(), [this] { sweep(); });
}

void Worker::remove(const std::shared_ptr<Connection>& connection) {
  if (open_.erase(connection) > 0) count_.fetch_sub(1, std::memory_order_relaxed);
}

void Worker::sweep() {
  const auto now = std::chrono::steady_clock::now();
  std::vector<std::shared_ptr<Connection>> late;
  for (const auto& connection : open_)
    if (connection->deadline() <= now) late.push_back(connection);
  for (const auto& connection : late) connection->expire();
  sweeping_ = !open_.empty();
  if (sweeping_) after(kSweepEvery.count(), [this] { sweep(); });
}

bool Worker::shed() {
  // The longer queue is the one that is being flooded.
  Queue& queue = fresh.size() >= idle.size() ? fresh : idle;
  if (queue.empty()) return false;
  queue.front()->close();
  return true;
}

void Worker::drain() {
  const std::vector<std::shared_ptr<Connection>> open(open_.begin(), open_.end());
  for (const auto& connection : open) connection->drain();
}

const std::string& Worker::date() {
  const std::int64_t second = std::time(nullptr);
  if (second != date_second_) {
    date_second_ = second;
    date_ = fmt::format("{:%a, %d %b %Y %H:%M:%S} GMT", fmt::gmtime(second));
  }
  return date_;
}

}  // namespace sluice::host
