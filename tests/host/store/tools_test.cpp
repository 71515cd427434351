#include "host/store/tools.hpp"

#include <gmock/gmock.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <filesystem>
#include <fstream>

#include "host/base/wall_clock.hpp"
#include "host/manifests/manifests.hpp"
#include "host/store/reader.hpp"
#include "host/store/sqlite_journal.hpp"
#include "tests/host/store/fixture.hpp"
#include "tests/host/temporary_folder.hpp"

namespace sluice::host::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr const char* kObjects = R"([
  {"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"LocalQueue",
   "metadata":{"name":"lq","namespace":"team-a","uid":"u3","managedFields":[{"manager":"m"}]},
   "spec":{"clusterQueue":"cq"}},
  {"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor","metadata":{"name":"spot"},
   "spec":{"nodeLabels":{"tier":"spot"}}},
  {"apiVersion":"v1","kind":"Namespace","metadata":{"name":"team-a"}}])";

class StoreTools : public testing::Test {
 protected:
  StoreTools() {
    auto journal = SqliteJournal::open(path_);
    EXPECT_TRUE(journal.ok());
    LiveStore store(scheme(), std::move(journal).value());
    TextPool pool;
    const boost::json::value objects = boost::json::parse(kObjects);
    for (const auto& value : objects.get_array()) {
      boost::json::object object = value.get_object();
      EXPECT_TRUE(scheme().admit(object).ok());
      store.put(to_stored(kind(object.at("kind").get_string().c_str()), object, pool));
    }
    EXPECT_EQ(commit(store), "");
  }

  void execute(const std::string& sql) {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open((path_ + "/store.db").c_str(), &database), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(database);
    sqlite3_close(database);
  }

  // Writes a row as a host would, past all checks.
  void write(const char* of, const char* key, std::uint64_t version, const char* metadata,
             const char* body, const char* hidden = "") {
    auto journal = SqliteJournal::open(path_);
    ASSERT_TRUE(journal.ok());
    ASSERT_TRUE((*journal)->load([](const JournalRow&) {}).ok());
    const std::vector<JournalRow> rows = {{of, key, version, false, metadata, body, "", hidden}};
    ASSERT_TRUE((*journal)->write(rows, version, "").ok());
  }

  std::vector<std::string> problems() {
    const auto report = check_store(path_, scheme());
    EXPECT_TRUE(report.ok());
    return report.ok() ? report->problems : std::vector<std::string>();
  }

