// A controller of a cluster's Secrets and ConfigMaps, which makes two writes of one chain.
// One thread: the test's.
#pragma once

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "decided.hpp"
#include "host/objects/parts.hpp"
#include "pretended_cluster.hpp"

namespace sluice::host {

inline constexpr const char* kMark = "ConfigMap";

/// Notes in a Secret that it was seen, then makes a ConfigMap that the Secret owns: two writes of
/// one chain.
class Maker final : public Controller {
 public:
  explicit Maker(const api::Scheme& scheme)
      : secrets_(*scheme.find("v1", "Secret")), maps_(*scheme.find("v1", kMark)) {}

  std::string_view name() const override { return "maker"; }
  std::vector<std::string> watches() const override { return {"/Secret", "/ConfigMap"}; }
  void changed(const ObjectChange& change, std::vector<WorkKey>& keys) override {
    if (change.kind == &secrets_) keys.push_back({&secrets_, change.key});
  }
  Result<Duration> reconcile(const WorkKey& key, ObjectAccess& objects) override {
    auto secret = objects.get(secrets_, key.name);
    if (!secret || objects.exists(maps_, key.name)) return kNever;
    boost::json::object& metadata = object_of(*secret, "metadata");
    const boost::json::object owner{{"apiVersion", "v1"},
                                    {"kind", "Secret"},
                                    {"name", metadata.at("name")},
                                    {"uid", metadata.at("uid")}};
    const boost::json::object map{{"apiVersion", "v1"},
                                  {"kind", kMark},
                                  {"metadata",
                                   {{"name", metadata.at("name")},
                                    {"namespace", metadata.at("namespace")},
                                    {"ownerReferences", boost::json::array{owner}}}}};
    object_of(metadata, "labels")["seen"] = "yes";
    if (auto done = objects.update(*secret); !done) return Error{done.error().text};
    if (auto done = objects.create(map); !done) return Error{done.error().text};
    return kNever;
  }

 private:
  const api::KindInfo& secrets_;
  const api::KindInfo& maps_;
};

class MakerWorld : public ::testing::Test {
 protected:
  MakerWorld() {
    clock_.set(1'767'225'600 * kSecond);
    auto rules = Rules::load(config_.plugins, std::vector<std::string>(), clock_);
    SLUICE_CHECK(rules, "no rules");
    rules_ = std::move(*rules);
    cluster_ = std::make_unique<PretendedCluster>(rules_->scheme);
    cluster_->create(kind("Namespace"),
                     boost::json::parse(R"({"metadata":{"name":"ns"}})").as_object());
    decided_ = std::make_unique<Decided>(config_, *rules_, clock_);
    maker_ = std::make_unique<Maker>(rules_->scheme);
    decided_->machine.controllers().add(*maker_);
    decided_->lead(cluster_->listed(rules_->scheme.kinds()));
    cluster_->told.clear();
  }

  const api::KindInfo& kind(std::string_view name) const {
    return *rules_->scheme.find("v1", name);
  }
  void hear() {
    for (; !cluster_->told.empty(); cluster_->told.pop_front())
      decided_->door.take({cluster_->told.front()});
  }
  /// Until nothing is left to be sent, a second at a time.
  void settle() {
    for (int quiet = 0; quiet < 30; ++quiet) {
      hear();
      for (const ClusterRequest& request : decided_->turn()) {
        quiet = 0;
        decided_->door.answered(cluster_->answer(request), clock_.now());
      }
      clock_.set(clock_.now() + kSecond);
    }
  }

  Configuration config_;
  VirtualClock clock_;
  std::unique_ptr<Rules> rules_;
  std::unique_ptr<PretendedCluster> cluster_;
  std::unique_ptr<Maker> maker_;
  std::unique_ptr<Decided> decided_;
};

}  // namespace sluice::host
