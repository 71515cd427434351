// The remotes of plugins as a host has them: named, refused, limited, and what leaves when.
#include "host/remotes/remote_hub.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <condition_variable>

#include "api/json/json.hpp"
#include "sluice/svc/remotes.h"
#include "tests/host/rest/scheme.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class HubClock final : public PluginClock {
 public:
  Time now() const override { return 7; }
  Duration steady() const override { return steady_now(); }
  bool is_virtual() const override { return false; }
};

/// Nobody listens at this address.
constexpr const char* kNobody =
    "current-context: c\\ncontexts: [{name: c, context: {cluster: k, user: u}}]\\n"
    "clusters: [{name: k, cluster: {server: 'https://127.0.0.1:1'}}]\\n"
    "users: [{name: u, user: {token: t}}]\\n";

std::string spec(const std::string& kubeconfig = kNobody) {
  return R"({"kubeconfig":")" + kubeconfig +
         R"(","kinds":[{"apiVersion":"batch/v1","kind":"Job"}]})";
}

struct Hub : ::testing::Test {
  HubClock clock;
  std::mutex mutex;
  std::condition_variable told;
  int changes = 0;
  RemoteLimits limits = {.remotes = 2, .writes = 2, .questions = 2};
  std::unique_ptr<RemoteHub> hub;

  void SetUp() override {
    hub = std::make_unique<RemoteHub>(
        test::scheme(), clock,
        [this] {
          const std::lock_guard lock(mutex);
          ++changes;
          told.notify_all();
        },
        limits);
  }
  json::object state(const std::string& remote) const {
    return json::parse(hub->state("p", remote).text).get_object();
  }
  /// Waits for something that the threads of the hub do.
  template <typename Predicate>
  void wait(Predicate predicate) {
    std::unique_lock lock(mutex);
    while (!predicate()) told.wait_for(lock, std::chrono::milliseconds(20));
  }
  static RemoteWrite create(const std::string& name) {
    RemoteWrite out;
    out.remote = "r";
    out.body = R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"namespace":"a","name":")" +
               name + R"("}})";
    return out;
  }
  PortAnswer writing(const std::string& name) const {
    return hub->writing("p", "r", {"batch/v1", "Job", "a", name});
  }
};

TEST_F(Hub, ARemoteIsThePluginsThatNamedIt) {
  EXPECT_EQ(hub->set("p", "r", spec()).code, SLUICE_OBJECTS_OK);
  EXPECT_EQ(hub->state("p", "r").code, SLUICE_OBJECTS_OK);
  EXPECT_EQ(hub->state("other", "r").code, SLUICE_OBJECTS_NOT_FOUND);
  EXPECT_EQ(state("r").at("connected"), false);
  EXPECT_EQ(state("r").at("since"), 7);
  hub->remove("p", "r");
  EXPECT_EQ(hub->state("p", "r").code, SLUICE_OBJECTS_NOT_FOUND);
  EXPECT_THAT(hub->take_changes("p"), ElementsAre(RemoteChange{"r", {}, {}, {}, {}}));
}

TEST_F(Hub, TooManyAreRefused) {
  EXPECT_EQ(hub->set("p", "a", spec()).code, SLUICE_OBJECTS_OK);
  EXPECT_EQ(hub->set("q", "b", spec()).code, SLUICE_OBJECTS_OK);
  EXPECT_EQ(hub->set("p", "a", spec()).code, SLUICE_OBJECTS_OK);  // the same again
  const PortAnswer third = hub->set("p", "c", spec());
  EXPECT_EQ(third.code, SLUICE_OBJECTS_INVALID);
  EXPECT_EQ(third.text, "there are 2 remotes already, which is the limit");
}

TEST_F(Hub, WritesThatMakeNoSenseAreRefusedAtOnce) {
  hub->set("p", "r", spec());
  const auto refusal = [&](RemoteWrite write) { return hub->check("p", write, 0); };
  RemoteWrite other = create("x");
  other.remote = "s";
  EXPECT_EQ(refusal(other).text, "there is no remote s");
  RemoteWrite pod = create("x");
  pod.body = R"({"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"a","name":"x"}})";
  EXPECT_EQ(refusal(pod).text, "Pod of v1 is not followed at remote r");
  EXPECT_EQ(refusal(create("")).text, "metadata.name: Required value");
  RemoteWrite text = create("x");
  text.body = "[]";
  EXPECT_EQ(refusal(text).text, "what is to be written is no JSON object");
  RemoteWrite fine = create("x");
  EXPECT_EQ(hub->check("p", fine, 0).code, SLUICE_OBJECTS_OK);
  EXPECT_EQ(fine.name, "x");
  EXPECT_EQ(hub->check("p", fine, 2).code, SLUICE_REMOTES_BUSY);
}

