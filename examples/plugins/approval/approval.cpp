// approval: a workload starts when somebody approved it, by name and with a reason.
//
// An object Approval names a workload of its namespace. Who made it is written by the host, not by
// himself: the validator puts the user of the write into spec.by. Who submitted a workload does not
// approve it, and an Approval is never changed.
#include <sluice/plugin.hpp>

#include <optional>
#include <set>
#include <string>
#include <vector>

using sluice::CheckAnswer;
using sluice::CheckAttempt;
using sluice::Json;

class Approval {
 public:
  static constexpr std::string_view kDescription = "workloads start when somebody approved them";

  explicit Approval(const sluice::Context& context) : context_(context) {}

  std::string schema() const {
    return R"([{
      "kind": "Approval", "group": "approvals.example.com", "plural": "approvals",
      "scope": "Namespaced", "description": "Somebody's word about a workload.",
      "versions": [{
        "version": "v1", "storage": true,
        "columns": [
          {"name": "Workload", "path": ".spec.workload", "type": "string"},
          {"name": "Verdict", "path": ".spec.verdict", "type": "string"},
          {"name": "By", "path": ".spec.by", "type": "string"},
          {"name": "Reason", "path": ".spec.reason", "type": "string"}
        ],
        "fields": [
          {"path": "spec", "type": "object", "required": true},
          {"path": "spec.workload", "type": "string", "minLength": 1, "required": true},
          {"path": "spec.verdict", "type": "string", "enum": ["Approve", "Reject"],
           "default": "Approve"},
          {"path": "spec.reason", "type": "string", "minLength": 1, "required": true},
          {"path": "spec.by", "type": "string", "description": "who made it; the host writes it"}
        ]
      }]
    }])";
  }

  // ---- validator/1

  std::vector<std::string> kinds() const { return {"approvals.example.com/Approval"}; }

  std::optional<std::string> set_defaults(const sluice::Write& write) {
    if (write.operation() != sluice::Operation::kCreate) return std::nullopt;
    Json object = Json::parse(write.object());
    object["spec"]["by"] = write.user();
    return object.dump();
  }

  void validate(const sluice::Write& write, sluice::FieldErrors& errors) {
    if (write.operation() == sluice::Operation::kDelete) return;
    const Json object = Json::parse(write.object());
    if (write.operation() == sluice::Operation::kUpdate) {
      const Json old = Json::parse(write.old());
      const Json *before = old.member("spec"), *after = object.member("spec");
      if (before != nullptr && after != nullptr && !(*before == *after))
        errors.forbidden("spec", "an approval is not changed; delete it and make another");
      return;
    }
    const auto workload =
        context_.objects().find({kVersion, "Workload", object.string_or("metadata.namespace", ""),
                                 object.string_or("spec.workload", "")});
    if (!workload) return;  // it may come later
    const Json* marks = workload->find("metadata.annotations");
    const Json* creator = marks == nullptr ? nullptr : marks->member("sluice.dev/created-by");
    if (creator != nullptr && creator->as_string() == write.user())
      errors.forbidden("spec.workload", "who submitted a workload does not approve it");
  }

  // ---- check-controller/1 and controller/1

  std::vector<std::string> check_controllers() const { return {"example.com/approval"}; }

  // Comes again after a restart. What runs already stays approved, also without its Approval.
  void begin_check(const sluice::CheckQuery& query) {
    const Json workload = Json::parse(query.workload_json());
    if (const Json* states = workload.find("status.admissionChecks"))
      for (const Json& each : states->items())
        if (each.string_or("name", "") == query.check() && each.string_or("state", "") == "Ready")
          return;
    waiting_.insert(query.attempt());
    look_at(query.attempt());
  }

  void cancel_check(const sluice::CheckCancel& cancel) { waiting_.erase(cancel.attempt()); }

  std::vector<std::string> watched_kinds() const { return {"approvals.example.com/v1 Approval"}; }

  sluice::Again reconcile(const sluice::ObjectRef& what) {
    const auto object = context_.objects().find(what);
    if (!object) return {};
    const std::string named = object->string_or("spec.workload", "");
    const std::set<CheckAttempt> waiting = waiting_;  // look_at() takes out what is decided
    for (const CheckAttempt& each : waiting)
      if (each.workload_namespace == what.ns && each.workload == named) look_at(each);
    return {};
  }

 private:
  static constexpr const char* kVersion = "kueue.x-k8s.io/v1beta2";

  void look_at(const CheckAttempt& attempt) {
    const auto all =
        context_.objects().list("approvals.example.com/v1", "Approval", attempt.workload_namespace);
    const Json* word = nullptr;  // one that rejects counts before all that approve
    for (const Json& each : all) {
      if (each.string_or("spec.workload", "") != attempt.workload) continue;
      if (word == nullptr || each.string_or("spec.verdict", "") == "Reject") word = &each;
    }
    if (word == nullptr) {
      context_.report(attempt, CheckAnswer::pending("it waits for an Approval"));
      return;
    }
    const bool rejects = word->string_or("spec.verdict", "") == "Reject";
    const std::string text = std::string(rejects ? "rejected" : "approved") + " by " +
                             word->string_or("spec.by", "") + ": " +
                             word->string_or("spec.reason", "");
    const CheckAttempt decided = attempt;
    waiting_.erase(decided);
    context_.report(decided, rejects ? CheckAnswer::rejected(text) : CheckAnswer::ready(text));
  }

  const sluice::Context& context_;
  std::set<CheckAttempt> waiting_;  // [control] only
};

SLUICE_MAY("get,list approvals.example.com/Approval");
SLUICE_MAY("get kueue.x-k8s.io/Workload");
SLUICE_PLUGIN(Approval, "approval", "1.0.0")
