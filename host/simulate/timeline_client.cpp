#include "host/simulate/timeline_client.hpp"

#include <boost/json/parse.hpp>
#include <memory>
#include <utility>

#include "api/json/json.hpp"
#include "host/kernel/merge_patch.hpp"
#include "host/objects/parts.hpp"
#include "host/writes/metadata.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

/// What a user says of the object when it is there already: its identity is the system's, the
/// status too where it is apart, and a queue decides whether a job is suspended.
json::object said_by_user(const StoredObject& stored) {
  json::object object = to_object(stored);
  if (stored.kind->status_subresource) object.erase("status");
  for (const char* field : {"uid", "creationTimestamp", "generation"})
    object_of(object, "metadata").erase(field);
  if (SimulatedJobs::manages(*stored.kind)) object_of(object, "spec").erase("suspend");
  return object;
}

WriteRequest request_of(WriteVerb verb, const ObjectRef& ref) {
  WriteRequest out;
  out.verb = verb;
  out.kind = ref.kind;
  out.version = ref.kind->hub().name;
  out.ns = ref.ns();
  out.name = ref.name();
  out.field_validation = FieldValidation::kIgnore;  // told when the input was read
  out.wants_answer = false;
  return out;
}

}  // namespace

TimelineClient::TimelineClient(const SimulationInput& input, Machine& machine, SimulatedJobs& jobs,
                               Bodies bodies)
    : machine_(machine), jobs_(jobs), uid_base_(input.uid_base), bodies_(bodies) {
  std::map<ObjectRef, std::size_t> times;
  for (const TimelineEvent& event : input.events)
    if (event.type == TimelineEvent::Type::kApply)
      ++times[{event.object.stored.kind, event.object.stored.key}];
  for (const InitialObject& initial : input.objects) {
    const auto found = times.find({initial.object.stored.kind, initial.object.stored.key});
    if (found != times.end()) ++found->second;
  }
  for (const auto& [ref, count] : times)
    if (count > 1) applied_.try_emplace(ref);
}

ApiResult<WriteOutcome> TimelineClient::apply(PreparedObject object, std::uint32_t order) {
  const ObjectRef ref{object.stored.kind, object.stored.key};
  const auto last = applied_.find(ref);
  const bool there = machine_.store().find(*ref.kind, ref.key) != nullptr;
  if (last == applied_.end() && !there) return create(std::move(object), order);
  json::object said = said_by_user(object.stored);
  auto done = there ? change(ref, said) : create(std::move(object), order);
  if (done && last != applied_.end()) last->second = std::move(said);
  return done;
}

ApiResult<WriteOutcome> TimelineClient::create(PreparedObject object, std::uint32_t order) {
  const ObjectRef ref{object.stored.kind, object.stored.key};
  WriteRequest request = request_of(WriteVerb::kCreate, ref);
  request.restore = true;
  const bool is_job = SimulatedJobs::manages(*ref.kind);
  std::string uid;
  if (!object.has_uid) {
    uid = generated_uid(uid_base_ + order);
    if (is_job) uid = jobs_.uid_of_job(ref, machine_.now(), std::move(uid));
  }
  // Both at once: each change of the metadata has it read anew.
  give_identity(object, uid, is_job ? std::nullopt : std::optional(machine_.now()));
  if (bodies_ == Bodies::kTrees) {
    request.body = to_object(object.stored);
  } else {
    request.prepared = std::make_shared<PreparedObject>(std::move(object));
  }
  return machine_.write(std::move(request));
}

ApiResult<WriteOutcome> TimelineClient::change(const ObjectRef& ref, json::object said) {
  const auto last = applied_.find(ref);
  static const json::object kNothing;
  WriteRequest request = request_of(WriteVerb::kPatch, ref);
  request.body = merge_patch_between(last == applied_.end() ? kNothing : last->second, said);
  return machine_.write(std::move(request));
}

ApiResult<WriteOutcome> TimelineClient::patch(const EventTarget& target) {
  WriteRequest request = request_of(WriteVerb::kPatch, {target.kind, target.key});
  boost::system::error_code error;
  request.body = api::parse_deep(target.merge, error);
  SLUICE_CHECK(!error, "an event that was read cannot be read again: ", target.merge);
  if (target.status) request.subresource = "status";
  return machine_.write(std::move(request));
}

ApiResult<WriteOutcome> TimelineClient::remove(const EventTarget& target) {
  const ObjectRef ref{target.kind, target.key};
  if (const auto last = applied_.find(ref); last != applied_.end()) last->second.clear();
  return machine_.write(request_of(WriteVerb::kDelete, ref));
}

}  // namespace sluice::host
