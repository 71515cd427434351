#include "host/apiserver/watch.hpp"

#include <algorithm>
#include <ctime>
#include <utility>

#include "api/json/json.hpp"

namespace sluice::host {
namespace {

constexpr std::size_t kChangesAtATime = 256;
constexpr std::size_t kObjectsAtATime = 64;
constexpr int kStepsAtATime = 8;  // then others have their turn

bool in_namespace(const StoredObject& object, const std::string& ns) {
  return ns.empty() || (object.key.size() > ns.size() && object.key[ns.size()] == '/' &&
                        object.key.compare(0, ns.size(), ns) == 0);
}

std::shared_ptr<const std::string> error_event(const ApiError& error) {
  std::string text = R"({"type":"ERROR","object":)";
  api::append_json(to_status(error), text);
  return std::make_shared<const std::string>(text + "}\n");
}

/// What a selector of labels looks at.
std::size_t label_bytes(const Change& change) {
  return change.object->metadata.labels().size() +
         (change.before ? change.before->metadata.labels().size() : 0);
}

ApiError too_old() { return expired("too old resource version: the history does not reach back"); }

}  // namespace

Watch::Watch(CallPtr call, ListOptions options, std::vector<RecordPtr> initial,
             LiveStore::Cursor cursor)
    : call_(std::move(call)),
      options_(std::move(options)),
      initial_(std::move(initial)),
      cursor_(cursor) {
  told_ = cursor_.position();
}

void Watch::start() {
  stream_ = call_->exchange->stream(200, "application/json", call_->headers);
  thread_ = stream_->thread();
  lane_ = call_->at->watches->lane(thread_);
  const auto now = std::chrono::steady_clock::now();
  ends_at_ = now + (options_.timeout_seconds
                        ? std::chrono::milliseconds(
                              std::min<std::int64_t>(*options_.timeout_seconds, 86'400) * 1'000)
                        : std::chrono::milliseconds(call_->at->limits.watch_ms));
  // A certificate that ends takes the watches with it that were opened by it.
  if (const auto& certificate = call_->exchange->request().certificate)
    ends_at_ = std::min(ends_at_, now + std::chrono::seconds(std::clamp<std::int64_t>(
                                            certificate->ends - std::time(nullptr), 0, 86'400)));
  bookmark_at_ = now + std::chrono::milliseconds(call_->at->limits.bookmark_ms);
  thread_->post([self = shared_from_this()] {
    if (!self->call_->at->enter(self)) return self->finish();
    self->stream_->on_ready([watch = self] { watch->pump(); });
    self->set_deadline();
    self->pump();
  });
}

void Watch::end() {
  thread_->post([self = shared_from_this()] {
    self->mark_place();  // where the client can go on, also when nothing of its own happened
    self->finish();
  });
}

void Watch::pump() {
  if (running_ || state_ == State::kEnded) return;
  if (!stream_->open()) return finish();
  running_ = true;
  bool goes_on = true;
  for (int steps = 0; goes_on && !full(); ++steps) {
    if (steps == kStepsAtATime) {
      thread_->post([self = shared_from_this()] { self->pump(); });
      break;
    }
    if (state_ == State::kInitial)
      goes_on = initial_step();
    else if (state_ == State::kBehind)
      goes_on = behind_step();
    else
      goes_on = false;
  }
  running_ = false;
  // A client that left while it was written to was not noticed in there.
  if (state_ != State::kEnded && !stream_->open()) finish();
}

bool Watch::initial_step() {
  for (std::size_t i = 0; i < kObjectsAtATime && next_initial_ < initial_.size(); ++i) {
    const RecordPtr object = std::move(initial_[next_initial_++]);
    if (options_.selector.matches(*object)) write_event(kEventAdded, object);
    if (state_ == State::kEnded) return false;
  }
  if (next_initial_ < initial_.size()) return true;
  initial_ = {};
  state_ = State::kBehind;
  if (options_.initial_events && options_.bookmarks) write_bookmark(true);
  return state_ != State::kEnded;
}

bool Watch::behind_step() {
  changes_.clear();
  if (!cursor_.take(changes_, kChangesAtATime)) {
    expire();
    return false;
  }
  for (const auto& change : changes_) {
    tell(change);
    if (state_ == State::kEnded) return false;
  }
  const bool behind = !changes_.empty();
  changes_.clear();
  told_ = cursor_.position();
  if (behind) return true;
  state_ = State::kMember;
  lane_->feed(*call_->route.kind).join(shared_from_this(), cursor_);
  return false;
}

void Watch::deliver(EventBatch& batch) {
  if (state_ != State::kMember) return;
  const auto self = shared_from_this();
  const auto& changes = batch.changes();
  const bool whole = changes.front()->version() > told_ && options_.selector.empty() &&
                     (call_->form.shape != Form::Shape::kTable || columns_sent_);
  const auto text = whole ? batch.text(call_->route, call_->form) : nullptr;
  const std::size_t backlog = stream_->backlog();
  if (text && (backlog == 0 || backlog + text->size() <= call_->at->limits.stream_bytes)) {
    told_ = changes.back()->version();
    return write(text);
  }
  for (const Change* change : changes) {
    if (change->version() <= told_) continue;
    if (full()) return fall_behind(change->version() - 1);
    if (!options_.selector.labels.empty() && !batch.may_look_at(label_bytes(*change))) {
      fall_behind(change->version() - 1);
      return lane_->run_in_turn([self] { self->pump(); });
    }
    tell(*change);
    if (state_ != State::kMember) return;
  }
}

// Its client is slow: it goes on by itself, when there is room, with what comes after `from`.
void Watch::fall_behind(std::uint64_t from) {
  auto cursor = call_->store().watch(*call_->route.kind, from);
  state_ = State::kBehind;
  lane_->feed(*call_->route.kind).left();
  if (cursor)
    cursor_ = *cursor;
  else
    expire();
}

void Watch::tell(const Change& change) {
  told_ = change.version();
  if (!in_namespace(*change.object, call_->route.ns)) return;
  const Selector& selector = options_.selector;
  const bool is_there = change.type != ChangeType::kDeleted;
  const bool matches = is_there && (selector.empty() || selector.matches(*change.object));
  bool matched = change.type != ChangeType::kAdded;
  if (matched && !selector.empty() && change.before) matched = selector.matches(*change.before);
  if (!matches && !matched) return;
  if (matches) {
    write(lane_->texts.get(matched ? kEventModified : kEventAdded, change.object, call_->route,
                           call_->form));
  } else if (!is_there) {
    write_event(kEventDeleted, change.object);
  } else {
    // It matches no more: for this client it is gone, as it knew it, with the new version.
    auto last = std::make_shared<StoredObject>(*change.before);
    last->version = change.version();
    write_event(kEventDeleted, last);
  }
}

void Watch::write_event(std::string_view type, const RecordPtr& object) {
  const bool columns = call_->form.shape == Form::Shape::kTable && !columns_sent_;
  columns_sent_ = true;
  if (!columns) return write(lane_->texts.get(type, object, call_->route, call_->form));
  std::string text;
  call_->at->renderer.append_event(type, *object, call_->route, call_->form, true, text);
  write(std::make_shared<const std::string>(std::move(text)));
}

void Watch::write(std::shared_ptr<const std::string> text) {
  if (!stream_->write(std::move(text))) finish();
}

std::uint64_t Watch::position() const {
  if (state_ != State::kMember) return told_;
  return std::max(told_, lane_->feed(*call_->route.kind).position());
}

void Watch::write_bookmark(bool initial_end) {
  std::string text;
  call_->at->renderer.append_bookmark(position(), initial_end, call_->route, call_->form, text);
  write(std::make_shared<const std::string>(std::move(text)));
}

void Watch::expire() {
  if (state_ == State::kEnded) return;
  write(error_event(too_old()));
  finish();
}

void Watch::set_deadline() {
  deadline_ =
      lane_->add_deadline(options_.bookmarks ? std::min(ends_at_, bookmark_at_) : ends_at_, *this);
}

void Watch::mark_place() {
  // A bookmark in the middle of the initial events would say that they are over.
  if (!options_.bookmarks || state_ == State::kInitial || state_ == State::kEnded || full()) return;
  if (state_ == State::kMember) lane_->feed(*call_->route.kind).run();
  if (state_ != State::kEnded) write_bookmark(false);
}

void Watch::due() {
  lane_->remove_deadline(*deadline_);
  deadline_.reset();
  const auto self = shared_from_this();
  mark_place();
  const auto now = std::chrono::steady_clock::now();
  if (now >= ends_at_) finish();
  if (state_ == State::kEnded) return;
  bookmark_at_ = now + std::chrono::milliseconds(call_->at->limits.bookmark_ms);
  set_deadline();
}

void Watch::finish() {
  if (state_ == State::kEnded) return;
  const auto self = shared_from_this();
  const bool was_member = state_ == State::kMember;
  state_ = State::kEnded;
  if (was_member) lane_->feed(*call_->route.kind).left();
  if (deadline_) lane_->remove_deadline(*deadline_);
  deadline_.reset();
  initial_ = {};
  stream_->on_ready(nullptr);
  stream_.reset();
  call_->at->leave(this);
}

void serve_watch(const CallPtr& call) {
  auto options = read_list_options(call->request(), call->route);
  if (!options) return call->fail(options.error());
  LiveStore& store = call->store();
  const api::KindInfo& kind = *call->route.kind;
  const bool any = !options->version || *options->version == 0;
  const std::uint64_t now = store.version();
  if (!any && *options->version > now) return call->fail(too_new(*options->version, now));
  const bool initial = options->initial_events || (any && !options->initial_events_given);
  std::vector<RecordPtr> objects;
  std::uint64_t from = any ? now : *options->version;
  if (initial) {
    auto listing = store.read(kind, call->route.ns);
    if (!listing) return call->fail(unavailable(listing.error().text, 1));
    from = listing->version;
    objects = std::move(listing->objects);
  }
  auto cursor = store.watch(kind, from);
  if (!cursor) return call->fail(too_old());
  std::make_shared<Watch>(call, std::move(*options), std::move(objects), *cursor)->start();
}

}  // namespace sluice::host
