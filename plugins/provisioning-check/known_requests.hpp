// KnownRequests: the ProvisioningRequests that were made or seen, and of which attempt each is.
//
// A request has one attempt, an attempt at most one request. After a start it fills again with what
// is told of attempts and requests, so that an attempt is not known here does not say that it has
// none. Used inside hooks, on their thread.
#pragma once

#include <sluice/cpp/checks.hpp>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "names.hpp"
#include "requests.hpp"

namespace provisioning {

inline std::string name_of(const Attempt& attempt) {
  return request_name(attempt.id.workload, attempt.id.check, attempt.number);
}
/// NAMESPACE/NAME of the request.
inline std::string key_of(const Attempt& attempt) {
  return attempt.id.workload_namespace + "/" + name_of(attempt);
}

class KnownRequests {
 public:
  struct Known {
    Attempt attempt;
    std::string uid;  ///< of the request
  };

  void remember(const Attempt& attempt, std::string uid) {
    const std::string key = key_of(attempt);
    take(key);  // attempts of different workloads may have requests of one name
    known_[key] = {attempt, std::move(uid)};
    request_of_[attempt.id] = key;
  }
  /// Forgets a request, NAMESPACE/NAME; what was known of it.
  std::optional<Known> take(const std::string& key) {
    auto found = known_.extract(key);
    if (!found) return std::nullopt;
    request_of_.erase(found.mapped().attempt.id);
    return std::move(found.mapped());
  }
  /// All of which there is a request.
  std::vector<Attempt> attempts() const {
    std::vector<Attempt> out;
    for (const auto& [key, known] : known_) out.push_back(known.attempt);
    return out;
  }
  /// The request of an attempt; nullptr: none is known.
  const Known* find(const sluice::CheckAttempt& id) const {
    const auto found = request_of_.find(id);
    return found == request_of_.end() ? nullptr : &known_.at(found->second);
  }

 private:
  std::map<std::string, Known> known_;  // by namespace and name of the request
  std::map<sluice::CheckAttempt, std::string> request_of_;
};

}  // namespace provisioning
