#include "host/writes/deletion.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "api/json/json.hpp"
#include "api/json/steps.hpp"
#include "core/base/check.hpp"
#include "host/objects/owners.hpp"
#include "host/objects/pods.hpp"
#include "host/writes/metadata.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr std::string_view kForegroundFinalizer = "foregroundDeletion";
constexpr std::int64_t kDefaultPodGraceSeconds = 30;
// Of those that wait for each other, looked at because one thing that held them went. A larger
// circle goes when it is deleted once more.
constexpr std::size_t kMostOfACircle = 1000;
constexpr std::size_t kAnyNumber = std::numeric_limits<std::size_t>::max();

bool is_core(const ObjectRef& ref, std::string_view kind) {
  return ref.kind->group.empty() && ref.kind->kind == kind;
}

/// In seconds, 68 years at most: its end is a moment that can be told.
std::int64_t grace_of(const json::object& object, std::optional<std::int64_t> wanted) {
  if (!runs_somewhere(object)) return 0;
  const json::object* spec = api::find_object(object, "spec");
  const std::int64_t own =
      api::find_int(*spec, "terminationGracePeriodSeconds").value_or(kDefaultPodGraceSeconds);
  return std::clamp<std::int64_t>(wanted.value_or(own), 0,
                                  std::numeric_limits<std::int32_t>::max());
}

/// Its dependents are deleted first, and no other finalizer holds it.
bool is_held_by_dependents(const Header& header) {
  const auto finalizers = header.finalizers();
  return finalizers.size() == 1 && finalizers.front() == kForegroundFinalizer;
}

/// An object in a namespace owns what is in there, too: nobody elsewhere can hold it, or have it
/// written, by naming its UID.
bool may_hang_on(const ObjectRef& owner, const ObjectRef& dependent) {
  if (!owner.kind->namespaced) return true;
  return dependent.kind->namespaced && dependent.ns() == owner.ns();
}

/// Removes the reference to `uid`; how many are left.
std::size_t drop_owner(json::object& object, std::string_view uid) {
  json::object& metadata = metadata_of(object);
  json::array* owners = api::find_array(metadata, "ownerReferences");
  if (!owners) return 0;
  owners->erase(std::remove_if(owners->begin(), owners->end(),
                               [&](const json::value& entry) {
                                 const auto* owner = entry.if_object();
                                 return owner && api::find_text(*owner, "uid") == uid;
                               }),
                owners->end());
  const std::size_t left = owners->size();
  if (left == 0) metadata.erase("ownerReferences");
  return left;
}

}  // namespace

std::optional<ApiError> refuses_to_go(const ObjectRef& ref) {
  if (!is_core(ref, "Namespace")) return std::nullopt;
  if (ref.key != "default" && ref.key != "kube-system") return std::nullopt;
  return forbidden(*ref.kind, ref.key, "this namespace may not be deleted");
}

bool Deletion::remove(const ObjectRef& ref, Propagation propagation,
                      std::optional<std::int64_t> grace_seconds) {
  if (propagation == Propagation::kForeground) in_foreground_.insert(ref);
  doomed_.push_back({ref, propagation, grace_seconds});
  work_off();
  if (propagation == Propagation::kForeground && !working_) release(ref, kAnyNumber);
  return !kernel_.exists(*ref.kind, ref.key);
}

const Header* Deletion::header_of(const ObjectRef& ref) const {
  const StoredObject* stored = kernel_.store().find(*ref.kind, ref.key);
  return stored ? &stored->metadata : nullptr;
}

bool Deletion::written(const ObjectRef& ref) {
  const Header* header = header_of(ref);
  SLUICE_CHECK(header != nullptr && header->terminating(), ref.kind->kind, " ", ref.key,
               " was not written while it goes");
  if (is_held_by_dependents(*header)) return release(ref, kMostOfACircle);
  if (!header->finalizers().empty() || header->grace_seconds() > 0) return false;
  if (is_core(ref, "Namespace") && index_.in_namespace(ref.key) > 0) return false;
  erase(ref);
  work_off();
  return true;
}

