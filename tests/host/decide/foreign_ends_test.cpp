// What another writer stored of a workload is not written again by the controller that reads it,
// and what nobody follows is not read.
#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <string>
#include <vector>

#include "host/objects/parts.hpp"
#include "host/outbox/quota_shown.hpp"
#include "workload_world.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

class ForeignEnds : public WorkloadWorld {
 protected:
  ForeignEnds() {
    for (const char* name : {"a", "b"}) make_workload(name, "");
    lead();
  }

  /// The paths of the requests that were sent until nothing is left.
  std::vector<std::string> settle() {
    std::vector<std::string> out;
    ClusterWorld::settle([&](const ClusterRequest& request) {
      out.push_back(request.path.substr(0, request.path.find('?')));
      const bool refused = refuses_ && out.back().ends_with(refuses_);
      ClusterAnswer answer = refused ? ClusterAnswer{} : cluster_->answer(request);
      answer.id = request.id;
      if (refused) answer.status = 422;
      if (loses_ && out.back().ends_with(loses_)) answer.status = 0;
      return answer;
    });
    return out;
  }
  std::size_t writes_of(const std::vector<std::string>& paths, std::string_view name) const {
    const std::string path = "/namespaces/ns/workloads/" + std::string(name) + "/status";
    return static_cast<std::size_t>(std::count_if(
        paths.begin(), paths.end(), [&](const std::string& each) { return each.ends_with(path); }));
  }
  const char* loses_ = nullptr;    // the end of the paths for which no answer comes
  const char* refuses_ = nullptr;  // of those that are refused
};

// Quota for one: a runs, b waits. Whoever runs a stores its end with a time of their own, 40 s ago.
// a's status is as they wrote it, with the generation that they had seen, and is not written again;
// b gets what a held.
TEST_F(ForeignEnds, AreNotWrittenAgain) {
  settle();
  ASSERT_TRUE(has_condition(status("a"), "Admitted"));
  const std::string at = "2026-01-01T00:00:05Z";
  cluster_->change(kind("Workload"), "ns/a", [&](json::object& workload) {
    array_of(object_of(workload, "status"), "conditions")
        .push_back(json::object{{"type", "Finished"},
                                {"status", "True"},
                                {"reason", "JobFinished"},
                                {"message", "done"},
                                {"lastTransitionTime", at},
                                {"observedGeneration", 1}});
  });
  const json::object as_stored = status("a");
  const std::vector<std::string> written = settle();
  EXPECT_EQ(writes_of(written, "a"), 0U);
  EXPECT_EQ(status("a"), as_stored);
  EXPECT_TRUE(has_condition(status("b"), "Admitted"));
  EXPECT_EQ(decided_->machine.engine().state(*decided_->machine.engine().find("ns/a")),
            WorkloadState::kFinished);
}

// As an admission webhook of somebody else may, or a rule of the kind's definition.
TEST_F(ForeignEnds, AJobIsToldThatItsWorkloadWasRefused) {
  refuses_ = "/workloads";
  make("Job", R"({"metadata":{"name":"j","namespace":"ns",
    "labels":{"kueue.x-k8s.io/queue-name":"lq"}},"spec":{"suspend":true,"parallelism":1,"template":
    {"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"x"}]}}}})");
  settle();
  const std::vector<EventNote> told = decided_->door.take_refusals();
  ASSERT_EQ(told.size(), 1U) << "once, though it is tried again";
  EXPECT_EQ(told[0].about.kind->kind, "Job");
  EXPECT_EQ(told[0].about.key, "ns/j");
  EXPECT_TRUE(told[0].message.starts_with("the cluster refused a write of Workload ns/job-j-"))
      << told[0].message;
}

// Nobody would say that it is gone: a controller that read one would keep it for ever.
TEST_F(ForeignEnds, AnEventWhoseAnswerIsLostIsNotRead) {
  loses_ = "/events";
  const std::vector<std::string> written = settle();
  EXPECT_GT(std::count_if(written.begin(), written.end(),
                          [](const std::string& path) { return path.ends_with("/events"); }),
            0);
  EXPECT_TRUE(decided_->objects.read(kind("Event"), "")->objects.empty());
}

}  // namespace
}  // namespace sluice::host
