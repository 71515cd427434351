// The answer of a fork: what became of the workloads that were asked about, and of all others.
//
// It holds what the user may know: workloads of namespaces that `may_know` refuses are counted, not
// named. Reads the fork, on its thread; changes nothing. docs/what-if.md describes the document.
#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <vector>

#include "core/engine/explanation.hpp"
#include "host/whatif/fork.hpp"
#include "host/whatif/happenings.hpp"
#include "host/whatif/question.hpp"

namespace sluice::host {

/// A workload that was asked about: that of a wish, or one that a job of a wish has, or one that
/// waited already.
struct Asked {
  std::optional<std::size_t> wish;  ///< nullopt: it waited already
  WorkloadId workload = 0;
};

/// In the order of the wishes, without those that have finished before; then those that waited
/// already and wait still or have started since the fork, of a queue in its order.
std::vector<Asked> asked_workloads(Fork& fork, const Question& question,
                                   const std::vector<Granted>& granted, const Happenings& since,
                                   const MayKnow& may_know);

/// Whether it would have to wait.
bool waits(const Engine& engine, WorkloadId id);

/// The status of a WhatIf.
boost::json::object answer_document(Fork& fork, const Question& question,
                                    const std::vector<Granted>& granted,
                                    const std::vector<Asked>& asked, const Happenings& since,
                                    const MayKnow& may_know);

}  // namespace sluice::host
