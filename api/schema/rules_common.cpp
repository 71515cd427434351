#include <limits>

#include "api/json/json.hpp"
#include "api/schema/formats.hpp"
#include "api/schema/rules.hpp"
#include "api/schema/walk.hpp"

namespace sluice::api {

namespace json = boost::json;

std::string indexed(const std::string& field, std::size_t index) {
  return field + "[" + std::to_string(index) + "]";
}

void add_problem(Outcome& outcome, Problem::Kind kind, std::string field, std::string detail) {
  if (outcome.full()) return;
  outcome.errors.push_back({kind, std::move(field), std::move(detail)});
}

void add_invalid(Outcome& outcome, std::string field, const json::value& value,
                 const std::string& why) {
  if (outcome.full()) return;
  add_problem(outcome, Problem::Kind::kInvalid, std::move(field),
              "Invalid value: " + shown(value) + ": " + why);
}

std::string amount_problem(std::string_view resource, const Quantity& amount) {
  if (amount.negative()) return "must be greater than or equal to 0";
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  if (amount.saturated()) return {};  // the schema reported it
  if (resource == "cpu" && amount > Quantity::of_milli(kMax)) {
    return "out of range, must be less than or equal to " + Quantity::of_milli(kMax).text();
  }
  return {};
}

const char* const kSubdomainRule =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

const char* const kQualifiedNameRule =
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end "
    "with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    "validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'), with an optional DNS subdomain "
    "prefix and '/' (e.g. 'example.com/MyName')";

const char* const kLabelRule =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

namespace {

constexpr const char* kLabelValueRule =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  "
    "or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

// What Kubernetes allows for annotations; its other lists have no limit but that of the object, and
// each of their entries is looked at by every write.
constexpr std::size_t kMostAnnotationBytes = 256U << 10;
constexpr std::size_t kMostLabels = 1000;
constexpr std::size_t kMostFinalizers = 100;
constexpr std::size_t kMostOwners = 5000;  // each pod of a group is one of its workload

void check_key(std::string_view key, const std::string& field, Outcome& outcome) {
  if (!is_qualified_name(key)) {
    add_problem(outcome, Problem::Kind::kInvalid, field,
                "Invalid value: " + shown(key) + ": " + kQualifiedNameRule);
  } else if (!is_short_key(key)) {
    add_problem(outcome, Problem::Kind::kInvalid, field,
                "Invalid value: " + shown(key) + ": name part must be no more than 63 bytes");
  }
}

void check_label_value(std::string_view value, const std::string& field, Outcome& outcome) {
  if (!is_label_value(value)) {
    add_problem(outcome, Problem::Kind::kInvalid, field,
                "Invalid value: " + shown(value) + ": " + kLabelValueRule);
  } else if (value.size() > kLabelBytes) {
    add_problem(outcome, Problem::Kind::kInvalid, field,
                "Invalid value: " + shown(value) + ": must be no more than 63 bytes");
  }
}

void check_name(const KindInfo& info, const json::object& metadata, Outcome& outcome) {
  const std::string_view name = find_text(metadata, "name");
  if (name.empty()) {
    if (find_text(metadata, "generateName").empty()) {
      add_problem(outcome, Problem::Kind::kRequired, "metadata.name",
                  "Required value: name or generateName is required");
    }
    return;
  }
  if (info.group == "rbac.authorization.k8s.io") {
    // Names such as system:admin: whatever can stand in a URL.
    if (name == "." || name == ".." || name.find_first_of("/%") != std::string_view::npos) {
      add_problem(
          outcome, Problem::Kind::kInvalid, "metadata.name",
          "Invalid value: " + shown(name) + ": may not be '.' or '..', or contain '/' or '%'");
    }
    return;
  }
  const bool label = info.kind == "Namespace" && info.group.empty();
  const std::size_t longest = label ? kLabelBytes : kSubdomainBytes;
  if (!(label ? is_dns_label(name) : is_dns_subdomain(name))) {
    add_problem(outcome, Problem::Kind::kInvalid, "metadata.name",
                "Invalid value: " + shown(name) + ": " + (label ? kLabelRule : kSubdomainRule));
  } else if (name.size() > longest) {
    add_problem(outcome, Problem::Kind::kInvalid, "metadata.name",
                "Invalid value: " + shown(name) + ": must be no more than " +
                    std::to_string(longest) + " bytes");
  }
}

void check_count(std::size_t count, std::size_t most, const char* field, Outcome& outcome) {
  if (count <= most) return;
  add_problem(outcome, Problem::Kind::kTooMany, field,
              "Too many: " + std::to_string(count) + ": must have at most " + std::to_string(most) +
                  " items");
}

void check_annotations(const json::object& annotations, Outcome& outcome) {
  std::size_t bytes = 0;
  for (const auto& member : annotations) {
    check_key(view(member.key()), "metadata.annotations", outcome);
    bytes += member.key().size();
    if (const auto* text = member.value().if_string()) bytes += text->size();
  }
  if (bytes <= kMostAnnotationBytes) return;
  add_problem(outcome, Problem::Kind::kTooLong, "metadata.annotations",
              "Too long: may not be more than " + std::to_string(kMostAnnotationBytes) +
                  " bytes in all, got " + std::to_string(bytes));
}

void check_finalizers(const json::array& finalizers, Outcome& outcome) {
  check_count(finalizers.size(), kMostFinalizers, "metadata.finalizers", outcome);
  bool orphans = false, in_foreground = false;
  for (std::size_t i = 0; i < finalizers.size(); ++i) {
    const auto* name = finalizers[i].if_string();
    if (name == nullptr) continue;
    check_key(view(*name), indexed("metadata.finalizers", i), outcome);
    orphans |= *name == "orphan";
    in_foreground |= *name == "foregroundDeletion";
  }
  if (orphans && in_foreground)
    add_problem(outcome, Problem::Kind::kInvalid, "metadata.finalizers",
                "Invalid value: finalizers orphan and foregroundDeletion cannot be both set");
}

/// It names its object.
void check_owner(const json::object& owner, const std::string& field, Outcome& outcome) {
  for (const char* each : {"apiVersion", "kind", "name", "uid"}) {
    const json::value* value = find(owner, each);
    if (value == nullptr || (value->is_string() && value->get_string().empty()))
      add_problem(outcome, Problem::Kind::kInvalid, field + "." + each,
                  std::string("Invalid value: \"\": ") + each + " must not be empty");
  }
}

/// Each names its object, and at most one controls this one. REQUIRES: an array. Nothing is told of
/// the entries of too long a list, and all of it is shown once at most.
void check_owners(const json::value& value, Outcome& outcome) {
  const std::string field = "metadata.ownerReferences";
  const json::array& owners = value.get_array();
  check_count(owners.size(), kMostOwners, field.c_str(), outcome);
  if (owners.size() > kMostOwners) return;
  std::vector<std::string> controllers;
  for (std::size_t i = 0; i < owners.size(); ++i) {
    const json::object* owner = owners[i].if_object();
    if (owner == nullptr) continue;
    check_owner(*owner, indexed(field, i), outcome);
    if (find_bool(*owner, "controller", false))
      controllers.emplace_back(find_text(*owner, "kind"))
          .append("/")
          .append(find_text(*owner, "name"));
  }
  if (controllers.size() > 1)
    add_invalid(outcome, field, value,
                "Only one reference can have Controller set to true. Found \"true\" in references "
                "for " +
                    controllers[0] + " and " + controllers[1]);
}

}  // namespace

void check_labels(const json::object* labels, const std::string& field, Outcome& outcome) {
  if (labels == nullptr) return;
  for (const auto& member : *labels) {
    check_key(view(member.key()), field, outcome);
    if (const auto* text = member.value().if_string()) {
      check_label_value(view(*text), field, outcome);
    }
  }
}

void check_selector(const json::object* selector, const std::string& field, Outcome& outcome) {
  if (selector == nullptr) return;
  check_labels(find_object(*selector, "matchLabels"), field + ".matchLabels", outcome);
  const json::array* expressions = find_array(*selector, "matchExpressions");
  for (std::size_t i = 0; expressions != nullptr && i < expressions->size(); ++i) {
    const json::object* each = (*expressions)[i].if_object();
    if (each == nullptr) continue;
    check_key(find_text(*each, "key"), field + ".matchExpressions[" + std::to_string(i) + "].key",
              outcome);
  }
}

void check_fair_weight(const json::object& object, Outcome& outcome) {
  const json::object* at = find_object(object, "spec");
  if (at != nullptr) at = find_object(*at, "fairSharing");
  const json::value* weight = at != nullptr ? find(*at, "weight") : nullptr;
  if (weight == nullptr) return;
  const Quantity amount = quantity_or_zero(*weight);
  static const Quantity kLeast = *Quantity::parse("1n");
  if (amount.negative())
    add_invalid(outcome, "spec.fairSharing.weight", *weight, "must be greater than or equal to 0");
  else if (!amount.is_zero() && amount <= kLeast)
    add_invalid(outcome, "spec.fairSharing.weight", *weight, "must be 0, or greater than 1n");
}

void check_metadata(const KindInfo& info, const json::object& object, Outcome& outcome) {
  const json::object* metadata = find_object(object, "metadata");
  if (metadata == nullptr) {
    add_problem(outcome, Problem::Kind::kRequired, "metadata.name",
                "Required value: name or generateName is required");
    return;
  }
  check_name(info, *metadata, outcome);
  const std::string_view ns = find_text(*metadata, "namespace");
  if (info.namespaced && !ns.empty() && !is_short_dns_label(ns)) {
    add_problem(outcome, Problem::Kind::kInvalid, "metadata.namespace",
                "Invalid value: " + shown(ns) + ": " + kLabelRule);
  }
  if (!info.namespaced && !ns.empty()) {
    add_problem(outcome, Problem::Kind::kForbidden, "metadata.namespace",
                "Forbidden: not allowed on this type");
  }
  check_labels(find_object(*metadata, "labels"), "metadata.labels", outcome);
  if (const json::object* labels = find_object(*metadata, "labels"))
    check_count(labels->size(), kMostLabels, "metadata.labels", outcome);
  if (const json::object* annotations = find_object(*metadata, "annotations"))
    check_annotations(*annotations, outcome);
  if (const json::array* finalizers = find_array(*metadata, "finalizers"))
    check_finalizers(*finalizers, outcome);
  const json::value* owners = find(*metadata, "ownerReferences");
  if (owners != nullptr && owners->is_array()) check_owners(*owners, outcome);
}

}  // namespace sluice::api
