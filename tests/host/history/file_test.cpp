#include "host/history/history_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "api/json/json.hpp"
#include "host/history/history_reader.hpp"
#include "host/objects/parts.hpp"
#include "tests/host/history/past.hpp"
#include "tests/host/temporary_folder.hpp"

namespace sluice::host::test {
namespace {

Run run(int n, Millis ended) {
  Run out;
  out.uid = "0199a1c2-0000-7000-8000-" + std::string(8, '0') + std::to_string(1'000 + n);
  out.ns = "team-" + std::to_string(n % 2);
  out.name = "w" + std::to_string(n);
  out.user = n % 2 == 0 ? "ann" : "bob";
  out.queue = "main";
  out.cluster_queue = "cq";
  out.created = out.queued = ms(n);
  out.reserved = out.admitted = out.since = ms(n + 1);
  out.ended = ended;
  out.outcome = ended != 0 ? Outcome::kFinished : Outcome::kGoesOn;
  out.holds = {{"spot", "cpu", 2'000, 2'000, 0}, {"spot", "memory", 1LL << 40, 1LL << 39, 77}};
  out.used = {3, 1'234'567, 1 << 20};
  return out;
}

struct HistoryFiles : testing::Test {
  void SetUp() override { open(); }
  void open() {
    file.reset();
    auto opened = HistoryFile::open(path);
    ASSERT_TRUE(opened.ok()) << opened.error().text;
    file = std::move(*opened);
  }
  void write(const std::vector<Entry>& runs, const HistoryPlace& place = {}) {
    const auto written = file->write(runs, place);
    ASSERT_TRUE(written.ok()) << written.error().text;
  }
  boost::json::object ask(const HistoryQuery& query) {
    auto reader = HistoryReader::open(path);
    SLUICE_CHECK(reader.ok(), reader.error().text);
    auto answer = (*reader)->answer(query, ms(1'000'000));
    SLUICE_CHECK(answer.ok(), answer.error().text);
    return *answer;
  }

  TemporaryFolder folder{TemporaryFolder::Where::kMemory};
  const std::string path = folder / "history.db";
  std::unique_ptr<HistoryFile> file;
};

TEST_F(HistoryFiles, WhatIsWrittenIsThereAgain) {
  const HistoryPlace place{"store-uid", 17, 18, ms(99)};
  Entry other = run(2, 0);
  other.uid = "not-a-uuid";
  other.job_kind = "Job";
  other.job = "quoted \"name\"";
  other.reason = "Preempted";
  write({run(1, ms(50)), other}, place);
  open();
  EXPECT_EQ(file->place(), place);
  EXPECT_EQ(file->of(run(1, 0).uid), std::vector{run(1, ms(50))});
  EXPECT_EQ(file->of("not-a-uuid"), std::vector{other});
  EXPECT_TRUE(file->of("unknown").empty());
  EXPECT_EQ(*file->open_runs(),
            (std::vector<std::pair<std::string, std::string>>{{"not-a-uuid", "team-0/w2"}}));
}

TEST_F(HistoryFiles, TheSameRunIsOneRow) {
  write({run(1, 0)});
  write({run(1, ms(50))});
  write({run(1, ms(50))});
  EXPECT_EQ(file->of(run(1, 0).uid), std::vector{run(1, ms(50))});
  HistoryQuery query;
  query.sums = true;
  EXPECT_EQ(part(ask(query), "total").at("started"), 1);
}

TEST_F(HistoryFiles, UidsOfAnyLengthComeBack) {
  for (const std::string uid :
       {"a", "fifteen-letters", "sixteen-letters-", "seventeen-letters",
        "0199A1C2-0000-7000-8000-000000000001", "0199a1c2-0000-7000-8000-000000000001"})
    EXPECT_EQ(unpack_uid(pack_uid(uid)), uid);
  EXPECT_EQ(pack_uid("0199a1c2-0000-7000-8000-000000000001").size(), 16U);
}

TEST_F(HistoryFiles, WhatEndedLongAgoIsForgotten) {
  write({run(1, ms(50)), run(2, ms(60)), run(3, ms(70)), run(4, 0)});
  EXPECT_FALSE(*file->forget(ms(65), 1 << 30, 10)) << "nothing more is to go";
  EXPECT_TRUE(file->of(run(1, 0).uid).empty());
  EXPECT_TRUE(file->of(run(2, 0).uid).empty());
  EXPECT_EQ(file->of(run(3, 0).uid).size(), 1U);
  EXPECT_EQ(file->of(run(4, 0).uid).size(), 1U) << "what goes on stays";
}

TEST_F(HistoryFiles, BeyondItsBytesTheOldestGo) {
  std::vector<Entry> runs;
  for (int i = 0; i < 5'000; ++i) runs.push_back(run(i, ms(10'000 + i)));
  write(runs);
  const std::int64_t before = *file->bytes();
  while (*file->forget(0, before / 2, 100)) {
  }
  EXPECT_LE(*file->bytes(), before / 2);
  EXPECT_TRUE(file->of(runs.front().uid).empty());
  EXPECT_EQ(file->of(runs.back().uid).size(), 1U);
}

/// Of one flavor, since the second `since`.
QuotaStretch stretch(const std::string& queue, std::int64_t since, std::int64_t until,
                     std::int64_t cores = 4) {
  return {queue, ms(since), ms(until), {{"spot", "cpu", cores * 1'000, 2'000, std::nullopt}}};
}

TEST_F(HistoryFiles, QuotasAreStretchesOfTime) {
  ASSERT_TRUE(file->write({}, {}, std::vector{stretch("cq", 10, 0), stretch("b", 15, 0)}).ok());
  // What is written again, with an end, is the same stretch.
  ASSERT_TRUE(
      file->write({}, {}, std::vector{stretch("cq", 10, 20), stretch("cq", 20, 0, 8)}).ok());
  open();
  EXPECT_EQ(*file->open_quotas(), (std::vector{stretch("cq", 20, 0, 8), stretch("b", 15, 0)}));
  const auto told = [&](std::int64_t from, std::int64_t to, const std::string& queue) {
    HistoryQuery query;
    query.from = ms(from);
    query.to = ms(to);
    query.cluster_queue = queue;
    auto reader = HistoryReader::open(path);
    return api::to_json((*reader)->quotas(query)->at("items"));
  };
  const std::string four = R"([{"flavor":"spot","resource":"cpu","nominal":4,"borrowingLimit":2}])";
  EXPECT_EQ(told(0, 20, "cq"), R"([{"clusterQueue":"cq","from":"1970-01-01T00:00:10Z","to":)"
                               R"("1970-01-01T00:00:20Z","quotas":)" +
                                   four + "}]");
  EXPECT_EQ(told(25, 30, "b"),
            R"([{"clusterQueue":"b","from":"1970-01-01T00:00:15Z","quotas":)" + four + "}]");
  EXPECT_EQ(told(0, 10, "cq"), "[]") << "it was not there yet";
  EXPECT_EQ(told(0, 100, "none"), "[]");
  EXPECT_NE(told(0, 100, "").find(R"("clusterQueue":"b")"), std::string::npos);
}

TEST_F(HistoryFiles, QuotasOfCohortsAreToldByThemselves) {
  ASSERT_TRUE(file->write({}, {},
                          std::vector{stretch("lab", 10, 0), stretch("Cohort/lab", 15, 0),
                                      stretch("Cohort/other", 15, 0)})
                  .ok());
  const auto told = [&](const std::string& queue, const std::string& cohort) {
    HistoryQuery query;
    query.cluster_queue = queue;
    query.cohort = cohort;
    std::string out;
    const auto answer = (*HistoryReader::open(path))->quotas(query);
    for (const auto& each : answer->at("items").as_array())
      for (const char* kind : {"clusterQueue", "cohort"})
        if (const auto* name = each.as_object().if_contains(kind))
          out += std::string(kind) + " " + std::string(name->as_string()) + "; ";
    return out;
  };
  EXPECT_EQ(told("", ""), "clusterQueue lab; ");
  EXPECT_EQ(told("lab", ""), "clusterQueue lab; ");
  EXPECT_EQ(told("Cohort/lab", ""), "") << "who may read queues only";
  EXPECT_EQ(told("", "lab"), "cohort lab; ");
  EXPECT_EQ(told("", "*"), "cohort lab; cohort other; ");
  EXPECT_EQ(told("", "none"), "");
}

TEST_F(HistoryFiles, SoManyStretchesAreAnsweredAndNoMore) {
  ASSERT_TRUE(file->write({}, {}, std::vector{stretch("a", 1, 2), stretch("b", 1, 2)}).ok());
  HistoryQuery query;
  EXPECT_TRUE((*HistoryReader::open(path, {.stretches = 2}))->quotas(query).ok());
  const auto answer = (*HistoryReader::open(path, {.stretches = 1}))->quotas(query);
  EXPECT_EQ(answer.error().text,
            "from: quotas were changed more than 1 times since then: ask for less time (from, to) "
            "or for one clusterQueue or cohort");
}

TEST_F(HistoryFiles, QuotasGoWithTheirTime) {
  ASSERT_TRUE(
      file->write({}, {},
                  std::vector{stretch("a", 1, 50), stretch("a", 50, 80), stretch("a", 80, 0)})
          .ok());
  EXPECT_TRUE(*file->forget(ms(60), 1 << 30, 1)) << "one at a time";
  EXPECT_FALSE(*file->forget(ms(60), 1 << 30, 1));
  auto database = Database::open(path, Database::Mode::kRead);
  EXPECT_EQ(*database->integer("SELECT min(since) FROM quotas"), ms(50));
  EXPECT_EQ(*database->integer("SELECT count(*) FROM quotas"), 2);
}

// Of a file that is full the oldest runs go, and quotas of times of which no run is left.
TEST_F(HistoryFiles, QuotasGoAsFarBackAsRuns) {
  ASSERT_TRUE(
      file->write(std::vector{run(1, ms(50)), run(2, ms(60)), run(3, ms(70))}, {},
                  std::vector{stretch("a", 1, 55), stretch("a", 55, 65), stretch("a", 65, 0)})
          .ok());
  static_cast<void>(*file->forget(0, 0, 1));
  auto database = Database::open(path, Database::Mode::kRead);
  EXPECT_EQ(*database->integer("SELECT min(ended) FROM runs"), ms(60));
  EXPECT_EQ(*database->integer("SELECT min(since) FROM quotas"), ms(55));
}

// As a sluice made it that knew no quotas.
TEST_F(HistoryFiles, AFileOfTheFirstFormatIsTakenOver) {
  write({run(1, ms(50))});
  file.reset();
  auto database = Database::open(path, Database::Mode::kWrite);
  ASSERT_TRUE(database->execute("DROP TABLE quotas; PRAGMA user_version = 1").ok());
  database = Error{"closed"};
  open();
  EXPECT_EQ(file->of(run(1, 0).uid), std::vector{run(1, ms(50))});
  ASSERT_TRUE(file->write({}, {}, std::vector{stretch("cq", 10, 0)}).ok());
  open();
  EXPECT_EQ(file->open_quotas()->size(), 1U);
}

TEST_F(HistoryFiles, NamesThatNobodyHasGo) {
  write({run(1, ms(50)), run(2, ms(60))});
  ASSERT_TRUE(file->write({}, {}, std::vector{stretch("quiet", 1, 0)}).ok());
  EXPECT_FALSE(*file->forget(ms(55), 1 << 30, 10));
  ASSERT_TRUE(file->forget_names(0).ok());
  open();
  EXPECT_EQ(*file->open_quotas(), std::vector{stretch("quiet", 1, 0)});
  EXPECT_EQ(file->of(run(2, 0).uid), std::vector{run(2, ms(60))}) << "flavors are names, too";
  auto database = Database::open(path, Database::Mode::kRead);
  EXPECT_EQ(*database->integer("SELECT count(*) FROM names WHERE text = 'bob'"), 0);
  EXPECT_EQ(*database->integer("SELECT count(*) FROM names WHERE text = 'ann'"), 1);
}

TEST_F(HistoryFiles, AnotherFileIsRefused) {
  file.reset();
  const std::string other = folder / "other.db";
  auto made = HistoryFile::open(other);
  made->reset();
  auto database = Database::open(other, Database::Mode::kWrite);
  ASSERT_TRUE(database->execute("PRAGMA user_version = 9").ok());
  EXPECT_EQ(HistoryFile::open(other).error().text,
            other + ": the history has format 9; this sluice knows formats 1 to 2");
  ASSERT_TRUE(database->execute("PRAGMA application_id = 1").ok());
  EXPECT_EQ(HistoryFile::open(other).error().text, other + ": this is not a history of sluice");
}

TEST_F(HistoryFiles, ANamespaceHearsNothingOfOthers) {
  write({run(1, ms(50)), run(2, ms(60)), run(3, 0)});
  HistoryQuery query;
  query.ns = "team-1";
  EXPECT_EQ(api::to_json(ask(query)).find("team-0"), std::string::npos);
  query.sums = true;
  query.by = {GroupBy::kUser, GroupBy::kNamespace, GroupBy::kQueue};
  const std::string text = api::to_json(ask(query));
  EXPECT_EQ(text.find("team-0"), std::string::npos);
  EXPECT_EQ(text.find("ann"), std::string::npos);
  EXPECT_NE(text.find("bob"), std::string::npos);
  query.user = "ann";
  EXPECT_EQ(part(ask(query), "total").at("started"), 0);
  query.ns = "no-such";
  query.user.clear();
  EXPECT_EQ(part(ask(query), "total").at("started"), 0);
}

TEST_F(HistoryFiles, PagesOfRunsFollowEachOther) {
  std::vector<Entry> runs;
  for (int i = 0; i < 7; ++i) runs.push_back(run(i, ms(100)));
  write(runs);
  HistoryQuery query;
  query.limit = 3;
  std::string seen;
  for (;;) {
    const auto page = ask(query);
    for_each_object(page, "items",
                    [&](const auto& item) { seen += text_in(item, "workload") + " "; });
    const std::string next = text_in(part(page, "metadata"), "continue");
    if (next.empty()) break;
    query.after = std::stoll(next);
  }
  EXPECT_EQ(seen, "w6 w5 w4 w3 w2 w1 w0 ");
}

TEST_F(HistoryFiles, RunTimesAreThoseOfTheLatestThatSucceeded) {
  std::vector<Entry> runs;
  for (int i = 0; i < 10; ++i) runs.push_back(run(i, ms(i + 1 + 10 * i)));  // it ran 10 × i
  runs[6].outcome = Outcome::kFailed;
  write(runs);
  auto reader = HistoryReader::open(path);
  const auto times = (*reader)->run_times(7, 2);  // of the latest 7, that is from 3 on
  ASSERT_TRUE(times.ok());
  EXPECT_EQ(times->at("team-0/main"), (std::vector<Duration>{80 * kSecond, 40 * kSecond}));
  EXPECT_EQ(times->at("team-1/main"), (std::vector<Duration>{90 * kSecond, 70 * kSecond}));
}

// 8 groups are not too many where 10 may be, 11 are.
TEST_F(HistoryFiles, AnAnswerHasSoManyGroupsAndNoMore) {
  for (int i = 0; i < 11; ++i) {
    Entry one = run(i, ms(100));
    one.user = "user-" + std::to_string(i);
    write({one});
    auto reader = HistoryReader::open(path, {.groups = 10});
    HistoryQuery query;
    query.sums = true;
    query.by = {GroupBy::kUser};
    const auto answer = (*reader)->answer(query, ms(1'000));
    EXPECT_EQ(answer.ok(), i < 10);
    if (!answer) {
      EXPECT_EQ(answer.error().text, "groupBy: the answer has more than 10 groups: ask for less");
    }
  }
}

}  // namespace
}  // namespace sluice::host::test