  std::string exported(const ExportOptions& options) {
    std::string out;
    const auto count =
        export_store(path_, scheme(), options, [&](const std::string& text) { out += text; });
    return count.ok() ? out : "error: " + count.error().text;
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "data";
};

TEST_F(StoreTools, CheckCountsEveryKind) {
  const auto report = check_store(path_, scheme());
  ASSERT_TRUE(report.ok());
  EXPECT_THAT(report->problems, IsEmpty());
  EXPECT_EQ(report->version, 4U);
  EXPECT_EQ(report->objects, 3U);
  ASSERT_EQ(report->kinds.size(), 3U);
  EXPECT_EQ(report->kinds[1].kind, "kueue.x-k8s.io/LocalQueue");
  EXPECT_EQ(report->kinds[1].objects, 1U);
  EXPECT_EQ(report->kinds[1].version, 2U);
  EXPECT_TRUE(report->kinds[1].known);
}

TEST_F(StoreTools, CheckNamesWhatIsWrong) {
  write("kueue.x-k8s.io/LocalQueue", "team-a/wrong", 3, R"({"name":"wrong","namespace":"team-a"})",
        R"({"spec":{"clusterQueue":5}})");
  write("kueue.x-k8s.io/LocalQueue", "team-a/moved", 6, R"({"name":"moved","namespace":"team-b"})",
        R"({"spec":{"clusterQueue":"cq"}})");
  write("kueue.x-k8s.io/LocalQueue", "team-a/text", 7, R"({"name":)", "{}");
  write("example.com/Widget", "w", 8, R"({"name":"w"})", R"({"size":1})");
  execute("UPDATE objects SET status = 'x' WHERE key = 'spot'");
  execute("UPDATE kinds SET version = 1 WHERE name = '/Namespace'");
  EXPECT_THAT(
      problems(),
      UnorderedElementsAre(
          "kueue.x-k8s.io/ResourceFlavor spot is damaged: its checksum does not match",
          "/Namespace has an object of version 4, after its last change, which is 1",
          HasSubstr("kueue.x-k8s.io/LocalQueue team-a/wrong: spec.clusterQueue: Invalid value"),
          "kueue.x-k8s.io/LocalQueue team-a/moved says that it is team-b/moved",
          HasSubstr("kueue.x-k8s.io/LocalQueue team-a/text: metadata is not JSON: ")));
}

TEST_F(StoreTools, CheckKnowsTheKindsOfTheScheme) {
  write("example.com/Widget", "w", 5, R"({"name":"w"})", R"({"size":1})");
  const auto report = check_store(path_, scheme());
  ASSERT_TRUE(report.ok());
  std::vector<std::string> kinds;
  for (const auto& each : report->kinds) kinds.push_back((each.known ? "" : "?") + each.kind);
  EXPECT_THAT(kinds, ElementsAre("/Namespace", "?example.com/Widget", "kueue.x-k8s.io/LocalQueue",
                                 "kueue.x-k8s.io/ResourceFlavor"));
}

// Of 150 objects that say another name, 99 are named behind the damage of the store, and all are
// counted.
TEST_F(StoreTools, CheckNamesAHundredAndCountsAll) {
  std::vector<std::string> keys;
  for (int i = 0; i < 150; ++i) keys.push_back("team-a/" + std::to_string(i));
  {
    auto journal = SqliteJournal::open(path_);
    ASSERT_TRUE(journal.ok() && (*journal)->load([](const JournalRow&) {}).ok());
    std::vector<JournalRow> rows;
    for (std::size_t i = 0; i < keys.size(); ++i)
      rows.push_back({"kueue.x-k8s.io/LocalQueue", keys[i], 5 + i, false,
                      R"({"name":"x","namespace":"team-a"})", R"({"spec":{"clusterQueue":"cq"}})",
                      "", ""});
    ASSERT_TRUE((*journal)->write(rows, 154, "").ok());
  }
  execute("UPDATE objects SET status = 'x' WHERE key = 'spot'");
  const auto report = check_store(path_, scheme());
  ASSERT_TRUE(report.ok());
  ASSERT_EQ(report->problems.size(), 100U);
  EXPECT_EQ(report->problems.front(),
            "kueue.x-k8s.io/ResourceFlavor spot is damaged: its checksum does not match");
  EXPECT_EQ(report->all_problems, 151U);
  EXPECT_EQ(report->problems.back(),
            "kueue.x-k8s.io/LocalQueue team-a/98 says that it is team-a/x");
}

TEST_F(StoreTools, CheckFindsAVersionOfNone) {
  write("kueue.x-k8s.io/LocalQueue", "team-a/old", 0, R"({"name":"old","namespace":"team-a"})",
        R"({"spec":{"clusterQueue":"cq"}})");
  EXPECT_THAT(problems(), ElementsAre("kueue.x-k8s.io/LocalQueue team-a/old has no version"));
}

TEST_F(StoreTools, CheckFindsAVersionThatIsThereTwice) {
  write("kueue.x-k8s.io/LocalQueue", "team-a/x", 2, R"({"name":"x","namespace":"team-a"})",
        R"({"spec":{"clusterQueue":"cq"}})");
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("has version 2, as another object has")));
}

TEST_F(StoreTools, CheckSaysThatTheMarkIsDamaged) {
  std::ofstream(path_ + "/store.mark") << "x";
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("store.mark: is damaged")));
}

// What a host asks before it knows its kinds.
TEST_F(StoreTools, ObjectsOfAKindAreReadWithoutAScheme) {
  const auto read = [](const std::string& path, const char* kind) {
    const auto found = objects_of_kind(path, kind);
    if (!found) return "error: " + found.error().text;
    std::string out;
    for (const auto& object : *found) out += boost::json::serialize(object) + "\n";
    return out;
  };
  const std::string spot = R"({"metadata":{"name":"spot"},"spec":{"nodeLabels":{"tier":"spot"}}})"
                           "\n";
  EXPECT_EQ(read(path_, "kueue.x-k8s.io/ResourceFlavor"), spot);
  EXPECT_EQ(read(path_ + "/store.db", "kueue.x-k8s.io/ResourceFlavor"), spot);
  EXPECT_EQ(read(path_, "example.com/Widget"), "");
  EXPECT_EQ(read(folder_ / "nothing", "example.com/Widget"), "") << "a first start";
  write("example.com/Widget", "w", 5, R"({"name":)", "{}");
  EXPECT_THAT(read(path_, "example.com/Widget"), HasSubstr("error: metadata is not JSON"));
  std::ofstream(folder_ / "file") << std::string(10'000, 'x');
  EXPECT_THAT(read(folder_ / "file", "example.com/Widget"), HasSubstr("this file is not a store"));
}

TEST_F(StoreTools, WhatIsNoStoreIsAnError) {
  const auto report = check_store(folder_ / "nothing", scheme());
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().text, (folder_ / "nothing") + ": there is no store here");
}

