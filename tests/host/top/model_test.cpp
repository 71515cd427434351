// What is kept of objects, how it is sorted and filtered, and what queues lend.
#include "host/top/model.hpp"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>

namespace sluice::host {
namespace {

namespace json = boost::json;

api::KindInfo kind(const char* name) {
  api::KindInfo out;
  out.group = "kueue.x-k8s.io";
  out.kind = name;
  return out;
}
const api::KindInfo kQueue = kind("ClusterQueue"), kCohort = kind("Cohort"),
                    kDoor = kind("LocalQueue"), kWorkload = kind("Workload");

json::object read(const std::string& text) { return json::parse(text).as_object(); }

/// cpu of flavor f: nominal, used and borrowed, in whole cores.
json::object queue(const std::string& name, const std::string& cohort, int nominal, int used,
                   int borrowed, int waiting = 0) {
  return read(R"({"metadata":{"name":")" + name + R"("},"spec":{"cohortName":")" + cohort +
              R"(","resourceGroups":[{"flavors":[{"name":"f","resources":[
                {"name":"cpu","nominalQuota":")" +
              std::to_string(nominal) + R"("}]}]}]},"status":{"pendingWorkloads":)" +
              std::to_string(waiting) +
              R"(,"flavorsReservation":[{"name":"f","resources":[{"name":"cpu","total":")" +
              std::to_string(used) + R"(","borrowed":")" + std::to_string(borrowed) + R"("}]}]}})");
}

json::object cohort(const std::string& name, const std::string& parent) {
  return read(R"({"metadata":{"name":")" + name + R"("},"spec":{"parentName":")" + parent +
              R"("}})");
}

json::object door(const std::string& ns, const std::string& name, const std::string& to) {
  return read(R"({"metadata":{"namespace":")" + ns + R"(","name":")" + name +
              R"("},"spec":{"clusterQueue":")" + to + R"("}})");
}

json::object workload(const std::string& ns, const std::string& name, int priority, int created,
                      const std::string& conditions = "") {
  return read(R"({"metadata":{"namespace":")" + ns + R"(","name":")" + name +
              R"(","creationTimestamp":"2026-01-01T00:00:0)" + std::to_string(created) +
              R"(Z"},"spec":{"queueName":"main","priority":)" + std::to_string(priority) +
              R"(},"status":{"conditions":[)" + conditions + "]}}");
}

std::string condition(const std::string& type, const std::string& status,
                      const std::string& message = "") {
  return R"({"type":")" + type + R"(","status":")" + status + R"(","message":")" + message +
         R"("})";
}

struct Fixture : testing::Test {
  void put(const api::KindInfo& of, json::object object) { model.put(of, "v", std::move(object)); }
  std::string workloads(const TopQuery& query) const {
    std::string out;
    for (const TopWorkload& each : model.view(query).workloads)
      out += (out.empty() ? "" : " ") + each.name;
    return out;
  }
  std::string queues(const TopQuery& query) const {
    std::string out;
    for (const TopQueue& each : model.view(query).queues)
      out += (out.empty() ? "" : " ") + each.name;
    return out;
  }
  TopModel model{[] {}};
};
using Model = Fixture;

TEST_F(Model, WhoWaitsInTheOrderThatIsWanted) {
  put(kQueue, queue("qa", "", 4, 0, 0));
  put(kDoor, door("a", "main", "qa"));
  put(kDoor, door("b", "main", "qb"));
  put(kWorkload, workload("b", "old", 0, 1));
  put(kWorkload, workload("b", "urgent", 9, 5));
  put(kWorkload, workload("a", "mine", 1, 3));
  put(kWorkload, workload("a", "runs", 5, 2, condition("Admitted", "True")));
  put(kWorkload, workload("a", "done", 5, 2, condition("Finished", "True")));
  struct Case {
    TopQuery query;
    const char* expected;
  };
  TopQuery all;
  all.all = true;
  TopQuery in_a;
  in_a.ns = "a";
  TopQuery of_qb;
  of_qb.queues = {"qb"};
  TopQuery second;
  second.from = 1;
  second.most = 1;
  TopQuery reversed;
  reversed.reverse = true;
  TopQuery oldest;
  oldest.sort = TopSort::kWaiting;
  TopQuery urgent;
  urgent.sort = TopSort::kPriority;
  for (const Case& each :
       {Case{{}, "mine urgent old"}, Case{all, "runs mine urgent old"}, Case{in_a, "mine"},
        Case{of_qb, "urgent old"}, Case{second, "urgent"}, Case{reversed, "old urgent mine"},
        Case{oldest, "old mine urgent"}, Case{urgent, "urgent mine old"}})
    EXPECT_EQ(workloads(each.query), each.expected);
  EXPECT_EQ(model.view(second).fitting, 3U);
  EXPECT_EQ(model.view(all).waiting, 3U);
}

