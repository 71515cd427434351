#include <sluice/testing.hpp>

using namespace sluice::testing;
using sluice::Json;

FakeWrite approval_by(const char* user, const char* by = "nobody") {
  Json object = Json::parse(
      R"({"apiVersion":"approvals.example.com/v1","kind":"Approval",
          "metadata":{"namespace":"team-a","name":"ok"},
          "spec":{"workload":"train","verdict":"Approve","reason":"budget agreed"}})");
  object["spec"]["by"] = by;
  return {
      sluice::Operation::kCreate, "approvals.example.com/v1", "Approval", object.dump(), "", user};
}

SLUICE_TEST(who_approves_is_written_by_the_host) {
  FakeHost host;
  TestedPlugin plugin(host);
  const auto made = plugin.set_defaults(approval_by("ann", "the director"));
  SLUICE_EXPECT_EQ(Json::parse(*made).string_or("spec.by", ""), "ann");
}

SLUICE_TEST(nobody_approves_his_own_and_none_is_changed) {
  FakeHost host;
  TestedPlugin plugin(host);
  FakeWorkload own("team-a", "train");
  own.annotation("sluice.dev/created-by", "bob");
  host.objects().put(Json::parse(own.json()));
  SLUICE_EXPECT(plugin.validate(approval_by("ann")).empty());
  const auto errors = plugin.validate(approval_by("bob"));
  SLUICE_EXPECT_EQ(errors.size(), 1u);
  SLUICE_EXPECT_EQ(errors.at(0).path, "spec.workload");
  FakeWrite changed = approval_by("ann", "ann");
  changed.operation = sluice::Operation::kUpdate;
  changed.old = approval_by("ann", "bob").object;
  SLUICE_EXPECT_EQ(plugin.validate(changed).size(), 1u);
}

SLUICE_TEST(a_workload_waits_until_somebody_gives_his_word) {
  FakeHost host;
  TestedPlugin plugin(host);
  const FakeWorkload train("team-a", "train"), other("team-a", "other");
  plugin.begin_check(train);
  plugin.begin_check(other);
  SLUICE_EXPECT_EQ(host.state_of("team-a/train", "check"), "Pending");
  host.objects().put(Json::parse(approval_by("ann", "ann").object));
  plugin.reconcile({"approvals.example.com/v1", "Approval", "team-a", "ok"});
  SLUICE_EXPECT_EQ(host.state_of("team-a/train", "check"), "Ready");
  SLUICE_EXPECT_EQ(host.reports().back().message, "approved by ann: budget agreed");
  SLUICE_EXPECT_EQ(host.state_of("team-a/other", "check"), "Pending");
  // A next attempt finds it at once.
  plugin.begin_check(train, {"check", "{}", 2, 0});
  SLUICE_EXPECT_EQ(host.state_of("team-a/train", "check"), "Ready");
}

SLUICE_TEST(what_runs_stays_approved_without_its_approval) {
  FakeHost host;
  TestedPlugin plugin(host);
  FakeWorkload train("team-a", "train");
  train.check_states["check"] = "Ready";
  plugin.begin_check(train);
  SLUICE_EXPECT(host.reports().empty());
}

SLUICE_TEST_MAIN()
