// What is made of a pod when it is created, and what of it is refused.
//
// Pure functions of the write and the settings; any thread.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "sluice/cpp/json.hpp"
#include "sluice/cpp/questions.hpp"

namespace pods {

struct Settings {
  std::set<std::string, std::less<>> except_namespaces;
  bool without_queue = false;  ///< pods that name no queue are held as well
};
Settings settings_of(const sluice::Json& config);

/// Namespaces that have a LocalQueue for pods which name none.
using DefaultQueues = std::set<std::string, std::less<>>;

/// The pod as it is to be stored; nullopt: it is not for this plugin.
std::optional<std::string> hold(std::string_view pod, const Settings& settings,
                                const DefaultQueues& queues);

void check(const sluice::Write& write, sluice::FieldErrors& errors);

}  // namespace pods