TEST_F(Model, QueuesBySortAndByCohortWithThoseBelow) {
  put(kCohort, cohort("all", ""));
  put(kCohort, cohort("lab", "all"));
  put(kQueue, queue("a", "lab", 4, 1, 0, 1));    // 25 %
  put(kQueue, queue("b", "all", 4, 3, 0, 0));    // 75 %
  put(kQueue, queue("c", "other", 4, 2, 0, 7));  // 50 %
  TopQuery lab, everything, waiting, use;
  lab.cohort = "lab";
  everything.cohort = "all";
  waiting.sort = TopSort::kWaiting;
  use.sort = TopSort::kUse;
  EXPECT_EQ(queues({}), "a b c");
  EXPECT_EQ(queues(lab), "a");
  EXPECT_EQ(queues(everything), "a b");
  EXPECT_EQ(queues(waiting), "c a b");
  EXPECT_EQ(queues(use), "b c a");
}

TEST_F(Model, ANamespaceShowsTheQueuesThatItLeadsTo) {
  put(kQueue, queue("qa", "", 4, 0, 0));
  put(kQueue, queue("qb", "", 4, 0, 0));
  put(kDoor, door("a", "main", "qa"));
  put(kDoor, door("ab", "main", "qb"));
  TopQuery query;
  query.ns = "a";
  EXPECT_EQ(queues(query), "qa");
}

// b borrows 3. a has 4 unused, c has 2: of a at least 3-2=1 and at most 3, of c between 0 and 2.
TEST_F(Model, WhatAQueueLendsIsKnownBetweenBounds) {
  put(kCohort, cohort("lab", "all"));
  put(kQueue, queue("a", "lab", 5, 1, 0));
  put(kQueue, queue("b", "all", 2, 5, 3));
  put(kQueue, queue("c", "all", 2, 0, 0));
  put(kQueue, queue("alone", "", 9, 0, 0));
  const TopView view = model.view({});
  struct Case {
    const char* name;
    std::int64_t least, most;
  };
  const Case expected[] = {{"a", 1000, 3000}, {"alone", 0, 0}, {"b", 0, 0}, {"c", 0, 2000}};
  ASSERT_EQ(view.queues.size(), std::size(expected));
  for (std::size_t i = 0; i < std::size(expected); ++i) {
    EXPECT_EQ(view.queues[i].name, expected[i].name);
    EXPECT_EQ(view.queues[i].quotas.at(0).lent_least, expected[i].least) << expected[i].name;
    EXPECT_EQ(view.queues[i].quotas.at(0).lent_most, expected[i].most) << expected[i].name;
  }
}

// Their quotas were lowered: b uses 4 of 0, d 3 of 1. 6 are borrowed where a has 1 to lend: it
// lends that, and nobody lends more.
TEST_F(Model, NobodyLendsMoreThanThereIsWhereQuotaIsBelowItsUse) {
  put(kQueue, queue("a", "lab", 1, 0, 0));
  put(kQueue, queue("b", "lab", 0, 4, 4));
  put(kQueue, queue("c", "lab", 2, 2, 0));
  put(kQueue, queue("d", "lab", 1, 3, 2));
  const TopView view = model.view({});
  const std::int64_t lent[] = {1000, 0, 0, 0};
  ASSERT_EQ(view.queues.size(), std::size(lent));
  for (std::size_t i = 0; i < std::size(lent); ++i) {
    EXPECT_EQ(view.queues[i].quotas.at(0).lent_least, lent[i]) << view.queues[i].name;
    EXPECT_EQ(view.queues[i].quotas.at(0).lent_most, lent[i]) << view.queues[i].name;
  }
}

