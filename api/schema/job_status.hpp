// What a host writes into the status of a kind that says how its objects are jobs (KindSource's
// `job`): the fields belong to the kind, as if its contribution had listed them, so that an object
// that was read can be written again.
//
// Plain functions; any thread.
#pragma once

#include <string>
#include <string_view>

#include "api/schema/source.hpp"

namespace sluice::api {

/// Adds those that the version does not describe itself.
void add_job_status(VersionSource& version, const std::string& contributor);

/// True when `path` is `parent` or lies below it.
bool is_below(std::string_view path, std::string_view parent);

}  // namespace sluice::api
