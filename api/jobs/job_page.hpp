// JobPage: a kind of job that is declared: the page (the spec of an object JobKind, documented in
// docs/job-kinds.md) as a JobKind, and as the contribution by which a Scheme serves the kind.
//
// Everything a page says is checked here, so that a JobKind made of one answers for any object:
// what a page cannot read in an object is reported by unfit(), and such a job is held back. Pure
// functions, any thread.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <memory>
#include <string_view>

#include "api/jobs/job_kind.hpp"
#include "core/base/result.hpp"

namespace sluice::api {

/// The error names the field of the page, the value and what is allowed.
Result<std::shared_ptr<const JobKind>> declared_job_kind(const boost::json::object& page,
                                                         std::string_view group,
                                                         std::string_view kind);

/// What Scheme::add() takes: the kind with everything below spec and status as it comes. `name`: of
/// the JobKind, PLURAL.GROUP.
Result<boost::json::array> declared_kind(const boost::json::object& page, std::string_view name);

}  // namespace sluice::api