TEST_F(Model, WhatANewListDoesNotHoldIsGone) {
  put(kWorkload, workload("a", "gone", 0, 1));
  put(kWorkload, workload("a", "removed", 0, 1));
  model.list_begins(kWorkload, 1);
  put(kWorkload, workload("a", "stays", 0, 1));
  put(kWorkload, workload("a", "removed", 0, 1));
  model.list_ends(kWorkload);
  EXPECT_EQ(workloads({}), "removed stays");
  model.remove(kWorkload, workload("a", "removed", 0, 1));
  EXPECT_EQ(workloads({}), "stays");
  put(kWorkload, workload("a", "stays", 0, 1, condition("Finished", "True")));
  EXPECT_EQ(workloads({}), "");
}

TEST(Rows, StateAndWhyOfAWorkload) {
  struct Case {
    std::string conditions;
    TopState state;
    const char* why;
  };
  for (const Case& each : {
           Case{"", TopState::kWaiting, "its turn has not come yet"},
           Case{condition("QuotaReserved", "False", "too large"), TopState::kWaiting, "too large"},
           Case{condition("Evicted", "True") + "," + condition("QuotaReserved", "False", "later"),
                TopState::kEvicted, "later"},
           Case{condition("Admitted", "True"), TopState::kRunning, ""},
           Case{condition("Admitted", "True") + "," + condition("PodsReady", "False", "1 of 2"),
                TopState::kStarting, "1 of 2"},
           Case{condition("Admitted", "True") + "," + condition("PodsReady", "True"),
                TopState::kRunning, ""},
           Case{condition("Finished", "True"), TopState::kFinished, ""},
       }) {
    const TopWorkload read = top_workload(workload("a", "w", 0, 1, each.conditions));
    EXPECT_EQ(read.state, each.state) << each.conditions;
    EXPECT_EQ(read.why, each.why) << each.conditions;
  }
  json::object off = workload("a", "w", 0, 1);
  off["spec"].as_object()["active"] = false;
  EXPECT_EQ(top_workload(off).state, TopState::kOff);
  json::object checks = workload("a", "w", 0, 1, condition("QuotaReserved", "True"));
  checks["status"].as_object()["admissionChecks"] = json::parse(
      R"([{"name":"one","state":"Ready"},{"name":"two","state":"Pending","message":"asked"}])");
  EXPECT_EQ(top_workload(checks).state, TopState::kChecks);
  EXPECT_EQ(top_workload(checks).why, "two: Pending, asked");
}

TEST(Rows, OlderVersionsAndStrangeObjectsAreRead) {
  EXPECT_EQ(top_queue(read(R"({"metadata":{"name":"q"},"spec":{"cohort":"old"}})")).cohort, "old");
  const TopQueue odd = top_queue(read(
      R"({"spec":{"stopPolicy":"Hold","resourceGroups":[{"flavors":[{"name":"f","resources":[
        {"name":"memory","nominalQuota":"1Gi"},{"name":"cpu","nominalQuota":[]}]}]}]}})"));
  EXPECT_EQ(odd.trouble, "stopped: Hold");
  ASSERT_EQ(odd.quotas.size(), 2U);
  EXPECT_EQ(odd.quotas[0].nominal, std::int64_t{1} << 30);
  EXPECT_EQ(odd.quotas[1].nominal, 0);
  EXPECT_EQ(top_workload({}).state, TopState::kWaiting);
}

TEST_F(Model, WhatAQueryNamesAndIsNotThere) {
  put(kQueue, queue("qa", "lab", 4, 0, 0));
  put(kCohort, cohort("all", ""));
  TopQuery query;
  query.queues = {"qa", "qx"};
  query.cohort = "lab";  // no object of its own: the queue names it
  EXPECT_EQ(model.not_there(query),
            std::vector<std::string>{"there is no ClusterQueue qx; there are: qa"});
  query.queues.clear();
  query.cohort = "none";
  EXPECT_EQ(model.not_there(query),
            std::vector<std::string>{"there is no Cohort none; there are: all, lab"});
}

}  // namespace
}  // namespace sluice::host
