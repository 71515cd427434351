// Many clients at a few objects of a live host, over TLS: the history is linearizable for each
// object, and watches are ordered, without gaps, and go on where they were cut off. Also when the
// host is killed meanwhile and comes back: what was acknowledged is there, what got no answer is
// there whole or not at all.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "tests/crash/history.hpp"
#include "tests/crash/history_actor.hpp"
#include "tests/crash/history_host.hpp"
#include "tests/crash/history_watch.hpp"
#include "tests/crash/objects.hpp"
#include "tests/host/temporary_folder.hpp"
#include "tests/support/amount.hpp"

namespace sluice::host::test {
namespace {

constexpr std::size_t kClients = 8;
constexpr unsigned kEventsOfAConnection[] = {1'000'000, 12, 30, 80};  // at most; of each watch

struct Figures {
  std::size_t operations = 0, unanswered = 0, events = 0, resumed = 0, listed = 0, unseen = 0;
};

/// One history from a seed, on a folder in memory: kill -9 leaves what the system has taken.
class History {
 public:
  History(std::uint64_t seed, int operations, int crashes)
      : operations_(operations), host_(folder_ / "host") {
    std::mt19937_64 random(seed);
    for (std::size_t i = 0; i < kClients; ++i)
      actors_.emplace_back(host_, random(), static_cast<int>(i));
    // A client steps twice for each operation: a crash comes with an answer, or before a call.
    const std::uint64_t steps = 2 * kClients * static_cast<std::uint64_t>(operations);
    for (int i = 0; i < crashes; ++i) crashes_.insert(1 + random() % steps);
  }

  std::vector<std::string> play() {
    live();
    if (findings_.none()) check();
    std::vector<std::string> out = findings_.all();
    if (!out.empty()) out.push_back("the host's log:\n" + host_.log());
    return out;
  }

  const std::map<int, int>& statuses() const { return statuses_; }
  const Figures& figures() const { return figures_; }

 private:
  bool start() {
    const Result<void> ready = host_.start();
    if (!ready) findings_.add(ready.error().text);
    return ready.ok();
  }

  void live() {
    if (!start()) return;
    const auto run = host_.run();
    const std::uint64_t version = version_of(
        parse_object(AdminClient(run->port, run->token).get(collection(Kind::kConfigMap)).body));
    for (const unsigned most : kEventsOfAConnection) watches_.emplace_back(host_, version, most);
    std::vector<std::thread> watching, acting;
    for (HistoryWatch& watch : watches_) watching.emplace_back([&] { watch.follow(findings_); });
    for (Actor& actor : actors_) acting.emplace_back([&] { actor.act(operations_, findings_); });
    for (const std::uint64_t step : crashes_) {
      host_.crash(step, kClients);
      if (!start()) break;
    }
    for (std::thread& thread : acting) thread.join();
    end();
    for (std::thread& thread : watching) thread.join();
  }

  /// What tells watches that nothing more comes.
  void end() {
    const auto run = host_.run();
    if (!run) return;
    NewObject object;
    object.name = kEnd;
    const Answer answer = AdminClient(run->port, run->token)
                              .send("POST", collection(Kind::kConfigMap), to_json(object));
    if (answer.status == 201) return;
    findings_.add(fmt::format("the last write was answered {} {}", answer.status, answer.body));
    host_.crash(0, 0);
  }

  void check() {
    Watched watched = unite(watches_, findings_);
    std::map<std::string, std::vector<Operation>> operations;
    for (const Actor& actor : actors_)
      for (const auto& [name, done] : actor.done()) add(done, operations[name]);
    std::vector<Operation> all;
    for (const auto& [name, done] : operations) add(done, all);
    count(all);
    for (const HistoryWatch& watch : watches_)
      for (const auto& [name, reads] : watch.reads())
        if (name != kEnd) add(reads, operations[name]);
    for (const auto& [name, done] : operations)
      for (const std::string& text : check_history(watched.states[name], done, watched.gaps))
        findings_.add(name + ": " + text);
    for (std::string& text : check_versions(std::move(all))) findings_.add(std::move(text));
    figures_.unseen = watched.gaps.size();
  }

  static void add(const std::vector<Operation>& from, std::vector<Operation>& to) {
    to.insert(to.end(), from.begin(), from.end());
  }

  void count(const std::vector<Operation>& operations) {
    for (const Operation& operation : operations) ++statuses_[operation.status];
    figures_.operations = operations.size();
    figures_.unanswered = static_cast<std::size_t>(statuses_[0]);
    for (const HistoryWatch& watch : watches_) {
      figures_.events += watch.events().size();
      figures_.resumed += watch.resumed();
      figures_.listed += watch.gaps().size();
    }
  }

  const TemporaryFolder folder_{TemporaryFolder::Where::kMemory};
  const int operations_;
  HistoryHost host_;
  Findings findings_;
  std::deque<Actor> actors_;
  std::vector<HistoryWatch> watches_;
  std::set<std::uint64_t> crashes_;  // at these steps of clients
  std::map<int, int> statuses_;
  Figures figures_;
};

/// As many as the environment asks for, one after the other, with so many crashes in each.
void play_histories(int crashes) {
  const int histories = trial::asked_for("SLUICE_HISTORIES").value_or(1);
  const int operations = trial::amount("SLUICE_HISTORY_OPERATIONS", 120);
  const int first = trial::asked_for("SLUICE_FIRST_SEED").value_or(1);
  const std::int64_t began = now();
  Figures sum;
  for (int i = 0; i < histories; ++i) {
    SCOPED_TRACE(fmt::format("seed {}", first + i));
    History history(static_cast<std::uint64_t>(first + i), operations, crashes);
    ASSERT_THAT(history.play(), testing::IsEmpty());
    // Each kind of answer was part of it, and nothing else.
    std::map<int, int> statuses = history.statuses();
    statuses.erase(0);
    ASSERT_THAT(statuses, testing::ElementsAre(testing::Pair(200, testing::Gt(0)),
                                               testing::Pair(201, testing::Gt(0)),
                                               testing::Pair(404, testing::Gt(0)),
                                               testing::Pair(409, testing::Gt(0))));
    const Figures& of = history.figures();
    sum = {sum.operations + of.operations, sum.unanswered + of.unanswered, sum.events + of.events,
           sum.resumed + of.resumed,       sum.listed + of.listed,         sum.unseen + of.unseen};
  }
  fmt::print(
      "{} histories with {} crashes each, in {:.1f} s: {} operations, {} unanswered; watches "
      "saw {} events, went on {} times, listed again {} times, and all of them did {} times\n",
      histories, crashes, static_cast<double>(now() - began) / 1e9, sum.operations, sum.unanswered,
      sum.events, sum.resumed, sum.listed, sum.unseen);
}

TEST(HistoryTest, IsLinearizableAndWatchedWithoutGaps) { play_histories(0); }

TEST(HistoryTest, IsLinearizableThroughCrashes) {
  play_histories(trial::amount("SLUICE_HISTORY_CRASHES", 3));
}

}  // namespace
}  // namespace sluice::host::test
