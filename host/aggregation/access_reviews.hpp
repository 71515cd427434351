// AccessReviews: asks an API server whether a user may do something (SubjectAccessReview), and
// remembers the answers for ten seconds. RememberedAnswers: these, a bounded number.
//
//   AccessReviews reviews(target, kubeconfig);
//   reviews.start();
//   reviews.ask(user.who.user, access_review(user, wish, "v1beta2"), [](auto answer) { … });
//   reviews.stop();
//
// One question at a time, on a thread of its own, those of several users in turns; more than a few
// hundred that wait are refused (429). ask() may be called from any thread; answers come on that
// one, or at once where they are remembered. start() and stop() are for one thread.
// RememberedAnswers belongs to one thread at a time.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "host/access/authorizer.hpp"
#include "host/aggregation/front_proxy.hpp"
#include "host/apiserver/question_thread.hpp"
#include "host/kube/caller.hpp"

namespace sluice::host {

/// The SubjectAccessReview that asks it, as text. The same question is the same text.
std::string access_review(const ProxiedUser& user, const AccessRequest& wish,
                          std::string_view version);

class RememberedAnswers {
 public:
  RememberedAnswers(std::size_t most, Duration age) : most_(most), age_(age) {}

  std::optional<AccessAnswer> find(const std::string& question, Duration now) const;
  /// The oldest is forgotten for it where there are too many.
  void put(const std::string& question, AccessAnswer answer, Duration now);
  std::size_t size() const { return answers_.size(); }

 private:
  struct Remembered {
    AccessAnswer answer;
    Duration until = 0;
  };
  const std::size_t most_;
  const Duration age_;
  std::unordered_map<std::string, Remembered> answers_;
  std::deque<std::string> order_;  // of answers_, oldest first
};

class AccessReviews {
 public:
  using Done = std::function<void(ApiResult<AccessAnswer>)>;

  AccessReviews(LinkTarget target, const Kubeconfig& config);
  ~AccessReviews() { stop(); }

  void start();
  /// What waits is refused.
  void stop();

  /// `review`: of access_review().
  void ask(const std::string& user, std::string review, Done done);

 private:
  std::optional<AccessAnswer> remembered(const std::string& review) const;
  ApiResult<AccessAnswer> asked(const std::string& review);

  ClusterCaller caller_;  // the thread's
  mutable std::mutex mutex_;
  RememberedAnswers answers_;  // guarded by mutex_
  QuestionThread thread_;
};

}  // namespace sluice::host
