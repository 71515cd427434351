// What an object asks for and does not get: fields, annotations and labels of Kueue and Kubernetes
// that Sluice takes and does not act upon. A write of one gets a warning; where ignoring it would
// hand out uncounted hardware, or break a requirement, the workload waits instead.
//
// docs/differences-from-kueue.md lists them. Pure functions on hub objects; any thread.
#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/schema/kind_info.hpp"

namespace sluice::api {

/// The annotation by which others say that they let a workload go later: their names, with commas.
inline constexpr std::string_view kGatedBy = "kueue.x-k8s.io/admission-gated-by";

/// One sentence for each, `spec.topologyName: has no effect: …`; none for the fields in
/// `effective`, to which plugins give a meaning.
std::vector<std::string> without_effect(std::string_view group, std::string_view kind,
                                        const boost::json::object& object,
                                        std::span<const std::string> effective = {});

/// Why a Workload may not be admitted as it is, by its own fields; empty: they do not keep it.
std::string held_because(const boost::json::object& workload);
/// The same by one of its pod templates.
std::string unmet_by_pods(const boost::json::object& pod_template);
/// Whether that is because others said that they let it go later.
bool is_gated(const boost::json::object& workload);
/// A workload or a job names a gate that it did not have before: too late, it may be admitted by
/// now. nullopt: none. O(gates log gates).
std::optional<Problem> late_gate(const boost::json::object& before,
                                 const boost::json::object& after);
/// Those of a workload that its job still names, as the annotation has them; as they are when none
/// is to go.
std::string gates_left(const boost::json::object& workload, const boost::json::object& job);

}  // namespace sluice::api
