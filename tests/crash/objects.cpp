#include "tests/crash/objects.hpp"

#include <fmt/format.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <cstdlib>

#include "api/json/json.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host::test {
namespace {

namespace json = boost::json;

json::object metadata(const NewObject& object) {
  return {{"name", object.name},
          {"annotations", {{"mark/a", object.mark}, {"mark/z", object.mark}}}};
}

json::object pod_template(const char* policy, json::array command) {
  return {
      {"spec",
       {{"restartPolicy", policy},
        {"terminationGracePeriodSeconds", 0},
        {"containers",
         {{{"name", "main"},
           {"image", "none"},
           {"command", std::move(command)},
           {"env",
            {{{"name", "UID"}, {"valueFrom", {{"fieldRef", {{"fieldPath", "metadata.uid"}}}}}}}},
           {"resources", {{"requests", {{"cpu", "1"}}}}}}}}}}};
}

json::object job(const NewObject& object) {
  const std::string script =
      fmt::format("echo start {0} $UID >> {1}; sleep {2}; echo end {0} $UID >> {1}", object.name,
                  object.runs, object.seconds);
  json::object out{{"apiVersion", "batch/v1"}, {"kind", "Job"}, {"metadata", metadata(object)}};
  out["metadata"].as_object()["labels"] = {{"kueue.x-k8s.io/queue-name", "jobs"}};
  out["spec"] = {{"suspend", true},
                 {"backoffLimit", 0},
                 {"parallelism", object.pods},
                 {"completions", object.pods},
                 {"template", pod_template("Never", {"sh", "-c", script})}};
  return out;
}

json::object workload(const NewObject& object) {
  json::object out{{"apiVersion", "kueue.x-k8s.io/v1beta2"},
                   {"kind", "Workload"},
                   {"metadata", metadata(object)}};
  out["spec"] = {
      {"queueName", "plain"},
      {"priority", object.priority},
      {"podSets",
       {{{"name", "main"}, {"count", 1}, {"template", pod_template("Never", {"true"})}}}}};
  return out;
}

json::object make(const NewObject& object) {
  switch (object.kind) {
    case Kind::kConfigMap:
      return {{"apiVersion", "v1"},
              {"kind", "ConfigMap"},
              {"metadata", metadata(object)},
              {"data", {{"mark", object.mark}, {"filler", std::string(700, 'x')}}}};
    case Kind::kFlavor:
      return {{"apiVersion", "kueue.x-k8s.io/v1beta2"},
              {"kind", "ResourceFlavor"},
              {"metadata", metadata(object)},
              {"spec", {{"nodeLabels", {{"mark", object.mark}}}}}};
    case Kind::kLocalQueue:
      return {{"apiVersion", "kueue.x-k8s.io/v1beta2"},
              {"kind", "LocalQueue"},
              {"metadata", metadata(object)},
              {"spec", {{"clusterQueue", "plain"}}}};
    case Kind::kWorkload:
      return workload(object);
    case Kind::kJob:
      return job(object);
  }
  return {};
}

}  // namespace

const char* collection(Kind kind) {
  switch (kind) {
    case Kind::kConfigMap:
      return "/api/v1/namespaces/default/configmaps";
    case Kind::kFlavor:
      return "/apis/kueue.x-k8s.io/v1beta2/resourceflavors";
    case Kind::kLocalQueue:
      return "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/localqueues";
    case Kind::kWorkload:
      return "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads";
    case Kind::kJob:
      return "/apis/batch/v1/namespaces/default/jobs";
  }
  return "";
}

std::string to_json(const NewObject& object) { return json::serialize(make(object)); }

void set_mark(Kind kind, const std::string& mark, json::object& object) {
  json::value& meta = object["metadata"];
  if (!meta.is_object()) meta.emplace_object();
  json::value& annotations = meta.get_object()["annotations"];
  if (!annotations.is_object()) annotations.emplace_object();
  annotations.get_object()["mark/a"] = mark;
  annotations.get_object()["mark/z"] = mark;
  if (kind == Kind::kConfigMap) {
    json::value& data = object["data"];
    if (!data.is_object()) data.emplace_object();
    data.get_object()["mark"] = mark;
  }
  if (kind == Kind::kFlavor) object["spec"] = {{"nodeLabels", {{"mark", mark}}}};
}

std::string patch_of(Kind kind, const std::string& mark) {
  json::object out;
  set_mark(kind, mark, out);
  return json::serialize(out);
}

SeenObject seen(Kind kind, const json::object& object) {
  SeenObject out;
  const json::object& meta = part(object, "metadata");
  out.name = api::find_text(meta, "name");
  out.version = version_of(object);
  out.deleting = !api::find_text(meta, "deletionTimestamp").empty();
  const json::object& annotations = part(meta, "annotations");
  std::string mark(api::find_text(annotations, "mark/a"));
  bool agree = mark == api::find_text(annotations, "mark/z");
  if (kind == Kind::kConfigMap) {
    const json::object& data = part(object, "data");
    agree = agree && api::find_text(data, "mark") == mark &&
            (mark.empty() || api::find_text(data, "filler").size() == 700);
  }
  if (kind == Kind::kFlavor)
    agree = agree && api::find_text(part(part(object, "spec"), "nodeLabels"), "mark") == mark;
  if (agree) out.mark = std::move(mark);
  return out;
}

json::object parse_object(const std::string& text) {
  boost::system::error_code problem;
  json::value value = json::parse(text, problem);
  if (problem || !value.is_object()) return {};
  return std::move(value.get_object());
}

std::uint64_t version_of(const json::object& object) {
  const std::string text(api::find_text(part(object, "metadata"), "resourceVersion"));
  return std::strtoull(text.c_str(), nullptr, 10);
}

}  // namespace sluice::host::test
