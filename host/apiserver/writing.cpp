// POST, PUT, PATCH and DELETE of objects: what the request says becomes a WriteRequest, what comes
// of it an answer and a line in the audit log.
#include <fmt/format.h>

#include <boost/json/object.hpp>
#include <chrono>
#include <mutex>
#include <optional>
#include <utility>

#include "api/json/json.hpp"
#include "host/access/audit.hpp"
#include "host/access/denial.hpp"
#include "host/apiserver/body.hpp"
#include "host/apiserver/call.hpp"
#include "host/apiserver/list_options.hpp"
#include "host/apiserver/scan.hpp"
#include "host/apiserver/write_options.hpp"
#include "host/rest/resources.hpp"
#include "host/store/use.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr std::size_t kDeletionsAtATime = 64;   // of a deletion of many
constexpr std::size_t kLargeBytes = 32U << 10;  // from then on a write is read and drafted aside
constexpr std::size_t kTreeBytes = 8;           // of a parsed object, for each byte of its text

DecodeLimits decode_limits(const Call& call) {
  return {call.at->limits.body_bytes, call.at->limits.body_depth};
}

void audit_call(const Call& call, std::string_view name, int code, std::string_view reason,
                bool dry_run) {
  const Route& route = call.route;
  AuditRecord record;
  record.user = call.request().user.user;
  record.impersonator = call.request().user.impersonator;
  record.verb = route.verb;
  record.group = route.group;
  record.resource = route.resource;
  record.subresource = route.subresource;
  record.ns = route.ns;
  record.name = name;
  record.peer = call.request().peer;
  record.dry_run = dry_run;
  record.code = code;
  record.reason = reason;
  record.latency_micros = std::chrono::duration_cast<std::chrono::microseconds>(
                              std::chrono::steady_clock::now() - call.began)
                              .count();
  audit(record);
}

/// That it is done, and with what.
std::string success_status(json::object details) {
  std::string out;
  api::append_json(json::object{{"kind", "Status"},
                                {"apiVersion", "v1"},
                                {"metadata", json::object()},
                                {"status", "Success"},
                                {"details", std::move(details)}},
                   out);
  return out + "\n";
}

std::string deletion_status(const StoredObject& object) {
  json::object details;
  details["name"] = object.name();
  if (!object.kind->group.empty()) details["group"] = object.kind->group;
  details["kind"] = object.kind->plural;
  details["uid"] = api::json_view(object.metadata.uid());
  return success_status(std::move(details));
}

void answer(Call& call, const ApiResult<WriteOutcome>& result, bool dry_run) {
  if (!result) {
    audit_call(call, call.route.name, result.error().code, result.error().reason, dry_run);
    return call.fail(result.error());
  }
  for (const auto& warning : result->warnings) call.warn(warning);
  audit_call(call, result->object.name(), result->code, {}, dry_run);
  // A write that took the last finalizer away is answered with the object, as any other.
  if (result->removed && call.route.verb == "delete")
    return call.reply(result->code, deletion_status(result->object));
  if (call.route.subresource == "scale") return call.reply(200, scale_text(result->object));
  std::string out;
  call.at->renderer.append(result->object, call.route, call.form, out);
  call.reply(result->code, std::move(out));
}

WriteVerb verb_of(const Route& route) {
  if (route.verb == "create") return WriteVerb::kCreate;
  if (route.verb == "update") return WriteVerb::kUpdate;
  return route.verb == "patch" ? WriteVerb::kPatch : WriteVerb::kDelete;
}

ApiResult<DecodedBody> read_patch(const Call& call, WriteRequest& write) {
  const Request& request = call.request();
  auto type = patch_type(request.content_type, takes_strategic_merge(call.route.group));
  if (!type) return type.error();
  write.patch_type = *type;
  const auto* manager = request.parameter("fieldManager");
  if (*type == PatchType::kApply && (!manager || manager->empty()))
    return bad_request(
        "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is "
        "required for apply patch");
  if (*type != PatchType::kApply && request.parameter("force") != nullptr)
    return bad_request(
        "PatchOptions.meta.k8s.io \"\" is invalid: force: Forbidden: may not be "
        "specified for non-apply patch");
  return decode_patch(request.body, *type, decode_limits(call));
}

/// Pods that a job leaves behind run on without it and its quota, as those that somebody makes by
/// himself: who may not do the one may not do the other.
ApiResult<void> may_orphan(const Call& call, const WriteRequest& write) {
  if (write.deletion.propagation != Propagation::kOrphan || !write.kind->job) return {};
  AccessRequest pods;
  pods.verb = "create";
  pods.resource = "pods";
  pods.ns = write.ns;
  const Identity& who = call.request().user;
  const AccessAnswer answer = call.at->backend.authorizer->may(who, pods);
  if (answer.allowed) return {};
  ApiError error = access_denied(who, pods, answer.reason);
  error.text +=
      ": a job whose pods are to stay (propagation policy Orphan) leaves them without "
      "quota, which takes the right to make pods";
  return error;
}

