// A cluster, and a controller over it: what is there, what it hears, and what it is answered.
// One thread: the test's.
#pragma once

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "decided.hpp"
#include "pretended_cluster.hpp"

namespace sluice::host {

class ClusterWorld : public ::testing::Test {
 protected:
  ClusterWorld() {
    clock_.set(1'767'225'600 * kSecond);
    auto rules = Rules::load(config_.plugins, std::vector<std::string>(), clock_);
    SLUICE_CHECK(rules, "no rules");
    rules_ = std::move(*rules);
    cluster_ = std::make_unique<PretendedCluster>(rules_->scheme);
    make("Namespace", R"({"metadata":{"name":"ns"}})");
  }

  const api::KindInfo& kind(std::string_view name) const {
    return *rules_->scheme.find_by_name(name);
  }
  void make(std::string_view of, const std::string& text) {
    cluster_->create(kind(of), boost::json::parse(text).as_object());
  }
  /// A controller that begins with what is there, and the test's own controller in it.
  void lead(Controller* with = nullptr) {
    decided_.reset();
    decided_ = std::make_unique<Decided>(config_, *rules_, clock_);
    if (with) decided_->machine.controllers().add(*with);
    decided_->lead(cluster_->listed(rules_->scheme.kinds()));
    cluster_->told.clear();
  }
  void hear() {
    for (; !cluster_->told.empty(); cluster_->told.pop_front())
      decided_->door.take({cluster_->told.front()});
  }
  /// Until nothing is left to be sent, a second at a time. `answer` has each request; nullopt: the
  /// controller hears of nothing more.
  void settle(const std::function<std::optional<ClusterAnswer>(const ClusterRequest&)>& answer) {
    for (int quiet = 0; quiet < 30; ++quiet) {
      hear();
      for (const ClusterRequest& request : decided_->turn()) {
        quiet = 0;
        const auto answered = answer(request);
        if (!answered) return;
        decided_->door.answered(*answered, clock_.now());
      }
      clock_.set(clock_.now() + kSecond);
    }
  }
  void settle() {
    settle([this](const ClusterRequest& request) { return cluster_->answer(request); });
  }

  Configuration config_;
  VirtualClock clock_;
  std::unique_ptr<Rules> rules_;
  std::unique_ptr<PretendedCluster> cluster_;
  std::unique_ptr<Decided> decided_;
};

}  // namespace sluice::host
