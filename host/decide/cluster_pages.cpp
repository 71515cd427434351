#include "host/decide/cluster_pages.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "api/json/json.hpp"
#include "host/base/log.hpp"
#include "host/kube/access_question.hpp"
#include "host/kube/caller.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr Duration kPatience = 15 * kSecond;
constexpr auto kAskAgain = std::chrono::seconds(30);
constexpr const char* kVerbs[] = {"list", "watch", "patch"};

/// A caller of its own for a few questions.
class Asking {
 public:
  Asking(const Kubeconfig& cluster, const LinkTarget& target)
      : caller_(target, cluster, kPatience) {
    caller_.start();
  }
  ~Asking() { caller_.stop(); }
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;

  ClusterAnswer get(std::string path) {
    ClusterRequest request;
    request.path = std::move(path);
    return caller_.ask(std::move(request));
  }

  /// Where nobody says, it is tried.
  bool may(const char* verb, const std::string& group, const std::string& plural) {
    const AccessQuestion question{.verb = verb, .group = group, .resource = plural};
    return access_told(caller_.ask(access_request(question))).value_or(true);
  }

 private:
  ClusterCaller caller_;
};

/// What is missing for the kind that a page declares; empty: nothing. Pages have the name of their
/// resource, PLURAL.GROUP.
std::string missing_rights(Asking& asking, const std::string& page) {
  const std::size_t dot = std::min(page.find('.'), page.size());
  const std::string plural = page.substr(0, dot);
  const std::string group = page.substr(std::min(dot + 1, page.size()));
  std::vector<std::string> missing;
  for (const char* verb : kVerbs)
    if (!asking.may(verb, group, plural)) missing.emplace_back(verb);
  if (missing.empty()) return {};
  return fmt::format(
      "the controller has not the right to {} {}; sluice manifests --job-kinds with all pages "
      "gives it, and it is looked for every half minute",
      fmt::join(missing, ", "), page);
}

}  // namespace

JobPages pages_of_cluster(const Kubeconfig& cluster, const LinkTarget& target) {
  Asking asking(cluster, target);
  const ClusterAnswer answer = asking.get(fmt::format("/apis/{}/jobkinds", kJobKindVersion));
  if (answer.status == 404) return {};  // it does not know such objects
  const auto list = api::parse_object(answer.body);
  if (answer.status != 200 || !list) {
    log(LogLevel::kWarning, "job kinds", "cannot read jobkinds: " + trouble_of(answer));
    return {};
  }
  std::vector<json::object> found;
  for_each_object(*list, "items", [&](const json::object& each) { found.push_back(each); });
  JobPages pages = pages_of(found);
  for (auto& [name, page] : pages) page.problem = missing_rights(asking, name);
  return pages;
}

PageRights::PageRights(const Kubeconfig& cluster, const LinkTarget& target, const JobPages& pages,
                       std::function<void()> granted)
    : cluster_(cluster), target_(target), pages_(pages), granted_(std::move(granted)) {
  const bool lacks = std::any_of(pages_.begin(), pages_.end(),
                                 [](const auto& each) { return !each.second.problem.empty(); });
  if (lacks) thread_ = std::thread([this] { run(); });
}

PageRights::~PageRights() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  ended_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void PageRights::run() {
  for (;;) {
    {
      std::unique_lock lock(mutex_);
      if (ended_.wait_for(lock, kAskAgain, [this] { return ends_; })) return;
    }
    Asking asking(cluster_, target_);
    for (const auto& [name, page] : pages_)
      if (!page.problem.empty() && missing_rights(asking, name).empty()) return granted_();
  }
}

}  // namespace sluice::host
