// Binder: gives each pod without a node one that suits it: node selector, required affinity,
// taints, and room for what it requests beside the pods that are there.
//
// A pod has its node when its condition PodScheduled says so. One that names a node itself waits
// like all others, for room on that one: what its owner writes takes nothing from others.
//
// Pods are served in order of priority, which is that of their PriorityClass; of equal ones first
// those of the namespace that has the fewest pods on nodes, so that nobody keeps others waiting by
// many pods that ask for nothing; then in order of age and UID. Of the nodes that suit, the one
// with the smallest share of cpu and memory in use afterwards is taken, the first by name among
// equals. The same objects give the same nodes. It keeps the pods and nodes that were announced to
// it; at start all of them are announced again. Belongs to the kernel's thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/types/pod.hpp"
#include "host/objects/controller.hpp"

namespace sluice::host {

class Binder final : public Controller {
 public:
  std::string_view name() const override { return "binder"; }
  std::vector<std::string> watches() const override { return {"/Pod", "/Node"}; }
  void changed(const ObjectChange& change, std::vector<WorkKey>& keys) override;
  bool loads_apart() const override { return true; }
  Result<Time> reconcile(const WorkKey& key, ObjectAccess& objects) override;

 private:
  struct Node {
    api::LabelMap labels;
    std::vector<api::Taint> taints;
    std::map<std::string, std::int64_t, std::less<>> capacity;  // engine's units
    std::map<std::string, std::int64_t, std::less<>> used;
    bool closed = false;  // cordoned
  };
  struct Pod {
    std::string node;  // empty: none yet
    std::string wish;  // the only one that it takes; empty: any
    std::string priority_class;
    std::shared_ptr<const api::PodTemplate> needs;
    bool gated = false;
    std::string told_reason;  // why it waits, as its status says since this host looked
  };
  using Place = std::tuple<Time, std::string, std::string>;  // creation, UID, key

  void node_changed(const ObjectChange& change);
  bool pod_changed(const ObjectChange& change);
  bool status_changed(const ObjectChange& change);
  void forget(const std::string& key);
  void put(const std::string& key, Pod pod);
  void use(const Pod& pod, std::int64_t sign);
  ApiResult<void> serve(const std::string& key, ObjectAccess& objects);
  std::optional<Error> serve_equals(std::span<const Place> waiting, ObjectAccess& objects);
  ApiResult<void> place(const std::string& key, const Pod& pod, ObjectAccess& objects);
  static std::string unfit(const Node& node, const api::PodTemplate& needs);
  double load_with(const Node& node, const api::PodTemplate& needs) const;
  ApiResult<void> bind(const std::string& key, const std::string& node, ObjectAccess& objects);
  ApiResult<void> say_why(const std::string& key, std::string_view reason,
                          const std::string& message, ObjectAccess& objects);

  std::map<std::string, Node> nodes_;
  std::map<std::string, Pod> pods_;      // those that count: bound and running, or waiting
  std::map<std::string, Place> places_;  // of waiting pods
  std::set<Place> waiting_;
  std::map<std::string, std::int64_t, std::less<>> bound_;  // pods on nodes, by namespace
};

}  // namespace sluice::host
