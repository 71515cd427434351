#include "host/store/live_store.hpp"

#include <algorithm>
#include <future>
#include <thread>
#include <unordered_map>
#include <utility>

#include "core/base/check.hpp"
#include "host/base/text.hpp"
#include "host/store/commit_queue.hpp"
#include "host/store/field_marks.hpp"
#include "host/store/loading.hpp"
#include "host/store/published.hpp"
#include "host/store/working_table.hpp"

namespace sluice::host {

struct LiveStore::State {
  State(const api::Scheme& scheme_in, std::unique_ptr<Journal> journal_in, HistoryLimits limits)
      : scheme(scheme_in), journal(std::move(journal_in)), published(scheme.kinds(), limits) {
    for (const api::KindInfo* kind : scheme.kinds()) {
      names.emplace(kind, kind->group_kind());
      working.emplace(kind, WorkingTable());
    }
  }

  void load(LoadObserver* observer);
  Result<void> place(std::vector<RecordPtr> records);
  void adapt(JournalState found);
  void put(StoredObject object);
  void commit(std::function<void(const Result<void>&)> done);

  WorkingTable& table(const api::KindInfo& kind) {
    const auto it = working.find(&kind);
    SLUICE_CHECK(it != working.end(), "a kind of another scheme: ", kind.kind);
    return it->second;
  }

  const api::Scheme& scheme;
  std::unordered_map<const api::KindInfo*, std::string> names;
  std::unique_ptr<Journal> journal;

  // The kernel's thread only.
  std::unordered_map<const api::KindInfo*, WorkingTable> working;
  UseTable use;
  std::uint64_t version = 1;  // clients give 0 a meaning of its own
  std::uint64_t begun = 0;    // once it is loaded it stays
  Commit open;

