#include "host/apiserver/http2_connection.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

#include "host/apiserver/http2_stream.hpp"
#include "host/base/log.hpp"

namespace sluice::host {
namespace {

constexpr std::size_t kBatch = 64U << 10;       // handed to the wire at a time
constexpr std::size_t kMostIgnored = 8U << 20;  // read after the farewell
constexpr std::int64_t kFarewellMs = 2'000;     // for the client to close
constexpr std::size_t kCarriedPerStream = 2;    // of the limit of streams

H2Limits limits_of(const ListenerLimits& limits) {
  return {static_cast<std::uint32_t>(limits.streams), limits.header_bytes};
}

}  // namespace

Http2Connection::Http2Connection(Connection& before)
    : Connection(before),
      session_(*this, limits_of(worker_->limits()), std::chrono::steady_clock::now()),
      budget_(std::make_shared<OutputBudget>(worker_->limits().answers_bytes)) {
  worker_->shared().http2_connections.fetch_add(1, std::memory_order_relaxed);
}

Http2Connection::~Http2Connection() = default;

void Http2Connection::begin(std::string first) {
  enter_queue(worker_->fresh);
  idle_until_ = deadline_;  // until the end of the first head
  take_in(first);
}

void Http2Connection::readable() {
  std::string bytes;
  const auto input = wire_.receive(bytes, worker_->scratch());
  if (input == Wire::Input::kEnded || input == Wire::Input::kBroken) return close();
  if (!leaving_) return take_in(bytes);
  discarded_ += bytes.size();
  if (discarded_ > kMostIgnored) return close();
  watch_input();
}

void Http2Connection::take_in(std::string_view bytes) {
  const auto self = shared_from_this();
  broken_ = !session_.feed(bytes, std::chrono::steady_clock::now());
  if (broken_) return close();
  flush();
  if (Connection::closed()) return;
  if (wire_.unsent() <= kBatch) watch_input();  // else writable() does
}

void Http2Connection::flush_soon() {
  if (std::exchange(flush_posted_, true)) return;
  boost::asio::post(worker_->io(), [self = shared_from_this(), this] {
    flush_posted_ = false;
    flush();
  });
}

void Http2Connection::pump_soon() {
  if (std::exchange(pump_posted_, true)) return;
  worker_->pump_soon(std::shared_ptr<Sender>(shared_from_this(), this));
}

void Http2Connection::pump() {
  pump_posted_ = false;
  flush();
}

void Http2Connection::flush() {
  if (flushing_ || Connection::closed() || leaving_) return;
  const auto self = shared_from_this();
  flushing_ = true;
  bool ok = true;
  while (ok && wire_.unsent() == 0) {
    std::string batch;
    ok = session_.take(batch, kBatch);
    if (batch.empty()) break;
    ok = ok && wire_.send(batch);
  }
  flushing_ = false;
  if (!ok) return close();
  if (wire_.unsent() > 0) {
    if (wire_until_ == SteadyTime::max()) {
      last_taken_ = wire_.taken();
      wire_until_ =
          std::chrono::steady_clock::now() + std::chrono::milliseconds(worker_->limits().stall_ms);
      look_at(wire_until_);
    }
    return watch_output();
  }
  wire_until_ = SteadyTime::max();
  for (const auto& stream : std::exchange(drained_, {})) stream->call_ready();
  if (session_.over()) leave();
}

void Http2Connection::writable() {
  flush();
  if (!Connection::closed() && wire_.unsent() <= kBatch) watch_input();
}

void Http2Connection::drained(std::shared_ptr<Http2Stream> stream) {
  drained_.push_back(std::move(stream));
}

void Http2Connection::look_at(SteadyTime when) { deadline_ = std::min(deadline_, when); }

Http2Stream* Http2Connection::find(std::int32_t stream) {
  const auto found = streams_.find(stream);
  return found == streams_.end() ? nullptr : found->second.get();
}

void Http2Connection::head(std::int32_t stream, H2Head head, bool complete) {
  auto& shared = worker_->shared();
  shared.requests.fetch_add(1, std::memory_order_relaxed);
  // Requests that were reset may still be carried out: a client does not get more work done by it.
  if (carried_ >= kCarriedPerStream * worker_->limits().streams)
    return session_.reset(stream, H2Code::kRefused);
  leave_queue();
  served_ = true;
  idle_until_ = SteadyTime::max();
  auto made =
      std::make_shared<Http2Stream>(std::static_pointer_cast<Http2Connection>(self()), stream);
  streams_.emplace(stream, made);
  shared.http2_streams.fetch_add(1, std::memory_order_relaxed);
  Request request;
  request.peer = peer_;
  request.certificate = client();
  made->begin(std::move(head), std::move(request), complete, turned_away_);
  if (turned_away_ || shared.stopping) retire();
}

void Http2Connection::body(std::int32_t stream, std::string_view piece) {
  if (auto* found = find(stream)) found->body(piece);
}

void Http2Connection::complete(std::int32_t stream) {
  if (auto* found = find(stream)) found->complete();
}

void Http2Connection::closed(std::int32_t stream) {
  const auto found = streams_.find(stream);
  if (found == streams_.end()) return;
  const auto gone = std::move(found->second);
  streams_.erase(found);
  worker_->shared().http2_streams.fetch_sub(1, std::memory_order_relaxed);
  gone->closed();
  if (streams_.empty()) wait_for_requests();
}

H2Session::Part Http2Connection::read(std::int32_t stream, std::span<char> into) {
  auto* found = find(stream);
  return found == nullptr ? H2Session::Part{0, true} : found->read(into);
}

void Http2Connection::wait_for_requests() {
  idle_until_ =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(worker_->limits().idle_ms);
  look_at(idle_until_);
  if (!retiring_) enter_queue(worker_->idle);
}

bool Http2Connection::wire_stalled(SteadyTime now) {
  if (now < wire_until_) return false;
  if (wire_.taken() == last_taken_) return true;
  last_taken_ = wire_.taken();
  wire_until_ = now + std::chrono::milliseconds(worker_->limits().stall_ms);
  return false;
}

void Http2Connection::expire() {
  if (leaving_) return close();
  const auto self = shared_from_this();
  const auto now = std::chrono::steady_clock::now();
  auto& shared = worker_->shared();
  if (wire_stalled(now)) {
    shared.timed_out.fetch_add(1, std::memory_order_relaxed);
    return close();
  }
  // While the socket takes nothing, streams cannot: the deadline is the connection's.
  if (wire_until_ == SteadyTime::max()) {
    std::vector<std::shared_ptr<Http2Stream>> open;
    for (const auto& entry : streams_) open.push_back(entry.second);
    for (const auto& stream : open) stream->expire(now);
  }
  deadline_ = std::min(idle_until_, wire_until_);
  for (const auto& entry : streams_)
    if (wire_until_ == SteadyTime::max()) look_at(entry.second->deadline());
  if (streams_.empty() && now >= idle_until_) {
    if (!served_) {
      shared.timed_out.fetch_add(1, std::memory_order_relaxed);
      return close();
    }
    retire();
  }
  flush();
}

void Http2Connection::retire() {
  if (std::exchange(retiring_, true)) return;
  leave_queue();
  session_.go_away(H2Code::kNone);
  flush_soon();
}

void Http2Connection::drain() {
  const auto self = shared_from_this();
  retire();
  for (const auto& entry : streams_) entry.second->finish();
}

// Once, and when it happens: the client may take its time to close.
void Http2Connection::note_failure() {
  if (!session_.failure() || std::exchange(failure_noted_, true)) return;
  auto& shared = worker_->shared();
  shared.misbehaved.fetch_add(1, std::memory_order_relaxed);
  log(LogLevel::kDebug, shared.options.name, "an HTTP/2 connection was ended",
      {{"peer", peer_}, {"code", std::to_string(*session_.failure())}});
}

void Http2Connection::leave() {
  leaving_ = true;
  note_failure();
  leave_queue();
  wire_.finish();
  set_deadline(kFarewellMs);
  watch_input();
}

void Http2Connection::closing() {
  auto& shared = worker_->shared();
  note_failure();
  // So that the client knows which requests it can make again elsewhere.
  if (!broken_ && !leaving_ && !retiring_ && wire_.unsent() == 0) {
    session_.go_away(H2Code::kNone);
    std::string farewell;
    if (session_.take(farewell, kBatch) && wire_.send(farewell)) wire_.finish();
  }
  drained_.clear();
  shared.http2_streams.fetch_sub(streams_.size(), std::memory_order_relaxed);
  for (auto& entry : std::exchange(streams_, {})) entry.second->closed();
  shared.http2_connections.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace sluice::host
