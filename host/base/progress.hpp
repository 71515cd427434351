// Progress: how far long work has come, for a user at a terminal: a bar below the log on standard
// error, which comes once the work has taken a while and goes with the object. Where standard error
// is no terminal it does nothing at all.
//
//   Progress progress("reading the store", "objects");
//   progress.expect(count);
//   for (…) progress.add();
//
// add(), reach() and expect() may be called from any thread and cost an atomic addition. One is
// shown at a time: that which was made last.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace sluice::host {

struct ProgressLine {
  std::string what;  ///< is done: `reading the store`
  std::string unit;  ///< of what is counted: `objects`; empty: it is not said
  std::uint64_t done = 0;
  std::uint64_t total = 0;  ///< 0: not known
  std::string detail;       ///< said behind it
};

/// `reading the store  [######              ]  30 %  30 of 100 objects`, at most `columns` wide.
/// Pure.
std::string progress_text(const ProgressLine& line, std::size_t columns);

/// Where progress goes, and how often. `say` is called on a thread of the Progress's own.
struct ProgressOutput {
  std::chrono::nanoseconds every{};
  std::function<void(const ProgressLine&)> say;
  std::function<void()> end;  ///< nothing follows; may be empty
};

/// The terminal at standard error; nullopt: there is none.
std::optional<ProgressOutput> progress_terminal();

class Progress {
 public:
  using Detail = std::function<std::string()>;

  explicit Progress(std::string what, std::string unit = {});
  /// `detail` is asked on the Progress's thread. Without an output nothing is said.
  Progress(std::string what, std::string unit, std::optional<ProgressOutput> output,
           Detail detail = {});
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void expect(std::uint64_t total) { total_.store(total, std::memory_order_relaxed); }
  void add(std::uint64_t more = 1) { done_.fetch_add(more, std::memory_order_relaxed); }
  void reach(std::uint64_t done) { done_.store(done, std::memory_order_relaxed); }

 private:
  void run();

  const std::string what_, unit_;
  const std::optional<ProgressOutput> output_;
  const Detail detail_;
  std::atomic<std::uint64_t> done_ = 0, total_ = 0;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool stopping_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace sluice::host
