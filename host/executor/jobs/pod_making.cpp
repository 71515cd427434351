#include "host/executor/jobs/pod_making.hpp"

#include <cstdint>

#include "api/schema/formats.hpp"
#include "core/base/fnv.hpp"
#include "host/objects/object_key.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr std::size_t kLongestName = 63;
constexpr std::size_t kSuffix = 5;

void add_index_variable(json::object& spec) {
  const std::string path = std::string("metadata.annotations['") + kIndexKey + "']";
  for (const char* list : {"initContainers", "containers"}) {
    json::array* containers = api::find_array(spec, list);
    if (!containers) continue;
    for (json::value& value : *containers) {
      if (!value.is_object()) continue;
      array_of(value.get_object(), "env")
          .push_back(json::object{
              {"name", "JOB_COMPLETION_INDEX"},
              {"valueFrom", {{"fieldRef", {{"apiVersion", "v1"}, {"fieldPath", path}}}}}});
    }
  }
}

}  // namespace

std::string name_suffix(std::string_view uid, std::uint64_t number) {
  constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
  Fnv bytes;
  bytes.add(uid);
  for (int shift = 0; shift < 64; shift += 8)
    bytes.add(static_cast<unsigned char>(number >> shift));
  std::uint64_t hash = bytes.value() ^ bytes.value() >> 32;
  std::string out;
  for (std::size_t i = 0; i < kSuffix; ++i, hash /= kLetters.size()) {
    out += kLetters[hash % kLetters.size()];
  }
  return out;
}

std::string free_pod_name(const ObjectAccess& objects, std::string_view ns, std::string_view prefix,
                          std::string_view uid, std::uint64_t& number) {
  const api::KindInfo* kind = objects.scheme().find("v1", "Pod");
  const std::string start = std::string(prefix.substr(0, kLongestName - kSuffix - 1)) + "-";
  // Pods of a job that was stopped and goes on are others, which their names say.
  const std::string seed = std::string(uid) + std::to_string(objects.now());
  for (;;) {
    std::string name = start + name_suffix(seed, number++);
    if (!kind || !objects.exists(*kind, join_key(ns, name))) return name;
  }
}

json::object pod_from_template(const json::object& owner, const json::object& pod_template,
                               std::string_view name) {
  const json::object& from = part(pod_template, "metadata");
  const json::object& owner_meta = part(owner, "metadata");
  json::object metadata;
  metadata["name"] = name;
  metadata["namespace"] = api::find_text(owner_meta, "namespace");
  for (const char* key : {"labels", "annotations"}) {
    if (!part(from, key).empty()) metadata[key] = part(from, key);
  }
  if (const json::array* finalizers = api::find_array(from, "finalizers")) {
    metadata["finalizers"] = *finalizers;
  }
  metadata["ownerReferences"] =
      json::array{json::object{{"apiVersion", api::find_text(owner, "apiVersion")},
                               {"kind", api::find_text(owner, "kind")},
                               {"name", api::find_text(owner_meta, "name")},
                               {"uid", api::find_text(owner_meta, "uid")},
                               {"controller", true},
                               {"blockOwnerDeletion", true}}};
  return {{"apiVersion", "v1"},
          {"kind", "Pod"},
          {"metadata", std::move(metadata)},
          {"spec", part(pod_template, "spec")}};
}

json::object job_pod(const json::object& job, const BatchJob& view, const NewPod& pod,
                     std::string_view name) {
  json::object made = pod_from_template(job, part(part(job, "spec"), "template"), name);
  json::object& metadata = object_of(made, "metadata");
  json::object& labels = object_of(metadata, "labels");
  for (const char* key : {"batch.kubernetes.io/controller-uid", "controller-uid"}) {
    labels[key] = view.uid;
  }
  for (const char* key : {"batch.kubernetes.io/job-name", "job-name"}) labels[key] = view.name;
  array_of(metadata, "finalizers").emplace_back(kTrackingFinalizer);
  if (!pod.index) return made;
  if (view.backoff_limit_per_index) {
    object_of(metadata, "annotations")[kIndexFailures] = std::to_string(pod.index_failures);
  }
  give_index(made, *pod.index, view.name);
  return made;
}

void give_index(json::object& pod, std::int64_t number, std::string_view host_prefix) {
  const std::string index = std::to_string(number);
  json::object& metadata = object_of(pod, "metadata");
  object_of(metadata, "labels")[kIndexKey] = index;
  object_of(metadata, "annotations")[kIndexKey] = index;
  json::object& spec = object_of(pod, "spec");
  const std::string host = std::string(host_prefix) + "-" + index;
  // Where that is no name of a host, the pod's own name stands in.
  if (api::find_text(spec, "hostname").empty() && api::is_short_dns_label(host))
    spec["hostname"] = host;
  add_index_variable(spec);
}

bool is_controlled_by(const json::object& pod, const api::Scheme& scheme, const ObjectRef& job,
                      std::string_view uid) {
  const json::object* owner = controller_of(part(pod, "metadata"));
  return owner && api::find_text(*owner, "uid") == uid &&
         api::find_text(*owner, "name") == job.name() &&
         scheme.find(api::find_text(*owner, "apiVersion"), api::find_text(*owner, "kind")) ==
             job.kind;
}

const json::object* controller_of(const json::object& metadata) {
  const json::object* found = nullptr;
  for_each_object(metadata, "ownerReferences", [&](const json::object& owner) {
    if (!found && api::find_bool(owner, "controller", false)) found = &owner;
  });
  return found;
}

}  // namespace sluice::host
