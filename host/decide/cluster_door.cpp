#include "host/decide/cluster_door.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/json/json.hpp"
#include "host/base/log.hpp"
#include "host/kube/page.hpp"
#include "host/objects/kinds.hpp"
#include "host/objects/parts.hpp"
#include "host/outbox/object_patch.hpp"
#include "host/outbox/quota_shown.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

/// 0: it has none that is a number; those of an API server are.
std::uint64_t version_of(const json::object& object) {
  return version_number(api::find_text(part(object, "metadata"), "resourceVersion"));
}

}  // namespace

ClusterDoor::ClusterDoor(Kernel& kernel, ClusterStore& store, LiveStore& objects, Outbox& outbox)
    : kernel_(kernel),
      store_(store),
      objects_(objects),
      outbox_(outbox),
      mirror_(kernel.intake(), *this) {}

void ClusterDoor::lead() {
  leads_ = true;
  mirror_.log_problems();
}

void ClusterDoor::take(std::vector<Letter> letters) {
  for (Letter& letter : letters) {
    if (letter.says == Letter::Says::kListBegins) {
      list_begins(letter);
    } else if (letter.says == Letter::Says::kListEnds) {
      list_ends(*letter.kind);
    } else {
      const bool gone = letter.says == Letter::Says::kRemove;
      OutboxPlace place{letter.kind, mirror_.note_seen(*letter.kind, letter.object)};
      const std::uint64_t version = version_of(letter.object);
      newest_[letter.kind] = std::max(newest_[letter.kind], version);
      const bool certain = is_certain(place);
      hear({std::move(place), version, gone, std::move(letter.object), certain});
    }
  }
  mirror_.settle();
}

/// A list is never older than what was heard of its kind before, unless the cluster went back to an
/// earlier state, from a backup.
void ClusterDoor::list_begins(const Letter& letter) {
  std::uint64_t& newest = newest_[letter.kind];
  listings_[letter.kind] = {letter.version, letter.version < newest};
  newest = letter.version;
  mirror_.list_begins(*letter.kind, letter.version);
}

void ClusterDoor::list_ends(const api::KindInfo& kind) {
  const Listing ending = listings_[&kind];
  listings_.erase(&kind);
  ends_ = &ending;
  mirror_.list_ends(kind);
  ends_ = nullptr;
}

/// Whether the list that comes in knows better. What was written since it was made, as answers have
/// said, is newer than it.
bool ClusterDoor::is_certain(const OutboxPlace& place) const {
  const auto listing = listings_.find(place.kind);
  if (listing == listings_.end()) return false;
  return listing->second.went_back || store_.version(place) <= listing->second.version;
}

/// The object is this now, or is gone. What is older than what is known is no news.
void ClusterDoor::hear(Heard heard) {
  const std::uint64_t known = store_.version(heard.place);
  if (heard.version == known || (heard.version < known && !heard.certain)) return;
  const Hearing how = outbox_.hearing(heard.place);
  if (how == Hearing::kLater) {
    heard.certain = false;  // what is under way may be answered first
    return outbox_.hear_later(std::move(heard));
  }
  const api::KindInfo& kind = *heard.place.kind;
  if (heard.gone) return mirror_.remove(kind, heard.place.key);  // which calls erase()
  std::vector<Forgotten> others = forget(heard.place, how);
  store_.know(heard.place, heard.version);
  mirror_.put(kind, kind.hub_api_version(), std::move(heard.object));
  restore_all(std::move(others));
}

void ClusterDoor::take_heard() {
  for (Heard& each : outbox_.take_heard()) hear(std::move(each));
  for (const OutboxPlace& place : outbox_.take_baseless()) {
    if (outbox_.hearing(place) != Hearing::kForget) continue;  // that was done by what was heard
    ++counts_.forgotten;
    restore_all(outbox_.forget(place));
  }
}

/// What was decided on another state of these objects is undone, and decided anew: the others of
/// the chain, to be restored once this one is what the cluster says now.
std::vector<Forgotten> ClusterDoor::forget(const OutboxPlace& place, Hearing how) {
  if (how != Hearing::kForget) return {};
  ++counts_.forgotten;
  std::vector<Forgotten> chain = outbox_.forget(place);
  const auto own = std::find_if(chain.begin(), chain.end(),
                                [&place](const Forgotten& each) { return each.place == place; });
  if (own == chain.end()) return chain;
  before_ = std::move(*own);
  chain.erase(own);
  return chain;
}

