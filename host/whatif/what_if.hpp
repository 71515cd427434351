// HostWhatIf: answers what would become of objects if they were written: each question gets a fork
// of the host, on a thread of this object's own.
//
// One question at a time is worked out, those of several users in turns; a few may wait, and none
// longer than its time. The host's control thread is asked for the moment alone. ask() may be
// called from any thread; `done` comes on the object's thread, or at once where nothing is worked
// out.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>

#include "host/access/authorizer.hpp"
#include "host/apiserver/backend.hpp"
#include "host/base/fair_queue.hpp"
#include "host/whatif/fork.hpp"
#include "host/whatif/question.hpp"

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

  /// All must outlive it.
  HostWhatIf(ForkSource source, const Authorizer& authorizer, Moment moment,
             WhatIfLimits limits = {});
  ~HostWhatIf() override;  // as stop()

  void start();
  /// Ends the thread when the question that it works on is answered; those that wait are refused.
  void stop();

  void ask(WhatIfRequest request, Done done) override;

  /// The answer to one question, worked out on the calling thread.
  ApiResult<boost::json::object> answer(const WhatIfRequest& request, Deadline deadline) const;

 private:
  struct Task {
    WhatIfRequest request;
    Done done;
    Deadline deadline;
  };
  void loop();
  void carry_out(Task& task) const;

  const ForkSource source_;
  const Authorizer& authorizer_;
  const Moment moment_;
  const WhatIfLimits limits_;

  std::mutex mutex_;
  std::condition_variable work_;
  FairQueue<Task> queue_;                                 // guarded by mutex_, as the rest
  std::unordered_map<std::string, std::size_t> of_user_;  // waiting or worked on
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace sluice::host
