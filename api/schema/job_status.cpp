#include "api/schema/job_status.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "api/json/json.hpp"

namespace sluice::api {

namespace json = boost::json;

namespace {

struct StatusField {
  std::string_view path, type, description;
  std::string_view list_key = {};
};

constexpr StatusField kJobStatus[] = {
    {"status", "object", "What became of it."},
    {"status.startTime", "time", "When its pods began."},
    {"status.completionTime", "time", "When it ended."},
    {"status.podSets", "array", "How its pods are doing, one entry for each pod set.", "name"},
    {"status.podSets[]", "object", ""},
    {"status.podSets[].name", "string", "Which pod set."},
    {"status.podSets[].count", "integer", "How many pods it is to have."},
    {"status.podSets[].total", "integer", "How many have to succeed."},
    {"status.podSets[].active", "integer", "How many are there and not over."},
    {"status.podSets[].ready", "integer", "How many of them are ready."},
    {"status.podSets[].succeeded", "integer", "How many ended well."},
    {"status.podSets[].failed", "integer", "How many failed."},
    {"status.conditions", "array", "What is known about the object, one entry for each type.",
     "type"},
    {"status.conditions[]", "object", ""},
    {"status.conditions[].type", "string", "What the condition is about."},
    {"status.conditions[].status", "string", "True, False or Unknown."},
    {"status.conditions[].reason", "string", "One word for programs."},
    {"status.conditions[].message", "string", "A sentence for people."},
    {"status.conditions[].lastTransitionTime", "time", "When the status changed last."},
    {"status.conditions[].observedGeneration", "integer", "The generation that was looked at."},
};

json::object attributes_of(const StatusField& field) {
  json::object out{{"path", json_view(field.path)}, {"type", json_view(field.type)}};
  if (!field.description.empty()) out["description"] = json_view(field.description);
  if (!field.list_key.empty()) out["listKeys"] = json::array{json_view(field.list_key)};
  return out;
}

}  // namespace

bool is_below(std::string_view path, std::string_view parent) {
  if (path.substr(0, parent.size()) != parent) return false;
  return path.size() == parent.size() || path[parent.size()] == '.' || path[parent.size()] == '[' ||
         path[parent.size()] == '{';
}

void add_job_status(VersionSource& version, const std::string& contributor) {
  // Who describes a list, or leaves a part open, does so for what is below it, too.
  const std::vector<FieldSource> own = version.fields;
  const auto describes = [&own](std::string_view path) {
    return std::any_of(own.begin(), own.end(), [path](const FieldSource& field) {
      return is_below(path, field.path) &&
             (field.path == path || find_text(field.attributes, "type") != "object");
    });
  };
  for (const StatusField& field : kJobStatus)
    if (!describes(field.path))
      version.fields.push_back({std::string(field.path), attributes_of(field), contributor});
}

}  // namespace sluice::api
