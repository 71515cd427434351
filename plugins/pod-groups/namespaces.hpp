// Namespaces: in which of them pods are held: by their labels, as the host has it of jobs
// (managedJobsNamespaceSelector), or the plugin's own configuration.
//
// Immutable; any thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sluice/cpp/json.hpp"

namespace pods {

/// The labels of a Namespace, an object; nullopt: it is not there, or not yet.
using LabelsOf = std::function<std::optional<sluice::Json>(const std::string& ns)>;

class Namespaces {
 public:
  /// All of them.
  Namespaces() = default;
  /// `selector`: a LabelSelector. Throws sluice::Refused when it is none.
  Namespaces(const sluice::Json& selector, LabelsOf labels_of);

  /// Labels are asked for only where more than the name counts. One that is not known is covered:
  /// a pod that is let go cannot be held any more.
  bool cover(const std::string& ns) const;

 private:
  struct Requirement {
    std::string key;
    bool wants = true;       ///< In and Exists; not NotIn and DoesNotExist
    bool any_value = false;  ///< of Exists and DoesNotExist
    std::vector<std::string> values;
  };
  std::vector<Requirement> all_;
  LabelsOf labels_of_;
};

}  // namespace pods