TEST_F(StoreTools, BackupIsAStoreInOneFileWhileTheHostRuns) {
  auto journal = SqliteJournal::open(path_);
  ASSERT_TRUE(journal.ok());
  LiveStore host(scheme(), std::move(journal).value());
  const std::string file = folder_ / "backup.db";
  const auto version = back_up_store(path_, file);
  ASSERT_TRUE(version.ok()) << version.error().text;
  EXPECT_EQ(*version, 4U);
  host.erase(kind("Namespace"), "team-a");
  ASSERT_EQ(commit(host), "");

  const auto report = check_store(file, scheme());
  ASSERT_TRUE(report.ok()) << report.error().text;
  EXPECT_EQ(report->objects, 3U);
  EXPECT_THAT(report->problems, IsEmpty());
  struct stat info {};
  ASSERT_EQ(::stat(file.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / ""))
    files.push_back(entry.path().filename().string());
  EXPECT_THAT(files, UnorderedElementsAre("data", "backup.db"));
  EXPECT_EQ(back_up_store(path_, file).error().text,
            file + ": exists already; a backup is a new file");
}

// What could not be copied leaves nothing behind.
TEST_F(StoreTools, ABackupThatCannotBeMadeIsAnError) {
  EXPECT_EQ(back_up_store(folder_ / "none", folder_ / "backup.db").error().text,
            (folder_ / "none") + ": there is no store here");
  EXPECT_THAT(back_up_store(path_, folder_ / "no/backup.db").error().text,
              HasSubstr("no/backup.db.partial: cannot be made: No such file or directory"));
  execute("UPDATE objects SET status = 'x' WHERE key = 'spot'");
  EXPECT_THAT(back_up_store(path_, folder_ / "backup.db").error().text,
              HasSubstr("backup.db.partial: kueue.x-k8s.io/ResourceFlavor spot is damaged"));
  EXPECT_THAT(restore_store(folder_ / "other", path_).error().text,
              HasSubstr("store.db.partial: kueue.x-k8s.io/ResourceFlavor spot is damaged"));
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_ / ""))
    if (entry.path().string().ends_with(".partial")) files.push_back(entry.path().string());
  EXPECT_THAT(files, IsEmpty());
}

TEST_F(StoreTools, ABackupIsOpenedInThePlaceOfTheDatabase) {
  std::ofstream(folder_ / "backup.db.partial") << "of a backup that was killed";
  ASSERT_TRUE(back_up_store(path_, folder_ / "backup.db").ok());
  EXPECT_FALSE(std::filesystem::exists(folder_ / "backup.db.partial"));
  std::filesystem::create_directory(folder_ / "other");
  std::filesystem::copy_file(folder_ / "backup.db", folder_ / "other/store.db");
  auto journal = SqliteJournal::open(folder_ / "other");
  ASSERT_TRUE(journal.ok()) << journal.error().text;
  LiveStore store(scheme(), std::move(journal).value());
  EXPECT_NE(store.get(kind("ResourceFlavor"), "spot"), nullptr);
}

