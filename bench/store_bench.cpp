// The store on a real disk: commits by size, restart, watches with many cursors.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

#include "api/scheme/scheme.hpp"
#include "bench/folder.hpp"
#include "host/store/live_store.hpp"
#include "host/store/sqlite_journal.hpp"

namespace sluice::host {
namespace {

const api::Scheme& scheme() {
  static const api::Scheme all;
  return all;
}
const api::KindInfo& workload() { return *scheme().find_by_name("Workload"); }

std::string folder() { return bench::folder("store-bench"); }

std::unique_ptr<LiveStore> open_store() {
  auto journal = SqliteJournal::open(folder());
  if (!journal) {
    std::fprintf(stderr, "%s\n", journal.error().text.c_str());
    std::exit(1);
  }
  return std::make_unique<LiveStore>(scheme(), std::move(journal).value());
}

std::unique_ptr<LiveStore> new_store() {
  std::filesystem::remove_all(folder());
  return open_store();
}

// About 1.2 KB, as a Workload with its status is.
StoredObject object(std::size_t number) {
  static const auto kBody = std::make_shared<const std::string>(
      R"({"spec":{"queueName":"lq-3","priority":100,"active":true,)"
      R"("podSets":[{"name":"p0","count":2,)"
      R"("template":{"spec":{"containers":[{"name":"c",)"
      R"("image":"registry.example.com/team/image:v1",)"
      R"("resources":{"requests":{"cpu":"2","memory":"1Gi"}},"terminationMessagePath":"/dev/t"}],)"
      R"("nodeSelector":{"zone":"a"},"tolerations":[{"key":"spot","operator":"Equal","value":)"
      R"("true","effect":"NoSchedule"}],"restartPolicy":"Never"}},"minCount":1}]}})");
  const std::string name = "workload-" + std::to_string(number);
  StoredObject out;
  out.kind = &workload();
  out.key = "team-" + std::to_string(number % 50) + "/" + name;
  out.metadata =
      Header(R"({"name":")" + name + R"(","namespace":"team-)" + std::to_string(number % 50) +
             R"(","uid":"0d8f0a5c-6f0e-4b0e-9d0a-00000000)" + std::to_string(number) +
             R"(","creationTimestamp":"2026-01-01T00:01:40Z","generation":1,"labels":{)"
             R"("kueue.x-k8s.io/job-uid":"b1e5c6a2-1111-2222-3333-444444444444"},)"
             R"("ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"job",)"
             R"("uid":"b1e5c6a2-1111-2222-3333-444444444444","controller":true}]})");
  out.body = kBody;
  out.status =
      R"({"conditions":[{"type":"QuotaReserved","status":"False","reason":"Pending",)"
      R"("lastTransitionTime":"2026-01-01T00:01:41Z","message":"couldn't assign flavors to pod )"
      R"(set p0: insufficient unused quota for cpu in flavor on-demand, 2 more needed"}]})";
  return out;
}

/// Commits that were not answered yet; at most `limit` at a time. Keeps how long each took.
class Answers {
 public:
  explicit Answers(std::size_t limit) : limit_(limit) {}
  void commit(LiveStore& store) {
    std::unique_lock<std::mutex> lock(mutex_);
    answered_.wait(lock, [this] { return open_ < limit_; });
    ++open_;
    lock.unlock();
    store.commit([this, begin = Clock::now()](const Result<void>& result) {
      if (!result.ok()) std::abort();
      const double took = std::chrono::duration<double>(Clock::now() - begin).count();
      const std::lock_guard<std::mutex> locked(mutex_);
      seconds_.push_back(took);
      --open_;
      answered_.notify_one();
    });
  }
  void wait() {
    std::unique_lock<std::mutex> lock(mutex_);
    answered_.wait(lock, [this] { return open_ == 0; });
  }
  /// The time, in milliseconds, within which this part of the commits was answered.
  double milliseconds(double part) {
    std::sort(seconds_.begin(), seconds_.end());
    const auto last = static_cast<double>(seconds_.size() - 1);
    return seconds_[static_cast<std::size_t>(part * last)] * 1e3;
  }

 private:
  using Clock = std::chrono::steady_clock;
  const std::size_t limit_;
  std::vector<double> seconds_;
  std::mutex mutex_;
  std::condition_variable answered_;
  std::size_t open_ = 0;
};

