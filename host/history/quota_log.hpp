// QuotaLog: turns what is published of ClusterQueues into stretches of time.
//
// It remembers what each queue has now, which is what the file said when it began, and what was
// told since. So the same given twice counts once. Belongs to one thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "host/history/quota.hpp"

namespace sluice::host {

class QuotaLog {
 public:
  QuotaLog() = default;
  /// `open`: the stretches that go on, as they are written.
  explicit QuotaLog(std::vector<QuotaStretch> open);

  /// A queue has these quotas since `since`: now, or as far back as that is known where nothing is
  /// written of it. REQUIRES: since > 0.
  void has(const std::string& holder, Quotas quotas, Millis since);
  void gone(const std::string& holder, Millis now);
  /// Queues that have quotas now, as far as it was told.
  std::vector<std::string> queues() const;

  /// The stretches that are other than they were, in the order in which they are to be written: of
  /// two with the same queue and beginning the later one counts. Begins anew.
  std::vector<QuotaStretch> take();

 private:
  void end(const QuotaStretch& stretch, Millis at);

  std::map<std::string, QuotaStretch> open_;
  std::vector<QuotaStretch> changed_;
};

}  // namespace sluice::host
