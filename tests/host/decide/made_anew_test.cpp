// What is deleted and made anew under the same name, and when a controller hears that the old one
// is gone.
#include "cluster_world.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

/// Keeps a ConfigMap of each Secret's name, with the Secret's label `v`; for another `v` it notes
/// in the Secret that it was seen, and makes another ConfigMap.
class Renewer final : public Controller {
 public:
  explicit Renewer(const api::Scheme& scheme)
      : secrets_(*scheme.find("v1", "Secret")), maps_(*scheme.find("v1", "ConfigMap")) {}

  std::string_view name() const override { return "renewer"; }
  std::vector<std::string> watches() const override { return {"/Secret", "/ConfigMap"}; }
  void changed(const ObjectChange& change, std::vector<WorkKey>& keys) override {
    keys.push_back({&secrets_, change.key});
  }
  Result<Duration> reconcile(const WorkKey& key, ObjectAccess& objects) override {
    const auto secret = objects.get(secrets_, key.name);
    const auto map = objects.get(maps_, key.name);
    if (!secret || (map && label_of(*map) == label_of(*secret))) return kNever;
    const json::object& metadata = part(*secret, "metadata");
    const json::object owner{{"apiVersion", "v1"},
                             {"kind", "Secret"},
                             {"name", metadata.at("name")},
                             {"uid", metadata.at("uid")}};
    const json::object made{{"apiVersion", "v1"},
                            {"kind", "ConfigMap"},
                            {"metadata",
                             {{"name", metadata.at("name")},
                              {"namespace", metadata.at("namespace")},
                              {"labels", {{"v", label_of(*secret)}}},
                              {"ownerReferences", json::array{owner}}}}};
    if (map) static_cast<void>(objects.remove(maps_, key.name));
    static_cast<void>(objects.create(made));
    return kNever;
  }

  static std::string label_of(const json::object& object) {
    return std::string(api::find_text(part(part(object, "metadata"), "labels"), "v"));
  }

 private:
  const api::KindInfo& secrets_;
  const api::KindInfo& maps_;
};

class MadeAnew : public ClusterWorld {
 protected:
  MadeAnew() {
    make("Secret", R"({"metadata":{"name":"s","namespace":"ns","labels":{"v":"1"}}})");
    lead(&renewer_);
    ClusterWorld::settle();
  }
  ~MadeAnew() override { decided_.reset(); }

  /// The Secret says 2 now: the first of the requests that follow.
  ClusterRequest renew() {
    cluster_->change(kind("Secret"), "ns/s", [](json::object& secret) {
      object_of(object_of(secret, "metadata"), "labels")["v"] = "2";
    });
    hear();
    const std::vector<ClusterRequest> sent = decided_->turn();
    SLUICE_CHECK(sent.size() == 1, sent.size(), " requests");
    return sent.front();
  }
  std::string map() {
    const json::object* found = cluster_->find(kind("ConfigMap"), "ns/s");
    return found ? Renewer::label_of(*found) : "(absent)";
  }

  Renewer renewer_{rules_->scheme};
};

TEST_F(MadeAnew, ItsDeletionIsHeardBeforeItIsAnswered) {
  ASSERT_EQ(map(), "1");
  const ClusterRequest request = renew();
  ASSERT_EQ(request.method, "DELETE");
  const ClusterAnswer answer = cluster_->answer(request);
  hear();
  decided_->door.answered(answer, clock_.now());
  settle();
  EXPECT_EQ(map(), "2");
}

TEST_F(MadeAnew, ItsDeletionIsHeardAfterItIsAnswered) {
  const ClusterAnswer answer = cluster_->answer(renew());
  decided_->door.answered(answer, clock_.now());
  hear();
  settle();
  EXPECT_EQ(map(), "2");
}

// Only that, so nobody hears of anything else of it.
TEST_F(MadeAnew, ItsDeletionIsHeardWhenItsAnswerWasLost) {
  ClusterAnswer answer = cluster_->answer(renew());
  answer.status = 500;
  decided_->door.answered(answer, clock_.now());
  hear();
  settle();
  EXPECT_EQ(map(), "2");
}

}  // namespace
}  // namespace sluice::host
