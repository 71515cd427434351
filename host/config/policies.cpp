#include "host/config/policies.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>
#include <set>
#include <utility>

#include "api/schema/formats.hpp"
#include "core/types/quantity.hpp"

namespace sluice::host {
namespace {

constexpr std::int64_t kMaxInt32 = std::numeric_limits<std::int32_t>::max();

constexpr std::string_view kResourceName = "the name of a resource, cpu or example.com/gpu";

void read_outputs(Section& section, ResourceTransformation& out) {
  Section::Pairs outputs;
  section.pairs("outputs", outputs);
  for (const auto& [resource, text] : outputs) {
    if (!api::is_qualified_name(resource))
      section.fail("outputs", fmt::format("found \"{}\"; allowed: {}", resource, kResourceName));
    const auto amount = api::Quantity::parse(text);
    if (!amount)
      section.fail("outputs", fmt::format("{}: {}", resource, amount.error().text));
    else if (amount->negative())
      section.fail("outputs",
                   fmt::format("{}: found {}; allowed: a quantity of 0 or more", resource, text));
    else
      out.outputs_milli.emplace_back(resource, amount->milli());
  }
}

}  // namespace

void read_preemption_strategies(Section& section, EngineConfig& out) {
  std::vector<std::string> names;
  section.texts("preemptionStrategies", names);
  if (!section.has("preemptionStrategies")) return;
  const std::string final_share = "LessThanOrEqualToFinalShare";
  const std::string initial_share = "LessThanInitialShare";
  if (names == std::vector{final_share}) {
    out.fair_strategies = {FairStrategy::kLessThanOrEqualToFinalShare};
  } else if (names == std::vector{initial_share}) {
    out.fair_strategies = {FairStrategy::kLessThanInitialShare};
  } else if (names != std::vector{final_share, initial_share}) {
    section.fail("preemptionStrategies",
                 fmt::format("found [{0}]; allowed: [{1}], [{2}] or [{1}, {2}]",
                             fmt::join(names, ", "), final_share, initial_share));
  }
}

void read_requeuing(Section& pods_ready, RequeueConfig& out) {
  Section requeuing(pods_ready.errors(), pods_ready.child("requeuingStrategy"),
                    pods_ready.path_of("requeuingStrategy"));
  if (const int by = requeuing.choice("timestamp", {"Eviction", "Creation"}); by >= 0)
    out.by_eviction_time = by == 0;
  std::int64_t base = out.backoff_base / kSecond;
  std::int64_t max = out.backoff_max / kSecond;
  requeuing.integer("backoffBaseSeconds", base, 0, kMaxInt32);
  requeuing.integer("backoffMaxSeconds", max, 0, kMaxInt32);
  out.backoff_base = base * kSecond;
  out.backoff_max = max * kSecond;
  std::int64_t limit = -1;
  requeuing.integer("backoffLimitCount", limit, 0, kMaxInt32);
  if (limit >= 0) out.backoff_limit = static_cast<std::int32_t>(limit);
}

void read_resource_rules(Section& resources, ResourceRules& out) {
  resources.texts("excludeResourcePrefixes", out.excluded_prefixes);
  for (const std::string& prefix : out.excluded_prefixes)
    if (prefix.empty())
      resources.fail("excludeResourcePrefixes", "found \"\"; allowed: the beginning of a name");
  std::set<std::string> inputs;
  resources.each("transformations", [&](Section& item) {
    ResourceTransformation rule;
    item.require("input");
    item.name("input", rule.input, api::is_qualified_name, kResourceName);
    rule.retains_input = item.choice("strategy", {"Retain", "Replace"}) != 1;
    item.name("multiplyBy", rule.multiply_by, api::is_qualified_name, kResourceName);
    read_outputs(item, rule);
    item.once("input", rule.input, inputs);
    if (!rule.input.empty() && rule.multiply_by == rule.input)
      item.fail("multiplyBy", fmt::format("found \"{}\"; allowed: another resource than the input",
                                          rule.multiply_by));
    out.transformations.push_back(std::move(rule));
  });
}

void read_retention(Section& policies, RetentionConfig& out) {
  Section workloads(policies.errors(), policies.child("workloads"), policies.path_of("workloads"));
  const auto read = [&](const std::string& key, std::optional<Duration>& into) {
    Duration time = 0;
    workloads.duration(key, time, {.least = 0});
    if (workloads.has(key)) into = time;
  };
  read("afterFinished", out.after_finished);
  read("afterDeactivatedByKueue", out.after_deactivated);
}

void read_managed_jobs(Section& root, ManagedJobs& out) {
  root.boolean("manageJobsWithoutQueueName", out.without_queue);
  const std::string key = "managedJobsNamespaceSelector";
  Section selector(root.errors(), root.child(key), key);
  if (root.has(key)) read_label_selector(selector, out.namespaces);
  read_copied_labels(root, out);
}

void read_copied_labels(Section& section, ManagedJobs& out) {
  const std::string key = "labelKeysToCopy";
  section.texts(key, out.copied_labels);
  for (const std::string& name : out.copied_labels) {
    const std::string_view domain = std::string_view(name).substr(0, name.find('/'));
    if (!api::is_qualified_name(name))
      section.fail(key, fmt::format("found \"{}\"; allowed: names of labels", name));
    else if (name == kJobUidLabel || domain.ends_with("sluice.dev"))
      section.fail(key,
                   fmt::format("found \"{}\"; allowed: labels that are not the system's", name));
  }
}

void read_label_selector(Section& section, api::LabelSelector& out) {
  using Operator = api::LabelSelector::Operator;
  Section::Pairs labels;
  section.pairs("matchLabels", labels);
  out = {api::LabelMap(std::move(labels)), {}};
  section.each("matchExpressions", [&](Section& item) {
    api::LabelSelector::Requirement& each = out.match_expressions.emplace_back();
    item.require("key");
    item.text("key", each.key);
    item.require("operator");
    constexpr Operator kInOrder[] = {Operator::kIn, Operator::kNotIn, Operator::kExists,
                                     Operator::kDoesNotExist};
    if (const int n = item.choice("operator", {"In", "NotIn", "Exists", "DoesNotExist"}); n >= 0)
      each.op = kInOrder[n];
    item.texts("values", each.values);
    const bool wants = each.op == Operator::kIn || each.op == Operator::kNotIn;
    if (wants == each.values.empty())
      item.fail("values", wants ? "is missing: In and NotIn compare with some"
                                : "allowed: none with Exists and DoesNotExist");
  });
}

}  // namespace sluice::host
