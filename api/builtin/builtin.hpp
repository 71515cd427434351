// The built-in kinds (Job, Pod, Event, RBAC, …): what they need beyond their schema.
//
// Their shape, their plain defaults and limits are data (api/schema/data: builtin.json names
// the kinds, types.json their types, attributes.json defaults and limits). Here is the rest:
// defaults that depend on other fields, checks across fields, and what an update may change, as
// Kubernetes has it. Scheme::admit() calls it. Pure functions, any thread.
#pragma once

#include <boost/json/object.hpp>
#include <string_view>

#include "api/schema/builtin_rules.hpp"

namespace sluice::api {

/// nullptr when the schema says everything.
const BuiltinRules* builtin_rules(std::string_view group, std::string_view kind);

/// Gives a new Job the selector and the labels by which its pods are found:
/// `batch.kubernetes.io/controller-uid` with `uid`, `batch.kubernetes.io/job-name` with its name,
/// and both under their old names in the template. For the writer, on creation, once the object has
/// its name and UID; before or after Scheme::admit(). Does nothing when spec.manualSelector is true
/// or there is no template. Idempotent.
void default_job(boost::json::object& job, std::string_view uid);

/// What default_job() puts into the Job, as it is there: nobody's fields. Empty: nothing.
boost::json::object generated_in_job(const boost::json::object& job);

/// Whether something keeps a pod with this spec from having a node.
bool has_scheduling_gates(const boost::json::object& pod_spec);

/// The status of a new object: a Pod is Pending and has its quality of service class, a Namespace
/// is Active. Empty for all other kinds.
boost::json::object initial_status(std::string_view group, std::string_view kind,
                                   const boost::json::object& object);

}  // namespace sluice::api
