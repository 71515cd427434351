// Asking a host what would become of manifests: what `sluice what-if` does.
//
// question_of() reads files; ask_what_if() blocks the calling thread for one request.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "host/client/client.hpp"

namespace sluice::host {

struct WhatIfQuestion {
  std::vector<std::string> files;  ///< manifests and folders; `-` is standard input
  std::string ns;                  ///< of objects that name none; empty: that of the kubeconfig
  bool remove = false;             ///< what if they were deleted
  bool estimate = true;            ///< when it would start, too
  // Of those that wait already, instead of files:
  std::string local_queue;  ///< in the namespace, or NAMESPACE/NAME
  std::string cluster_queue;
};

/// The WhatIf to be sent: about files, or about one queue. An error names file and line, or what is
/// missing.
Result<boost::json::object> question_of(const WhatIfQuestion& question, const std::string& ns);

/// The answer: the WhatIf with its status.
Result<boost::json::object> ask_what_if(const Client& client, const WhatIfQuestion& question);

}  // namespace sluice::host
