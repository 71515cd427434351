// The board of calls, and the watchdog that looks at it: who is told of what, and when.
#include "host/plugins/call_board.hpp"

#include <thread>

#include "host/apiserver/health.hpp"
#include "host/plugins/watchdog.hpp"
#include "tests/host/plugins/support.hpp"

namespace sluice::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::atomic<Duration> board_time{0};

class Board : public ::testing::Test {
 protected:
  Board() {
    board_time = 0;
    CallBoard::set_clock([] { return board_time.load(); });
  }
  ~Board() override { CallBoard::set_clock(nullptr); }
  static std::vector<std::string> sentences(Duration longer_than) {
    std::vector<std::string> out;
    for (const BoardCall& call : CallBoard::calls(longer_than)) out.push_back(call.sentence());
    return out;
  }
};

// A thread that calls plugins is the host's: what dies on it between two calls is nobody's fault.
TEST_F(Board, KnowsTheThreadsOfTheHost) {
  std::thread([] {
    EXPECT_FALSE(CallBoard::calls_plugins());
    { const CallBoard::Scope call("p", Hook::kReconcile); }
    EXPECT_TRUE(CallBoard::calls_plugins());
    EXPECT_EQ(CallBoard::mine(), nullptr);
  }).join();
}

TEST_F(Board, A13_ShowsTheInnermostCallOfEachThread) {
  const std::string plugin = "outer";
  EXPECT_EQ(CallBoard::mine(), nullptr);
  {
    const CallBoard::Scope outer(plugin, Hook::kReconcile, {"ns", "a"});
    board_time = 3 * kSecond;
    {
      const CallBoard::Scope inner("inner", Hook::kValidate);
      EXPECT_EQ(CallBoard::mine()->plugin, "inner");
      EXPECT_THAT(sentences(2 * kSecond), IsEmpty()) << "the inner one has just begun";
      std::thread([&] {
        EXPECT_EQ(CallBoard::mine(), nullptr);
        const CallBoard::Scope other("cycle", Hook::kFilter, {"ns", "w"});
        board_time = 9 * kSecond;
        EXPECT_THAT(sentences(5 * kSecond),
                    ElementsAre("plugin inner, validator.validate",
                                "plugin cycle, flavor-filter.filter of ns/w"));
      }).join();
    }
    EXPECT_THAT(sentences(5 * kSecond), ElementsAre("plugin outer, controller.reconcile of ns/a"));
  }
  EXPECT_THAT(sentences(-1), IsEmpty());
}

TEST_F(Board, CallsMayEndWhileTheyAreLookedAt) {
  std::atomic<bool> over{false};
  std::thread caller([&] {
    for (int i = 0; i < 20'000; ++i) {
      const std::string name = "workload-with-a-long-name-" + std::to_string(i);
      const CallBoard::Scope scope("plugin", Hook::kFilter, {"ns", name});
    }
    over = true;
  });
  while (!over)
    for (const BoardCall& call : CallBoard::calls(-1))
      EXPECT_THAT(call.about, ::testing::StartsWith("ns/workload-with-a-long-name-"));
  caller.join();
}

class HealthPaths : public Board {
 protected:
  Reply ask(const std::string& path, bool known = true) {
    Request request;
    request.method = "GET";
    request.path = path;
    request.query = {{"verbose", ""}};
    HealthState state;
    state.busy = dog.busy();
    state.limits = dog.limits();
    state.known = known;
    return open_reply(request, state);
  }
  const Watchdog dog;
};

TEST_F(HealthPaths, A13_AHookThatDoesNotReturnMakesTheHostNotReadyThenNotAlive) {
  const CallBoard::Scope scope("hangs", Hook::kFilter, {"team-a", "w"});
  board_time = 4 * kSecond;
  EXPECT_EQ(*ask("/readyz").body,
            "[+]ping ok\n[+]control ok\n[+]plugins ok\n[+]store ok\nreadyz check passed\n");
  board_time = 8 * kSecond;  // told, and ready still
  EXPECT_EQ(ask("/readyz").status, 200);
  EXPECT_THAT(*ask("/readyz").body, HasSubstr("[+]plugins ok: plugin hangs, flavor-filter.filter "
                                              "of team-a/w has not come back for 8 s\n"));
  board_time = 16 * kSecond;
  EXPECT_EQ(ask("/readyz").status, 503);
  EXPECT_EQ(ask("/livez").status, 200);
  EXPECT_THAT(*ask("/readyz", false).body,
              HasSubstr("[-]plugins failed: plugin hangs, flavor-filter.filter has not come back "
                        "for 16 s\n"))
      << "whose workload it is, is not for everybody";
  EXPECT_EQ(ask("/readyz/store").status, 200);
  EXPECT_EQ(ask("/readyz/nothing").status, 404);
  board_time = 61 * kSecond;
  EXPECT_EQ(ask("/livez").status, 503);
  EXPECT_EQ(ask("/livez/control").status, 200);
}

TEST_F(HealthPaths, A6_ATurnThatDoesNotEndIsToldOf) {
  Watchdog own;
  own.watch([](Duration) {
    return std::vector<Busy>{{"control", "the turn of the control thread", "", 20 * kSecond}};
  });
  Request request;
  request.method = "GET";
  request.path = "/readyz";
  HealthState state;
  state.busy = own.busy();
  const Reply reply = open_reply(request, state);
  EXPECT_EQ(reply.status, 503);
  EXPECT_THAT(*reply.body, HasSubstr("[-]control failed: the turn of the control thread has not "
                                     "come back for 20 s\n"));
}

}  // namespace
}  // namespace sluice::host
