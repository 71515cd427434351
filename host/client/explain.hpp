// Asking a host why a workload waits: what `sluice explain` does.
//
// parse_explain_target() is pure; the other blocks the calling thread for a few requests.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "host/client/client.hpp"

namespace sluice::host {

struct ExplainTarget {
  std::string ns;    ///< empty: that of the kubeconfig
  std::string name;  ///< of a Workload, or of a job
  std::string kind;  ///< of job: `job`, `raycluster`, PLURAL.GROUP or what else kubectl takes for a
                     ///< kind; empty: a Workload, else a job of the name
};

/// `NS/WORKLOAD`, `WORKLOAD`, `job/NAME`, `raycluster/NAME`, `PLURAL.GROUP/NAME` or these after
/// `NS/`; `ns` (may be empty) is that of the command line. With a namespace any word may stand for
/// a kind: `jobset/NAME`.
Result<ExplainTarget> parse_explain_target(const std::string& text, const std::string& ns);

/// Of the workloads in `list`, the name of the one to explain for the job with this UID: one that
/// the job owns before one that stands in for it, then one that waits, one that runs, one that is
/// off, one that is finished; of several the newest. Empty when there are none.
std::string workload_to_explain(const boost::json::object& list, std::string_view uid);

/// What is said where nothing of the name is found. `tried`: of kinds of jobs, each behind "; ".
/// Until all pods of a workload are there it does not exist, and they may be asked for.
std::string nothing_found(const std::string& ns, const std::string& name, const std::string& tried);

/// The document of docs/explain.md.
Result<boost::json::object> fetch_explanation(const Client& client, const ExplainTarget& target);

/// The server says that there is no object of that name (any more). False when it says nothing.
bool is_gone(const Client& client, const ExplainTarget& target);

}  // namespace sluice::host
