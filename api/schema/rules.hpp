// Rules about whole objects in hub form that go beyond the schema: uniqueness across lists, quota
// relations, what an update may change. The wording follows Kubernetes. Pure functions, any thread.
#pragma once

#include <boost/json/object.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "api/schema/kind_info.hpp"
#include "core/types/quantity.hpp"

namespace sluice::api {

/// Name, namespace, labels and annotations of any object.
void check_metadata(const KindInfo& info, const boost::json::object& object, Outcome& outcome);

void check_resource_flavor(const boost::json::object& object, Outcome& outcome);
void check_cluster_queue(const boost::json::object& object, const boost::json::object* old,
                         Outcome& outcome);
void check_cohort(const boost::json::object& object, Outcome& outcome);
void check_local_queue(const boost::json::object& object, Outcome& outcome);
void check_workload(const boost::json::object& object, const boost::json::object* old,
                    const AdmitOptions& options, Outcome& outcome);

/// Labels at `field`: keys are qualified names, values label values.
void check_labels(const boost::json::object* labels, const std::string& field, Outcome& outcome);
void check_selector(const boost::json::object* selector, const std::string& field,
                    Outcome& outcome);
/// `spec.fairSharing.weight` is not negative.
void check_fair_weight(const boost::json::object& object, Outcome& outcome);

/// Why an amount of `resource` cannot be used (negative, or beyond the engine's unit), or nothing.
std::string amount_problem(std::string_view resource, const Quantity& amount);

/// What is said of a text that is no name of an object, as Kubernetes says it.
extern const char* const kSubdomainRule;
/// Of one that is a label of a DNS name.
extern const char* const kLabelRule;
/// Of the names of resources and the keys of labels.
extern const char* const kQualifiedNameRule;

/// `FIELD[INDEX]`.
std::string indexed(const std::string& field, std::size_t index);

void add_problem(Outcome& outcome, Problem::Kind kind, std::string field, std::string detail);
/// `Invalid value: VALUE: WHY`.
void add_invalid(Outcome& outcome, std::string field, const boost::json::value& value,
                 const std::string& why);

}  // namespace sluice::api
