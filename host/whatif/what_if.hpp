// HostWhatIf: answers what would become of objects if they were written: each question gets a fork
// of the host, on a thread of this object's own.
//
// One question at a time is worked out, those of several users in turns; a few may wait, and none
// longer than its time. The host's control thread is asked for the moment alone. ask() may be
// called from any thread; `done` comes on the object's thread, or at once where nothing is worked
// out.
#pragma once

#include <functional>
#include <string>

#include "host/access/authorizer.hpp"
#include "host/apiserver/backend.hpp"
#include "host/apiserver/question_thread.hpp"
#include "host/whatif/fork.hpp"
#include "host/whatif/question.hpp"
#include "host/whatif/run_times.hpp"

namespace sluice::host {

struct WhatIfLimits {
  std::size_t waiting = 16;          ///< questions; 429 beyond it
  std::size_t waiting_per_user = 4;  ///< 429
  Duration longest = 30 * kSecond;   ///< from the request to the answer; 504 beyond it
};

class HostWhatIf final : public WhatIf {
 public:
  /// The moment of the fork: asks the kernel's thread, and waits until it is durable.
  using Moment = std::function<Result<ForkMoment>()>;

  /// Past run times beyond those of objects that are there; on the object's thread. May be empty.
  using Past = std::function<PastRunTimes()>;

  /// All must outlive it.
  HostWhatIf(ForkSource source, const Authorizer& authorizer, Moment moment, Past past = {},
             WhatIfLimits limits = {});

  void start() { thread_.start(); }
  /// Ends the thread when the question that it works on is answered; those that wait are refused.
  void stop() { thread_.stop(); }

  void ask(WhatIfRequest request, Done done) override;

  /// The answer to one question, worked out on the calling thread.
  ApiResult<boost::json::object> answer(const WhatIfRequest& request, Deadline deadline) const;

 private:
  ApiResult<boost::json::value> carry_out(const WhatIfRequest& request, Deadline deadline) const;

  const ForkSource source_;
  const Authorizer& authorizer_;
  const Moment moment_;
  const Past past_;
  const WhatIfLimits limits_;
  QuestionThread thread_;
};

}  // namespace sluice::host
