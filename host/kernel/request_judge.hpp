// RequestJudge: which of the plugins' requests to the engine are theirs to make.
//
// Only the plugin that said of a workload that it ends later tells of its end. Only the plugin that
// answers for the checks that asked for a Retry takes that back: where several did, nobody may for
// the others. What is refused is logged once for each plugin. All other requests only have the
// engine look again, and are anybody's. Reads all that it is given, which must outlive it. Belongs
// to the kernel's thread.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "api/scheme/scheme.hpp"
#include "core/engine/engine.hpp"
#include "host/kernel/plugin_port.hpp"
#include "host/objects/store.hpp"

namespace sluice::host {

class RequestJudge {
 public:
  RequestJudge(const Engine& engine, const ObjectStore& store, const api::KindInfo& check_kind,
               const PluginPort& plugins)
      : engine_(engine), store_(store), check_kind_(check_kind), plugins_(plugins) {}

  /// Whether the plugin may tell that nothing of the workload runs any more.
  bool may_end(const EngineRequest& request);
  /// Whether the plugin may end the pause that the workload makes after a Retry.
  bool may_take_back_retry(const EngineRequest& request);
  /// It comes too often, and is carried out later (RequestPace).
  void tell_put_off(const EngineRequest& request) {
    refuse(request, told_often_,
           "it has one workload looked at again and again, which holds up others; that is done ten "
           "times a second now, and told once");
  }

 private:
  static bool refuse(const EngineRequest& request, std::set<std::string>& told,
                     std::string_view why);
  bool answers_for(const std::string& plugin, const std::string& check) const;

  const Engine& engine_;
  const ObjectStore& store_;
  const api::KindInfo& check_kind_;
  const PluginPort& plugins_;
  std::set<std::string> told_ends_, told_retries_,
      told_often_;  // plugins that were named in the log
};

}  // namespace sluice::host