void ClusterDoor::restore_all(std::vector<Forgotten> forgotten) {
  for (Forgotten& each : forgotten) restore(std::move(each));
  before_.reset();
}

void ClusterDoor::restore(Forgotten forgotten) {
  if (!forgotten.base) return;
  PreparedObject object;
  const api::KindInfo& kind = *forgotten.place.kind;
  object.typed = kernel_.intake().decode(kind, to_object(*forgotten.base));
  object.stored = std::move(*forgotten.base);
  put(std::move(object));
}

/// Not what the machine made of an object whose chain was forgotten: even if the cluster says the
/// same, it is handed on, because what was to be made after it is decided anew by whoever hears of
/// it.
const StoredObject* ClusterDoor::find(const api::KindInfo& kind, const std::string& key) const {
  if (before_ && before_->place == OutboxPlace{&kind, key}) return nullptr;
  return objects_.find(kind, key);
}

std::vector<std::string> ClusterDoor::keys(const api::KindInfo& kind) const {
  return MirrorStore(objects_).keys(kind);
}

void ClusterDoor::put(PreparedObject object) {
  if (!leads_) return objects_.put(std::move(object.stored));
  const StoredObject arrived = object.stored;
  const StoredObject* old = store_.find(*arrived.kind, arrived.key);
  if (old && is_workload(*arrived.kind)) {
    const api::Condition* end = end_told(object);
    const auto id = kernel_.engine().find(arrived.key);
    const bool ends = end && id && kernel_.engine().state(*id) != WorkloadState::kFinished &&
                      old->metadata.uid() == arrived.metadata.uid() &&
                      same_but_end(old->status, arrived.status);
    // Another one than the engine knows: it comes with what its status says, as after a restart.
    if (ends) {
      if (auto done =
              kernel_.finish(arrived.key, end->reason, end->message, end->last_transition_time);
          !done)
        log(LogLevel::kError, "cluster", done.error().text, {{"workload", arrived.key}});
    } else if (!same_course(old->status, arrived.status)) {
      let_go({arrived.kind, arrived.key});
    }
  }
  store_.arriving(&arrived);
  kernel_.commit(std::move(object));
  store_.arriving(nullptr);
}

void ClusterDoor::let_go(const OutboxPlace& place) {
  store_.leaving(true);
  kernel_.erase(*place.kind, place.key);
  store_.leaving(false);
}

bool ClusterDoor::erase(const api::KindInfo& kind, const std::string& key) {
  const OutboxPlace place{&kind, key};
  if (ends_ && !ends_->went_back && store_.version(place) > ends_->version) return false;
  if (!leads_) {
    store_.know(place, 0);
    return objects_.erase(kind, key);
  }
  // A list that does not have it any more says so without a version.
  const Hearing how = outbox_.hearing(place);
  if (how == Hearing::kLater) {
    outbox_.hear_later({place, UINT64_MAX, true, {}});
    return false;
  }
  if (outbox_.is_to_be_made(place)) {  // what it was is gone, as the machine knows
    store_.know(place, 0);
    return false;
  }
  std::vector<Forgotten> others = forget(place, how);
  store_.know(place, 0);
  // Whoever was to make it anew after its deletion hears of that once more, and decides anew.
  if (before_ && before_->to_be_made) restore(std::move(*before_));
  const bool was = store_.find(kind, key) != nullptr;
  let_go(place);
  restore_all(std::move(others));
  return was;
}

/// The last known form stays valid: no quota is given away because an object cannot be read.
void ClusterDoor::unread(const api::KindInfo& kind, const std::string& key) {
  if (!leads_) objects_.erase(kind, key);
  if (before_ && before_->place == OutboxPlace{&kind, key}) restore(std::move(*before_));
}

void ClusterDoor::settle() {
  if (!leads_) objects_.commit(nullptr);  // else the turn does
}

