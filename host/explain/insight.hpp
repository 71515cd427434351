// LiveInsight: answers from the engine of a running host. Questions may come from any thread; they
// are answered on the kernel's thread, in order with what it does.
#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "core/engine/engine.hpp"
#include "core/engine/queue_views.hpp"
#include "host/apiserver/backend.hpp"
#include "host/controllers/kernel_thread.hpp"
#include "host/plugins/check_controllers.hpp"

namespace sluice::host {

/// The document of docs/explain.md. What keeps its whole queue from serving, and what its pods
/// failed of, comes first among what would help. REQUIRES: the workload exists.
boost::json::object explain_workload(const Engine& engine, const ObjectAccess& objects,
                                     WorkloadId id, const MayKnow& may_know);

class LiveInsight final : public Insight {
 public:
  /// All must outlive it. `checks`: those who may have more to say of a workload's checks.
  LiveInsight(const Engine& engine, KernelThread& kernel, CheckControllers* checks = nullptr)
      : engine_(engine), kernel_(kernel), checks_(checks) {}

  void pending_workloads(std::string ns, std::string queue, std::int64_t offset, std::int64_t limit,
                         Done done) override;
  void explain(std::string ns, std::string workload, MayKnow may_know, Done done) override;
  void await(std::string ns, std::string workload, boost::json::object document,
             Done done) override;

 private:
  ApiResult<boost::json::value> pending(const ObjectAccess& objects, const std::string& ns,
                                        const std::string& queue, std::int64_t offset,
                                        std::int64_t limit) const;

  const Engine& engine_;
  KernelThread& kernel_;
  CheckControllers* checks_;
};

}  // namespace sluice::host