// Versions that the store gave after the backup are given to nobody again, by however many stores
// come of the one backup; and whoever saw one lists anew, also a kind of which there was nothing.
TEST_F(StoreTools, ABackupGoesOnWithVersionsThatTheStoreNeverHad) {
  const std::string backup = folder_ / "backup.db";
  ASSERT_TRUE(back_up_store(path_, backup).ok());
  std::uint64_t before = 4;
  for (const char* name : {"one", "two"}) {
    const std::string path = folder_ / name;
    ASSERT_TRUE(restore_store(path, backup).ok());
    auto journal = SqliteJournal::open(path);
    ASSERT_TRUE(journal.ok()) << journal.error().text;
    LiveStore store(scheme(), std::move(journal).value());
    ASSERT_EQ(store.failure(), "");
    EXPECT_GT(store.version(), before) << name;
    EXPECT_EQ(store.begun(), store.version());
    EXPECT_LT(store.version(), std::uint64_t{1} << 53U) << "what clients in JavaScript can count";
    for (const char* of : {"ResourceFlavor", "Job"}) {
      EXPECT_FALSE(store.watch(kind(of), before).ok()) << of;
      EXPECT_FALSE(store.watch(kind(of), store.version() - 1).ok()) << of;
      EXPECT_TRUE(store.watch(kind(of), store.version()).ok()) << of;
    }
    store.erase(kind("Namespace"), "team-a");
    ASSERT_EQ(commit(store), "");
    before = store.version();
  }
  // It begins anew once: after a restart those who follow it go on.
  auto journal = SqliteJournal::open(folder_ / "two");
  LiveStore again(scheme(), std::move(journal).value());
  EXPECT_EQ(again.version(), before);
  EXPECT_TRUE(again.watch(kind("ResourceFlavor"), before).ok());
  EXPECT_LT(again.begun(), before);
  const auto report = check_store(folder_ / "two", scheme());
  ASSERT_TRUE(report.ok());
  EXPECT_THAT(report->problems, IsEmpty());
  EXPECT_EQ(report->kinds.size(), 3U) << "the mark of the beginning is no kind";
}

// It goes on from the time of day in microseconds, or, where that is of before the backup, from the
// next version: which is said.
TEST_F(StoreTools, ABackupGoesOnFromTheTimeOfDay) {
  constexpr std::uint64_t kFuture = std::uint64_t{1} << 61U;
  const auto opened = [this](const char* name, std::string& said) {
    const std::string backup = (folder_ / name) + ".db";
    EXPECT_TRUE(back_up_store(path_, backup).ok());
    EXPECT_TRUE(restore_store(folder_ / name, backup).ok());
    testing::internal::CaptureStderr();
    LiveStore store(scheme(), std::move(SqliteJournal::open(folder_ / name)).value());
    said = testing::internal::GetCapturedStderr();
    return store.version();
  };
  const char* const kBehind = "the clock is behind the backup that was put in place";
  std::string said;
  const auto before = static_cast<std::uint64_t>(wall_clock()) / 1000;
  const std::uint64_t now = opened("now", said);
  EXPECT_GE(now, before);
  EXPECT_LE(now, static_cast<std::uint64_t>(wall_clock()) / 1000);
  EXPECT_THAT(said, HasSubstr("a backup was put in place: it goes on from version " +
                              std::to_string(now) + ", and clients list anew"));
  EXPECT_THAT(said, testing::Not(HasSubstr(kBehind)));
  write("kueue.x-k8s.io/ResourceFlavor", "later", kFuture, R"({"name":"later"})", R"({"spec":{}})");
  EXPECT_EQ(opened("later", said), kFuture + 1);
  EXPECT_THAT(said, HasSubstr(kBehind));
}

// A store whose clock was ahead is replaced by a backup of before, and the clock is right again: no
// version of the future that clients saw is given a second time.
TEST_F(StoreTools, ARestoredStoreGoesOnBehindTheOneThatItReplaces) {
  constexpr std::uint64_t kFuture = std::uint64_t{1} << 61U;
  const std::string backup = folder_ / "backup.db";
  ASSERT_TRUE(back_up_store(path_, backup).ok());
  write("kueue.x-k8s.io/ResourceFlavor", "later", kFuture, R"({"name":"later"})", R"({"spec":{}})");
  ASSERT_TRUE(restore_store(path_, backup).ok());
  LiveStore store(scheme(), std::move(SqliteJournal::open(path_)).value());
  EXPECT_EQ(store.failure(), "");
  EXPECT_EQ(store.version(), kFuture + 1);
}

