// Job: defaults that depend on each other, and checks; job_update.cpp has what an update may
// change.
#include <array>

#include "api/builtin/builtin.hpp"
#include "api/builtin/failure_policy.hpp"
#include "api/builtin/rules.hpp"
#include "api/builtin/success_policy.hpp"
#include "api/schema/formats.hpp"
#include "api/schema/rules.hpp"
#include "api/schema/walk.hpp"

namespace sluice::api {

namespace json = boost::json;

namespace builtin {

namespace {

constexpr std::int64_t kMostIndexed = 100000;
constexpr std::int64_t kManyCompletions = 100000;  // beyond, those of failures by index are bounded
constexpr std::int64_t kMostFailedOfMany = 10000;
constexpr std::int64_t kMostParallelOfMany = 10000;
constexpr std::int64_t kNoLimit = 2147483647;

void check_indexed(const json::object& spec, Outcome& outcome) {
  const auto parallelism = find_int(spec, "parallelism");
  if (is_indexed(spec)) {
    if (find(spec, "completions") == nullptr) {
      add_required(outcome, "spec.completions", "when completionMode is Indexed");
    }
    if (parallelism.value_or(0) > kMostIndexed) {
      add_invalid(outcome, "spec.parallelism", *parallelism,
                  "must be less than or equal to 100000 when completionMode is Indexed");
    }
    return;
  }
  for (const char* field : {"backoffLimitPerIndex", "maxFailedIndexes", "successPolicy"}) {
    const json::value* value = find(spec, field);
    if (value == nullptr) continue;
    add_invalid(outcome, std::string("spec.") + field, *value,
                "can only be used with completionMode Indexed");
  }
}

/// What is borne per index, where it came with this write.
void check_failures_by_index(const json::object& spec, const json::object& before,
                             Outcome& outcome) {
  const auto completions = find_int(spec, "completions");
  const auto failed = find_int(spec, "maxFailedIndexes");
  const bool came = !same(spec, before, "maxFailedIndexes") || !same(spec, before, "completions") ||
                    !same(spec, before, "parallelism");
  if (!came || !completions || find(spec, "backoffLimitPerIndex") == nullptr) return;
  if (failed && *failed > *completions)
    add_invalid(outcome, "spec.maxFailedIndexes", *failed,
                "must be less than or equal to completions");
  if (*completions <= kManyCompletions) return;
  if (!failed)
    add_required(outcome, "spec.maxFailedIndexes",
                 "must be specified when completions is above 100000");
  if (failed && *failed > kMostFailedOfMany)
    add_invalid(outcome, "spec.maxFailedIndexes", *failed,
                "must be less than or equal to 10000 when completions is above 100000");
  if (const auto parallelism = find_int(spec, "parallelism");
      parallelism && *parallelism > kMostParallelOfMany)
    add_invalid(outcome, "spec.parallelism", *parallelism,
                "must be less than or equal to 10000 when completions are above 100000 and used "
                "with backoff limit per index");
}

/// A domain and a name, as `kueue.x-k8s.io/multikueue`.
void check_managed_by(const json::object& spec, Outcome& outcome) {
  const std::string_view manager = find_text(spec, "managedBy");
  const std::size_t slash = manager.find('/');
  if (manager.empty()) return;
  if (slash != std::string_view::npos && is_qualified_name(manager)) return;
  add_invalid(outcome, "spec.managedBy", json::value(json_view(manager)),
              slash == std::string_view::npos
                  ? "must be a domain-prefixed path (such as \"acme.io/foo\")"
                  : kQualifiedNameRule);
}

/// The pods of an Indexed Job have host names made of its own and their index.
void check_host_names(const json::object& job, Outcome& outcome) {
  const json::object& spec = part(job, "spec");
  const auto completions = find_int(spec, "completions");
  const std::string_view name = find_text(part(job, "metadata"), "name");
  if (!is_indexed(spec) || !completions || *completions < 1 || name.empty()) return;
  const std::string last = std::string(name) + "-" + std::to_string(*completions - 1);
  if (is_short_dns_label(last)) return;
  add_invalid(outcome, "metadata.name", json::value(json_view(name)),
              "will not able to create pod with invalid DNS label: " + last);
}

void check_policies(const json::object& spec, Outcome& outcome) {
  if (find(spec, "maxFailedIndexes") != nullptr && find(spec, "backoffLimitPerIndex") == nullptr) {
    add_required(outcome, "spec.backoffLimitPerIndex", "when maxFailedIndexes is set");
  }
  const std::string_view restart = find_text(part(part(spec, "template"), "spec"), "restartPolicy");
  if (restart == "Always") {
    add_problem(outcome, Problem::Kind::kUnsupported, "spec.template.spec.restartPolicy",
                unsupported(shown(restart), {"Never", "OnFailure"}));
  }
  if (find(spec, "podFailurePolicy") == nullptr) return;
  if (restart == "OnFailure") {
    add_invalid(outcome, "spec.template.spec.restartPolicy", json::value(json_view(restart)),
                "only \"Never\" is supported when podFailurePolicy is set");
  }
  if (const auto policy = find_text(spec, "podReplacementPolicy");
      !policy.empty() && policy != "Failed") {
    add_problem(outcome, Problem::Kind::kUnsupported, "spec.podReplacementPolicy",
                unsupported(shown(policy), {"Failed"}));
  }
}

void check_labels_selected(const json::object& spec, Outcome& outcome) {
  const json::object* selector = find_object(spec, "selector");
  if (selector == nullptr) return;
  check_selector(selector, "spec.selector", outcome);
  const json::object& labels = part(part(part(spec, "template"), "metadata"), "labels");
  for (const auto& member : part(*selector, "matchLabels")) {
    const json::value* value = find(labels, view(member.key()));
    if (value != nullptr && *value == member.value()) continue;
    add_invalid(outcome, "spec.template.metadata.labels", json::value(labels),
                "`selector` does not match template `labels`");
    return;
  }
}

}  // namespace

bool is_indexed(const json::object& job_spec) {
  return find_text(job_spec, "completionMode") == "Indexed";
}

void fill_in_job(json::object& job) {
  json::object* spec = find_object(job, "spec");
  if (spec == nullptr) return;
  const bool parallelism = find(*spec, "parallelism") != nullptr;
  if (!parallelism) {
    if (find(*spec, "completions") == nullptr) (*spec)["completions"] = 1;
    (*spec)["parallelism"] = 1;
  }
  if (find(*spec, "backoffLimit") == nullptr) {
    (*spec)["backoffLimit"] = find(*spec, "backoffLimitPerIndex") != nullptr ? kNoLimit : 6;
  }
  if (find(*spec, "podReplacementPolicy") == nullptr) {
    (*spec)["podReplacementPolicy"] =
        find(*spec, "podFailurePolicy") != nullptr ? "Failed" : "TerminatingOrFailed";
  }
  json::object* pod_template = find_object(*spec, "template");
  if (pod_template == nullptr) return;
  const json::object& labels = part(part(*pod_template, "metadata"), "labels");
  if (!labels.empty() && part(part(job, "metadata"), "labels").empty()) {
    if (json::object* metadata = find_object(job, "metadata")) (*metadata)["labels"] = labels;
  }
  if (json::object* pod = find_object(*pod_template, "spec")) fill_in_pod_spec(*pod);
}

void check_job(const json::object& job, const json::object* old, Outcome& outcome) {
  const json::object& spec = part(job, "spec");
  check_indexed(spec, outcome);
  check_success_policy(spec, outcome);
  check_policies(spec, outcome);
  const json::object& pod_template = part(spec, "template");
  check_labels(find_object(part(pod_template, "metadata"), "labels"),
               "spec.template.metadata.labels", outcome);
  check_labels_selected(spec, outcome);
  check_pod_spec(part(pod_template, "spec"), "spec.template.spec", outcome);
  check_failures_by_index(spec, old != nullptr ? part(*old, "spec") : json::object(), outcome);
  if (old != nullptr) return check_job_update(job, *old, outcome);
  check_failure_policy(spec, outcome);
  check_managed_by(spec, outcome);
  check_host_names(job, outcome);
  check_new_pod_spec(part(pod_template, "spec"), "spec.template.spec", outcome);
}

}  // namespace builtin

namespace {

// Those of the pods of a Job, by which it finds them: its UID, its name, and both as they were once
// called.
constexpr std::array<const char*, 4> kGeneratedLabels = {"batch.kubernetes.io/controller-uid",
                                                         "batch.kubernetes.io/job-name",
                                                         "controller-uid", "job-name"};

}  // namespace

void default_job(json::object& job, std::string_view uid) {
  json::object* spec = find_object(job, "spec");
  json::object* pod_template = spec != nullptr ? find_object(*spec, "template") : nullptr;
  if (pod_template == nullptr || find_bool(*spec, "manualSelector", false)) return;
  const std::string_view name = find_text(builtin::part(job, "metadata"), "name");
  const auto child = [](json::object& holder, std::string_view key) -> json::object& {
    json::value& value = holder[json_view(key)];
    if (!value.is_object()) value.emplace_object();
    return value.get_object();
  };
  json::object& labels = child(child(*pod_template, "metadata"), "labels");
  const std::array<std::string_view, 4> values = {uid, name, uid, name};
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!labels.contains(kGeneratedLabels[i])) labels[kGeneratedLabels[i]] = json_view(values[i]);
  child(child(*spec, "selector"), "matchLabels")["batch.kubernetes.io/controller-uid"] =
      json_view(uid);
}

json::object generated_in_job(const json::object& job) {
  json::object spec;
  const json::object& own = builtin::part(job, "spec");
  if (find_bool(own, "manualSelector", false)) return {};
  json::object labels;
  const json::object& given =
      builtin::part(builtin::part(builtin::part(own, "template"), "metadata"), "labels");
  for (const char* key : kGeneratedLabels)
    if (const json::value* value = given.if_contains(key)) labels[key] = *value;
  if (const json::value* selector = own.if_contains("selector")) spec["selector"] = *selector;
  spec["template"] = {{"metadata", {{"labels", std::move(labels)}}}};
  return {{"spec", std::move(spec)}};
}

}  // namespace sluice::api
