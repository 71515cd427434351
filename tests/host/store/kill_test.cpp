// A process that writes is killed with SIGKILL at a random moment, again and again: what it was
// told to be durable is there, whole transactions only, and versions go on.
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <cstdlib>
#include <map>
#include <random>

#include "host/store/folder.hpp"
#include "host/store/sqlite_journal.hpp"
#include "tests/host/store/fixture.hpp"
#include "tests/host/temporary_folder.hpp"

namespace sluice::host::test {
namespace {

const api::KindInfo& queue() { return kind("LocalQueue"); }

std::unique_ptr<LiveStore> open(const std::string& path) {
  auto journal = SqliteJournal::open(path, {.vfs = {}, .checkpoint_pages = 100});
  if (!journal) {
    ADD_FAILURE() << journal.error().text;
    return nullptr;
  }
  auto store = std::make_unique<LiveStore>(scheme(), std::move(journal).value());
  EXPECT_EQ(store->failure(), "");
  return store;
}

// Transaction n writes `text` n into three objects of two kinds and moves a fourth from place
// n - 1 to place n, so that any part of it that is missing shows.
void change(LiveStore& store, std::uint64_t n) {
  const std::string text = std::to_string(n);
  for (const char* key : {"a/one", "b/two"}) store.put(object(workload(), key, text));
  store.put(object(queue(), "a/three", text));
  store.erase(workload(), "walker/" + std::to_string((n - 1) % 50));
  store.put(object(workload(), "walker/" + std::to_string(n % 50), text));
}

struct Acknowledged {
  std::uint64_t transaction, version;
};

// The child: writes for ever and tells through the pipe what was acknowledged.
[[noreturn]] void write_for_ever(const std::string& path, int out) {
  const auto store = open(path);
  if (!store) std::_Exit(1);
  const RecordPtr last = store->get(queue(), "a/three");
  std::mutex mutex;
  std::condition_variable answered;
  int unanswered = 0;
  for (std::uint64_t n = last ? std::stoull(text_of(*last)) + 1 : 1;; ++n) {
    change(*store, n);
    std::unique_lock<std::mutex> lock(mutex);
    answered.wait(lock, [&] { return unanswered < 5; });
    ++unanswered;
    const Acknowledged told{n, store->working_version()};
    store->commit([&, told](const Result<void>& result) {
      if (!result.ok() || ::write(out, &told, sizeof told) != sizeof told) std::_Exit(2);
      const std::lock_guard<std::mutex> done(mutex);
      --unanswered;
      answered.notify_one();
    });
  }
}

// Runs the child until it acknowledged some transactions, kills it, and reads the rest of the pipe.
Acknowledged run_and_kill(const std::string& path, std::mt19937& random) {
  int ends[2];
  if (::pipe(ends) != 0) std::abort();
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    write_for_ever(path, ends[1]);
  }
  ::close(ends[1]);
  Acknowledged last{0, 0}, next{0, 0};
  std::size_t left = 1 + random() % 60;
  while (::read(ends[0], &next, sizeof next) == sizeof next) {
    EXPECT_GT(next.version, last.version);
    last = next;
    if (left != 0 && --left == 0) {
      // Anywhere in the writing of the next one.
      for (auto spin = random() % 200'000; spin != 0; --spin) asm volatile("");
      ::kill(child, SIGKILL);
    }
  }
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << status;
  return last;
}

TEST(StoreKill, WhatWasAcknowledgedIsThereWholeTransactionsOnly) {
  const TemporaryFolder folder;
  std::mt19937 random(3);
  std::uint64_t version = 0;
  for (int round = 0; round < 20; ++round) {
    SCOPED_TRACE(round);
    const Acknowledged last = run_and_kill(folder / "data", random);
    ASSERT_GT(last.version, version);
    const auto store = open(folder / "data");
    ASSERT_NE(store, nullptr);
    const RecordPtr three = store->get(queue(), "a/three");
    ASSERT_NE(three, nullptr);
    const std::uint64_t there = std::stoull(text_of(*three));
    EXPECT_GE(there, last.transaction);
    EXPECT_GE(store->version(), last.version);
    const auto listing = store->read(workload(), "");
    ASSERT_TRUE(listing.ok());
    std::map<std::string, std::string> found;
    for (const RecordPtr& record : listing->objects) {
      found[record->key] = text_of(*record);
      EXPECT_LE(record->version, store->version());
    }
    const std::string text = std::to_string(there);
    EXPECT_EQ(
        found,
        (std::map<std::string, std::string>{
            {"a/one", text}, {"b/two", text}, {"walker/" + std::to_string(there % 50), text}}));
    version = store->version();
  }
}

TEST(StoreKill, ALockThatADyingProcessLeftToItsChildIsWaitedFor) {
  const TemporaryFolder folder;
  const std::string path = folder / "data";
  const pid_t owner = ::fork();
  if (owner == 0) {
    const auto held = StoreFolder::open(path);
    // Still between fork and exec when its parent is gone.
    if (held.ok() && ::fork() == 0) ::poll(nullptr, 0, 100);
    std::_Exit(held.ok() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(owner, &status, 0);
  EXPECT_EQ(status, 0);
  const auto next = StoreFolder::open(path);
  EXPECT_TRUE(next.ok()) << next.error().text;
}

}  // namespace
}  // namespace sluice::host::test