TEST_F(Hub, APlaceThatCannotBeReachedIsToldOfAndSoAreItsWrites) {
  hub->start();
  hub->set("p", "r", spec());
  wait([&] { return state("r").at("problem") == "Connection"; });
  EXPECT_THAT(std::string(state("r").at("message").as_string()), HasSubstr("Connection refused"));

  RemoteWrite write = create("x");
  ASSERT_EQ(hub->check("p", write, 0).code, SLUICE_OBJECTS_OK);
  hub->submit("p", {write});
  EXPECT_THAT(writing("x").text, HasSubstr(R"("state":"waiting")"));
  const std::uint64_t turn = hub->seal();
  EXPECT_EQ(hub->health()[0].requests, 0U);  // it has not left: the turn is not durable
  hub->release(turn);
  wait([&] { return writing("x").text.find(R"("state":"failed","code":0)") != std::string::npos; });
  wait([&] {
    for (const RemoteChange& change : hub->take_changes("p"))
      if (change == RemoteChange{"r", "batch/v1", "Job", "a", "x"}) return true;
    return false;
  });
}

TEST_F(Hub, QuestionsThatMakeNoSenseAreRefusedAtOnce) {
  hub->set("p", "r", spec());
  const auto refusal = [&](const PluginObjectRef& ref, const char* remote = "r") {
    return hub->ask("p", remote, ref, "{}").text;
  };
  EXPECT_EQ(refusal({"sluice.dev/v1alpha1", "WhatIf", "", "q"}, "s"), "there is no remote s");
  EXPECT_EQ(refusal({"batch/v1", "Job", "a", "q"}),
            "Job of batch/v1 is no question; allowed: kinds of which nothing is kept");
  EXPECT_EQ(refusal({"sluice.dev/v1alpha1", "WhatIf", "", ""}), "a question needs a name");
  EXPECT_EQ(refusal({"sluice.dev/v1alpha1", "WhatIf", "a", "q"}),
            "the kind of the question has no namespaces");
  EXPECT_EQ(refusal({"authorization.k8s.io/v1", "LocalSubjectAccessReview", "", "q"}),
            "the question needs a namespace");
}

TEST_F(Hub, WhatIsWorkedOutOfAnObjectIsAskedForByItsName) {
  hub->set("p", "r", spec());
  const auto refusal = [&](const PluginObjectRef& ref, const char* question = "") {
    return hub->ask("p", "r", ref, question).text;
  };
  const PluginObjectRef explanation{"sluice.dev/v1alpha1", "Explanation", "a", "w"};
  EXPECT_EQ(refusal(explanation), "");
  EXPECT_THAT(hub->take_changes("p"),
              ElementsAre(RemoteChange{"r", "sluice.dev/v1alpha1", "Explanation", "a", "w"}));
  EXPECT_EQ(refusal(explanation, "{}"),
            "Explanation of sluice.dev/v1alpha1 is no question; allowed: "
            "kinds of which nothing is kept");
  EXPECT_EQ(refusal({"sluice.dev/v1alpha1", "Explanation", "", "w"}),
            "the question needs a namespace");
  EXPECT_EQ(refusal({"sluice.dev/v1alpha1", "WhatIf", "", "w"}),
            "WhatIf of sluice.dev/v1alpha1 is no question; allowed: what is worked out of one "
            "object, as Explanation is");
}

TEST_F(Hub, WithoutAConnectionAQuestionIsAnsweredAtOnceThatThereIsNone) {
  hub->set("p", "r", spec());
  const PluginObjectRef question{"sluice.dev/v1alpha1", "WhatIf", "", "q"};
  EXPECT_EQ(hub->answer("p", "r", question).code, SLUICE_OBJECTS_NOT_FOUND);
  ASSERT_EQ(hub->ask("p", "r", question, "{}").code, SLUICE_OBJECTS_OK);
  EXPECT_EQ(changes, 1);
  EXPECT_THAT(hub->take_changes("p"),
              ElementsAre(RemoteChange{"r", "sluice.dev/v1alpha1", "WhatIf", "", "q"}));
  EXPECT_EQ(hub->answer("p", "r", question).text,
            R"({"waiting":false,"code":0,"message":"it is not connected"})");
  EXPECT_EQ(hub->answer("p", "r", question).code, SLUICE_OBJECTS_NOT_FOUND);  // handed out once
}

TEST_F(Hub, TooManyOpenQuestionsAreRefused) {
  hub->set("p", "r", spec());
  for (const char* name : {"q1", "q2"})
    hub->ask("p", "r", {"sluice.dev/v1alpha1", "WhatIf", "", name}, "{}");
  const PluginObjectRef third{"sluice.dev/v1alpha1", "WhatIf", "", "q3"};
  const PortAnswer refused = hub->ask("p", "r", third, "{}");
  EXPECT_EQ(refused.code, SLUICE_REMOTES_BUSY);
  EXPECT_EQ(refused.text, "2 questions to remote r are open, which is the limit");
  hub->answer("p", "r", {"sluice.dev/v1alpha1", "WhatIf", "", "q1"});
  EXPECT_EQ(hub->ask("p", "r", third, "{}").code, SLUICE_OBJECTS_OK);
}

TEST_F(Hub, CredentialsThatCannotBeUsedAreToldOf) {
  hub->start();
  hub->set("p", "r", spec("no"));
  wait([&] { return state("r").at("problem") == "Kubeconfig"; });
  hub->set("p", "r", spec());  // rotated
  wait([&] { return state("r").at("problem") == "Connection"; });
}

}  // namespace
}  // namespace sluice::host