  Published published;
  std::unique_ptr<CommitQueue> queue;  // last: its thread uses all of the above
};

void LiveStore::State::load(LoadObserver* observer) {
  JournalState found;
  std::string failure;
  if (journal) {
    std::map<std::string_view, const api::KindInfo*> kinds;
    for (const auto& [kind, name] : names) kinds.emplace(name, kind);
    Result<LoadedRecords> loaded = load_records(*journal, kinds, observer);
    if (loaded) {
      found = std::move(loaded->state);
      if (auto placed = place(std::move(loaded->records)); !placed) failure = placed.error().text;
    } else {
      failure = loaded.error().text;
    }
  }
  version = std::max(version, found.version);
  const auto last_of = [&](std::string_view kind) {
    const auto last = found.kinds.find(kind);
    return last == found.kinds.end() ? 0 : last->second;
  };
  begun = last_of(kEveryKind);
  for (const auto& [kind, name] : names)
    published.start(version, *kind, std::max(begun, last_of(name)));
  queue = std::make_unique<CommitQueue>(journal.get(), published, names);
  if (!failure.empty())
    queue->fail(failure);
  else if (journal)
    adapt(std::move(found));
}

// The two views at the same time: they share nothing but the records.
Result<void> LiveStore::State::place(std::vector<RecordPtr> records) {
  std::unordered_map<const api::KindInfo*, std::vector<RecordPtr>> by_kind;
  for (const RecordPtr& record : records) by_kind[record->kind].push_back(record);
  std::jthread worker([&] {
    for (RecordPtr& record : records) {
      use.add(*record);
      table(*record->kind).put(std::move(record));
    }
  });
  Result<void> sorted;
  for (auto& [kind, of_kind] : by_kind) {
    std::vector<RecordPtr> in_order = of_kind;
    sorted = sort_by_key(in_order);
    if (!sorted) break;
    published.load(*kind, std::move(in_order));
  }
  worker.join();
  return sorted;
}

// Objects that were written when other fields were known, as they are under this scheme. That is a
// change like any other: watchers see it.
void LiveStore::State::adapt(JournalState found) {
  FieldMarks marks(found.fields);
  TextPool pool;
  for (const api::KindInfo* kind : scheme.kinds()) {
    if (!marks.set(names.at(kind), scheme.fields_mark(*kind))) continue;
    std::vector<RecordPtr> records = working.at(kind).all();
    std::sort(records.begin(), records.end(),
              [](const auto& a, const auto& b) { return a->version < b->version; });
    for (const RecordPtr& record : records) {
      StoredObject bare = *record;
      bare.version = 0;
      boost::json::object object = to_object(bare);
      std::string hidden = scheme.hide_unknown(*kind, object, record->hidden);
      if (hidden == record->hidden) continue;
      StoredObject next = to_stored(*kind, object, pool);
      next.hidden = std::move(hidden);
      put(std::move(next));
    }
  }
  if (std::string text = marks.text(); text != found.fields) open.fields = std::move(text);
  if (open.changes.empty()) return;  // the marks go with the first transaction
  std::promise<void> done;
  commit([&done](const Result<void>&) { done.set_value(); });
  done.get_future().wait();
}

LiveStore::LiveStore(const api::Scheme& scheme, std::unique_ptr<Journal> journal,
                     HistoryLimits limits, LoadObserver* observer)
    : state_(std::make_unique<State>(scheme, std::move(journal), limits)) {
  state_->load(observer);
}

LiveStore::~LiveStore() = default;

void LiveStore::close() {
  state_->queue.reset();
  state_->journal.reset();
}

const StoredObject* LiveStore::find(const api::KindInfo& kind, std::string_view key) const {
  const RecordPtr* found = state_->table(kind).find(key);
  return found ? found->get() : nullptr;
}

void LiveStore::put(StoredObject object) {
  if (object.hidden.empty())
    if (const StoredObject* before = find(*object.kind, object.key)) object.hidden = before->hidden;
  state_->put(std::move(object));
}

void LiveStore::State::put(StoredObject object) {
  WorkingTable& of_kind = table(*object.kind);
  object.version = ++version;
  object.status = shrunk_to_fit(std::move(object.status));
  RecordPtr record = std::make_shared<const StoredObject>(std::move(object));
  RecordPtr before = of_kind.put(record);
  if (before) use.remove(*before);
  use.add(*record);
  const ChangeType type = before ? ChangeType::kModified : ChangeType::kAdded;
  open.changes.push_back({type, std::move(record), std::move(before)});
}

bool LiveStore::erase(const api::KindInfo& kind, std::string_view key) {
  RecordPtr before = state_->table(kind).erase(key);
  if (!before) return false;
  state_->use.remove(*before);
  StoredObject last = *before;
  last.version = ++state_->version;
  state_->open.changes.push_back({ChangeType::kDeleted,
                                  std::make_shared<const StoredObject>(std::move(last)),
                                  std::move(before)});
  return true;
}

std::vector<const StoredObject*> LiveStore::list_in(const api::KindInfo& kind,
                                                    std::string_view ns) const {
  // Where all is published, as after a start, there is an order already.
  if (state_->open.changes.empty() && state_->queue->idle())
    return state_->published.list(kind, ns);
  return state_->table(kind).list(ns);
}

std::size_t LiveStore::count(const api::KindInfo& kind) const { return state_->table(kind).size(); }

StoreUse LiveStore::use() const { return state_->use.total(); }

StoreUse LiveStore::use(std::string_view ns) const { return state_->use.of(ns); }

std::string LiveStore::no_room() const {
  return state_->journal ? state_->journal->no_room() : std::string();
}

std::uint64_t LiveStore::working_version() const { return state_->version; }

void LiveStore::commit(std::function<void(const Result<void>&)> done) {
  state_->commit(std::move(done));
}

void LiveStore::State::commit(std::function<void(const Result<void>&)> done) {
  Commit closed = std::exchange(open, {});
  closed.version = version;
  closed.done = std::move(done);
  queue->push(std::move(closed));
}

RecordPtr LiveStore::get(const api::KindInfo& kind, std::string_view key) const {
  return state_->published.get(kind, key);
}

Result<Listing> LiveStore::read(const api::KindInfo& kind, std::string_view ns,
                                std::string_view after, std::size_t limit, std::uint64_t at) const {
  return state_->published.read(kind, ns, after, limit, at);
}

std::uint64_t LiveStore::begun() const { return state_->begun; }
std::uint64_t LiveStore::version() const { return state_->published.version(); }

std::size_t LiveStore::published_count(const api::KindInfo& kind) const {
  return state_->published.count(kind);
}

std::size_t LiveStore::backlog() const { return state_->queue->backlog(); }

std::string LiveStore::failure() const { return state_->queue->failure(); }

Result<LiveStore::Cursor> LiveStore::watch(const api::KindInfo& kind, std::uint64_t version) const {
  if (Result<void> possible = state_->published.check_watch(kind, version); !possible)
    return possible.error();
  Cursor out;
  out.published_ = &state_->published;
  out.kind_ = &kind;
  out.position_ = version;
  return out;
}

bool LiveStore::Cursor::take(std::vector<Change>& out, std::size_t most) {
  if (published_ == nullptr) return false;
  return published_->take(*kind_, position_, out, most);
}

LiveStore::Subscription::Subscription(CommitQueue& queue, std::shared_ptr<Watcher> watcher)
    : queue_(queue), watcher_(std::move(watcher)) {}

LiveStore::Subscription::~Subscription() { queue_.remove_watcher(watcher_); }

std::unique_ptr<LiveStore::Subscription> LiveStore::subscribe(const api::KindInfo& kind,
                                                              std::function<void()> wake) {
  CommitQueue& queue = *state_->queue;
  return std::unique_ptr<Subscription>(
      new Subscription(queue, queue.add_watcher(kind, std::move(wake))));
}

}  // namespace sluice::host
