// A controller of a cluster's Secrets and ConfigMaps, which makes two writes of one chain.
// One thread: the test's.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cluster_world.hpp"
#include "host/objects/parts.hpp"

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

class MakerWorld : public ClusterWorld {
 protected:
  MakerWorld() { lead(&maker_); }
  ~MakerWorld() override { decided_.reset(); }  // which has the maker

  Maker maker_{rules_->scheme};
};

}  // namespace sluice::host
