// Http2Connection: one client's HTTP/2 conversation: many requests at a time, each a Http2Stream.
//
// Joins an H2Session (framing), the socket, and the clocks: of the connection while it has no
// stream, of each stream otherwise. What is to be sent leaves as the socket takes it; while it
// takes nothing, nothing is read either, so that answers to what is read cannot pile up. Streams
// share one budget for answers that are not taken: beyond it requests are refused. On its worker's
// thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "host/apiserver/connection.hpp"
#include "host/apiserver/h2_session.hpp"
#include "host/apiserver/responder.hpp"

namespace sluice::host {

class Http2Stream;

class Http2Connection final : public Connection, public Sender, private H2Session::Events {
 public:
  explicit Http2Connection(Connection& before);
  ~Http2Connection() override;

  void expire() override;
  void drain() override;
  void pump() override;
  void give_up() override { close(); }

  // ---- from its streams, on the worker's thread
  H2Session& session() { return session_; }
  const std::shared_ptr<Worker>& worker() const { return worker_; }
  const std::shared_ptr<OutputBudget>& budget() const { return budget_; }
  void flush_soon();  ///< behind what is ready now, so that several answers leave together
  void pump_soon();   ///< behind requests that are ready
  void drained(std::shared_ptr<Http2Stream> stream);  ///< its queue is empty
  void look_at(SteadyTime when);                      ///< a stream has a deadline then
  std::shared_ptr<Connection> self() { return shared_from_this(); }
  /// Of streams that are not destroyed: also those that are gone and still carried out. Any thread.
  std::atomic<std::size_t>& carried() { return carried_; }

 private:
  void begin(std::string first) override;
  void readable() override;
  void writable() override;
  void closing() override;

  void head(std::int32_t stream, H2Head head, bool complete) override;
  void body(std::int32_t stream, std::string_view piece) override;
  void complete(std::int32_t stream) override;
  void closed(std::int32_t stream) override;
  H2Session::Part read(std::int32_t stream, std::span<char> into) override;

  void take_in(std::string_view bytes);
  void flush();
  void wait_for_requests();
  void retire();  ///< takes no new requests, and leaves when the last answer is sent
  void leave();
  void note_failure();
  Http2Stream* find(std::int32_t stream);
  bool wire_stalled(SteadyTime now);

  H2Session session_;
  const std::shared_ptr<OutputBudget> budget_;
  std::unordered_map<std::int32_t, std::shared_ptr<Http2Stream>> streams_;
  std::vector<std::shared_ptr<Http2Stream>> drained_;
  std::atomic<std::size_t> carried_{0};
  SteadyTime idle_until_ = SteadyTime::max();
  SteadyTime wire_until_ = SteadyTime::max();  // while the socket takes nothing
  bool served_ = false;                        // there was a request
  bool retiring_ = false;
  bool leaving_ = false;
  bool broken_ = false;        // nothing more can be said in this session
  bool flushing_ = false;      // flush() is on the stack
  bool flush_posted_ = false;  // flush() will be called
  bool pump_posted_ = false;   // pump() will be called
  bool failure_noted_ = false;
  std::size_t discarded_ = 0;
};

}  // namespace sluice::host
