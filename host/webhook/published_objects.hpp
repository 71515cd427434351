// PublishedObjects, PublishedPort: what controllers' rules and plugins read during the review of an
// object that an API server stores: a LiveStore's published view. Nothing can be changed by them.
//
// Any thread may hold one; each belongs to one at a time. What is asked is read from the store
// anew each time.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/objects/object_access.hpp"
#include "host/plugins/clock.hpp"
#include "host/plugins/object_port.hpp"
#include "host/store/live_store.hpp"

namespace sluice::host {

class PublishedObjects final : public ObjectAccess {
 public:
  /// All must outlive it.
  PublishedObjects(const LiveStore& store, const api::Scheme& scheme, const PluginClock& clock)
      : store_(store), scheme_(scheme), clock_(clock) {}

  const api::Scheme& scheme() const override { return scheme_; }
  std::optional<boost::json::object> get(const api::KindInfo& kind,
                                         std::string_view key) const override;
  bool exists(const api::KindInfo& kind, std::string_view key) const override {
    return store_.get(kind, key) != nullptr;
  }
  Time now() const override { return clock_.now(); }
  std::vector<std::string> keys(const api::KindInfo& kind, std::string_view ns) const override;
  /// Of workloads. O(those of the namespace).
  std::vector<ObjectRef> owned_by(std::string_view uid, std::string_view ns) const override;

  // Refused.
  ApiResult<void> create(boost::json::object object) override;
  ApiResult<void> update(boost::json::object object) override;
  ApiResult<void> update_status(const api::KindInfo& kind, std::string_view key,
                                boost::json::object status) override;
  ApiResult<void> remove(const api::KindInfo& kind, std::string_view key, Propagation propagation,
                         std::optional<std::int64_t> grace_seconds) override;
  void emit(EventNote) override {}
  ApiResult<void> report_check(std::string_view key,
                               const api::AdmissionCheckState& check) override;
  void tell_ended(std::string_view) override {}
  ApiResult<void> finish_workload(std::string_view key, std::string_view reason,
                                  std::string_view message) override;

 private:
  const LiveStore& store_;
  const api::Scheme& scheme_;
  const PluginClock& clock_;
};

class PublishedPort final : public ObjectPort {
 public:
  /// Both must outlive it.
  PublishedPort(const LiveStore& store, const api::Scheme& scheme)
      : store_(store), scheme_(scheme) {}

  PortAnswer get(const PluginObjectRef& ref) const override;
  PortAnswer list(const PluginObjectRef& ref, std::string_view selector) const override;
  /// What a plugin remembers is in the process that decides; here there is none.
  PortAnswer state(const std::string& plugin, std::string_view key) const override;
  std::vector<std::string> state_keys(const std::string&, std::string_view) const override {
    return {};
  }

  // Nothing is written.
  void begin(const std::string&) override {}
  void commit() override {}
  void drop() override {}
  PortAnswer create(std::string_view object) override;
  PortAnswer update(std::string_view object, std::string_view subresource) override;
  PortAnswer patch(const PluginObjectRef& ref, std::string_view subresource,
                   std::string_view merge) override;
  PortAnswer remove(const PluginObjectRef& ref, std::string_view uid) override;
  PortAnswer release_claim(const PluginObjectRef& workload) override;
  PortAnswer set_state(std::string_view key, std::string_view value) override;
  void remove_state(std::string_view) override {}

 private:
  PortAnswer show(const StoredObject& stored, std::string_view api_version) const;

  const LiveStore& store_;
  const api::Scheme& scheme_;
};

}  // namespace sluice::host
