// Which objects opt in, and what is wrong with one that does. All that the plugin reads of JSON.
// Pure functions on objects as they are written; any thread.
#pragma once

#include <sluice/cpp/json.hpp>
#include <sluice/cpp/questions.hpp>

#include <functional>
#include <string_view>

namespace elastic {

/// May this text of an object opt in at all? Cheap, and never wrong when it says no.
bool mentions_opt_in(std::string_view json);

/// The object opts in by one of the two spellings.
bool opts_in(const sluice::Json& object);
/// The same of a workload.
bool opts_in(const sluice::Workload& workload);

/// Has the job with this namespace and UID any workloads?
using HasWorkloads = std::function<bool(std::string_view ns, std::string_view uid)>;

/// Reports what may not be written: of jobs, and of workloads that opt in.
void check_write(const sluice::Write& write, const HasWorkloads& has_workloads,
                 sluice::FieldErrors& errors);

}  // namespace elastic
