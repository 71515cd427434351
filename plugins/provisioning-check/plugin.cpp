// provisioning-check: the capacity of a workload is asked for with a ProvisioningRequest before the
// workload is admitted. What is decided is in policy.hpp; here it is bound to the host.
//
// Nothing is remembered that cannot be read again: the attempt that a request belongs to stands in
// the request.
#include <sluice/plugin.hpp>

#include <map>
#include <optional>

#include "command_runs.hpp"
#include "known_requests.hpp"
#include "policy.hpp"
#include "requests.hpp"
#include "schema.hpp"

namespace provisioning {

using sluice::Again;
using sluice::CheckAnswer;
using sluice::Json;
using sluice::ObjectRef;

namespace {

constexpr std::uint64_t kResultsTimer = 1;
constexpr std::uint64_t kBlockedTimer = 2;
constexpr std::int64_t kBlockedPause = 60 * kSecond;
/// After which it is looked for a template that had to make room.
constexpr std::int64_t kTemplatePauseMs = 1000;
constexpr const char* kNotActive = "the check is not active";

ObjectRef workload_ref(const std::string& ns, const std::string& name) {
  return {std::string(kWorkloadVersion), "Workload", ns, name};
}

/// Is the template one of a ProvisioningRequest of that name, whichever its UID?
bool is_of_request(const Json& pod_template, const Json& request) {
  return pod_template.string_or("metadata.ownerReferences.0.kind", "") == "ProvisioningRequest" &&
         pod_template.string_or("metadata.ownerReferences.0.name", "") ==
             request.string_or("metadata.name", "");
}

bool is_of(const Json& request, const sluice::CheckAttempt& id) {
  const auto attempt = attempt_of(request);
  return attempt && attempt->id == id;
}

/// A field of what the workload shows of the attempt's check; empty: it shows nothing.
std::string shown(const Json& workload, const Attempt& attempt, std::string_view field) {
  const Json* state = sluice::find_check_state(workload, attempt.id.check);
  return state == nullptr ? std::string() : state->string_or(field, "");
}

}  // namespace

class ProvisioningCheck {
 public:
  static constexpr std::string_view kDescription =
      "KEP-993: workloads wait until a ProvisioningRequest provides their capacity";
  static constexpr std::string_view kConfigSchema = R"({
    "type": "object",
    "properties": {
      "command": {
        "type": "array", "items": {"type": "string"}, "minItems": 1,
        "description": "a program and its arguments that provides capacity; without it, whoever )"
                                                    R"(updates the status of the requests does"
      },
      "classes": {
        "type": "array", "items": {"type": "string"}, "default": [],
        "description": "the command is for requests of these provisioning classes; empty: for all"
      },
      "timeoutSeconds": {"type": "integer", "minimum": 1, "maximum": 604800, "default": 3600},
      "concurrency": {"type": "integer", "minimum": 1, "maximum": 64, "default": 4},
      "env": {"type": "object", "additionalProperties": true, "default": {}}
    }
  })";

  explicit ProvisioningCheck(const sluice::Context& context)
      : context_(context), commands_(context, kResultsTimer) {}

  void deactivate() { commands_.end(); }

  std::string schema() const { return std::string(kSchema); }
  std::vector<std::string> check_controllers() const { return {std::string(kControllerName)}; }
  std::vector<std::string> watched_kinds() const {
    return {std::string(kRequestVersion) + " ProvisioningRequest",
            std::string(kConfigVersion) + " ProvisioningRequestConfig"};
  }

  void check_changed(const sluice::Check& check, sluice::Activity& activity) {
    if (check.gone()) return;
    const ConfigName config = config_name_of(Json::parse(check.json()));
    if (!config.wrong.empty())
      activity.inactive("BadParametersRef", config.wrong);
    else if (!find_config(config.name))
      activity.inactive("BadParametersRef", "there is no ProvisioningRequestConfig " + config.name);
    else
      activity.active("Active", "The check can be carried out");
    look_at_requests_of([&](const Attempt& attempt) { return attempt.id.check == check.name(); });
  }

  void begin_check(const sluice::CheckQuery& query) {
    const Attempt attempt{query.attempt(), query.retry_count() + 1};
    pursue(attempt, Json::parse(query.workload_json()),
           config_name_of(Json::parse(query.check_json())).name);
  }

  void cancel_check(const sluice::CheckCancel& cancel) {
    const sluice::CheckAttempt id = cancel.attempt();
    blocked_.erase(id);
    if (const auto* known = known_.find(id)) {
      const auto request = find_request(known->attempt);
      if (request && is_of(*request, id)) return remove(*request);
    }
    const auto requests =
        context_.objects().list(kRequestVersion, "ProvisioningRequest", id.workload_namespace,
                                std::string(kWorkloadUid) + "=" + id.uid);
    for (const Json& request : requests)
      if (is_of(request, id)) remove(request);
  }

  Again reconcile(const ObjectRef& what) {
    if (what.kind == "ProvisioningRequestConfig") {
      look_at_requests_of(
          [&](const Attempt& attempt) { return config_name_for(attempt) == what.name; });
      if (context_.objects().get(what)) try_all_blocked();
      return {};
    }
    const auto request = context_.objects().find(what);
    if (!request) {
      pursue_again(what);
      try_blocked_by(what);
      return {};
    }
    const auto attempt = attempt_of(*request);
    if (!attempt) return {};  // another controller's
    remember(*attempt, *request);
    const auto workload = pursuer_of(*attempt);
    if (!workload) {
      remove(*request);
      return {};
    }
    return follow(*attempt, *request, *workload);
  }

  void timer(std::uint64_t number, std::int64_t) {
    if (number == kResultsTimer) commands_.take_results();
    if (number == kBlockedTimer) try_all_blocked();
  }

 private:
  /// An attempt for which no request can be made now.
  struct Blocked {
    Attempt attempt;
    bool for_name = false;  ///< a request that has the name is in the way
  };

  std::optional<Config> find_config(const std::string& name) const {
    const auto found = context_.objects().find(
        {std::string(kConfigVersion), "ProvisioningRequestConfig", "", name});
    return found ? std::optional(config_of(*found)) : std::nullopt;
  }

  /// What has the name of the attempt's request now.
  std::optional<Json> find_request(const Attempt& attempt) const {
    return context_.objects().find(request_ref(attempt.id.workload_namespace, name_of(attempt)));
  }

  /// The configuration that the attempt's check refers to now.
  std::string config_name_for(const Attempt& attempt) const {
    const auto check = context_.objects().find(
        {std::string(kWorkloadVersion), "AdmissionCheck", "", attempt.id.check});
    return check ? config_name_of(*check).name : std::string();
  }

  std::optional<Json> workload_of(const Attempt& attempt) const {
    auto found =
        context_.objects().find(workload_ref(attempt.id.workload_namespace, attempt.id.workload));
    if (found && found->string_or("metadata.uid", "") != attempt.id.uid) return std::nullopt;
    return found;
  }

  /// The workload, if it holds the quota that the attempt is for; nullopt: the attempt is over.
  std::optional<Json> pursuer_of(const Attempt& attempt) const {
    auto found = workload_of(attempt);
    if (!found || condition_is_true(*found, "Finished") ||
        !condition_is_true(*found, "QuotaReserved"))
      return std::nullopt;
    return found;
  }

  void remember(const Attempt& attempt, const Json& request) {
    known_.remember(attempt, request.string_or("metadata.uid", ""));
  }

  void remove(const Json& request) {
    const std::string uid = request.string_or("metadata.uid", "");
    commands_.forget(uid);
    const std::string ns = request.string_or("metadata.namespace", "");
    const std::string name = request.string_or("metadata.name", "");
    known_.take(ns + "/" + name);
    context_.objects().remove(request_ref(ns, name), uid);
    // They go with it, but only when this call is over: one that is made anew needs their names.
    const Json* sets = request.find("spec.podSets");
    for (std::size_t i = 0; sets != nullptr && i < sets->size(); ++i) {
      const ObjectRef ref{"v1", "PodTemplate", ns,
                          sets->items()[i].string_or("podTemplateRef.name", "")};
      const auto there = context_.objects().find(ref);
      if (there && there->string_or("metadata.ownerReferences.0.uid", "") == uid)
        context_.objects().remove(ref, there->string_or("metadata.uid", ""));
    }
  }

  /// Says what became of the attempt, unless the workload shows it already. An answer that the host
  /// does not take, because the provider said what no pod can have, leaves the check waiting, with
  /// why.
  void tell(const Attempt& attempt, const Json& workload, const CheckAnswer& answer) {
    if (sluice::shows_answer(workload, attempt.id.check, answer)) return;
    CheckAnswer told = answer;
    if (told.message.empty()) told.message = shown(workload, attempt, "message");
    const std::string before = shown(workload, attempt, "state");
    std::string refused;
    if (context_.report(attempt.id, told, &refused) || (!before.empty() && before != "Pending"))
      return;
    const CheckAnswer why =
        CheckAnswer::pending("The answer of the ProvisioningRequest cannot be used: " + refused);
    if (!sluice::shows_answer(workload, attempt.id.check, why)) context_.report(attempt.id, why);
  }

  void block_for_name(const Attempt& attempt, const Json& workload, const std::string& why) {
    block(attempt, workload, why);
    blocked_[attempt.id].for_name = true;
  }

  /// What has its capacity already keeps it.
  void block(const Attempt& attempt, const Json& workload, const std::string& why) {
    if (blocked_.empty()) context_.set_timer(kBlockedTimer, context_.now() + kBlockedPause);
    blocked_[attempt.id] = {attempt};
    if (shown(workload, attempt, "state") != "Ready")
      tell(attempt, workload, CheckAnswer::pending(why));
  }

  /// Sees to it that there is a request for the attempt, and says what it means.
  void pursue(const Attempt& attempt, const Json& workload, const std::string& config_name) {
    blocked_.erase(attempt.id);
    const std::string name = name_of(attempt);
    const auto present = find_request(attempt);
    const auto of = present ? attempt_of(*present) : std::nullopt;
    const auto config = find_config(config_name);
    if (!config) {
      if (of != attempt) return block(attempt, workload, kNotActive);
      remember(attempt, *present);
      return follow_without_config(attempt, *present, workload);
    }
    const auto pod_sets = needed(*config, workload);
    if (pod_sets.empty())
      return tell(attempt, workload, CheckAnswer::ready("the provisioning request is not needed"));
    if (present) {
      if (!of)
        return block_for_name(
            attempt, workload,
            "a ProvisioningRequest " + name + " is there that is not of this check");
      if (*of == attempt) {
        remember(attempt, *present);
        follow(attempt, *present, workload);
        return;
      }
      // Names of different workloads and checks may be put together to the same one.
      const bool own = of->id.uid == attempt.id.uid && of->id.check == attempt.id.check;
      if (!own && pursuer_of(*of))
        return block_for_name(attempt, workload,
                              "the ProvisioningRequest " + name + " is of check " + of->id.check +
                                  " of workload " + of->id.workload + ": it has to end first");
      remove(*present);  // of an attempt that is over
    }
    // A request that was deleted after it had done its work is not made again, after a restart
    // neither.
    if (shown(workload, attempt, "state") == "Ready") return;
    make(attempt, *config, workload, pod_sets);
  }

  void make(const Attempt& attempt, const Config& config, const Json& workload,
            const std::vector<PodSet>& pod_sets) {
    const auto shares = merged(pod_sets, config.merge);
    const auto made = context_.objects().create(
        request_for(attempt, config, parameters_of(config, workload), shares));
    if (!made) return refuse(attempt, workload, made.text);
    const Json request = made.json();
    remember(attempt, request);
    context_.event(
        false, workload_ref(attempt.id.workload_namespace, attempt.id.workload),
        "ProvisioningRequestCreated",
        "Created ProvisioningRequest: \"" + request.string_or("metadata.name", "") + "\"");
  }

  void refuse(const Attempt& attempt, const Json& workload, const std::string& why) {
    const std::string text = "Error creating ProvisioningRequest: " + why;
    if (shown(workload, attempt, "message") != text)
      context_.event(true, workload_ref(attempt.id.workload_namespace, attempt.id.workload),
                     "FailedCreate", text);
    block(attempt, workload, text);
  }

  struct TemplatesMade {
    std::string refused;  ///< why one is not made; empty: none was refused
    bool wait = false;    ///< one of a request before is in the place still
  };
  /// The templates that the request names, once the request is there: it owns them, and on a
  /// cluster it has its UID only then; those of another UID would be collected as garbage.
  TemplatesMade make_templates(const Json& request, const std::vector<Share>& shares) {
    TemplatesMade out;
    for (const Json& one : templates_for(request, shares)) {
      const ObjectRef ref{"v1", "PodTemplate", one.string_or("metadata.namespace", ""),
                          one.string_or("metadata.name", "")};
      const auto there = context_.objects().find(ref);
      if (there && there->string_or("metadata.ownerReferences.0.uid", "") ==
                       request.string_or("metadata.uid", ""))
        continue;
      if (there && !is_of_request(*there, request)) {
        out.refused = "a PodTemplate " + ref.name + " is there that is not of this request";
        return out;
      }
      if (there) {
        context_.objects().remove(ref, there->string_or("metadata.uid", ""));
        out.wait = true;
      } else if (const auto made = context_.objects().create(one); !made) {
        out.refused = made.text;
        return out;
      }
    }
    return out;
  }

  /// The request is gone. When its attempt still waits, another client removed it.
  void pursue_again(const ObjectRef& what) {
    const auto known = known_.take(what.ns + "/" + what.name);
    if (!known) return;
    commands_.forget(known->uid);
    const auto workload = workload_of(known->attempt);
    if (!workload || !condition_is_true(*workload, "QuotaReserved") ||
        condition_is_true(*workload, "Finished") || condition_is_true(*workload, "Admitted"))
      return;
    if (shown(*workload, known->attempt, "state") == "Pending")
      pursue(known->attempt, *workload, config_name_for(known->attempt));
  }

  /// What the request means for the check; and the command is run for it, where there is one.
  Again follow(const Attempt& attempt, const Json& request, const Json& workload) {
    const std::string config_name = config_name_for(attempt);
    const auto config = find_config(config_name);
    if (!config) {
      follow_without_config(attempt, request, workload);
      return {};
    }
    const auto pod_sets = needed(*config, workload);
    const bool goes = request.find("metadata.deletionTimestamp") != nullptr;
    if (!goes && !is_settled(request) && shown(workload, attempt, "state") != "Ready" &&
        !asks_for(request, *config, parameters_of(*config, workload))) {
      remove(request);
      pursue(attempt, workload, config_name);
      return {};
    }
    TemplatesMade made;
    if (!is_settled(request)) made = make_templates(request, merged(pod_sets, config->merge));
    if (!made.refused.empty()) {
      remove(request);
      refuse(attempt, workload, made.refused);
      return {};
    }
    std::vector<std::string> names;
    for (const PodSet& set : pod_sets) names.push_back(set.name);
    tell(attempt, workload,
         answer_of(request, *config, attempt.number, condition_is_true(workload, "Admitted"),
                   names));
    if (made.wait) return {kTemplatePauseMs};
    return commands_.run_for(request);
  }

  /// What a check or a configuration says now goes for what waits for its capacity. O(requests).
  template <typename Which>
  void look_at_requests_of(const Which& which) {
    for (const Attempt& attempt : known_.attempts()) {
      const auto request = which(attempt) ? find_request(attempt) : std::nullopt;
      const auto workload =
          request && is_of(*request, attempt.id) ? pursuer_of(attempt) : std::nullopt;
      if (workload) follow(attempt, *request, *workload);
    }
  }

  /// Capacity that is taken back is gone whatever the configuration says. What else there is to say
  /// of the request needs it: one that still waits is made anew when there is one.
  void follow_without_config(const Attempt& attempt, const Json& request, const Json& workload) {
    if (condition_is_true(request, "CapacityRevoked"))
      return tell(attempt, workload,
                  CheckAnswer::rejected(condition_message(request, "CapacityRevoked")));
    if (!is_settled(request) && shown(workload, attempt, "state") != "Ready") remove(request);
    block(attempt, workload, kNotActive);
  }

  std::vector<PodSet> needed(const Config& config, const Json& workload) const {
    auto out = pod_sets_of(config, workload, [this](const std::string& name) {
      return context_.objects()
          .find({std::string(kWorkloadVersion), "ResourceFlavor", "", name})
          .value_or(Json());
    });
    const std::string other = sluice::annotation_of(workload, sluice::mark::kTakesOverFrom);
    if (other.empty()) return out;
    const auto runs =
        context_.objects().find(workload_ref(workload.string_or("metadata.namespace", ""), other));
    if (runs) leave_out_running(*runs, out);
    return out;
  }

  /// Goes on with those that are blocked and are meant.
  template <typename Which>
  void try_blocked(const Which& which) {
    for (const auto& [id, blocked] : std::map(blocked_)) {
      if (!which(blocked)) continue;
      blocked_.erase(id);
      if (const auto workload = pursuer_of(blocked.attempt))
        pursue(blocked.attempt, *workload, config_name_for(blocked.attempt));
    }
  }

  /// The request is gone: those for which it was in the way need not wait for the timer.
  void try_blocked_by(const ObjectRef& request) {
    try_blocked([&](const Blocked& blocked) {
      return blocked.for_name && key_of(blocked.attempt) == request.ns + "/" + request.name;
    });
  }

  void try_all_blocked() {
    try_blocked([](const Blocked&) { return true; });
    if (!blocked_.empty()) context_.set_timer(kBlockedTimer, context_.now() + kBlockedPause);
  }

  sluice::Context context_;
  KnownRequests known_;
  std::map<sluice::CheckAttempt, Blocked> blocked_;
  CommandRuns commands_;
};

}  // namespace provisioning

SLUICE_MAY("get,list,create,delete autoscaling.x-k8s.io/ProvisioningRequest");
SLUICE_MAY("patch autoscaling.x-k8s.io/ProvisioningRequest/status");
SLUICE_MAY("get,create,delete PodTemplate");
SLUICE_MAY("get kueue.x-k8s.io/ProvisioningRequestConfig");
SLUICE_MAY("get kueue.x-k8s.io/AdmissionCheck");
SLUICE_MAY("get kueue.x-k8s.io/ResourceFlavor");
SLUICE_MAY("get kueue.x-k8s.io/Workload");
SLUICE_PLUGIN(provisioning::ProvisioningCheck, "provisioning-check", "0.1.0")
