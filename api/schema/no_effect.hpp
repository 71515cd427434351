// What an object asks for and does not get: fields, annotations and labels of Kueue and Kubernetes
// that Sluice takes and does not act upon. A write of one gets a warning; where ignoring it would
// hand out uncounted hardware, or break a requirement, the workload waits instead.
//
// docs/differences-from-kueue.md lists them. Pure functions on hub objects; any thread.
#pragma once

#include <boost/json/object.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::api {

/// One sentence for each, `spec.topologyName: has no effect: …`; none for the fields in
/// `effective`, to which plugins give a meaning.
std::vector<std::string> without_effect(std::string_view group, std::string_view kind,
                                        const boost::json::object& object,
                                        std::span<const std::string> effective = {});

/// Why a Workload may not be admitted as it is; empty: nothing stands in its way.
std::string held_because(const boost::json::object& workload);
/// Whether that is because others said that they let it go later.
bool is_gated(const boost::json::object& workload);
/// Whether an object names a gate that it did not have before: too late, it may be admitted by now.
/// Both a workload or a job. O(gates log gates).
bool adds_gates(const boost::json::object& before, const boost::json::object& after);
/// Those of a workload that its job still names, as the annotation has them; as they are when none
/// is to go.
std::string gates_left(const boost::json::object& workload, const boost::json::object& job);
/// What a write of such an object is told.
inline constexpr const char* kGateTooLate =
    "Forbidden: gates may be added only when the object is created";
/// Where it was found.
inline constexpr const char* kGatesPath = "metadata.annotations[kueue.x-k8s.io/admission-gated-by]";

}  // namespace sluice::api
