// What was to be made when its chain was forgotten is made all the same.
#include "maker_world.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

using ForgottenChains = MakerWorld;

// The write of the Secret is carried out and said to have failed; then a watch shows it, as it was
// written. Nobody else wrote, but that cannot be told: the chain is forgotten, and with it the
// ConfigMap that was to follow. The Secret is as the machine knows it; its controller has to hear
// of it all the same.
TEST_F(ForgottenChains, WhatWasToBeMadeIsMadeWhenTheRestIsAsItWas) {
  cluster_->create(kind("Secret"),
                   json::parse(R"({"metadata":{"name":"s","namespace":"ns"}})").as_object());
  hear();
  const std::vector<ClusterRequest> sent = decided_->turn();
  ASSERT_EQ(sent.size(), 1U);
  ClusterAnswer answer = cluster_->answer(sent.front());
  ASSERT_EQ(answer.status, 200);
  answer.status = 500;
  decided_->door.answered(answer, clock_.now());
  settle();
  EXPECT_NE(cluster_->find(kind(kMark), "ns/s"), nullptr);
}

}  // namespace
}  // namespace sluice::host
