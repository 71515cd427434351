#include "host/writes/space_guard.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "host/store/sqlite_journal.hpp"
#include "tests/host/store/fixture.hpp"
#include "tests/host/temporary_folder.hpp"

namespace sluice::host::test {
namespace {

using testing::HasSubstr;

boost::json::object map_of(const std::string& ns, const std::string& name,
                           const std::string& data = "") {
  return boost::json::parse(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" + name +
                            R"(","namespace":")" + ns + R"("},"data":{"k":")" + data + R"("}})")
      .get_object();
}

/// "" or `CODE text`.
std::string verdict(SpaceGuard& guard, const boost::json::object& object) {
  const auto refused = guard.refuses(kind("ConfigMap"), object);
  return refused ? std::to_string(refused->code) + " " + refused->text : "";
}

StoredObject map_object(const std::string& key, const std::string& text = "1") {
  return object(kind("ConfigMap"), key, text);
}

// A11: there was no quota, neither of a namespace nor of the store.
TEST(SpaceGuard, A11_ANamespaceHoldsSoManyObjects) {
  LiveStore store(scheme(), nullptr);
  SpaceGuard guard(
      store,
      {.objects = 100, .bytes = 1 << 20, .namespace_objects = 2, .namespace_bytes = 1 << 20});
  store.put(map_object("a/1"));
  EXPECT_EQ(verdict(guard, map_of("a", "2")), "");
  store.put(map_object("a/2"));
  EXPECT_EQ(verdict(guard, map_of("a", "3")),
            "403 exceeded quota: namespace a holds 2 objects, limited to 2");
  EXPECT_EQ(verdict(guard, map_of("b", "3")), "");
  EXPECT_EQ(verdict(guard, map_of("a", "2", std::string(500, 'x'))), "") << "it is there already";
  store.erase(kind("ConfigMap"), "a/1");
  EXPECT_EQ(verdict(guard, map_of("a", "3")), "");
}

TEST(SpaceGuard, A11_ANamespaceHoldsSoManyBytesAndMayGetSmaller) {
  LiveStore store(scheme(), nullptr);
  SpaceGuard guard(
      store, {.objects = 100, .bytes = 1 << 20, .namespace_objects = 100, .namespace_bytes = 1000});
  store.put(map_object("a/1", std::string(1000, 'x')));
  EXPECT_THAT(verdict(guard, map_of("a", "2")),
              HasSubstr("403 exceeded quota: namespace a holds "));
  EXPECT_THAT(verdict(guard, map_of("a", "2")), HasSubstr(" bytes, limited to 1000"));
  EXPECT_EQ(verdict(guard, map_of("a", "1", std::string(500, 'x'))), "");
  EXPECT_NE(verdict(guard, map_of("a", "1", std::string(2000, 'x'))), "");
  EXPECT_EQ(verdict(guard, map_of("b", "1")), "");
}

// In a namespace that is full an object may stay as large as it is: key a/1, metadata
// {"name":"x"}, body {} and status {"text":"…"} are 28 bytes and the text of the status.
TEST(SpaceGuard, WhatBecomesNoLargerIsTakenWhereNothingElseIs) {
  const auto changed = map_of("a", "1", std::string(100, 'x'));
  const std::size_t bytes = boost::json::serialize(changed).size();
  for (const std::size_t held : {bytes - 1, bytes}) {
    LiveStore store(scheme(), nullptr);
    SpaceGuard guard(
        store, {.objects = 100, .bytes = 1 << 20, .namespace_objects = 100, .namespace_bytes = 50});
    store.put(map_object("a/1", std::string(held - 28, 'x')));
    ASSERT_EQ(store.use("a").bytes, held);
    EXPECT_EQ(verdict(guard, changed) == "", held == bytes);
  }
}

