// What the processes of a pod may do: as whom they run, which files are theirs, which calls of the
// system they have. Real processes; those that take root are skipped in words without it.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <fstream>
#include <sstream>

#include "host/executor/job_users.hpp"
#include "host/executor/process/linked_folder.hpp"
#include "host/executor/process/own_memory.hpp"
#include "tests/host/executor/supervisor_fixture.hpp"
#include "tests/host/temporary_folder.hpp"

namespace sluice::host {
namespace {

using testing::HasSubstr;

constexpr UserRange kRange{2'000'000'000, 3};

class JobRights : public SupervisorTest {
 protected:
  void SetUp() override {
    SupervisorTest::SetUp();
    if (const std::string why = why_no_other_user(kRange); !why.empty()) GTEST_SKIP() << why;
    work_ = root_.string() + "-work";
    ASSERT_TRUE(make_open_folders(work_));
    supervisor_->put_work(work_);
  }
  void TearDown() override {
    SupervisorTest::TearDown();
    std::filesystem::remove_all(work_);
  }
  /// Run by the second user of the range.
  RunSpec as_user(const std::string& script) const {
    RunSpec out = spec(script);
    out.user = kRange.first + 1;
    out.group_id = kRange.first + 1;
    return out;
  }

  std::filesystem::path work_;
};

TEST_F(JobRights, AUserOfItsOwnWithNoOtherGroupAndNoWayBack) {
  started(
      as_user("id -u; id -G; grep -E '^(Uid|CapEff|CapBnd|NoNewPrivs)' /proc/self/status | "
              "tr '\t' ' ' | cut -d' ' -f1,2,3"));
  EXPECT_EQ(end().phase, RunPhase::kSucceeded);
  std::istringstream lines(output());
  std::string user, groups, uid, effective;
  std::getline(lines, user);
  std::getline(lines, groups);
  std::getline(lines, uid);
  std::getline(lines, effective);
  EXPECT_EQ(user, "2000000001");
  EXPECT_EQ(groups, "2000000001");
  EXPECT_EQ(uid, "Uid: 2000000001 2000000001");
  EXPECT_EQ(effective, "CapEff: 0000000000000000");
  EXPECT_THAT(output(), HasSubstr("NoNewPrivs: 1"));
}

TEST_F(JobRights, ItsFolderIsItsOwnAndCanBeNamed) {
  started(
      as_user("echo x > here && cat \"$(pwd)/here\" && mkdir below && cd below && cd .. && "
              "cat below/../here; pwd; stat -c %a ."));
  EXPECT_EQ(end().phase, RunPhase::kSucceeded);
  EXPECT_EQ(output(), "x\nx\n" + (work_ / "u1").string() + "\n700\n");
  supervisor_->forget("u1");
  supervisor_->wait_for_removals();
  EXPECT_FALSE(std::filesystem::exists(work_ / "u1"));
}

TEST_F(JobRights, TheFilesOfTheHostAreNot) {
  const std::string secret = root_.string() + "-secret";
  std::ofstream(secret) << "text";
  ASSERT_EQ(::chmod(secret.c_str(), 0600), 0);
  ASSERT_EQ(::chmod(root_.c_str(), 0700), 0);
  started(as_user("cat " + secret + "; ls " + root_.string() + "; cat " + root_.string() +
                  "/pods/u1/spec.json; kill -0 $PPID; cat /proc/$PPID/environ; "
                  "ls /proc/$PPID/fd; echo x > /proc/$PPID/oom_score_adj; echo done"));
  end();
  std::filesystem::remove(secret);
  const std::string said = output();
  std::size_t refusals = 0;
  for (const char* words : {"Permission denied", "Operation not permitted"})
    for (std::size_t at = 0; (at = said.find(words, at)) != std::string::npos; ++at) ++refusals;
  EXPECT_EQ(refusals, 7U) << said;
  EXPECT_THAT(said, testing::Not(HasSubstr("text")));
  EXPECT_THAT(said, HasSubstr("done\n"));
}

TEST_F(JobRights, ItsUserHasAQuarterOfTheProcessesOfTheMachine) {
  started(
      as_user("awk '/Max processes/ {print $3}' /proc/self/limits; cat /proc/sys/kernel/pid_max "
              "/proc/sys/kernel/threads-max"));
  end();
  std::istringstream said(output());
  std::int64_t own = 0, numbers = 0, threads = 0;
  said >> own >> numbers >> threads;
  EXPECT_GT(own, 0);
  EXPECT_LE(own, std::min(numbers, threads) / 4);
}

/// Whether this process may say that others are ended later (CAP_SYS_RESOURCE), so that those who
/// may not cannot take it back.
bool may_protect() {
  std::ifstream in("/proc/self/status");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("CapEff:"))
      return ((std::stoull(line.substr(7), nullptr, 16) >> 24) & 1) != 0;
  return false;
}

// Where memory is short the kernel ends whom it scores highest: 1000 is all of the machine.
TEST_F(JobRights, ItIsEndedBeforeTheHostWhereMemoryIsShort) {
  started(
      as_user("cat /proc/self/oom_score_adj /proc/$PPID/oom_score_adj; "
              "echo 0 2>/dev/null > /proc/self/oom_score_adj; cat /proc/self/oom_score_adj"));
  end();
  std::ifstream file("/proc/self/oom_score_adj");
  std::string ours;
  file >> ours;
  EXPECT_EQ(output(), "1000\n" + ours + "\n" + (may_protect() ? "1000\n" : "0\n"));
}

TEST_F(JobRights, WhatItSharesByNameGoesWithIt) {
  if (const std::string why = why_no_own_memory(); !why.empty()) GTEST_SKIP() << why;
  RunSpec s = as_user("readlink /proc/self/ns/ipc; echo x > /dev/shm/left; ls /dev/shm");
  s.own_memory = true;
  started(s);
  EXPECT_EQ(end().phase, RunPhase::kSucceeded);
  const std::string ours = std::filesystem::read_symlink("/proc/self/ns/ipc").string();
  EXPECT_THAT(output(), testing::ContainsRegex("^ipc:.*\nleft\n$"));
  EXPECT_THAT(output(), testing::Not(HasSubstr(ours)));
  EXPECT_FALSE(std::filesystem::exists("/dev/shm/left"));
}

// Where somebody stood who submitted the job, in his home for example.
TEST_F(JobRights, AFolderThatIsSomebodysAloneIsNotEntered) {
  const std::filesystem::path home = root_.string() + "-home";
  std::filesystem::create_directory(home);
  ASSERT_EQ(::chmod(home.c_str(), 0700), 0);
  RunSpec s = as_user("pwd");
  s.containers[0].working_dir = home.string();
  started(s);
  EXPECT_EQ(end().phase, RunPhase::kSucceeded);
  const std::string own = (work_ / "u1").string() + "\n";
  EXPECT_THAT(output(), HasSubstr("sluice: this user may not enter the working directory " +
                                  home.string() + ": it begins in " + own));
  EXPECT_THAT(output(), testing::ContainsRegex("(^|\n)" + own));
  std::filesystem::remove(home);
}

TEST_F(JobRights, ItsOutputMayBeOpenedByName) {
  started(as_user("echo out > /dev/stdout; echo err > /dev/stderr"));
  EXPECT_EQ(end().phase, RunPhase::kSucceeded);
  EXPECT_EQ(output(), "out\nerr\n");
}

TEST_F(JobRights, NothingOfItOutlivesItNorItsKeeper) {
  started(
      as_user("setsid sh -c 'echo $$ > new; mv new left; exec sleep 1000' & "
              "while [ ! -e left ]; do sleep 0.01; done"));
  EXPECT_EQ(end().phase, RunPhase::kSucceeded);
  std::ifstream in(work_ / "u1" / "left");
  pid_t left = 0;
  in >> left;
  ASSERT_GT(left, 0);
  EXPECT_NE(::kill(left, 0), 0);
}

using Calls = SupervisorTest;

// Python makes the calls by their numbers, as an attacker would.
TEST_F(Calls, WhatManagesTheMachineIsRefused) {
  const std::string script = R"(python3 -c '
import ctypes, os
c = ctypes.CDLL(None, use_errno=True)
def said(*call):
    ctypes.set_errno(0)
    done = c.syscall(*[ctypes.c_long(each) for each in call])
    return "done" if done >= 0 else os.strerror(ctypes.get_errno())
numbers = {"mount": 165, "bpf": 321, "perf_event_open": 298, "io_uring_setup": 425, "setns": 308,
           "keyctl": 250, "userfaultfd": 323, "clock_settime": 227, "chroot": 161}
for name, number in sorted(numbers.items()):
    print(name, said(number, 0, 0, 0, 0, 0, 0))
print("unshare user", said(272, 0x10000000))
print("unshare files", said(272, 0x400))
print("clone user", said(56, 0x10000000, 0, 0, 0, 0))
print("clone3", said(435, 0, 0))
print("socket vsock", said(41, 40, 1, 0))
print("socket alg", said(41, 38, 5, 0))
print("socket inet", said(41, 2, 1, 0))
print("getpid", said(39))
')";
#if !defined(__x86_64__)
  GTEST_SKIP() << "the numbers are those of x86_64";
#endif
  started(spec(script));
  EXPECT_EQ(end().phase, RunPhase::kSucceeded);
  const std::string no = " Operation not permitted\n", none = " Function not implemented\n";
  const std::string family = " Address family not supported by protocol\n";
  EXPECT_EQ(output(), "bpf" + no + "chroot" + no + "clock_settime" + no + "io_uring_setup" + no +
                          "keyctl" + no + "mount" + no + "perf_event_open" + no + "setns" + no +
                          "userfaultfd" + no + "unshare user" + no + "unshare files done\n" +
                          "clone user" + no + "clone3" + none + "socket vsock" + family +
                          "socket alg" + family + "socket inet done\ngetpid done\n");
}

/// What this process has, or as much as it has.
std::string own(const std::string& key) {
  std::ifstream in("/proc/self/status");
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(key)) return key + line.back() + "\n";
  return {};
}

TEST_F(Calls, TheyMayBeGivenBack) {
  RunSpec all = spec("grep -E '^(Seccomp|NoNewPrivs):' /proc/self/status | tr -d '\t'");
  started(all);
  end();
  EXPECT_EQ(output(), "NoNewPrivs:1\nSeccomp:2\n");
  supervisor_->forget("u1");
  supervisor_->wait_for_removals();
  all.all_calls = true;
  started(all);
  end();
  EXPECT_EQ(output(), own("NoNewPrivs:") + own("Seccomp:"));
}

TEST(JobUsers, ANamespaceKeepsItsUserForEver) {
  const test::TemporaryFolder folder;
  const std::filesystem::path file = folder / "users";
  auto users = JobUsers::open(file, kRange);
  ASSERT_TRUE(users.ok());
  EXPECT_EQ(*users->of("b"), 2'000'000'000U);
  EXPECT_EQ(*users->of("a"), 2'000'000'001U);
  EXPECT_EQ(*users->of("b"), 2'000'000'000U);
  auto next = JobUsers::open(file, kRange);
  ASSERT_TRUE(next.ok());
  EXPECT_EQ(*next->of("a"), 2'000'000'001U);
  EXPECT_EQ(*next->of("c"), 2'000'000'002U);
  EXPECT_EQ(next->of("d").error().text,
            "all 3 users of executor.jobUsers belong to other namespaces");
  // Another range leaves those that have one what they have.
  auto moved = JobUsers::open(file, {3000, 10});
  EXPECT_EQ(*moved->of("a"), 2'000'000'001U);
  EXPECT_EQ(*moved->of("d"), 3000U);
}

TEST(JobUsers, ARangeIsOneHosts) {
  const test::TemporaryFolder folder;
  const std::filesystem::path at = folder / "";
  auto claim = claim_users(at, {1000, 10});
  ASSERT_TRUE(claim);
  EXPECT_FALSE(claim_users(at, {1000, 10}));
  EXPECT_TRUE(claim_users(at, {2000, 10}));
  claim.reset();  // that host has ended, in whatever way
  EXPECT_TRUE(claim_users(at, {1000, 10}));
}

TEST(JobUsers, ADamagedFileIsRefused) {
  const test::TemporaryFolder folder;
  const std::string file = folder / "users";
  for (const char* text : {"2000000000 a\n2000000000 b\n", "2000000000 a\n2000000001 a\n", "a 1\n",
                           "2000000000\n", "2000000000 a b\n", "0 a\n"}) {
    std::ofstream(file) << text;
    const auto read = JobUsers::open(file, kRange);
    ASSERT_FALSE(read.ok()) << text;
    EXPECT_THAT(read.error().text, HasSubstr("users: it is damaged at \"")) << text;
  }
}

// A pod with a /dev/shm of its own would not find its own folder.
TEST(OwnMemory, WhatLiesInTheMachinesIsKnown) {
  const struct {
    const char* path;
    bool in;
  } rows[] = {{"/dev/shm", true},
              {"/dev/shm/store/executor", true},
              {"/dev/../dev/shm/x", true},
              {"/dev/shmem/x", false},
              {"/tmp/dev/shm", false}};
  for (const auto& row : rows) EXPECT_EQ(is_in_shared_memory(row.path), row.in) << row.path;
}

}  // namespace
}  // namespace sluice::host