TEST_F(StoreTools, ARestoreKeepsWhatItReplaces) {
  const std::string backup = folder_ / "backup.db";
  ASSERT_TRUE(back_up_store(path_, backup).ok());
  write("kueue.x-k8s.io/ResourceFlavor", "later", 5, R"({"name":"later"})", R"({"spec":{}})");
  {
    auto host = SqliteJournal::open(path_);
    ASSERT_TRUE(host.ok());
    EXPECT_THAT(restore_store(path_, backup).error().text, HasSubstr("has this store open"));
  }
  std::ofstream(path_ + "/store.db.partial") << "of a restore that was killed";
  const auto version = restore_store(path_, backup);
  ASSERT_TRUE(version.ok()) << version.error().text;
  EXPECT_EQ(*version, 4U);
  EXPECT_EQ(check_store(path_, scheme())->objects, 3U);
  EXPECT_THAT(problems(), IsEmpty());
  EXPECT_EQ(check_store(path_ + "/replaced.db", scheme())->objects, 4U);
  for (const char* part : {"replaced.db", "replaced.mark"})
    EXPECT_TRUE(std::filesystem::exists(path_ + "/" + part)) << part;
  for (const char* part : {"store.mark", "store.db-wal", "store.db-shm", "store.db.partial"})
    EXPECT_FALSE(std::filesystem::exists(path_ + "/" + part)) << part;
  EXPECT_THAT(restore_store(path_, backup).error().text,
              HasSubstr("replaced.db: is what an earlier restore has replaced; remove it"));
  EXPECT_THAT(restore_store(folder_ / "new", folder_ / "none").error().text,
              HasSubstr("there is no store here"));
  LiveStore store(scheme(), std::move(SqliteJournal::open(path_)).value());
  EXPECT_EQ(store.failure(), "") << "the mark of what was replaced is not in its way";
}

TEST_F(StoreTools, ExportsAListInAnOrderThatCanBeApplied) {
  const std::string expected = R"(apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Namespace
  metadata:
    name: team-a
- apiVersion: kueue.x-k8s.io/v1beta2
  kind: ResourceFlavor
  metadata:
    name: spot
  spec:
    nodeLabels:
      tier: spot
- apiVersion: kueue.x-k8s.io/v1beta2
  kind: LocalQueue
)";
  const std::string all = exported({});
  EXPECT_EQ(all.substr(0, expected.size()), expected);
  EXPECT_THAT(all, testing::Not(HasSubstr("managedFields")));
  EXPECT_EQ(exported({.yaml = false, .kinds = {"rf"}}),
            R"({"apiVersion":"v1","kind":"List","items":[)"
            "\n"
            R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor",)"
            R"("metadata":{"name":"spot"},"spec":{"nodeLabels":{"tier":"spot"}}})"
            "\n]}\n");
  EXPECT_EQ(exported({.yaml = true, .kinds = {"topologies"}}),
            "error: no kind is called \"topologies\"");
  EXPECT_EQ(exported({.yaml = true, .kinds = {"Workload"}}),
            "apiVersion: v1\nkind: List\nitems: []\n");
}

// Of what there are two they are separated, and both are as they were sent.
TEST_F(StoreTools, ExportsWhatIsTheirsOnly) {
  write("kueue.x-k8s.io/ResourceFlavor", "extra", 5,
        R"({"name":"extra","resourceVersion":"5","managedFields":[]})", R"({"spec":{}})");
  EXPECT_EQ(exported({.yaml = false, .kinds = {"rf"}}),
            R"({"apiVersion":"v1","kind":"List","items":[)"
            "\n"
            R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor",)"
            R"("metadata":{"name":"extra"},"spec":{}},)"
            "\n"
            R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor",)"
            R"("metadata":{"name":"spot"},"spec":{"nodeLabels":{"tier":"spot"}}})"
            "\n]}\n");
  EXPECT_THAT(exported({.yaml = false, .kinds = {"ns"}}), HasSubstr(R"("name":"team-a")"));
  write("kueue.x-k8s.io/ResourceFlavor", "text", 6, R"({"name":)", "{}");
  EXPECT_THAT(exported({.yaml = false, .kinds = {"rf"}}),
              HasSubstr("error: kueue.x-k8s.io/ResourceFlavor text: metadata is not JSON"));
}

// What belongs to plugins that are away is part of an export.
TEST_F(StoreTools, ExportsWhatIsHidden) {
  write("kueue.x-k8s.io/ResourceFlavor", "extra", 5, R"({"name":"extra"})", R"({"spec":{}})",
        R"([{"at":["spec","paint"],"value":"red"}])");
  EXPECT_THAT(exported({.yaml = false, .kinds = {}}), HasSubstr(R"("spec":{"paint":"red"})"));
}

}  // namespace
}  // namespace sluice::host::test
