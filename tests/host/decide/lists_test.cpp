// What a list says beside what is known already: it may be older than an answer that came while it
// was on its way, and the cluster may have gone back to an earlier state.
#include <boost/json/serialize.hpp>

#include "maker_world.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

class Lists : public MakerWorld {
 protected:
  void create(const char* name, std::string_view text) {
    cluster_->create(kind(name), json::parse(text).as_object());
    hear();
  }
  std::vector<Letter> list(const char* name) { return cluster_->listed({&kind(name)}); }
  bool has(const char* name, const char* key) const {
    return decided_->objects.find(kind(name), key) != nullptr;
  }
  std::string label(const char* name, const char* key) const {
    const StoredObject* found = decided_->objects.find(kind(name), key);
    return found ? std::string(
                       api::find_text(part(part(to_object(*found), "metadata"), "labels"), "v"))
                 : "none";
  }
};

// The list was made, then the ConfigMap was created and that was answered, and then the list came.
TEST_F(Lists, WhatWasMadeAfterwardsIsNotGone) {
  create("Secret", R"({"metadata":{"name":"s","namespace":"ns"}})");
  auto sent = decided_->turn();
  ASSERT_EQ(sent.size(), 1U);
  decided_->door.answered(cluster_->answer(sent.front()), clock_.now());
  sent = decided_->turn();
  ASSERT_EQ(sent.size(), 1U);
  ASSERT_EQ(sent.front().method, "POST");
  auto on_its_way = list(kMark);
  decided_->door.answered(cluster_->answer(sent.front()), clock_.now());
  ASSERT_TRUE(has(kMark, "ns/s"));
  decided_->door.take(std::move(on_its_way));
  EXPECT_TRUE(has(kMark, "ns/s"));
  cluster_->told.clear();
  cluster_->remove(kind(kMark), "ns/s");
  decided_->door.take(list(kMark));
  EXPECT_FALSE(has(kMark, "ns/s")) << "this one was made later";
}

// Version 2 of the ConfigMap and another one were made after the state to which it went back.
TEST_F(Lists, WhatTheClusterWentBackToIsHowItIs) {
  create(kMark, R"({"metadata":{"name":"a","namespace":"ns","labels":{"v":"1"}}})");
  auto earlier = list(kMark);
  cluster_->change(kind(kMark), "ns/a", [](json::object& object) {
    object["metadata"].as_object()["labels"] = {{"v", "2"}};
  });
  create(kMark, R"({"metadata":{"name":"b","namespace":"ns"}})");
  ASSERT_EQ(label(kMark, "ns/a"), "2");
  decided_->door.take(std::move(earlier));
  EXPECT_EQ(label(kMark, "ns/a"), "1");
  EXPECT_FALSE(has(kMark, "ns/b"));
}

// A write that rests on a version the cluster does not have any more is refused, and the object is
// read: what is read counts, and the next write rests on it.
TEST_F(Lists, WhatIsReadIsHowItIs) {
  create("Secret", R"({"metadata":{"name":"s","namespace":"ns"}})");
  auto sent = decided_->turn();
  ASSERT_EQ(sent.size(), 1U);
  decided_->door.answered({.id = sent.front().id, .status = 409}, clock_.now());
  clock_.set(clock_.now() + 60 * kSecond);
  sent = decided_->turn();
  ASSERT_EQ(sent.size(), 1U);
  ASSERT_EQ(sent.front().method, "GET");
  json::object back = *cluster_->find(kind("Secret"), "ns/s");
  back["metadata"].as_object()["resourceVersion"] = "5";
  decided_->door.answered({.id = sent.front().id, .status = 200, .body = json::serialize(back)},
                          clock_.now());
  sent = decided_->turn();
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_NE(sent.front().body.find(R"("resourceVersion":"5")"), std::string::npos)
      << sent.front().body;
}

}  // namespace
}  // namespace sluice::host