ApiResult<WriteRequest> read_write(const Call& call) {
  WriteRequest write;
  const Route& route = call.route;
  write.verb = verb_of(route);
  write.kind = route.kind;
  write.version = route.version;
  write.ns = route.ns;
  write.name = route.name;
  write.subresource = route.subresource;
  write.connection = call.request().peer;
  if (auto done = read_write_options(call.request(), write); !done) return done.error();
  if (write.verb == WriteVerb::kDelete) {
    auto done = read_delete_options(call.request(), decode_limits(call), write);
    if (!done) return done.error();
    if (auto allowed = may_orphan(call, write); !allowed) return allowed.error();
    return write;
  }
  if (write.verb != WriteVerb::kPatch)
    write.memory =
        std::make_shared<json::monotonic_resource>(kTreeBytes * call.request().body.size() + 4096);
  auto body = write.memory ? decode_body(call.request(), decode_limits(call), write.memory.get())
                           : read_patch(call, write);
  if (!body) return body.error();
  if (write.verb == WriteVerb::kPatch && write.patch_type == PatchType::kApply) {
    AccessRequest create = access_of(route, call.request());
    create.verb = "create";
    write.may_create = call.at->backend.authorizer->may(call.request().user, create).allowed;
  }
  std::destroy_at(&write.body);  // an assignment would copy it out of its storage
  std::construct_at(&write.body, std::move(body->value));
  write.decoding_problems = std::move(body->problems);
  return write;
}

/// Deletes what a list found, some at a time, and answers when all is done.
class DeleteMany final : public std::enable_shared_from_this<DeleteMany> {
 public:
  DeleteMany(CallPtr call, WriteRequest like, std::vector<RecordPtr> objects)
      : call_(std::move(call)), like_(std::move(like)), objects_(std::move(objects)) {}

  void start() {
    std::size_t first = 0;
    {
      const std::lock_guard lock(mutex_);
      first = under_way_ = std::min(kDeletionsAtATime, objects_.size());
      next_ = first;
    }
    if (first == 0) return finish();
    for (std::size_t i = 0; i < first; ++i) submit(i);
  }

 private:
  void submit(std::size_t index) {
    WriteRequest write = like_;
    const StoredObject& object = *objects_[index];
    write.ns = object.ns();
    write.name = object.name();
    call_->at->backend.writes->submit(
        std::move(write), [self = shared_from_this(), index](ApiResult<WriteOutcome> result) {
          self->done(index, std::move(result));
        });
  }

  void done(std::size_t index, ApiResult<WriteOutcome> result) {
    const bool failed = !result && result.error().code != 404;  // 404: another client was quicker
    audit_call(*call_, objects_[index]->name(), result ? result->code : result.error().code,
               result ? std::string_view() : std::string_view(result.error().reason),
               like_.dry_run);
    std::size_t next = 0;
    {
      const std::lock_guard lock(mutex_);
      if (failed && !error_) error_ = result.error();
      next = error_ ? objects_.size() : next_;
      if (next < objects_.size())
        ++next_;
      else if (--under_way_ > 0)
        return;
    }
    if (next < objects_.size()) return submit(next);
    finish();
  }

  void finish() {
    if (error_) return call_->fail(*error_);
    json::object details;
    if (!call_->route.group.empty()) details["group"] = call_->route.group;
    details["kind"] = call_->route.resource;
    call_->reply(200, success_status(std::move(details)));
  }

  const CallPtr call_;
  const WriteRequest like_;
  const std::vector<RecordPtr> objects_;
  std::mutex mutex_;
  std::size_t next_ = 0;           // guarded by mutex_
  std::size_t under_way_ = 0;      // guarded by mutex_
  std::optional<ApiError> error_;  // guarded by mutex_ until nothing is under way
};

/// What the request costs goes with it: its own text, and that of the object that it changes.
std::size_t size_of(const Call& call) {
  const Route& route = call.route;
  const std::size_t own = call.request().body.size();
  if (route.name.empty() || own > kLargeBytes) return own;
  const RecordPtr stored = call.store().get(*route.kind, route.key());
  return own + (stored ? stored_bytes(*stored) : 0);
}

void write_now(const CallPtr& call) {
  auto write = read_write(*call);
  if (!write) {
    audit_call(*call, call->route.name, write.error().code, write.error().reason, false);
    return call->fail(write.error());
  }
  const bool dry_run = write->dry_run;
  call->at->backend.writes->submit(
      std::move(*write),
      [call, dry_run](ApiResult<WriteOutcome> result) { answer(*call, result, dry_run); });
}

ApiError too_many_waiting() {
  return too_many_requests("too many large writes are waiting; try again later");
}

}  // namespace

void serve_write(const CallPtr& call) {
  if (call->route.verb == "delete" || size_of(*call) <= kLargeBytes) return write_now(call);
  const bool taken =
      call->at->backend.writes->run_aside(call->request().user.user, [call] { write_now(call); });
  if (!taken) call->fail(too_many_waiting());
}

void serve_delete_many(const CallPtr& call) {
  auto list = read_list_options(call->request(), call->route);
  if (!list) return call->fail(list.error());
  auto like = read_write(*call);
  if (!like) return call->fail(like.error());
  list->limit = 0;
  find_matching(call, std::move(*list), {}, [call, like = std::move(*like)](ApiResult<Page> page) {
    if (!page) return call->fail(page.error());
    std::make_shared<DeleteMany>(call, like, std::move(page->objects))->start();
  });
}

}  // namespace sluice::host
