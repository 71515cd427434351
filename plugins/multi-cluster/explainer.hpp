// Explainer: what there is to say of a workload that is elsewhere, or was asked for there: what
// this host knows of it, and what the clusters that have it waiting say themselves.
//
// Changes no object; asks clusters. Used inside explain_check and reconcile, on their thread.
#pragma once

#include <sluice/plugin.hpp>

#include <optional>
#include <string>
#include <vector>

#include "cases.hpp"
#include "explanations.hpp"
#include "telling.hpp"

namespace clusters {

class Explainer {
 public:
  /// `cases` must outlive it.
  Explainer(const sluice::Context& context, Cases& cases)
      : context_(context), cases_(cases), explanations_(context) {}

  sluice::CheckWords explain(const WorkloadName& workload);
  /// There is an answer to what a cluster was asked.
  void hear(const sluice::ObjectRef& answer) { explanations_.hear(answer); }

 private:
  Telling telling(const Case& of, const std::string& cluster, bool chosen);
  std::optional<sluice::Json> copy_there(const Case& of, const Telling& told) const;
  void add(const Telling& telling, sluice::CheckWords& out);

  sluice::Context context_;
  Cases& cases_;
  Explanations explanations_;
};

}  // namespace clusters