// Few objects of unusual size take more memory than their texts: 16 KiB as they are, the rest eight
// times.
TEST(SpaceGuard, A11_LargeObjectsCountForWhatTheyCost) {
  constexpr std::int64_t kLimit = 1'000'000;
  LiveStore store(scheme(), nullptr);
  SpaceGuard guard(
      store,
      {.objects = 100, .bytes = 1 << 30, .namespace_objects = 100, .namespace_bytes = kLimit});
  store.put(map_object("small/1", std::string(16'000, 'x')));
  store.put(map_object("small/2", std::string(16'000, 'x')));
  EXPECT_EQ(store.use("small").charged, store.use("small").bytes);
  store.put(map_object("large/1", std::string(116'384, 'x')));
  const StoreUse use = store.use("large");
  EXPECT_EQ(use.charged, use.bytes + 7 * (use.bytes - 16'384));
  EXPECT_EQ(verdict(guard, map_of("large", "2")), "") << "816,384 and a few are below the limit";
  store.put(map_object("large/1", std::string(200'000, 'x')));
  EXPECT_THAT(verdict(guard, map_of("large", "2")),
              HasSubstr("limited to 1000000 (of each object, what lies beyond 16384 bytes counts "
                        "8-fold)"));
  EXPECT_EQ(verdict(guard, map_of("large", "1", std::string(100, 'x'))), "");
  store.erase(kind("ConfigMap"), "large/1");
  EXPECT_EQ(store.use().charged, store.use().bytes);
}

TEST(SpaceGuard, A11_TheStoreHasALimitToo) {
  LiveStore store(scheme(), nullptr);
  SpaceGuard guard(
      store,
      {.objects = 2, .bytes = 1 << 20, .namespace_objects = 100, .namespace_bytes = 1 << 20});
  store.put(map_object("a/1"));
  store.put(map_object("b/1"));
  EXPECT_EQ(verdict(guard, map_of("c", "1")), "507 the store is full: 2 objects, limited to 2");
  EXPECT_EQ(verdict(guard, map_of("a", "1", "new")), "");
}

/// What is told of limits while `change` happens: `WHAT USED/LIMIT` each.
std::vector<std::string> alarms(const std::function<void()>& change) {
  testing::internal::CaptureStderr();
  change();
  std::istringstream lines(testing::internal::GetCapturedStderr());
  std::vector<std::string> out;
  const auto field = [](const std::string& line, const std::string& name, const char* end) {
    const std::size_t at = line.find(name) + name.size();
    return line.substr(at, line.find_first_of(end, at) - at);
  };
  for (std::string line; std::getline(lines, line);)
    if (line.find("four fifths of a limit are used") != std::string::npos)
      out.push_back(field(line, "of=\"", "\"") + " " + field(line, "used=", " ") + "/" +
                    field(line, "limit=", " "));
  return out;
}

// Of each of the four limits a line is written when four fifths are used, once; and again when it
// was less meanwhile. Each object has 29 bytes: 8 objects are 232.
TEST(SpaceGuard, FourFifthsOfALimitAreToldOnce) {
  const struct {
    StoreLimits limits;
    const char* told;
  } rows[] = {
      {{.objects = 10, .bytes = 1'000, .namespace_objects = 100, .namespace_bytes = 1'000},
       "the store: objects 8/10"},
      {{.objects = 100, .bytes = 290, .namespace_objects = 100, .namespace_bytes = 1'000},
       "the store: bytes 232/290"},
      {{.objects = 100, .bytes = 1'000, .namespace_objects = 10, .namespace_bytes = 1'000},
       "namespace a: objects 8/10"},
      {{.objects = 100, .bytes = 1'000, .namespace_objects = 100, .namespace_bytes = 290},
       "namespace a: bytes 232/290"},
  };
  for (const auto& row : rows) {
    LiveStore store(scheme(), nullptr);
    SpaceGuard guard(store, row.limits);
    const auto look = [&] { verdict(guard, map_of("a", "new")); };
    for (int i = 1; i <= 7; ++i) store.put(map_object("a/" + std::to_string(i)));
    EXPECT_EQ(alarms(look), std::vector<std::string>{}) << row.told;
    store.put(map_object("a/8"));
    EXPECT_EQ(alarms(look), std::vector<std::string>{row.told});
    EXPECT_EQ(alarms(look), std::vector<std::string>{}) << row.told;
    store.erase(kind("ConfigMap"), "a/8");
    EXPECT_EQ(alarms(look), std::vector<std::string>{}) << row.told;
    store.put(map_object("a/8"));
    EXPECT_EQ(alarms(look), std::vector<std::string>{row.told}) << "it was less meanwhile";
  }
}

// Of two objects of 29 bytes each: 58 are as many as there may be.
TEST(SpaceGuard, TheStoreHoldsSoManyBytes) {
  LiveStore store(scheme(), nullptr);
  SpaceGuard guard(
      store, {.objects = 100, .bytes = 58, .namespace_objects = 100, .namespace_bytes = 1 << 20});
  store.put(map_object("a/1"));
  EXPECT_EQ(verdict(guard, map_of("b", "1")), "");
  store.put(map_object("a/2"));
  EXPECT_EQ(verdict(guard, map_of("b", "1")), "507 the store is full: 58 bytes, limited to 58");
}

// Four fifths of 3 are not 0.
TEST(SpaceGuard, OfASmallLimitNothingIsToldWhereNothingIs) {
  LiveStore store(scheme(), nullptr);
  SpaceGuard guard(
      store,
      {.objects = 3, .bytes = 1 << 20, .namespace_objects = 100, .namespace_bytes = 1 << 20});
  EXPECT_EQ(alarms([&] { verdict(guard, map_of("a", "new")); }), std::vector<std::string>{});
  for (const char* key : {"a/1", "a/2", "a/3"}) store.put(map_object(key));
  EXPECT_EQ(alarms([&] { verdict(guard, map_of("a", "new")); }),
            std::vector<std::string>{"the store: objects 3/3"});
}

// What use() says is the sum over what is there, whatever was put, changed and erased, and after a
// restart.
TEST(SpaceGuard, A11_UseIsCountedExactly) {
  const TemporaryFolder folder;
  StoreUse all, own;
  for (const bool again : {false, true}) {
    auto journal = SqliteJournal::open(folder / "data");
    ASSERT_TRUE(journal.ok());
    LiveStore store(scheme(), std::move(*journal));
    if (!again) {
      for (std::size_t i = 0; i < 50; ++i) {
        store.put(map_object((i % 2 ? "a/" : "b/") + std::to_string(i % 7), std::string(i, 'x')));
        if (i % 5 == 0) store.erase(kind("ConfigMap"), "a/" + std::to_string(i % 7));
      }
      ASSERT_EQ(commit(store), "");
      all = store.use();
      own = store.use("a");
      StoreUse counted;
      for (const StoredObject* each : store.list(kind("ConfigMap"))) {
        ++counted.objects;
        counted.bytes += stored_bytes(*each);
      }
      EXPECT_EQ(counted.objects, all.objects);
      EXPECT_EQ(counted.bytes, all.bytes);
    }
    EXPECT_EQ(store.use().objects, all.objects);
    EXPECT_EQ(store.use().bytes, all.bytes);
    EXPECT_EQ(store.use("a").objects, own.objects);
    EXPECT_EQ(store.use("a").bytes, own.bytes);
  }
}

// A11: on a full disk the first DELETE failed the store again. No disk has so much room as is asked
// for here: nothing new is taken, and what is there can be deleted, from space that the log has
// already.
TEST(SpaceGuard, A11_AStoreOnAFullDiskTakesNothingNewAndCanBeEmptied) {
  const TemporaryFolder folder;
  SqliteOptions options;
  options.keep_free = std::int64_t{1} << 60;
  auto journal = SqliteJournal::open(folder / "data", options);
  ASSERT_TRUE(journal.ok());
  LiveStore store(scheme(), std::move(*journal));
  SpaceGuard guard(store, {});
  store.put(map_object("a/1", std::string(5000, 'x')));
  ASSERT_EQ(commit(store), "");
  EXPECT_THAT(store.no_room(), HasSubstr(" are kept for deletions"));
  EXPECT_EQ(
      verdict(guard, map_of("a", "2")),
      "507 the host's disk has no room for more: delete what is not needed, or come again when "
      "there is room");
  EXPECT_EQ(verdict(guard, map_of("a", "1")), "") << "smaller than it is";
  struct stat log {};
  ASSERT_EQ(::stat((folder / "data/store.db-wal").c_str(), &log), 0);
  if (log.st_blocks * 512 > (1 << 20)) {  // where the file system reserves space
    EXPECT_LT(log.st_size, 1 << 20);
  }
  EXPECT_TRUE(store.erase(kind("ConfigMap"), "a/1"));
  EXPECT_EQ(commit(store), "");
}

}  // namespace
}  // namespace sluice::host::test
