#include "host/store/published.hpp"

#include <algorithm>
#include <shared_mutex>
#include <utility>

#include "core/base/check.hpp"
#include "host/base/wall_clock.hpp"
#include "host/objects/object_key.hpp"

namespace sluice::host {
namespace {

// Readers hold the writer off for at most this many objects at a time.
constexpr std::size_t kPage = 2048;

using Lock = std::unique_lock<FairSharedMutex>;
using SharedLock = std::shared_lock<FairSharedMutex>;

std::size_t size_of(const Change& change) {
  const StoredObject& object = *change.object;
  constexpr std::size_t kFixed = sizeof(StoredObject) + sizeof(Change) + 64;
  constexpr std::size_t kText = 96;  // what stands around a text of its own
  std::size_t out = kFixed + object.key.size() + object.status.size() + object.hidden.size();
  if (!change.before || change.before->body != object.body) out += kText + object.body->size();
  if (!change.before || !change.before->metadata.shares(object.metadata))
    out += kText + object.metadata.text().size();
  return out;
}

// The first change after `version`.
auto after(const std::deque<Change>& history, std::uint64_t version) {
  return std::partition_point(history.begin(), history.end(),
                              [&](const Change& change) { return change.version() <= version; });
}

Error too_old(std::uint64_t version, const api::KindInfo& kind, std::uint64_t floor) {
  return Error{"resource version " + std::to_string(version) + " is too old: changes of " +
               kind.kind + " are kept from " + std::to_string(floor) + " on"};
}

Error too_new(std::uint64_t version, std::uint64_t now) {
  return Error{"resource version " + std::to_string(version) + " does not exist yet: the last is " +
               std::to_string(now)};
}

}  // namespace

Published::Published(const std::vector<const api::KindInfo*>& kinds, HistoryLimits limits)
    : limits_(limits) {
  for (const api::KindInfo* kind : kinds) kinds_.emplace(kind, std::make_unique<Kind>());
}

const Published::Kind* Published::kind_of(const api::KindInfo& kind) const {
  const auto it = kinds_.find(&kind);
  SLUICE_CHECK(it != kinds_.end(), "a kind of another scheme: ", kind.kind);
  return it->second.get();
}

void Published::load(const api::KindInfo& kind, std::vector<RecordPtr> records) {
  const Lock lock(mutex_);
  kinds_.at(&kind)->table.fill(std::move(records));
}

void Published::start(std::uint64_t version, const api::KindInfo& kind, std::uint64_t floor) {
  const Lock lock(mutex_);
  version_ = version;
  kinds_.at(&kind)->floor = floor;
}

void Published::apply(std::span<const Change> changes, std::uint64_t version) {
  const Time now = wall_clock();
  const Lock lock(mutex_);
  for (const Change& change : changes) {
    Kind& kind = *kinds_.at(change.object->kind);
    if (change.type == ChangeType::kDeleted)
      kind.table.erase(change.object->key);
    else
      kind.table.set(change.object);
    kind.history.push_back(change);
    kind.history.back().published = now;
    past_.push_back({&kind, size_of(change)});
    past_bytes_ += past_.back().bytes;
  }
  version_ = std::max(version_, version);
  while (must_forget(now)) {
    Kind& kind = *past_.front().kind;
    past_bytes_ -= past_.front().bytes;
    kind.floor = kind.history.front().version();
    kind.history.pop_front();
    past_.pop_front();
  }
}

/// Whether the oldest change of all has to go.
bool Published::must_forget(Time now) const {
  if (past_.empty()) return false;
  if (past_.size() > limits_.changes || past_bytes_ > limits_.bytes) return true;
  return past_bytes_ > limits_.old_bytes &&
         now - past_.front().kind->history.front().published > limits_.old_after;
}

std::uint64_t Published::version() const {
  const SharedLock lock(mutex_);
  return version_;
}

RecordPtr Published::get(const api::KindInfo& kind, std::string_view key) const {
  const SharedLock lock(mutex_);
  return kind_of(kind)->table.find(key);
}

std::size_t Published::count(const api::KindInfo& kind) const {
  const SharedLock lock(mutex_);
  return kind_of(kind)->table.size();
}

std::vector<const StoredObject*> Published::list(const api::KindInfo& kind,
                                                 std::string_view ns) const {
  const std::string prefix = join_key(ns, {});
  const SharedLock lock(mutex_);
  const RecordTable& table = kind_of(kind)->table;
  std::vector<const StoredObject*> out;
  if (ns.empty()) out.reserve(table.size());
  for (auto place = table.lower_bound(prefix); !place.at_end(); ++place) {
    if (!(*place)->key.starts_with(prefix)) break;
    out.push_back((*place).get());
  }
  return out;
}

std::size_t Published::history_size() const {
  const SharedLock lock(mutex_);
  return past_.size();
}

Published::Overlay Published::overlay(const Kind& kind, const Range& range, std::uint64_t at) {
  Overlay out;
  for (auto it = after(kind.history, at); it != kind.history.end(); ++it) {
    if (!range.holds(it->object->key)) continue;
    // The earliest change after the version tells what was there at the version.
    const auto [entry, fresh] = out.try_emplace(it->object->key, Then{it->before, false});
    entry->second.exists_now = it->type != ChangeType::kDeleted;
  }
  return out;
}

void Published::merge(const Kind& kind, const Range& range, const Overlay& then, std::size_t limit,
                      Listing& out) {
  auto now = kind.table.lower_bound(range.from);
  auto past = then.begin();
  while (out.objects.size() < limit) {
    const bool more_now = !now.at_end() && range.holds((*now)->key);
    if (past != then.end() && (!more_now || past->first <= (*now)->key)) {
      if (more_now && past->first == (*now)->key) ++now;
      if (past->second.object) out.objects.push_back(past->second.object);
      ++past;
    } else if (more_now) {
      out.objects.push_back(*now);
      ++now;
    } else {
      return;
    }
  }
}

Result<Listing> Published::page(const api::KindInfo& info, const Range& range, std::size_t limit,
                                std::uint64_t at) const {
  const SharedLock lock(mutex_);
  const Kind& kind = *kind_of(info);
  if (at > version_) return too_new(at, version_);
  if (at != 0 && at < kind.floor) return too_old(at, info, kind.floor);
  Listing out;
  out.version = at == 0 ? version_ : at;
  const Overlay then = out.version == version_ ? Overlay() : overlay(kind, range, out.version);

  const std::size_t begin = kind.table.rank(range.from);
  const std::size_t end = range.to.empty() ? kind.table.size() : kind.table.rank(range.to);
  std::size_t total = end > begin ? end - begin : 0;
  for (const auto& [key, entry] : then) {
    total += entry.object ? 1 : 0;
    total -= entry.exists_now ? 1 : 0;
  }
  out.objects.reserve(std::min(limit, total));
  merge(kind, range, then, limit, out);
  out.remaining = total - out.objects.size();
  out.more = out.remaining != 0;
  return out;
}

Result<Listing> Published::read(const api::KindInfo& kind, std::string_view ns,
                                std::string_view after_key, std::size_t limit,
                                std::uint64_t at) const {
  Range range;
  if (!ns.empty()) {
    range.from = std::string(ns) + '/';
    range.to = std::string(ns) + static_cast<char>('/' + 1);
  }
  const auto start_after = [&range](std::string_view key) {
    std::string from(key);
    from += '\0';  // the least key that is greater
    range.from = std::max(range.from, from);
  };
  if (!after_key.empty()) start_after(after_key);

  const std::size_t most = limit == 0 ? static_cast<std::size_t>(-1) : limit;
  const Range whole = range;
  Result<Listing> first = page(kind, range, std::min(most, kPage), at);
  if (!first) return first;
  Listing out = std::move(first).value();
  while (out.more && out.objects.size() < most) {
    start_after(out.objects.back()->key);
    Result<Listing> next =
        page(kind, range, std::min(most - out.objects.size(), kPage), out.version);
    if (!next) {
      if (at != 0) return next;
      // The history did not last for the listing: once more, in one go.
      return page(kind, whole, most, 0);
    }
    out.objects.insert(out.objects.end(), next->objects.begin(), next->objects.end());
    out.more = next->more;
    out.remaining = next->remaining;
  }
  return out;
}

Result<void> Published::check_watch(const api::KindInfo& kind, std::uint64_t version) const {
  const SharedLock lock(mutex_);
  const std::uint64_t floor = kind_of(kind)->floor;
  if (version > version_) return too_new(version, version_);
  if (version < floor) return too_old(version, kind, floor);
  return {};
}

bool Published::take(const api::KindInfo& kind, std::uint64_t& position, std::vector<Change>& out,
                     std::size_t most) const {
  const SharedLock lock(mutex_);
  const Kind& found = *kind_of(kind);
  if (position < found.floor) return false;
  auto it = after(found.history, position);
  for (; it != found.history.end() && most != 0; ++it, --most) {
    out.push_back(*it);
    position = it->version();
  }
  if (it == found.history.end()) position = version_;
  return true;
}

}  // namespace sluice::host
