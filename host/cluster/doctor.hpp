// What `sluice doctor` finds out about a cluster on which Sluice is to decide, and what to do about
// it: definitions, which controller decides, webhooks, as far as the user may see them.
//
// examine() asks and changes nothing: the one object that it offers is wrong, and for a dry run.
// Pure but for what `ask` does; one thread.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "api/scheme/scheme.hpp"
#include "core/base/time.hpp"
#include "host/cluster/rights.hpp"

namespace sluice::host {

struct Finding {
  enum class Level : std::uint8_t {
    kGood,
    kUnknown,  ///< it could not be looked at
    kWrong,
  };
  Level level = Level::kGood;
  std::string about;   ///< a word: definitions, lease, …
  std::string told;    ///< how it stands
  std::string remedy;  ///< what to do; empty: nothing
};

struct DoctorOrder {
  const api::Scheme* scheme = nullptr;
  std::string ns = "sluice-system";  ///< of the controllers
  ControllerRights rights;           ///< what the ServiceAccount of theirs has to have
  bool has_pages = false;            ///< the cluster has JobKinds
  Time now = 0;
};

std::vector<Finding> examine(const DoctorOrder& order, const AskCluster& ask);

/// Whether something is wrong.
bool any_wrong(const std::vector<Finding>& findings);
/// Whether nothing was found out but which server it is: the user may see nothing else.
bool sees_nothing(const std::vector<Finding>& findings);

/// A line for each, and below it what to do.
std::string findings_text(const std::vector<Finding>& findings);
/// `{kind: ClusterFindings, findings: […]}`
boost::json::object findings_document(const std::vector<Finding>& findings);

}  // namespace sluice::host