void Deletion::work_off() {
  if (working_) return;
  working_ = true;
  while (!doomed_.empty()) {
    api::Steps::count();
    const Doomed next = std::move(doomed_.front());
    doomed_.pop_front();
    if (kernel_.exists(*next.ref.kind, next.ref.key)) begin(next);
  }
  in_foreground_.clear();
  working_ = false;
}

void Deletion::doom_in_foreground(const ObjectRef& ref) {
  if (in_foreground_.insert(ref).second)
    doomed_.push_back({ref, Propagation::kForeground, std::nullopt});
}

std::vector<ObjectRef> Deletion::dependents_of(const ObjectRef& owner, std::string_view uid) const {
  std::vector<ObjectRef> out = index_.owned_by(uid);
  std::erase_if(out, [&](const ObjectRef& each) { return !may_hang_on(owner, each); });
  return out;
}

/// It is marked, and nothing but its dependents holds it.
bool Deletion::waits_for_dependents(const ObjectRef& ref, std::string& uid) const {
  const Header& header = *header_of(ref);
  if (!header.terminating() || !is_held_by_dependents(header)) return false;
  if (is_core(ref, "Namespace") && index_.in_namespace(ref.key) > 0) return false;
  uid = header.uid();
  return header.grace_seconds() == 0;
}

/// Removes `ref` and all that hangs on it when every one of them waits for dependents only: they
/// wait for each other, in circles. Looks at so many at most; whether it is gone.
bool Deletion::release(const ObjectRef& ref, std::size_t most) {
  if (!kernel_.exists(*ref.kind, ref.key)) return true;
  ObjectIndex::Refs circle = {ref};
  // Those whose dependents are to be looked at, with their UIDs.
  std::vector<std::pair<ObjectRef, std::string>> open = {{ref, {}}};
  if (!waits_for_dependents(ref, open.front().second)) return false;
  while (!open.empty()) {
    const auto [owner, uid] = std::move(open.back());
    open.pop_back();
    for (const ObjectRef& dependent : index_.dependents(uid)) {
      api::Steps::count();
      if (!may_hang_on(owner, dependent)) continue;
      if (!kernel_.exists(*dependent.kind, dependent.key)) continue;  // staged: it goes
      if (!circle.insert(dependent).second) continue;
      // At the first that is held: most owners wait for many such.
      open.emplace_back(dependent, std::string());
      if (circle.size() > most || !waits_for_dependents(dependent, open.back().second))
        return false;
    }
  }
  std::vector<std::pair<ObjectRef, Header>> gone;
  for (const ObjectRef& each : circle) {
    gone.emplace_back(each, *header_of(each));
    kernel_.erase(*each.kind, each.key);
  }
  for (const auto& [each, header] : gone) after_erase(each, header);
  work_off();
  return true;
}

void Deletion::begin(const Doomed& doomed) {
  const ObjectRef& ref = doomed.ref;
  const std::string uid(header_of(ref)->uid());
  if (doomed.propagation == Propagation::kOrphan) leave_dependents(ref, uid);
  const auto dependents = dependents_of(ref, uid);
  const bool waits = doomed.propagation == Propagation::kForeground && !dependents.empty();
  if (waits)
    for (const auto& dependent : dependents) doom_in_foreground(dependent);
  const bool filled = is_core(ref, "Namespace") && index_.in_namespace(ref.key) > 0;
  const Header header = *header_of(ref);
  const std::string_view in_use =
      holder_ && !header.terminating() ? holder_(ref) : std::string_view();
  const bool held = waits || !in_use.empty() || !header.finalizers().empty();
  if (!held && !filled && !is_core(ref, "Pod")) return erase(ref);
  if (filled && header.terminating()) return;
  json::object object = kernel_.current(*ref.kind, ref.key);
  if (waits) add_finalizer(object, kForegroundFinalizer);
  if (!in_use.empty()) add_finalizer(object, in_use);
  if (filled) {
    object["status"] = json::object{{"phase", "Terminating"}};
    mark(ref, std::move(object), 0);
    return empty_namespace(ref);
  }
  const std::int64_t grace = is_core(ref, "Pod") ? grace_of(object, doomed.grace_seconds) : 0;
  if (grace == 0 && !held) return erase(ref);
  if (!header.terminating()) return mark(ref, std::move(object), grace);
  if (doomed.grace_seconds && grace < header.grace_seconds())
    shorten(ref, std::move(object), grace);
}

