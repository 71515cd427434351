// Asking a host why a workload waits: what `sluice explain` does.
//
// parse_explain_target() is pure; the other blocks the calling thread for a few requests.
#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "core/base/result.hpp"
#include "host/client/client.hpp"

namespace sluice::host {

struct ExplainTarget {
  std::string ns;    ///< empty: that of the kubeconfig
  std::string name;  ///< of a Workload, or of a Job
  bool job = false;  ///< it is a Job; else a Workload, or a Job where there is no such Workload
};

/// `NS/WORKLOAD`, `WORKLOAD`, `job/NAME` or `NS/job/NAME`; `ns` (may be empty) is that of the
/// command line.
Result<ExplainTarget> parse_explain_target(const std::string& text, const std::string& ns);

/// The document of docs/explain.md.
Result<boost::json::object> fetch_explanation(const Client& client, const ExplainTarget& target);

}  // namespace sluice::host
