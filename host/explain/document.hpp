// Why a workload is where it is, as the JSON document of docs/explain.md.
//
// It holds what the user that asks may know: workloads of namespaces that `may_know` refuses are
// summed up, never named. Reads the engine, so it belongs to the kernel's thread; changes nothing.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "core/engine/engine.hpp"

namespace sluice::host {

/// Whether a workload that waits for this reason lacks quota, or a flavor for it: then what is
/// free, and who holds it, tells why. Of others it would mislead.
bool is_short_of_quota(std::string_view reason);

/// REQUIRES: the workload exists.
boost::json::object explanation_document(const Engine& engine, WorkloadId id, Time now,
                                         const MayKnow& may_know);

/// Its pod sets with counts, flavors and amounts, as the document has them.
boost::json::array assignment_document(const api::Admission& admission);

/// The part of it that an Explanation holds: queue, podSets, refusals, and what would help.
void add_explanation(const Explanation& explanation, boost::json::object& document);

}  // namespace sluice::host
