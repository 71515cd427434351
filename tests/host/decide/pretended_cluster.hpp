// An API server for tests: objects with versions, requests that are answered as a real one answers
// them, and what its watches tell. Beside it somebody who runs jobs.
// One thread: the test's.
#pragma once

#include <boost/json/object.hpp>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/scheme/scheme.hpp"
#include "host/decide/cluster_mail.hpp"
#include "host/kube/sender.hpp"

namespace sluice::host {

class PretendedCluster {
 public:
  explicit PretendedCluster(const api::Scheme& scheme) : scheme_(scheme) {}

  /// Carries the request out.
  ClusterAnswer answer(const ClusterRequest& request);

  /// Somebody else writes.
  void create(const api::KindInfo& kind, boost::json::object object);
  void change(const api::KindInfo& kind, const std::string& key,
              const std::function<void(boost::json::object&)>& edit);
  void remove(const api::KindInfo& kind, const std::string& key);

  using Objects = std::map<std::string, boost::json::object>;  // by key
  const Objects& all(const api::KindInfo& kind) { return objects_[&kind]; }
  const boost::json::object* find(const api::KindInfo& kind, const std::string& key);

  /// What a list says now, as letters; …
  std::vector<Letter> listed(const std::vector<const api::KindInfo*>& kinds);
  /// … and what watches said since, oldest first, which a test takes when it likes.
  std::deque<Letter> told;

  /// Called before a write takes effect, with the object as it will be.
  std::function<void(const api::KindInfo&, const std::string& key, const boost::json::object&)>
      witness;

 private:
  struct Named {
    const api::KindInfo* kind = nullptr;
    std::string key;  // of a collection: its namespace
    bool status = false;
  };
  Named named(std::string_view path) const;
  void put(const api::KindInfo& kind, const std::string& key, boost::json::object object);
  ClusterAnswer patched(const Named& at, const std::string& body);
  ClusterAnswer created(const Named& at, const std::string& body);
  ClusterAnswer deleted(const Named& at);

  const api::Scheme& scheme_;
  std::map<const api::KindInfo*, Objects> objects_;
  std::uint64_t version_ = 100;
  std::uint64_t uids_ = 0;
};

}  // namespace sluice::host
