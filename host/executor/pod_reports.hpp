// PodReports: tells the kernel's thread what became of pods; there it is written into their
// statuses and Events.
//
// Posting returns at once. What is told of a pod that ended, or whose name belongs to another pod
// by the time it is written, writes nothing. Used by the executor's thread.
#pragma once

#include <string>

#include "host/controllers/kernel_thread.hpp"
#include "host/executor/pod_plan.hpp"
#include "host/executor/process/run_record.hpp"

namespace sluice::host {

class PodReports {
 public:
  /// `kernel` must outlive it.
  explicit PodReports(KernelThread& kernel) : kernel_(kernel) {}

  /// What its processes do; an Event for each container that started or could not.
  void state(const std::string& uid, const std::string& key, RunState state) const;
  /// Why it was not started: it waits, or it failed.
  void problem(const std::string& uid, const std::string& key, const PodProblem& problem) const;
  /// It was deleted before anything ran: it ends here.
  void never_started(const std::string& uid, const std::string& key) const;
  /// An Event: what the pod asks for and is not given.
  void not_supported(const std::string& key, const std::string& text) const;
  /// An Event: its containers are asked to end.
  void stopping(const std::string& key) const;

 private:
  KernelThread& kernel_;
};

}  // namespace sluice::host
