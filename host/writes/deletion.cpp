#include "host/writes/deletion.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "api/json/json.hpp"
#include "api/json/steps.hpp"
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

std::string_view uid_of(const json::object& object) {
  const json::object* metadata = metadata_of(object);
  return metadata ? api::find_text(*metadata, "uid") : std::string_view();
}

/// Whether a process may still run for this Pod.
bool runs_somewhere(const json::object& pod) {
  const json::object* spec = api::find_object(pod, "spec");
  const json::object* status = api::find_object(pod, "status");
  const std::string_view phase = status ? api::find_text(*status, "phase") : std::string_view();
  return spec && !api::find_text(*spec, "nodeName").empty() && phase != "Succeeded" &&
         phase != "Failed";
}

std::int64_t grace_of(const ObjectRef& ref, const json::object& object,
                      std::optional<std::int64_t> wanted) {
  if (!is_core(ref, "Pod") || !runs_somewhere(object)) return 0;
  if (wanted) return std::max<std::int64_t>(*wanted, 0);
  const json::object* spec = api::find_object(object, "spec");
  return api::find_int(*spec, "terminationGracePeriodSeconds").value_or(kDefaultPodGraceSeconds);
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

bool Deletion::written(const ObjectRef& ref) {
  if (!kernel_.exists(*ref.kind, ref.key)) return true;
  const json::object object = kernel_.current(*ref.kind, ref.key);
  const auto finalizers = finalizers_of(object);
  if (!is_terminating(object)) return false;
  if (finalizers.size() == 1 && finalizers.front() == kForegroundFinalizer)
    return release(ref, kMostOfACircle);
  if (!finalizers.empty()) return false;
  const json::object& metadata = *metadata_of(object);
  if (api::find_int(metadata, "deletionGracePeriodSeconds").value_or(0) > 0) return false;
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

/// It is marked, and nothing but its dependents holds it.
bool Deletion::waits_for_dependents(const ObjectRef& ref, std::string& uid) const {
  const json::object object = kernel_.current(*ref.kind, ref.key);
  const auto finalizers = finalizers_of(object);
  if (!is_terminating(object) || finalizers.size() != 1 ||
      finalizers.front() != kForegroundFinalizer)
    return false;
  if (is_core(ref, "Namespace") && index_.in_namespace(ref.key) > 0) return false;
  uid = uid_of(object);
  return api::find_int(*metadata_of(object), "deletionGracePeriodSeconds").value_or(0) == 0;
}

/// Removes `ref` and all that hangs on it when every one of them waits for dependents only: they
/// wait for each other, in circles. Looks at so many at most; whether it is gone.
bool Deletion::release(const ObjectRef& ref, std::size_t most) {
  if (!kernel_.exists(*ref.kind, ref.key)) return true;
  ObjectIndex::Refs circle = {ref};
  std::vector<std::string> open(1);  // UIDs of those whose dependents are to be looked at
  if (!waits_for_dependents(ref, open.front())) return false;
  while (!open.empty()) {
    const std::string uid = std::move(open.back());
    open.pop_back();
    for (const ObjectRef& dependent : index_.dependents(uid)) {
      api::Steps::count();
      if (!kernel_.exists(*dependent.kind, dependent.key)) continue;  // staged: it goes
      if (!circle.insert(dependent).second) continue;
      // At the first that is held: most owners wait for many such.
      if (circle.size() > most || !waits_for_dependents(dependent, open.emplace_back()))
        return false;
    }
  }
  std::vector<std::pair<ObjectRef, json::object>> gone;
  for (const ObjectRef& each : circle) {
    gone.emplace_back(each, kernel_.current(*each.kind, each.key));
    kernel_.erase(*each.kind, each.key);
  }
  for (const auto& [each, object] : gone) after_erase(each, object);
  work_off();
  return true;
}

void Deletion::begin(const Doomed& doomed) {
  const ObjectRef& ref = doomed.ref;
  json::object object = kernel_.current(*ref.kind, ref.key);
  const std::string uid(uid_of(object));
  const bool marked = is_terminating(object);
  if (doomed.propagation == Propagation::kOrphan) leave_dependents(uid);
  const auto dependents = index_.owned_by(uid);
  if (doomed.propagation == Propagation::kForeground && !dependents.empty()) {
    add_finalizer(object, kForegroundFinalizer);
    for (const auto& dependent : dependents) doom_in_foreground(dependent);
  }
  const std::int64_t grace = grace_of(ref, object, doomed.grace_seconds);
  if (is_core(ref, "Namespace") && index_.in_namespace(ref.key) > 0) {
    if (marked) return;
    object["status"] = json::object{{"phase", "Terminating"}};
    mark(ref, std::move(object), 0);
    empty_namespace(ref);
    return;
  }
  if (grace > 0 || !finalizers_of(object).empty()) {
    if (!marked) mark(ref, std::move(object), grace);
    return;
  }
  erase(ref);
}

void Deletion::mark(const ObjectRef& ref, json::object object, std::int64_t grace_seconds) {
  mark_for_deletion(object, kernel_.now(), grace_seconds);
  advance_generation(object);
  store(ref, object);
}

void Deletion::store(const ObjectRef& ref, const json::object& object) {
  kernel_.commit(kernel_.intake().seal(*ref.kind, object));
}

void Deletion::erase(const ObjectRef& ref) {
  const json::object object = kernel_.current(*ref.kind, ref.key);
  const std::string uid(uid_of(object));
  const auto dependents = index_.owned_by(uid);
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
  after_erase(ref, object);
}

/// Whom it concerns that the object is gone: its owners and its namespace.
void Deletion::after_erase(const ObjectRef& ref, const json::object& object) {
  owners_of_erased(object);
  if (!ref.kind->namespaced) return;
  const std::string ns = ref.key.substr(0, ref.key.find('/'));
  const api::KindInfo* namespaces = kernel_.scheme().find("v1", "Namespace");
  if (namespaces && index_.in_namespace(ns) == 0 && kernel_.exists(*namespaces, ns) &&
      is_terminating(kernel_.current(*namespaces, ns)))
    doomed_.push_back({{namespaces, ns}, Propagation::kBackground, std::nullopt});
}

void Deletion::leave_dependents(std::string_view uid) {
  for (const auto& dependent : index_.owned_by(uid)) {
    if (!kernel_.exists(*dependent.kind, dependent.key)) continue;  // staged: it goes
    json::object object = kernel_.current(*dependent.kind, dependent.key);
    drop_owner(object, uid);
    store(dependent, object);
  }
}

void Deletion::empty_namespace(const ObjectRef& ref) {
  for (const api::KindInfo* kind : kernel_.scheme().kinds()) {
    if (!kind->namespaced) continue;
    for (const StoredObject* object : kernel_.store().list(*kind))
      if (object->key.starts_with(ref.key + "/"))
        doomed_.push_back({{kind, object->key}, Propagation::kBackground, std::nullopt});
  }
}

/// Who that is of the dependents' namespace, or of none; no kind: there is no such kind.
ObjectRef Deletion::owner_named(const json::object& reference, std::string_view ns) const {
  const std::string name(api::find_text(reference, "name"));
  const api::KindInfo* kind = kernel_.scheme().find(api::find_text(reference, "apiVersion"),
                                                    api::find_text(reference, "kind"));
  if (!kind) return {};
  return {kind, kind->namespaced ? std::string(ns) + "/" + name : name};
}

/// Owners that wait for their dependents (foreground) go on when the last one is gone.
void Deletion::owners_of_erased(const json::object& object) {
  const json::object* metadata = metadata_of(object);
  const json::array* owners = metadata ? api::find_array(*metadata, "ownerReferences") : nullptr;
  if (!owners) return;
  for (const json::value& entry : *owners) {
    const json::object* reference = entry.if_object();
    if (!reference) continue;
    const ObjectRef owner = owner_named(*reference, api::find_text(*metadata, "namespace"));
    if (!owner.kind || !kernel_.exists(*owner.kind, owner.key)) continue;
    json::object waiting = kernel_.current(*owner.kind, owner.key);
    if (uid_of(waiting) != api::find_text(*reference, "uid")) continue;  // its namesake
    if (!is_terminating(waiting) || !has_finalizer(waiting, kForegroundFinalizer)) continue;
    if (!index_.dependents(uid_of(waiting)).empty()) {
      // Perhaps only such as wait for it in turn.
      release(owner, kMostOfACircle);
      continue;
    }
    remove_finalizer(waiting, kForegroundFinalizer);
    store(owner, waiting);
    if (finalizers_of(waiting).empty())
      doomed_.push_back({owner, Propagation::kBackground, std::nullopt});
  }
}

}  // namespace sluice::host
