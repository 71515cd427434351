// HostFixture: everything below the API server, in memory: what a write goes through in the live
// host. The clock stands still unless it is moved.
#pragma once

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <string>
#include <utility>

#include "api/json/json.hpp"
#include "host/controllers/controller_loop.hpp"
#include "host/kernel/kernel.hpp"
#include "host/store/live_store.hpp"
#include "host/writes/event_writer.hpp"
#include "host/writes/ids.hpp"
#include "host/writes/object_writer.hpp"
#include "host/writes/writer.hpp"

namespace sluice::host::test {

/// Hands decisions on to whoever wants them.
class Relay final : public DecisionObserver {
 public:
  void decided(Time now, const Decision& decision) override {
    if (to) to->decided(now, decision);
  }
  DecisionObserver* to = nullptr;
};

struct HostFixture {
  EngineConfig config;
  api::Scheme scheme;
  LiveStore store{scheme, nullptr};
  Intake intake{scheme, nullptr};
  Relay observer;
  Kernel kernel{config, hooks::Hooks{}, intake, store, nullptr, observer};
  ObjectIndex index;
  CountingIds ids;
  ObjectWriter objects{kernel, index, ids};
  ControllerLoop controllers{objects, index};
  EventWriter events{objects, ids};
  Writer writer{objects};
  Time now = *parse_time("2026-01-01T00:00:00Z");

  explicit HostFixture(EngineConfig engine = {}) : config(std::move(engine)) {
    kernel.listen(&controllers);
    kernel.write_statuses();
    objects.require_namespaces();
    objects.set_event_sink(&events);
    kernel.begin_instant(now);
    apply(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"default"}})");
  }

  const api::KindInfo& kind(std::string_view name) const {
    const api::KindInfo* found = scheme.find_by_name(name);
    SLUICE_CHECK(found != nullptr, "no kind ", name);
    return *found;
  }

  WriteRequest request(WriteVerb verb, std::string_view resource, std::string_view name,
                       std::string_view body = {}) {
    WriteRequest out;
    out.verb = verb;
    out.kind = &kind(resource);
    out.version = out.kind->versions.front().name;
    if (out.kind->namespaced) out.ns = "default";
    out.name = name;
    if (!body.empty()) out.body = boost::json::parse(body);
    return out;
  }

  ApiResult<WriteOutcome> create(std::string_view resource, std::string_view body) {
    return writer.execute(request(WriteVerb::kCreate, resource, "", body));
  }
  ApiResult<WriteOutcome> merge(std::string_view resource, std::string_view name,
                                std::string_view patch, std::string_view subresource = {}) {
    WriteRequest out = request(WriteVerb::kPatch, resource, name, patch);
    out.subresource = subresource;
    return writer.execute(out);
  }
  ApiResult<WriteOutcome> remove(std::string_view resource, std::string_view name,
                                 Propagation propagation = Propagation::kBackground) {
    WriteRequest out = request(WriteVerb::kDelete, resource, name);
    out.deletion.propagation = propagation;
    return writer.execute(out);
  }

  /// A hub object by the system, which has to be accepted.
  void apply(std::string_view object) {
    const auto done =
        static_cast<ObjectAccess&>(objects).create(boost::json::parse(object).get_object());
    SLUICE_CHECK(done.ok(), done.ok() ? "" : done.error().text);
  }

  bool exists(std::string_view resource, std::string_view key) {
    return kernel.exists(kind(resource), key);
  }
  boost::json::object get(std::string_view resource, std::string_view key) {
    return kernel.current(kind(resource), key);
  }
};

/// `metadata.generation` and such, as text.
inline std::string at(const boost::json::object& object, std::string_view pointer) {
  boost::json::value value(object);
  boost::system::error_code code;
  const auto* found = value.find_pointer({pointer.data(), pointer.size()}, code);
  if (!found) return "(absent)";
  return found->is_string() ? std::string(api::view(found->get_string()))
                            : boost::json::serialize(*found);
}

}  // namespace sluice::host::test
