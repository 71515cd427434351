// TrialRoom: answers questions from a trial of the mirror as it is now, on a thread of its own.
//
// A trial is used for all questions until the mirror has changed, and then for as long again as it
// took to make, a second at least, so that a cluster in which much happens does not keep a core
// busy for each glance at it. Every answer says of which time it is.
//
// Public members may be called from any thread.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "host/apiserver/backend.hpp"
#include "host/observe/trial.hpp"
#include "host/plugins/clock.hpp"

namespace sluice::host {

class TrialRoom final : public Insight {
 public:
  /// All must outlive it.
  TrialRoom(const TrialSource& source, const PluginClock& clock);
  ~TrialRoom() override;  ///< what was asked before is answered

  void pending_workloads(std::string ns, std::string queue, std::int64_t offset, std::int64_t limit,
                         Done done) override;
  void explain(std::string ns, std::string workload, MayKnow may_know, Done done) override;
  /// A trial awaits nothing: the document as it is.
  void await(std::string, std::string, boost::json::object document, Done done) override {
    done(boost::json::value(std::move(document)));
  }

 private:
  /// Called with a trial that was run.
  using Question = std::function<void(Trial&)>;
  void ask(Question question, Done otherwise);
  void answer();
  Result<void> renew();

  struct Asked {
    Question question;
    Done otherwise;  // when there is no trial
  };

  const TrialSource source_;
  const PluginClock& clock_;
  std::unique_ptr<Trial> trial_;  // the thread's
  Duration good_until_ = 0;
  std::mutex mutex_;
  std::condition_variable came_;
  std::deque<Asked> asked_;  // guarded by mutex_
  bool stopping_ = false;    // guarded by mutex_
  std::thread thread_;
};

}  // namespace sluice::host
