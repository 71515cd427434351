#include "host/outbox/outbox.hpp"

#include <algorithm>

#include "core/base/backoff.hpp"
#include "core/base/check.hpp"
#include "host/objects/kinds.hpp"
#include "host/outbox/edits.hpp"
#include "host/outbox/object_patch.hpp"
#include "host/outbox/quota_shown.hpp"

namespace sluice::host {
namespace {

// What edits may tell; queues first, of which there are few.
constexpr SpareRate::For kTold[] = {SpareRate::For::kQueues, SpareRate::For::kTexts};

std::size_t index_of(SpareRate::For sort) { return static_cast<std::size_t>(sort); }

}  // namespace

Outbox::Outbox(ChainOf chain_of, QuotaTrees trees, OutboxLimits limits)
    : chain_of_(std::move(chain_of)),
      limits_(limits),
      quota_(std::move(trees)),
      spare_(limits.spare) {}
Outbox::~Outbox() = default;

Outbox::Entry& Outbox::entry_of(const StoredObject& before, std::uint64_t version) {
  std::unique_ptr<Entry>& entry = entries_[{before.kind, before.key}];
  if (entry) return *entry;
  entry = std::make_unique<Entry>();
  entry->place = {before.kind, before.key};
  entry->base = before;
  entry->version = version;
  const std::string name = chain_of_(before);
  std::unique_ptr<Chain>& chain = chains_[name];
  if (!chain) {
    chain = std::make_unique<Chain>();
    chain->name = name;
    chain->number = ++chains_made_;
  }
  chain->entries.push_back(entry.get());
  entry->chain = chain.get();
  return *entry;
}

/// Whether the chain's last edit takes the later one in: nothing stands between them, nothing of it
/// was sent, and at most one of them does anything with quota, in its own place in the order.
bool Outbox::join(Chain& chain, const Entry& entry, const Edit& later) {
  if (chain.edits.empty()) return false;
  Edit& last = *chain.edits.back();
  if (last.entry != &entry || last.id != 0 || last.failures > 0 || last.what != later.what ||
      !last.status_alone || !later.status_alone)
    return false;
  const bool moves_quota = later.gives || later.ends;
  if (moves_quota && (last.gives || last.ends)) return false;
  last.target = later.target;
  if (moves_quota) {
    last.gives = later.gives;
    last.ends = later.ends;
    last.gives_of = later.gives_of;
    last.ends_of = later.ends_of;
    last.order = later.order;
    if (last.ends) quota_.add_end(last.order, last.ends_of);
    if (last.gives) gains_.emplace(last.order, &last);
  }
  if (last.tells && !later.tells) last.from = 0;
  last.tells &= later.tells;
  return true;
}

void Outbox::add(Entry& entry, std::unique_ptr<Edit> edit) {
  Chain& chain = *entry.chain;
  edit->entry = &entry;
  edit->order = ++order_;
  if (join(chain, entry, *edit)) return ready(chain);
  if (edit->ends) quota_.add_end(edit->order, edit->ends_of);
  if (edit->gives) gains_.emplace(edit->order, edit.get());
  // Nobody waits for a text.
  if (chain.tells)
    for (const auto& earlier : chain.edits) {
      if (earlier->tells && earlier->failures == 0) earlier->from = 0;
      earlier->tells = false;
    }
  chain.tells = edit->tells;
  ++entry.edits;
  ++edits_;
  const std::size_t place = edit->stops ? place_of_stop(chain, entry) : chain.edits.size();
  chain.edits.insert(chain.edits.begin() + static_cast<std::ptrdiff_t>(place), std::move(edit));
  ready(chain);
}

void Outbox::take_out(Chain& chain) {
  if (chain.stands == Chain::Stands::kReady) ready_.erase(chain.place);
  if (chain.stands == Chain::Stands::kBehindEnds) {
    behind_ends_.erase(chain.place);
    quota_.stop_waiting(chain.place);
  }
  if (chain.stands == Chain::Stands::kLater) later_.erase({chain.from, chain.number});
  if (chain.stands == Chain::Stands::kTelling)
    telling_[index_of(chain.telling)].erase({chain.from, chain.number});
  chain.stands = Chain::Stands::kNowhere;
}

/// It is looked at with the next due().
void Outbox::ready(Chain& chain) {
  if (chain.stands == Chain::Stands::kReady) return;
  take_out(chain);
  chain.stands = Chain::Stands::kReady;
  chain.place = ++turns_;
  ready_.emplace(chain.place, &chain);
}

void Outbox::edited(const StoredObject& before, const StoredObject& after, std::uint64_t version,
                    Duration now) {
  auto edit = edit_of_change(before, after);
  if (!edit) return;
  if (edit->tells)
    edit->from =
        now + (same_reasons(before, after) ? limits_.retelling_waits : limits_.telling_waits);
  add(entry_of(before, version), std::move(edit));
}

void Outbox::removed(const StoredObject& before, std::uint64_t version) {
  // What the cluster is letting go of goes by itself once nothing holds it.
  if (!before.metadata.terminating()) add(entry_of(before, version), edit_of_removal(before));
}

bool Outbox::create(const StoredObject& object) {
  if (is_event(*object.kind)) {
    events_.push_back(object);
    if (events_.size() <= limits_.events_waiting) return true;
    events_.pop_front();
    ++dropped_;
    return true;
  }
  Entry& entry = entry_of(object, 0);
  if (entry.edits == 0) {
    entry.base.reset();
  } else {
    // Others of the chain may have been changed since it was to be made.
    const auto& edits = entry.chain->edits;
    const auto last = std::find_if(edits.rbegin(), edits.rend(),
                                   [&entry](const auto& each) { return each->entry == &entry; });
    if ((*last)->what == Edit::What::kCreate) return false;
  }
  add(entry, edit_of_creation(object));
  return true;
}

/// Whether the chain's first edit has to wait; then it stands where what it waits for finds it.
bool Outbox::blocked(Chain& chain, Edit& edit, Duration now) {
  if (edit.gives && quota_.waits(edit.order, edit.gives_of)) {
    chain.stands = Chain::Stands::kBehindEnds;
    chain.place = edit.order;
    behind_ends_.emplace(chain.place, &chain);
    return true;
  }
  if (edit.from <= now && !edit.tells) return false;
  chain.stands = edit.tells ? Chain::Stands::kTelling : Chain::Stands::kLater;
  chain.from = edit.from;
  chain.telling = is_workload(*edit.target.kind) ? SpareRate::For::kTexts : SpareRate::For::kQueues;
  auto& waiting = edit.tells ? telling_[index_of(chain.telling)] : later_;
  waiting.emplace(std::pair(edit.from, chain.number), &chain);
  return true;
}

/// The chain's first edit, which nothing holds up.
void Outbox::send(Chain& chain, std::vector<ClusterRequest>& out, Duration now) {
  Edit& edit = *chain.edits.front();
  auto request = request_of(edit);
  if (!request) {
    Entry& entry = *edit.entry;
    pop(chain);
    leave_if_idle(entry);
    return;
  }
  edit.id = request->id = ++last_id_;
  edit.sent_at = now;
  by_id_.emplace(edit.id, &edit);
  out.push_back(std::move(*request));
}

void Outbox::send_ready(std::vector<ClusterRequest>& out, Duration now) {
  ready_behind_ends();
  while (!later_.empty() && later_.begin()->first.first <= now) ready(*later_.begin()->second);
  while (!ready_.empty() && has_room()) {
    Chain& chain = *ready_.begin()->second;
    take_out(chain);
    if (chain.edits.empty() || chain.edits.front()->id != 0) continue;
    if (blocked(chain, *chain.edits.front(), now)) continue;
    spare_.decided(now);
    send(chain, out, now);
  }
}

/// What only informs, when all else is under way.
void Outbox::send_spare(std::vector<ClusterRequest>& out, Duration now) {
  for (const SpareRate::For sort : kTold) {
    auto& telling = telling_[index_of(sort)];
    while (!telling.empty() && telling.begin()->first.first <= now && has_room() &&
           spare_.take(sort, now)) {
      Chain& chain = *telling.begin()->second;
      take_out(chain);
      send(chain, out, now);
    }
  }
  while (!events_.empty() && has_room() && spare_.take(SpareRate::For::kEvents, now)) {
    Entry& entry = entry_of(events_.front(), 0);
    entry.base.reset();
    add(entry, edit_of_creation(std::move(events_.front())));
    events_.pop_front();
    take_out(*entry.chain);
    send(*entry.chain, out, now);
  }
}

std::vector<ClusterRequest> Outbox::due(Duration now) {
  std::vector<ClusterRequest> out;
  send_ready(out, now);
  send_spare(out, now);
  return out;
}

std::optional<Duration> Outbox::next() const {
  if (!has_room()) return std::nullopt;  // until an answer comes
  if (!ready_.empty()) return Duration{0};
  std::optional<Duration> out;
  const auto at = [&out](Duration when) { out = out ? std::min(*out, when) : when; };
  if (!later_.empty()) at(later_.begin()->first.first);
  for (const SpareRate::For sort : kTold)
    if (const auto& telling = telling_[index_of(sort)]; !telling.empty())
      at(std::max(telling.begin()->first.first, spare_.next(sort)));
  if (!events_.empty()) at(spare_.next(SpareRate::For::kEvents));
  return out;
}

/// Those that wait for no end any more.
void Outbox::ready_behind_ends() {
  for (const std::uint64_t order : quota_.take_freed())
    if (const auto found = behind_ends_.find(order); found != behind_ends_.end())
      ready(*found->second);
}

/// The chain's first edit is over.
void Outbox::pop(Chain& chain) {
  Edit& edit = *chain.edits.front();
  if (edit.id != 0) by_id_.erase(edit.id);
  if (edit.gives) gains_.erase(edit.order);
  const std::uint64_t end = edit.ends ? edit.order : 0;
  const std::uint64_t with_end = edit.with_end;
  const bool deletes_a_pod = edit.deletes_a_pod();
  --edit.entry->edits;
  --edits_;
  chain.edits.pop_front();
  if (with_end != 0 && !(deletes_a_pod && goes_on_with_a_stop(chain, with_end, /*in_midst=*/true)))
    quota_.remove_end(with_end);
  if (end != 0 && !goes_on_with_a_stop(chain, end, /*in_midst=*/false)) quota_.remove_end(end);
  ready_behind_ends();
  if (!chain.edits.empty()) ready(chain);
}

void Outbox::leave_if_idle(Entry& entry) {
  if (entry.edits > 0) return;
  Chain& chain = *entry.chain;
  std::erase(chain.entries, &entry);
  entries_.erase({entry.place.kind, std::string(entry.place.key)});
  if (chain.entries.empty()) remove(chain);
}

void Outbox::remove(Chain& chain) {
  take_out(chain);
  chains_.erase(std::string(chain.name));
}

/// Nothing of it is under way any more.
void Outbox::is_idle(Chain& chain) {
  std::move(chain.heard.begin(), chain.heard.end(), std::back_inserter(heard_));
  chain.heard.clear();
  if (chain.baseless && !chain.edits.empty())
    baseless_.push_back(chain.edits.front()->entry->place);
  chain.baseless = false;
}

Outbox::Edit& Outbox::edit_of(std::uint64_t id) const {
  const auto found = by_id_.find(id);
  SLUICE_CHECK(found != by_id_.end(), "no request ", id, " is under way");
  return *found->second;
}

void Outbox::answered(std::uint64_t id, Duration now) {
  spare_.answered(now, now - edit_of(id).sent_at);
}

Sent Outbox::sent(std::uint64_t id) const {
  const Edit& edit = edit_of(id);
  if (edit.read_first) return Sent::kRead;
  if (edit.what == Edit::What::kCreate) return Sent::kCreate;
  return edit.what == Edit::What::kDelete ? Sent::kDelete : edit.stage;
}

const OutboxPlace& Outbox::place(std::uint64_t id) const { return edit_of(id).entry->place; }
const StoredObject& Outbox::target(std::uint64_t id) const { return edit_of(id).target; }
int Outbox::failures(std::uint64_t id) const { return edit_of(id).failures; }

bool Outbox::stored(std::uint64_t id, StoredObject object, std::uint64_t version) {
  Edit& edit = edit_of(id);
  Entry& entry = *edit.entry;
  Chain& chain = *entry.chain;
  entry.base = std::move(object);
  entry.version = version;
  is_idle(chain);
  if (edit.what == Edit::What::kChange && (edit.stage == Sent::kMain || edit.removes_first) &&
      !status_patch(*entry.base, edit.target).empty()) {
    by_id_.erase(id);
    edit.id = 0;
    edit.stage = Sent::kStatus;
    edit.failures = 0;
    ready(chain);
    return true;
  }
  pop(chain);
  const bool more = entry.edits > 0;
  leave_if_idle(entry);
  return more;
}

void Outbox::done(std::uint64_t id) {
  const Edit& edit = edit_of(id);
  Entry& entry = *edit.entry;
  // What finalizers hold is there still, and is changed until they are gone.
  const bool was_marked = edit.target.metadata.terminating();
  if (edit.what == Edit::What::kDelete && !was_marked) entry.base.reset();
  is_idle(*entry.chain);
  pop(*entry.chain);
  leave_if_idle(entry);
}

void Outbox::again(std::uint64_t id, Duration now, Duration at_least, bool read) {
  Edit& edit = edit_of(id);
  by_id_.erase(id);
  edit.id = 0;
  const int failures = edit.failures++;
  edit.read_first |= read;
  // Looking once costs nothing.
  if (!read || failures > 0 || at_least > 0)
    edit.from =
        now + std::max(at_least, backoff(limits_.first_wait, failures, limits_.longest_wait));
  is_idle(*edit.entry->chain);
  ready(*edit.entry->chain);
}

void Outbox::unchanged(std::uint64_t id) {
  Edit& edit = edit_of(id);
  by_id_.erase(id);
  edit.id = 0;
  edit.read_first = false;
  is_idle(*edit.entry->chain);
  ready(*edit.entry->chain);
}

Hearing Outbox::hearing(const OutboxPlace& place) const {
  const auto found = entries_.find({place.kind, place.key});
  if (found == entries_.end()) return Hearing::kTake;
  const Chain& chain = *found->second->chain;
  const bool busy = !chain.edits.empty() && chain.edits.front()->id != 0;
  return busy ? Hearing::kLater : Hearing::kForget;
}

bool Outbox::is_to_be_made(const OutboxPlace& place) const {
  const auto found = entries_.find({place.kind, place.key});
  if (found == entries_.end()) return false;
  const auto& edits = found->second->chain->edits;
  const auto first =
      std::ranges::find(edits, found->second.get(), [](const auto& edit) { return edit->entry; });
  return first != edits.end() && (*first)->what == Edit::What::kCreate;
}

void Outbox::hear_later(Heard heard) {
  const auto found = entries_.find({heard.place.kind, heard.place.key});
  SLUICE_CHECK(found != entries_.end(), "nothing is assumed of ", heard.place.key);
  found->second->chain->heard.push_back(std::move(heard));
}

std::vector<Heard> Outbox::take_heard() { return std::exchange(heard_, {}); }

std::vector<OutboxPlace> Outbox::take_baseless() { return std::exchange(baseless_, {}); }

void Outbox::forget_chain(Chain& chain, std::vector<Forgotten>& out) {
  is_idle(chain);
  std::set<const Entry*> to_be_made;
  for (const auto& edit : chain.edits) {
    quota_.remove_end(edit->order);
    quota_.remove_end(edit->with_end);
    gains_.erase(edit->order);
    if (edit->what == Edit::What::kCreate) to_be_made.insert(edit->entry);
  }
  edits_ -= chain.edits.size();
  for (Entry* entry : chain.entries) {
    out.push_back({entry->place, std::move(entry->base), to_be_made.contains(entry)});
    entries_.erase({entry->place.kind, std::string(entry->place.key)});
  }
  remove(chain);
}

std::vector<Forgotten> Outbox::forget(const OutboxPlace& place) {
  std::vector<Forgotten> out;
  const auto found = entries_.find({place.kind, place.key});
  if (found == entries_.end()) return out;
  std::vector<Chain*> chains{found->second->chain};
  std::uint64_t since = UINT64_MAX;  // the earliest end that will not be
  while (!chains.empty()) {
    const std::uint64_t before = since;
    for (Chain* chain : chains) {
      SLUICE_CHECK(chain->edits.empty() || chain->edits.front()->id == 0, "chain ", chain->name,
                   " is forgotten while request ", chain->edits.front()->id, " is under way");
      for (const auto& edit : chain->edits)
        for (const std::uint64_t end : {edit->ends ? edit->order : 0, edit->with_end})
          if (end != 0) since = std::min(since, end);
      forget_chain(*chain, out);
    }
    chains.clear();
    if (since == before) break;
    // What was given after it may rest on it; and these may have ended something in turn.
    for (auto gain = gains_.upper_bound(since); gain != gains_.upper_bound(before); ++gain) {
      if (gain->second->id != 0) continue;
      Chain* chain = gain->second->entry->chain;
      if (chain->edits.front()->id == 0)
        chains.push_back(chain);
      else
        chain->baseless = true;
    }
    std::ranges::sort(chains, {}, &Chain::number);
    chains.erase(std::unique(chains.begin(), chains.end()), chains.end());
  }
  ready_behind_ends();
  return out;
}

}  // namespace sluice::host