void Deletion::mark(const ObjectRef& ref, json::object object, std::int64_t grace_seconds) {
  mark_for_deletion(object, kernel_.now(), grace_seconds);
  advance_generation(object);
  store(ref, object);
}

/// It goes already, and is to have less time for it, counted from when that was asked for.
void Deletion::shorten(const ObjectRef& ref, json::object object, std::int64_t grace_seconds) {
  const Time end = api::find_time(metadata_of(object), "deletionTimestamp").value_or(kernel_.now());
  const Duration had = header_of(ref)->grace_seconds() * kSecond;
  mark_for_deletion(object, std::max<Time>(0, end - had), grace_seconds);
  store(ref, object);
}

void Deletion::store(const ObjectRef& ref, const json::object& object) {
  kernel_.commit(kernel_.intake().encode(*ref.kind, object));
}

void Deletion::erase(const ObjectRef& ref) {
  const Header header = *header_of(ref);
  const std::string uid(header.uid());
  const auto dependents = dependents_of(ref, uid);
  kernel_.erase(*ref.kind, ref.key);
  for (const auto& dependent : dependents) {
    if (!kernel_.exists(*dependent.kind, dependent.key)) continue;  // staged: it goes as well
    json::object left = kernel_.current(*dependent.kind, dependent.key);
    if (drop_owner(left, uid) > 0) {
      store(dependent, left);
    } else {
      doomed_.push_back({dependent, Propagation::kBackground, std::nullopt});
    }
  }
  after_erase(ref, header);
}

/// What follows for owners and namespace when the object is gone.
void Deletion::after_erase(const ObjectRef& ref, const Header& header) {
  const std::string ns(ref.ns());
  owners_of_erased(ns, header);
  if (ns.empty()) return;
  const api::KindInfo* namespaces = kernel_.scheme().find("v1", "Namespace");
  if (!namespaces || index_.in_namespace(ns) > 0) return;
  const ObjectRef emptied{namespaces, ns};
  const Header* left = header_of(emptied);
  if (!left || !left->terminating()) return;
  if (is_held_by_dependents(*left))
    release(emptied, kMostOfACircle);  // which may wait for it in turn
  else
    doomed_.push_back({emptied, Propagation::kBackground, std::nullopt});
}

void Deletion::leave_dependents(const ObjectRef& owner, std::string_view uid) {
  for (const auto& dependent : dependents_of(owner, uid)) {
    if (!kernel_.exists(*dependent.kind, dependent.key)) continue;  // staged: it goes
    json::object object = kernel_.current(*dependent.kind, dependent.key);
    drop_owner(object, uid);
    store(dependent, object);
  }
}

void Deletion::empty_namespace(const ObjectRef& ref) {
  for (const api::KindInfo* kind : kernel_.scheme().kinds()) {
    if (!kind->namespaced) continue;
    for (const StoredObject* object : kernel_.store().list_in(*kind, ref.key))
      doomed_.push_back({{kind, object->key}, Propagation::kBackground, std::nullopt});
  }
}

/// Owners that wait for their dependents (foreground) go on when the last one is gone.
void Deletion::owners_of_erased(std::string_view ns, const Header& header) {
  for (const OwnerReference& reference : header.owners()) {
    const ObjectRef owner = owner_named(kernel_.scheme(), reference, ns);
    const Header* found = owner.kind ? header_of(owner) : nullptr;
    if (!found || found->uid() != reference.uid) continue;  // gone, or its namesake
    if (!found->terminating() || !found->has_finalizer(kForegroundFinalizer)) continue;
    if (!index_.dependents(found->uid()).empty()) {
      // Perhaps only such as wait for it in turn.
      release(owner, kMostOfACircle);
      continue;
    }
    json::object waiting = kernel_.current(*owner.kind, owner.key);
    remove_finalizer(waiting, kForegroundFinalizer);
    store(owner, waiting);
    if (finalizers_of(waiting).empty())
      doomed_.push_back({owner, Propagation::kBackground, std::nullopt});
  }
}

}  // namespace sluice::host
