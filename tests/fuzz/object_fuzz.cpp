// An API object of any kind: admission either lists errors or leaves something that decodes, and
// that is admitted again without change.
#include "api/codec/codec.hpp"
#include "api/json/json.hpp"
#include "api/scheme/scheme.hpp"
#include "core/base/check.hpp"
#include "tests/fuzz/json_input.hpp"

namespace sluice::api {
namespace {

void decode(const boost::json::object& object, std::string_view kind, const Scheme& scheme) {
  if (kind == "Namespace") decode_namespace(object);
  if (kind == "PriorityClass" || kind == "WorkloadPriorityClass") decode_priority_class(object);
  if (kind == "ResourceFlavor") decode_resource_flavor(object);
  if (kind == "ClusterQueue") decode_cluster_queue(object);
  if (kind == "Cohort") decode_cohort(object);
  if (kind == "LocalQueue") decode_local_queue(object);
  if (kind == "AdmissionCheck") decode_admission_check(object);
  if (kind != "Workload") return;
  PodTemplateCache templates;
  const Workload workload = decode_workload(object, templates, scheme);
  const boost::json::object* status = find_object(object, "status");
  const std::string text = workload_status_text(workload.status, status ? to_json(*status) : "");
  SLUICE_CHECK(text.empty() || parse_object(text), text);
}

}  // namespace
}  // namespace sluice::api

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sluice::api;
  static const Scheme scheme;
  auto object = json_input(data, size);
  if (!object || !scheme.admit(*object).ok()) return 0;
  decode(*object, find_text(*object, "kind"), scheme);
  const boost::json::object before = *object;
  const Outcome again = scheme.admit(*object);
  SLUICE_CHECK(again.ok(), again.error_text());
  SLUICE_CHECK(*object == before, to_json(*object));
  return 0;
}
