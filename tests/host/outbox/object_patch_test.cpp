#include "host/outbox/object_patch.hpp"

#include <boost/json/serialize.hpp>

#include "outbox_fixture.hpp"

namespace sluice::host {
namespace {

struct ObjectPatchTest : OutboxFixture, ::testing::Test {};

TEST_F(ObjectPatchTest, MetadataOfTheServerIsNotSaid) {
  StoredObject before = job("j", true);
  StoredObject after = before;
  before.metadata = Header(R"({"name":"j","generation":1,"labels":{"a":"1"}})");
  after.metadata = Header(R"({"name":"j","generation":2,"labels":{"a":"2"}})");
  EXPECT_EQ(boost::json::serialize(main_patch(before, after)),
            R"({"metadata":{"labels":{"a":"2"}}})");
}

TEST_F(ObjectPatchTest, WhatIsMadeHasNoIdentityYet) {
  StoredObject made = workload("w");
  made.metadata =
      Header(R"({"name":"w","namespace":"ns","uid":"u","creationTimestamp":"2026-01-01T00:00:00Z",)"
             R"("generation":1,"ownerReferences":[{"uid":"o"}]})");
  const ClusterRequest request = create_request(made);
  EXPECT_EQ(request.path,
            "/apis/kueue.x-k8s.io/v1beta2/namespaces/ns/workloads?fieldManager=sluice"
            "&fieldValidation=Ignore");
  EXPECT_EQ(request.body,
            R"({"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"Workload","metadata":{"name":"w",)"
            R"("namespace":"ns","ownerReferences":[{"uid":"o"}]},"spec":{}})");
}

TEST_F(ObjectPatchTest, ADeletionNamesTheVeryObject) {
  const ClusterRequest request = delete_request(job("j", true));
  EXPECT_EQ(request.path, "/apis/batch/v1/namespaces/ns/jobs/j");
  EXPECT_NE(request.body.find(R"("preconditions":{"uid":"uid-j"})"), std::string::npos);
}

// By the name under which Kueue does it: what another name owns stays when Kueue leaves it out.
TEST_F(ObjectPatchTest, AnAdmissionIsAppliedAsKueueDoes) {
  StoredObject before = workload("w"), after = before;
  before.status = R"({"conditions":[{"type":"QuotaReserved","status":"False"}],"x":{"n":1}})";
  after.status = R"({"conditions":[{"type":"QuotaReserved","status":"True"}],"x":{"n":1},)"
                 R"("admission":{"clusterQueue":"q"}})";
  const auto request = admission_request(before, 7, after);
  EXPECT_EQ(request.path,
            "/apis/kueue.x-k8s.io/v1beta2/namespaces/ns/workloads/w/status"
            "?fieldManager=kueue-admission&force=true&fieldValidation=Ignore");
  EXPECT_EQ(request.content_type, "application/apply-patch+yaml");
  const auto body = boost::json::parse(request.body);
  EXPECT_EQ(body.at("status"), boost::json::parse(after.status)) << "what is left out would go";
  EXPECT_EQ(body.at("metadata").at("resourceVersion"), "7");
  EXPECT_EQ(body.at("metadata").at("uid"), "uid-w");
}

TEST_F(ObjectPatchTest, WhatGoesOfAStatus) {
  StoredObject before = workload("w"), after = before;
  before.status =
      R"({"requeueState":{"count":1,"requeueAt":"2026-01-01T00:00:00Z"},"a":{"b":1},"c":1})";
  after.status = R"({"requeueState":{"count":2},"a":{"b":2},"d":1})";
  EXPECT_EQ(boost::json::serialize(removals_in(status_patch(before, after))),
            R"({"status":{"requeueState":{"requeueAt":null},"c":null}})");
}

}  // namespace
}  // namespace sluice::host
