// MadePods: what workloads ask for where pods are made otherwise than their templates say, because
// the cluster has LimitRanges, or RuntimeClasses with an overhead.
//
// Invariant: knows what it was told of such objects, in any order. The kernel's thread only.
#pragma once

#include <string_view>

#include "api/codec/pod_defaults.hpp"
#include "core/types/kinds.hpp"
#include "host/objects/store.hpp"

namespace sluice::host {

class MadePods {
 public:
  /// `stored`: as it is from now on; nullptr: it is gone. Nothing to do for kinds of which pods
  /// take nothing (decides_about_pods()).
  void changed(const api::KindInfo& kind, std::string_view key, const StoredObject* stored);
  /// Whether pods of this workload may be others since that object changed. REQUIRES: the kind
  /// decides about pods.
  static bool concerns(const api::KindInfo& kind, std::string_view changed,
                       std::string_view workload);
  /// Puts the pods that are made in place of those of the templates.
  void read(api::Workload& workload, const StoredObject& stored);

 private:
  api::PodDefaults defaults_;
  api::PodTemplateCache templates_;
};

}  // namespace sluice::host
