// HostFixture: everything below the API server, in memory: what a write goes through in the live
// host. The clock stands still unless it is moved.
#pragma once

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <memory>
#include <string>
#include <utility>

#include "api/json/json.hpp"
#include "host/machine/machine.hpp"
#include "host/store/live_store.hpp"

namespace sluice::host::test {

struct HostFixture {
  Configuration configuration;
  VirtualClock clock;
  std::unique_ptr<Rules> rules;
  api::Scheme& scheme = rules->scheme;
  LiveStore store{scheme, nullptr};
  Intake& intake = *rules->intake;
  CountingIds ids;
  Machine machine;
  Kernel& kernel = machine.kernel();
  const ObjectIndex& index = machine.index();
  ObjectWriter& objects = machine.objects();
  ControllerLoop& controllers = machine.controllers();
  const EventWriter& events = machine.events();
  Time now = *parse_time("2026-01-01T00:00:00Z");

  /// No controllers but those that a test adds.
  explicit HostFixture(EngineConfig engine = {}, EventSink* sink = nullptr)
      : HostFixture(with_engine(std::move(engine)), sink, false) {}

  /// `judges`: in place of plugins that validate; nullptr: there are none. `makes_pods`: the test
  /// adds the controllers of pods, which take their time to end.
  HostFixture(Configuration config, EventSink* sink, bool with_controllers, JobPages pages = {},
              std::function<void()> other_pages = {}, WriteValidators* judges = nullptr,
              bool makes_pods = false)
      : configuration(std::move(config)),
        rules(with_pages(clock, std::move(pages), judges)),
        machine(configuration, *rules,
                {.store = store,
                 .ids = ids,
                 .events = sink,
                 .makes_pods = makes_pods,
                 .jobs_end_later = makes_pods,
                 .other_pages = std::move(other_pages),
                 .controllers = with_controllers}) {
    machine.begin_instant(now);
    apply(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"default"}})");
  }

  static std::unique_ptr<Rules> with_pages(const PluginClock& clock, JobPages pages,
                                           WriteValidators* judges) {
    auto out = Rules::without_plugins(clock);
    if (judges) out->intake = std::make_unique<Intake>(out->scheme, judges);
    out->declare(std::move(pages));
    return out;
  }

  static Configuration with_engine(EngineConfig engine) {
    Configuration out;
    out.engine = std::move(engine);
    return out;
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
    return machine.write(request(WriteVerb::kCreate, resource, "", body));
  }
  ApiResult<WriteOutcome> merge(std::string_view resource, std::string_view name,
                                std::string_view patch, std::string_view subresource = {}) {
    WriteRequest out = request(WriteVerb::kPatch, resource, name, patch);
    out.subresource = subresource;
    return machine.write(out);
  }
  ApiResult<WriteOutcome> remove(std::string_view resource, std::string_view name,
                                 Propagation propagation = Propagation::kBackground) {
    WriteRequest out = request(WriteVerb::kDelete, resource, name);
    out.deletion.propagation = propagation;
    return machine.write(out);
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
  std::uint64_t version(std::string_view resource, std::string_view key) const {
    return store.find(kind(resource), key)->version;
  }
};

/// A ConfigMap. `more`: members of its metadata, each with a comma before it.
inline std::string config_map(const std::string& name, const std::string& more = "",
                              const std::string& ns = "default") {
  return R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" + name +
         R"(","namespace":")" + ns + "\"" + more + "}}";
}

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
