#include "host/apiserver/watch_hub.hpp"

#include <algorithm>
#include <utility>

#include "host/apiserver/watch.hpp"

namespace sluice::host {
namespace {

constexpr std::size_t kChangesAtOnce = 4096;
constexpr std::size_t kJoinedChanges = 512;
constexpr std::size_t kKeptTexts = 2048;
constexpr std::size_t kMostJoined = 1U << 20;
constexpr std::int64_t kTickMs = 1'000;

}  // namespace

std::shared_ptr<const std::string> EventTexts::get(std::string_view type, const RecordPtr& object,
                                                   const Route& route, const Form& form) {
  Key key{object.get(), type.data(),     route.kind_version,
          form.shape,   form.row_object, form.meta_version};
  if (const auto found = entries_.find(key); found != entries_.end()) return found->second.text;
  std::string text;
  renderer_.append_event(type, *object, route, form, false, text);
  auto shared = std::make_shared<const std::string>(std::move(text));
  if (order_.size() == kKeptTexts) {
    entries_.erase(order_.front());
    order_.pop_front();
  }
  order_.push_back(key);
  entries_.emplace(std::move(key), Entry{object, shared});
  return shared;
}

std::shared_ptr<const std::string> EventBatch::text(const Route& route, const Form& form) {
  for (const Joined& known : joined_)
    if (known.version == route.kind_version && known.form.shape == form.shape &&
        known.form.row_object == form.row_object && known.form.meta_version == form.meta_version)
      return known.text;
  std::string text;
  for (const Change* change : changes_) {
    const std::string_view type = change->type == ChangeType::kAdded      ? kEventAdded
                                  : change->type == ChangeType::kModified ? kEventModified
                                                                          : kEventDeleted;
    text += *texts_.get(type, change->object, route, form);
    if (text.size() > kMostJoined) break;
  }
  auto shared =
      text.size() > kMostJoined ? nullptr : std::make_shared<const std::string>(std::move(text));
  joined_.push_back({route.kind_version, form, shared});
  return shared;
}

Feed::Feed(Lane& lane, LiveStore& store, const api::KindInfo& kind)
    : lane_(lane), store_(store), kind_(kind) {}

void Feed::join(const std::shared_ptr<Watch>& watch, const LiveStore::Cursor& cursor) {
  if (count_ == 0) {
    cursor_ = cursor;
    subscription_ = store_.subscribe(kind_, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->wake();
    });
    wake();  // for what was published in between
  }
  auto& members = watch->ns().empty() ? everywhere_ : by_namespace_[watch->ns()];
  members.push_back(watch);
  ++count_;
}

void Feed::left() {
  leavers_ = true;
  if (!running_) tidy();
}

void Feed::wake() {
  if (scheduled_.exchange(true)) return;
  lane_.thread().post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->run();
  });
}

void Feed::run() {
  if (running_ || resting_) return;
  const auto now = std::chrono::steady_clock::now();
  if (const auto until = lane_.thread().streams_rest_until(); now < until) {
    resting_ = true;
    const auto rest = std::chrono::ceil<std::chrono::milliseconds>(until - now);
    lane_.thread().after(rest.count(), [weak = weak_from_this()] {
      const auto self = weak.lock();
      if (!self) return;
      self->resting_ = false;
      self->run();
    });
    return;
  }
  const auto self = shared_from_this();
  scheduled_ = false;
  if (count_ == 0) return;
  running_ = true;
  changes_.clear();
  const std::size_t most = most_at_once();
  const bool in_history = cursor_.take(changes_, most);
  if (!changes_.empty()) hand_out();
  const bool more = changes_.size() == most;
  changes_.clear();
  if (!in_history) {
    for (const auto& watch : everywhere_) watch->expire();
    for (const auto& entry : by_namespace_)
      for (const auto& watch : entry.second) watch->expire();
    leavers_ = true;
  }
  if (leavers_) tidy();
  running_ = false;
  if (more && count_ > 0) wake();
}

/// Sending costs by watch more than by change: where changes go to different watches, many are
/// taken at once. What one watch is sent at once is bounded, so that others have their turn.
std::size_t Feed::most_at_once() const {
  if (!everywhere_.empty()) return kJoinedChanges;
  return std::min(kChangesAtOnce, kJoinedChanges * std::max<std::size_t>(1, by_namespace_.size()));
}

// No watch joins while changes are handed out; one that leaves stays in the lists until tidy().
void Feed::hand_out() {
  if (!everywhere_.empty()) {
    std::vector<const Change*> all;
    for (const Change& change : changes_) all.push_back(&change);
    hand_out(everywhere_, all);
  }
  if (by_namespace_.empty()) return;
  std::unordered_map<const Members*, std::vector<const Change*>> parts;
  for (const Change& change : changes_) {
    const auto found = by_namespace_.find(std::string(change.object->ns()));
    if (found != by_namespace_.end()) parts[&found->second].push_back(&change);
  }
  for (const auto& [members, changes] : parts) hand_out(*members, changes);
}

void Feed::hand_out(const Members& members, std::span<const Change* const> changes) {
  while (!changes.empty()) {
    const auto piece = changes.first(std::min(changes.size(), kJoinedChanges));
    changes = changes.subspan(piece.size());
    EventBatch batch(lane_.texts, {piece.begin(), piece.end()});
    for (const auto& watch : members) watch->deliver(batch);
  }
}

void Feed::drop_leavers(Members& members) {
  std::erase_if(members, [](const auto& watch) { return !watch->member(); });
}

void Feed::tidy() {
  leavers_ = false;
  drop_leavers(everywhere_);
  count_ = everywhere_.size();
  for (auto entry = by_namespace_.begin(); entry != by_namespace_.end();) {
    drop_leavers(entry->second);
    count_ += entry->second.size();
    entry = entry->second.empty() ? by_namespace_.erase(entry) : std::next(entry);
  }
  if (count_ == 0) subscription_ = nullptr;
}

Feed& Lane::feed(const api::KindInfo& kind) {
  auto& feed = feeds_[&kind];
  if (!feed) feed = std::make_shared<Feed>(*this, store_, kind);
  return *feed;
}

Lane::Deadlines::iterator Lane::add_deadline(std::chrono::steady_clock::time_point when,
                                             Watch& watch) {
  if (!ticking_) {
    ticking_ = true;
    thread_->after(kTickMs, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->tick();
    });
  }
  return deadlines_.emplace(when, &watch);
}

void Lane::run_in_turn(std::function<void()> task) {
  tasks_.push_back(std::move(task));
  if (tasks_.size() == 1) post_next();
}

void Lane::post_next() {
  thread_->post([self = shared_from_this()] {
    const std::function<void()> task = std::move(self->tasks_.front());
    self->tasks_.pop_front();
    if (!self->tasks_.empty()) self->post_next();  // first: the task may throw
    task();
  });
}

void Lane::tick() {
  const auto now = std::chrono::steady_clock::now();
  while (!deadlines_.empty() && deadlines_.begin()->first <= now) deadlines_.begin()->second->due();
  ticking_ = !deadlines_.empty();
  if (!ticking_) return;
  thread_->after(kTickMs, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->tick();
  });
}

std::shared_ptr<Lane> WatchHub::lane(const std::shared_ptr<TaskThread>& thread) {
  const std::lock_guard lock(mutex_);
  auto& lane = lanes_[thread.get()];
  if (!lane) lane = std::make_shared<Lane>(thread, store_, renderer_);
  return lane;
}

}  // namespace sluice::host
