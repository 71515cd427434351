#include "host/executor/setup.hpp"

namespace sluice::host {

void ExecutorSetup::add_controllers(ControllerLoop& loop) {
  if (config_.type == ExecutorType::kLocal) {
    loop.add(jobs_);
    loop.add(rays_);
    if (!declared_.idle()) loop.add(declared_);
    loop.add(binder_);
  }
  loop.add(ends_);
}

ApiResult<void> ExecutorSetup::make_nodes(ObjectAccess& objects) const {
  if (config_.type == ExecutorType::kNone) return {};
  return ensure_nodes(config_, machine_, objects);
}

Result<void> ExecutorSetup::start(const std::filesystem::path& folder, bool in_memory,
                                  LiveStore& store, const api::Scheme& scheme,
                                  KernelThread& kernel) {
  if (config_.type == ExecutorType::kNone) return {};
  LocalExecutorConfig config;
  config.folder = folder;
  config.nodes = node_names(config_, machine_);
  config.images = entrypoints_of(config_.images);
  config.end_pods_on_stop = in_memory;
  config.log_folder = config_.logs.path;
  config.control_groups = config_.control_groups;
  config.users = config_.job_users;
  config.all_system_calls = config_.all_system_calls;
  config.longest_grace_seconds = config_.longest_grace / kSecond;
  config.logs = {config_.logs.pod_bytes, config_.logs.total_bytes};
  auto started = start_local_executor(config, store, scheme, kernel);
  if (!started) return started.error();
  executor_ = std::move(*started);
  return {};
}

void ExecutorSetup::keep_pods() {
  if (executor_) executor_->keep_pods();
}

void ExecutorSetup::stop() {
  if (executor_) executor_->stop();
}

}  // namespace sluice::host
