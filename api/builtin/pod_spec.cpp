// What every pod spec has to keep to, in pods and in templates.
#include <set>

#include "api/builtin/rules.hpp"
#include "api/schema/formats.hpp"
#include "api/schema/rules.hpp"
#include "api/schema/walk.hpp"

namespace sluice::api::builtin {

namespace json = boost::json;

namespace {

/// An image without a tag, or with `latest`, is looked up each time; one with a digest never is.
std::string_view pull_policy(std::string_view image) {
  if (image.empty() || image.find('@') != std::string_view::npos) return "IfNotPresent";
  const auto slash = image.rfind('/');
  const std::string_view last = image.substr(slash == std::string_view::npos ? 0 : slash + 1);
  const auto colon = last.rfind(':');
  if (colon == std::string_view::npos || last.substr(colon + 1) == "latest") return "Always";
  return "IfNotPresent";
}

/// A map of amounts by resource.
void check_list(const json::object& amounts, const std::string& field, Outcome& outcome) {
  for (const auto& member : amounts) {
    const std::string_view name = view(member.key());
    if (!is_qualified_name(name)) {
      add_invalid(outcome, field, json::value(member.key()), kQualifiedNameRule);
      continue;
    }
    const auto amount = as_quantity(member.value());
    if (!amount) continue;  // the schema reported it
    if (const std::string why = amount_problem(name, *amount); !why.empty())
      add_invalid(outcome, field + "[" + std::string(name) + "]", member.value(), why);
  }
}

void check_amounts(const json::object& resources, const std::string& field, Outcome& outcome) {
  for (const char* list : {"limits", "requests"})
    check_list(part(resources, list), field + "." + list, outcome);
  for (const auto& member : part(resources, "requests")) {
    const std::string_view name = view(member.key());
    const json::value* limit = find(part(resources, "limits"), name);
    if (limit == nullptr || !(quantity_or_zero(member.value()) > quantity_or_zero(*limit)))
      continue;
    add_invalid(outcome, field + ".requests", member.value(),
                "must be less than or equal to " + std::string(name) + " limit of " +
                    quantity_or_zero(*limit).text());
  }
}

void check_duplicate(std::set<std::string_view>& seen, std::string_view name, std::string field,
                     Outcome& outcome) {
  if (name.empty() || seen.insert(name).second) return;
  add_problem(outcome, Problem::Kind::kDuplicate, std::move(field),
              "Duplicate value: " + shown(name));
}

using Names = std::set<std::string_view>;

void check_container(const json::object& container, const std::string& field, const Names& volumes,
                     Outcome& outcome) {
  Names mounts;
  for_objects(container, "volumeMounts", [&](std::size_t i, const json::object& mount) {
    const std::string at = indexed(field + ".volumeMounts", i);
    const std::string_view name = find_text(mount, "name");
    if (!name.empty() && !volumes.contains(name)) {
      add_problem(outcome, Problem::Kind::kInvalid, at + ".name", "Not found: " + shown(name));
    }
    const std::string_view path = find_text(mount, "mountPath");
    if (!path.empty() && !mounts.insert(path).second) {
      add_invalid(outcome, at + ".mountPath", json::value(json_view(path)), "must be unique");
    }
  });
  check_amounts(part(container, "resources"), field + ".resources", outcome);
  for_objects(container, "env", [&](std::size_t i, const json::object& variable) {
    if (find_text(variable, "value").empty() || find(variable, "valueFrom") == nullptr) return;
    add_invalid(outcome, indexed(field + ".env", i) + ".valueFrom", json::value(""),
                "may not be specified when `value` is not empty");
  });
}

void check_volume(const json::object& volume, const std::string& field, Outcome& outcome) {
  std::size_t sources = 0;
  for (const auto& member : volume) {
    if (view(member.key()) != "name") ++sources;
  }
  if (sources > 1) add_forbidden(outcome, field, "may not specify more than 1 volume type");
}

void check_tolerations(const json::object& spec, const std::string& field, Outcome& outcome) {
  for_objects(spec, "tolerations", [&](std::size_t i, const json::object& toleration) {
    const std::string at = indexed(field + ".tolerations", i);
    const std::string_view op = find_text(toleration, "operator");
    if (find_text(toleration, "key").empty() && op != "Exists") {
      add_invalid(outcome, at + ".operator", json::value(json_view(op)),
                  "operator must be Exists when `key` is empty, which means \"match all values and "
                  "all keys\"");
    }
    if (op == "Exists" && !find_text(toleration, "value").empty()) {
      add_invalid(outcome, at + ".operator", json::value(json_view(op)),
                  "value must be empty when `operator` is 'Exists'");
    }
    if (find(toleration, "tolerationSeconds") != nullptr &&
        find_text(toleration, "effect") != "NoExecute") {
      add_invalid(outcome, at + ".effect", json::value(json_view(find_text(toleration, "effect"))),
                  "effect must be 'NoExecute' when `tolerationSeconds` is set");
    }
  });
}

}  // namespace

void fill_in_pod_spec(json::object& spec) {
  for (const char* list : {"containers", "initContainers", "ephemeralContainers"}) {
    for_objects(spec, list, [](std::size_t, json::object& container) {
      if (find(container, "imagePullPolicy") == nullptr) {
        container["imagePullPolicy"] = json_view(pull_policy(find_text(container, "image")));
      }
    });
  }
  for_objects(spec, "volumes", [](std::size_t, json::object& volume) {
    if (volume.size() == 1 && volume.contains("name")) volume["emptyDir"].emplace_object();
  });
}

void check_pod_spec(const json::object& spec, const std::string& field, Outcome& outcome) {
  const json::array* containers = find_array(spec, "containers");
  if (containers != nullptr && containers->empty()) {
    add_required(outcome, field + ".containers");
  }
  Names volumes;
  for_objects(spec, "volumes", [&](std::size_t i, const json::object& volume) {
    const std::string at = indexed(field + ".volumes", i);
    check_duplicate(volumes, find_text(volume, "name"), at + ".name", outcome);
    check_volume(volume, at, outcome);
  });
  Names names;
  for (const char* list : {"initContainers", "containers"}) {
    for_objects(spec, list, [&](std::size_t i, const json::object& container) {
      const std::string at = indexed(field + "." + list, i);
      check_duplicate(names, find_text(container, "name"), at + ".name", outcome);
      check_container(container, at, volumes, outcome);
    });
  }
  check_amounts(part(spec, "resources"), field + ".resources", outcome);
  check_list(part(spec, "overhead"), field + ".overhead", outcome);
  check_labels(find_object(spec, "nodeSelector"), field + ".nodeSelector", outcome);
  check_tolerations(spec, field, outcome);
  if (const auto grace = find_int(spec, "terminationGracePeriodSeconds"); grace && *grace < 0) {
    add_invalid(outcome, field + ".terminationGracePeriodSeconds", json::value(*grace),
                "must be greater than or equal to 0");
  }
}

void check_new_pod_spec(const json::object& spec, const std::string& field, Outcome& outcome) {
  for (const char* name : {"hostname", "subdomain"}) {
    const std::string_view text = find_text(spec, name);
    if (text.empty() || is_short_dns_label(text)) continue;
    add_invalid(outcome, field + "." + name, json::value(json_view(text)),
                text.size() > kLabelBytes ? "must be no more than 63 characters" : kLabelRule);
  }
  if (find(spec, "ephemeralContainers") != nullptr)
    add_forbidden(outcome, field + ".ephemeralContainers",
                  "cannot be set when a pod is made, nor in a template");
}

}  // namespace sluice::api::builtin
