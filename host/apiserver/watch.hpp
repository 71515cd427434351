// Watch: one client's view of the changes of a kind, from a version on.
//
// It begins with the objects that are there, where that is asked for, goes on with the history, and
// ends up as a member of its thread's Feed. Everything happens on the thread of its stream; see
// watch_hub.hpp.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/apiserver/call.hpp"
#include "host/apiserver/list_options.hpp"
#include "host/apiserver/watch_hub.hpp"

namespace sluice::host {

class Watch final : public Streaming, public std::enable_shared_from_this<Watch> {
 public:
  /// `initial`: objects to begin with. `cursor`: where to go on.
  Watch(CallPtr call, ListOptions options, std::vector<RecordPtr> initial,
        LiveStore::Cursor cursor);

  void start();
  void end() override;

  // ---- from its lane
  bool member() const { return state_ == State::kMember; }
  const std::string& ns() const { return call_->route.ns; }
  /// As a member. It may stop being one.
  void deliver(EventBatch& batch);
  void expire();  ///< its place is no longer in the history
  void due();     ///< a deadline of add_deadline() passed

 private:
  enum class State : std::uint8_t { kInitial, kBehind, kMember, kEnded };
  using SteadyTime = std::chrono::steady_clock::time_point;

  void pump();
  bool initial_step();  ///< false: rests or ended
  bool behind_step();
  void tell(const Change& change);
  void fall_behind(std::uint64_t from);
  void write_event(std::string_view type, const RecordPtr& object);
  void write(std::shared_ptr<const std::string> text);
  void write_bookmark(bool initial_end);
  void mark_place();  ///< a bookmark, where it asked for them and can take one
  std::uint64_t position() const;
  bool full() const { return stream_->backlog() >= call_->at->limits.stream_bytes; }
  void set_deadline();
  void finish();

  const CallPtr call_;
  const ListOptions options_;
  std::vector<RecordPtr> initial_;
  std::size_t next_initial_ = 0;
  LiveStore::Cursor cursor_;
  std::uint64_t told_ = 0;  // changes up to here were sent, or do not concern it
  std::vector<Change> changes_;
  State state_ = State::kInitial;
  bool running_ = false;
  bool columns_sent_ = false;
  std::shared_ptr<Stream> stream_;
  std::shared_ptr<TaskThread> thread_;
  std::shared_ptr<Lane> lane_;
  SteadyTime ends_at_, bookmark_at_;
  std::optional<Lane::Deadlines::iterator> deadline_;
};

}  // namespace sluice::host
