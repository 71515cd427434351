// Who turned a workload off, and why, is several writes on a cluster. Whichever of them is the last
// before the controller dies, or is refused because somebody else wrote, the workload is off in the
// end, and says why.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "workload_world.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr std::string_view kOff =
    "active false, Evicted DeactivatedDueToMaximumExecutionTimeExceeded: The workload is "
    "deactivated due to exceeding the maximum execution time";

class Deactivations : public WorkloadWorld {
 protected:
  /// `a` runs, and has a minute; it is over now, and nothing of that was sent.
  void let_time_run_out() {
    make_workload("a", R"("maximumExecutionTimeSeconds":60,)");
    lead();
    settle();
    ASSERT_TRUE(has_condition(status("a"), "Admitted"));
    clock_.set(clock_.now() + 60 * kSecond);
  }

  /// What is said of `a` once that is so: what it is, its end, and what it is to be.
  std::string seen() {
    std::string out =
        fmt::format("active {}", api::find_bool(part(workload("a"), "spec"), "active", true));
    for (const char* type : {"Evicted", "DeactivationTarget"})
      if (const json::object* found = find_condition(status("a"), type);
          found && text_in(*found, "status") == "True")
        out +=
            fmt::format(", {} {}: {}", type, text_in(*found, "reason"), text_in(*found, "message"));
    return out;
  }

  /// Until nothing is left to be sent, or `most` writes of `a` are stored, the last of which the
  /// controller does not hear of: what was to be seen after each.
  std::vector<std::string> settle(std::size_t most = 100) {
    std::vector<std::string> out;
    ClusterWorld::settle([&](const ClusterRequest& request) -> std::optional<ClusterAnswer> {
      const bool write =
          request.method != "GET" && request.path.find("/workloads/a") != std::string::npos;
      if (write && before_write) before_write(out.size());
      ClusterAnswer answer = cluster_->answer(request);
      if (write && (out.empty() || out.back() != seen())) out.push_back(seen());
      if (out.size() == most) return std::nullopt;
      return answer;
    });
    return out;
  }

  std::function<void(std::size_t stored)> before_write;
};

TEST_F(Deactivations, SayWhyBeforeTheySayThat) {
  let_time_run_out();
  const std::string end = std::string(kOff.substr(kOff.find(", Evicted")));
  const std::string target =
      ", DeactivationTarget MaximumExecutionTimeExceeded: exceeding the maximum execution time";
  EXPECT_EQ(settle(),
            (std::vector<std::string>{"active true" + end + target, "active false" + end + target,
                                      "active false" + end}));
}

TEST_F(Deactivations, GoOnWhereTheControllerBeforeDied) {
  for (const std::size_t stored : {1U, 2U, 3U}) {
    let_time_run_out();
    settle(stored);
    lead();
    settle();
    EXPECT_EQ(seen(), kOff) << "after " << stored << " writes";
    cluster_->remove(kind("Workload"), "ns/a");
  }
}

TEST_F(Deactivations, GoOnWhereSomebodyElseWroteMeanwhile) {
  for (const std::size_t at : {0U, 1U, 2U}) {
    let_time_run_out();
    bool wrote = false;
    before_write = [&](std::size_t stored) {
      if (stored != at || wrote) return;
      wrote = true;
      cluster_->change(kind("Workload"), "ns/a", [](json::object& it) {
        object_of(object_of(it, "metadata"), "annotations")["x"] = "y";
      });
    };
    settle();
    EXPECT_TRUE(wrote);
    EXPECT_EQ(seen(), kOff) << "before write " << at;
    before_write = nullptr;
    cluster_->remove(kind("Workload"), "ns/a");
  }
}

// As Kueue leaves it when it ends between its own two writes.
TEST_F(Deactivations, ThatAnotherBeganAreCarriedOut) {
  make_workload("a", "");
  cluster_->change(kind("Workload"), "ns/a", [](json::object& it) {
    array_of(object_of(it, "status"), "conditions")
        .push_back(api::make_condition("DeactivationTarget", true, "RequeuingLimitExceeded",
                                       "exceeding the maximum number of re-queuing retries", 0));
  });
  lead();
  settle();
  EXPECT_EQ(seen(), "active false");
  const json::object* reserved = find_condition(status("a"), "QuotaReserved");
  ASSERT_TRUE(reserved);
  EXPECT_EQ(text_in(*reserved, "message"),
            "The workload is deactivated due to exceeding the maximum number of re-queuing "
            "retries");
}

}  // namespace
}  // namespace sluice::host