void count(benchmark::State& state, std::size_t commits, Answers& answers) {
  state.counters["commits/s"] =
      benchmark::Counter(static_cast<double>(commits), benchmark::Counter::kIsRate);
  state.counters["p50 ms"] = answers.milliseconds(0.5);
  state.counters["p99 ms"] = answers.milliseconds(0.99);
}

/// One transaction after the other, each with this many new objects: what one writer sees.
void CommitAlone(benchmark::State& state) {
  const auto store = new_store();
  const auto changes = static_cast<std::size_t>(state.range(0));
  std::size_t number = 0;
  Answers answers(1);
  for (auto _ : state) {
    for (std::size_t i = 0; i < changes; ++i) store->put(object(number++));
    answers.commit(*store);
    answers.wait();
  }
  state.counters["changes/s"] =
      benchmark::Counter(static_cast<double>(number), benchmark::Counter::kIsRate);
}
BENCHMARK(CommitAlone)->Arg(1)->Arg(64)->Arg(1000)->UseRealTime()->MinTime(2);

/// Transactions of one change, this many at a time: group commit.
void CommitTogether(benchmark::State& state) {
  const auto store = new_store();
  std::size_t number = 0;
  Answers answers(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    store->put(object(number++));
    answers.commit(*store);
  }
  answers.wait();
  count(state, number, answers);
}
BENCHMARK(CommitTogether)->Arg(8)->Arg(64)->Arg(1000)->UseRealTime()->MinTime(2);

/// Changes of objects that are there, all over a table of 100,000.
void CommitChanges(benchmark::State& state) {
  const auto store = new_store();
  Answers first(1), answers(64);
  constexpr std::size_t kObjects = 100'000;
  for (std::size_t i = 0; i < kObjects; ++i) store->put(object(i));
  first.commit(*store);
  first.wait();
  std::size_t number = 0;
  for (auto _ : state) {
    store->put(object(number++ * 7919 % kObjects));
    answers.commit(*store);
  }
  answers.wait();
  count(state, number, answers);
}
BENCHMARK(CommitChanges)->UseRealTime()->MinTime(2);

/// From the files to a store that answers.
void Restart(benchmark::State& state) {
  const auto objects = static_cast<std::size_t>(state.range(0));
  {
    const auto store = new_store();
    for (std::size_t i = 0; i < objects; ++i) store->put(object(i));
    Answers answers(1);
    answers.commit(*store);
    answers.wait();
  }
  for (auto _ : state) {
    const auto store = open_store();
    if (store->published_count(workload()) != objects) std::abort();
    state.PauseTiming();  // the end of the store is not part of it
    auto ended = std::move(const_cast<std::unique_ptr<LiveStore>&>(store));
    ended.reset();
    state.ResumeTiming();
  }
}
BENCHMARK(Restart)->Arg(200'000)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(3);

/// Every change taken by this many cursors, in memory: changes × cursors per second.
void WatchFanOut(benchmark::State& state) {
  LiveStore store(scheme(), nullptr);
  std::vector<LiveStore::Cursor> cursors;
  for (std::int64_t i = 0; i < state.range(0); ++i)
    cursors.push_back(store.watch(workload(), store.version()).value());
  std::size_t number = 0, taken = 0;
  std::vector<Change> changes;
  Answers answers(1);
  for (auto _ : state) {
    for (int i = 0; i < 10; ++i) store.put(object(number++ % 1000));
    answers.commit(store);
    answers.wait();
    for (auto& cursor : cursors) {
      changes.clear();
      if (!cursor.take(changes, 100)) std::abort();
      taken += changes.size();
    }
  }
  state.counters["deliveries/s"] =
      benchmark::Counter(static_cast<double>(taken), benchmark::Counter::kIsRate);
}
BENCHMARK(WatchFanOut)->Arg(2000)->UseRealTime();

/// A page of 500 objects out of 100,000, at a version that 1,000 changes have passed since.
void ReadPage(benchmark::State& state) {
  LiveStore store(scheme(), nullptr);
  Answers answers(1);
  for (std::size_t i = 0; i < 100'000; ++i) store.put(object(i));
  answers.commit(store);
  answers.wait();
  const std::uint64_t at = store.version();
  for (std::size_t i = 0; i < 1000; ++i) store.put(object(i * 97));
  answers.commit(store);
  answers.wait();
  for (auto _ : state) {
    const auto page = store.read(workload(), "", "team-25/", 500, at);
    if (!page || page->objects.size() != 500) std::abort();
  }
}
BENCHMARK(ReadPage)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace sluice::host
