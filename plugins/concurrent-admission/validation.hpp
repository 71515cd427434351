// What no schema can say of the fields: each breach with its field, as Kubernetes words it.
//
// Pure functions on JSON, any thread.
#pragma once

#include <string>
#include <vector>

#include "sluice/cpp/json.hpp"

namespace options {

struct Problem {
  enum class Kind : unsigned char { kInvalid, kRequired, kForbidden, kNotFound };
  Kind kind = Kind::kInvalid;
  std::string path;
  std::string value;  ///< JSON; may be empty
  std::string detail;
  bool operator==(const Problem&) const = default;
};

std::vector<Problem> check_queue(const sluice::Json& cluster_queue);

/// `old`: null for a new one.
std::vector<Problem> check_workload(const sluice::Json& workload, const sluice::Json& old);

}  // namespace options
