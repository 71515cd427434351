// plan_pod(): what a Pod's containers are as local processes: command lines, environment, working
// directory. Images are not run: a container needs a command, or an image that Entrypoints know.
// Pure, any thread.
#pragma once

#include <boost/json/object.hpp>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.hpp"
#include "host/executor/images.hpp"
#include "host/executor/pod_support.hpp"
#include "host/executor/process/run_record.hpp"

namespace sluice::host {

/// Why a pod cannot be started.
struct PodProblem {
  std::string reason;  ///< CreateContainerConfigError, …
  std::string text;
  bool may_pass = false;  ///< what is missing may come: try again later
};

/// What pods refer to, and what they inherit.
struct PodSources {
  /// ConfigMap or Secret of a namespace; nullopt when there is none.
  std::function<std::optional<boost::json::object>(std::string_view kind, std::string_view key)>
      find;
  /// `NAME=value` that every container starts with.
  std::vector<std::string> environment;
  Entrypoints images;
  HeldLimits held = {};  ///< on this machine
};

/// As whom the processes of one pod run.
struct PodUser {
  ProcessUser as = {};
  std::string home = {};  ///< empty: as the environment says
};

/// PATH, HOME and the few others that programs expect, of this process.
std::vector<std::string> inherited_environment();

Result<RunSpec, PodProblem> plan_pod(const boost::json::object& pod, const PodSources& sources,
                                     const PodUser& user);

}  // namespace sluice::host
