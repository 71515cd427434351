// What is made of a pod when it is created, and what of it is refused.
//
// Functions of the write, the settings and the queues that there are; any thread.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "namespaces.hpp"
#include "sluice/cpp/json.hpp"
#include "sluice/cpp/objects.hpp"
#include "sluice/cpp/questions.hpp"

namespace pods {

struct Settings {
  std::set<std::string, std::less<>> except_namespaces;
  bool without_queue = false;                ///< pods that name no queue are held as well
  Namespaces namespaces = {};                ///< those of others are left alone as well
  std::vector<std::string> label_keys = {};  ///< labels of pods that their workload gets
};
Settings settings_of(const sluice::Json& config, LabelsOf labels_of);

/// Whether a namespace has a LocalQueue for pods which name none.
using HasDefaultQueue = std::function<bool(const std::string& ns)>;

/// The namespaces that are left out, as a validator names them behind a kind.
std::string except_words(const Settings& settings);
/// Of which pods API servers ask: where nobody answers, those wait that name a queue, and, so
/// configured, all others; not those that a queue would only take because it is there.
std::vector<std::string> judged_pods(const Settings& settings);

/// The job that an owner reference names, for kinds of jobs; nullopt: there is none, or it is no
/// job.
using FindJob = std::function<std::optional<sluice::Json>(const sluice::ObjectRef& job)>;

/// Who creates a pod, and the jobs that there are.
struct Origin {
  std::string_view user = {};  ///< empty: the host itself
  FindJob find_job = {};
};

/// The pod as it is to be stored; nullopt: it is not for this plugin.
std::optional<std::string> hold(std::string_view pod, const Settings& settings,
                                const HasDefaultQueue& has_default_queue,
                                const Origin& origin = {});

void check(const sluice::Write& write, sluice::FieldErrors& errors);

}  // namespace pods
