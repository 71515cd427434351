#include "host/metrics/metered_journal.hpp"

#include <chrono>
#include <utility>

namespace sluice::host {
namespace {

using Clock = std::chrono::steady_clock;

class MeteredJournal final : public Journal {
 public:
  MeteredJournal(std::unique_ptr<Journal> inner, HostMetrics& metrics)
      : inner_(std::move(inner)),
        time_(metrics.histogram("sluice_store_commit_duration_seconds",
                                "Time until a commit is on the disk", {}, Buckets::kDefault)),
        changes_(metrics.histogram("sluice_store_commit_changes",
                                   "Changes that became durable with one sync", {},
                                   Buckets::kCounts)),
        failed_(metrics.counter("sluice_store_failed_commits_total",
                                "Commits that could not be made durable", {})) {}

  Result<JournalState> load(const std::function<void(const JournalRow&)>& take) override {
    return inner_->load(take);
  }

  std::string no_room() const override { return inner_->no_room(); }

  Result<void> write(std::span<const JournalRow> rows, std::uint64_t version,
                     std::string_view fields) override {
    const Clock::time_point start = Clock::now();
    Result<void> done = inner_->write(rows, version, fields);
    if (!done) {
      failed_(1);
      return done;
    }
    time_(std::chrono::duration<double>(Clock::now() - start).count());
    changes_(static_cast<double>(rows.size()));
    return done;
  }

 private:
  std::unique_ptr<Journal> inner_;
  std::function<void(double)> time_, changes_, failed_;
};

}  // namespace

std::unique_ptr<Journal> metered(std::unique_ptr<Journal> journal, HostMetrics& metrics) {
  return std::make_unique<MeteredJournal>(std::move(journal), metrics);
}

}  // namespace sluice::host
