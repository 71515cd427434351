#include "host/controllers/checks/begun_attempts.hpp"

#include <algorithm>

#include "core/base/backoff.hpp"

namespace sluice::host {
namespace {

constexpr Duration kFirstRetry = kSecond;
constexpr Duration kLongestRetry = 300 * kSecond;

}  // namespace

BegunAttempt* BegunAttempts::find(const std::string& workload, const std::string& check) {
  const auto of_workload = by_workload_.find(workload);
  if (of_workload == by_workload_.end()) return nullptr;
  const auto begun = of_workload->second.find(check);
  return begun == of_workload->second.end() ? nullptr : &begun->second;
}

BegunAttempt& BegunAttempts::note(const api::ObjectMeta& workload, const std::string& check,
                                  const std::string& controller, std::uint64_t attempt) {
  BegunAttempt& begun = by_workload_[workload.key()][check];
  begun = {
      .ns = workload.ns,
      .name = workload.name,
      .uid = workload.uid,
      .controller = controller,
      .attempt = attempt,
      .failures = begun.attempt == attempt ? begun.failures : 0,
  };
  return begun;
}

BegunAttempt& BegunAttempts::note_failure(const api::ObjectMeta& workload, const std::string& check,
                                          const std::string& controller, std::uint64_t attempt,
                                          const std::string& trouble, Time now) {
  BegunAttempt& begun = note(workload, check, controller, attempt);
  begun.trouble = trouble;
  begun.again_at = later(now, backoff(kFirstRetry, begun.failures++, kLongestRetry));
  return begun;
}

std::vector<std::string> BegunAttempts::workloads_of(std::string_view controller) const {
  std::vector<std::string> out;
  for (const auto& [workload, checks] : by_workload_)
    if (std::ranges::any_of(checks,
                            [&](const auto& each) { return each.second.controller == controller; }))
      out.push_back(workload);
  return out;
}

void BegunAttempts::begin_again(std::string_view controller) {
  for (auto& [workload, checks] : by_workload_) {
    for (auto& [check, begun] : checks) {
      if (begun.controller != controller) continue;
      begun.again = true;
      begun.trouble.clear();
    }
  }
}

void BegunAttempts::end_if(
    const std::string& workload,
    const std::function<bool(const std::string& check, const BegunAttempt&)>& over) {
  const auto found = by_workload_.find(workload);
  if (found == by_workload_.end()) return;
  std::erase_if(found->second, [&](const auto& each) { return over(each.first, each.second); });
  if (found->second.empty()) by_workload_.erase(found);
}

}  // namespace sluice::host
