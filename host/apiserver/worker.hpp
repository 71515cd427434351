// Worker: one I/O thread with its connections, timers and tasks.
//
// Everything of a connection happens on its Worker's thread; post() is the way there from others.
// After the thread ended, tasks are dropped: an Exchange or a Stream that is still held may be used
// and has no effect.
#pragma once

#include <array>
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_set>
#include <vector>

#include "host/apiserver/byte_budget.hpp"
#include "host/apiserver/exchange.hpp"
#include "host/apiserver/listener.hpp"
#include "host/apiserver/shares.hpp"
#include "host/apiserver/tls.hpp"
#include "host/base/fair_queue.hpp"

namespace sluice::host {

class Connection;
class Sender;

using SteadyTime = std::chrono::steady_clock::time_point;
using Task = std::function<void()>;

/// What all connections of a listener share.
struct ListenerShared {
  ListenerOptions options;
  Handler handler;
  HeadCheck check;
  std::shared_ptr<const TlsContext> tls;  ///< in force; std::atomic_load, std::atomic_store
  const std::shared_ptr<ByteBudget> bodies = std::make_shared<ByteBudget>();
  const std::shared_ptr<ByteBudget> answers = std::make_shared<ByteBudget>();  ///< not taken yet
  std::atomic<std::uint64_t> accepted{0}, turned_away{0}, timed_out{0}, given_up{0}, requests{0};
  std::atomic<std::uint64_t> misbehaved{0};
  std::atomic<std::size_t> open_connections{0}, open_streams{0};
  std::atomic<std::size_t> http2_connections{0}, http2_streams{0};
  std::atomic<bool> stopping{false};
  std::mutex mutex;
  std::condition_variable closed;  ///< a connection was closed

  void connection_closed() {
    const std::lock_guard lock(mutex);
    open_connections.fetch_sub(1);
    closed.notify_all();
  }
};

class Worker final : public TaskThread, public std::enable_shared_from_this<Worker> {
 public:
  explicit Worker(std::shared_ptr<ListenerShared> shared);
  ~Worker() override;

  void start();
  /// Ends the thread; connections that are open are closed at once.
  void stop();

  // ---- any thread
  /// Runs `task` on the thread, in order; dropped when it ended.
  void post(Task task) override;
  /// The same, at once when this is the thread.
  void dispatch(Task task);
  bool is_this_thread() const { return std::this_thread::get_id() == thread_id_.load(); }
  std::size_t connections() const { return count_.load(std::memory_order_relaxed); }
  boost::asio::io_context& io() { return io_; }
  ListenerShared& shared() { return *shared_; }

  // ---- its own thread
  const ListenerLimits& limits() const { return limits_; }
  void set_limits(const ListenerLimits& limits) { limits_ = limits; }
  void after(std::int64_t delay_ms, Task task) override;
  /// Has it send behind the requests that are ready now: thousands of streams must not hold up one
  /// request.
  void pump_soon(std::weak_ptr<Sender> sender);
  SteadyTime streams_rest_until() const override;
  /// Carries out a request of the user when it is his turn: one of each user after the other, and
  /// sockets are looked at in between. So who has a thousand connections makes others wait for one
  /// of his requests, and for reading them.
  void take_turn(const std::string& user, Task task);
  /// A request of the user is in hand from here on, until it has its answer or streams.
  void request_begins(const std::string& user);
  void request_ends(const std::string& user);
  /// Whether the connection, of which no request is in hand, is read later because its user has his
  /// share in hand: Connection::resume() is called then.
  bool let_wait(const std::string& user, const std::shared_ptr<Connection>& connection);
  void add(const std::shared_ptr<Connection>& connection);
  void remove(const std::shared_ptr<Connection>& connection);
  /// Closes the connection that waited longest for a request. False: none waits.
  bool shed();
  /// Asks all connections to end in order.
  void drain();
  /// Room for one read from a socket; contents are those of the last one.
  std::array<char, 64U << 10>& scratch() { return *scratch_; }
  /// The present second, as headers say it.
  const std::string& date();

  /// Connections that wait for a request, longest first: those that made none yet, and the others.
  using Queue = std::list<Connection*>;
  Queue fresh, idle;

 private:
  void run();
  void run_posted();
  void pump_some();
  void carry_out_turns();
  void resume_some();
  void forget_users();
  void arm();
  void sweep();

  std::shared_ptr<ListenerShared> shared_;
  ListenerLimits limits_;
  boost::asio::io_context io_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> guard_;
  boost::asio::steady_timer timer_;
  std::multimap<SteadyTime, Task> timers_;
  std::unordered_set<std::shared_ptr<Connection>> open_;
  std::unique_ptr<std::array<char, 64U << 10>> scratch_;
  std::string date_;
  std::int64_t date_second_ = 0;
  std::deque<std::weak_ptr<Sender>> to_pump_;
  bool pumping_ = false;  // pump_some() will run
  FairQueue<Task> turns_;
  bool taking_turns_ = false;  // carry_out_turns() will run
  Shares<std::weak_ptr<Connection>> shares_;
  std::unordered_set<std::string> to_resume_;  // users; unless empty, resume_some() will run
  SteadyTime::duration pumped_{0};             // since to_pump_ was empty
  SteadyTime pumps_rest_until_{};
  bool sweeping_ = false;
  bool forgetting_ = false;  // forget_users() will run
  bool closing_ = false;     // no timer begins any more
  std::atomic<std::size_t> count_{0};

  std::mutex mutex_;
  std::vector<Task> posted_;  // guarded by mutex_
  bool ended_ = false;        // guarded by mutex_
  std::atomic<std::thread::id> thread_id_;
  std::thread thread_;
};

}  // namespace sluice::host