void ClusterDoor::answered(const ClusterAnswer& answer, Duration now) {
  outbox_.answered(answer.id, now);
  const Sent sent = outbox_.sent(answer.id);
  if (answer.status == 0) {
    ++counts_.unsure;
    ask_again(answer.id, now, answer.sent && sent != Sent::kDelete);
  } else if (sent == Sent::kRead && (answer.status == 200 || answer.status == 404)) {
    was_read(answer, now);
  } else if (answer.status >= 200 && answer.status < 300) {
    auto object = api::parse_object(answer.body);
    ++counts_.stored;
    ++counts_.by_kind[{outbox_.place(answer.id).kind->kind, sent}];
    if (sent == Sent::kDelete)
      outbox_.done(answer.id);
    else if (object && version_of(*object) > 0)
      stored(answer, std::move(*object));
    else
      ask_again(answer.id, now, true);
  } else if (sent == Sent::kDelete && (answer.status == 404 || answer.status == 409)) {
    outbox_.done(answer.id);
  } else if (answer.status == 409 || (answer.status == 404 && sent != Sent::kCreate)) {
    ask_again(answer.id, now, true);
  } else {
    refused(answer, now);
  }
  take_heard();
  mirror_.settle();
}

/// Reading comes first where it may have been carried out, or somebody else wrote. Of an Event that
/// is all there is to know: nobody follows these, so one that was read would be kept for ever.
void ClusterDoor::ask_again(std::uint64_t id, Duration now, bool read) {
  if (read && is_event(*outbox_.place(id).kind)) return outbox_.done(id);
  outbox_.again(id, now, 0, read);
}

void ClusterDoor::stored(const ClusterAnswer& answer, json::object object) {
  const OutboxPlace place = outbox_.place(answer.id);
  const api::KindInfo& kind = *place.kind;
  const std::uint64_t version = version_of(object);
  auto now_there = mirror_.read(kind, kind.hub_api_version(), std::move(object));
  if (!now_there) {
    log(LogLevel::kError, "cluster",
        fmt::format("cannot read {} {} as it was stored: {}", kind.kind, place.key,
                    now_there.error().text));
    return outbox_.done(answer.id);
  }
  const bool more = outbox_.stored(answer.id, now_there->stored, version);
  // Events are only written; they are not followed, and nobody would say that they are gone.
  if (is_event(kind)) return;
  store_.know(place, version);
  if (!more) mirror_.keep(std::move(*now_there));
}

/// The object of an edit that may or may not have been carried out, or was refused because another
/// writer changed the object.
void ClusterDoor::was_read(const ClusterAnswer& answer, Duration now) {
  const OutboxPlace place = outbox_.place(answer.id);
  auto object = answer.status == 200 ? api::parse_object(answer.body) : std::nullopt;
  if (answer.status == 200 && !object) return outbox_.again(answer.id, now, 0, true);
  const std::uint64_t version = object ? version_of(*object) : 0;
  if (version == store_.version(place)) return outbox_.unchanged(answer.id);
  outbox_.unchanged(answer.id);
  hear({place, object ? version : UINT64_MAX, !object, object ? std::move(*object) : json::object(),
        true});
}

/// Nobody who made it reads the controller's log.
void ClusterDoor::note_refusal(std::uint64_t id, const std::string& told) {
  const OutboxPlace& place = outbox_.place(id);
  if (is_event(*place.kind)) return;
  ObjectRef about{place.kind, place.key};
  if (outbox_.sent(id) == Sent::kCreate) {
    const StoredObject& wanted = outbox_.target(id);
    const OwnerReference* owner = wanted.metadata.controller();
    about.kind = owner ? kernel_.scheme().find(owner->api_version, owner->kind) : nullptr;
    if (about.kind) about.key = join_key(wanted.ns(), owner->name);
  }
  if (about.kind) refusals_.push_back({about, true, "WriteRefused", told});
}

void ClusterDoor::refused(const ClusterAnswer& answer, Duration now) {
  const OutboxPlace place = outbox_.place(answer.id);
  const bool overload = answer.status == 429 || answer.status >= 500;
  ++(overload ? counts_.unsure : counts_.refused);
  if (!overload && outbox_.failures(answer.id) == 0) {
    const std::string told =
        fmt::format("the cluster refused a write of {} {}: {}", place.kind->kind, place.key,
                    message_of(answer.status, answer.body));
    log(LogLevel::kWarning, "cluster", told);
    note_refusal(answer.id, told);
  }
  // What informs only is not worth a second try.
  if (is_event(*place.kind)) return outbox_.done(answer.id);
  outbox_.again(answer.id, now, answer.retry_after, answer.status >= 500);
}

}  // namespace sluice::host
