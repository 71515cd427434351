#include "host/serve/world.hpp"

#include <utility>

#include "host/base/log.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

// Namespaces that every host has, as clients of Kubernetes expect.
constexpr std::string_view kNamespaces[] = {"default", "kube-system"};

}  // namespace

Result<std::unique_ptr<World>> World::make(const Configuration& config, const PluginClock& clock) {
  std::unique_ptr<World> world(new World(config, clock));
  auto plugins =
      PluginRuntime::load(config.plugins.directory, chosen_plugins(config.plugins, std::nullopt),
                          clock, world->scheme_);
  if (!plugins) return plugins.error();
  world->plugins_ = std::move(*plugins);
  return world;
}

World::~World() { stop(); }

Result<void> World::open(std::unique_ptr<Journal> journal) {
  store_ = std::make_unique<LiveStore>(scheme_, std::move(journal));
  if (const std::string failure = store_->failure(); !failure.empty()) return Error{failure};
  build();
  kernel_->begin_instant(clock_.now());
  Workers workers(config_.engine.threads);
  kernel_->load(workers);
  control_->start();
  return make_first_objects();
}

void World::build() {
  intake_ = std::make_unique<Intake>(scheme_, plugins_.get());
  kernel_ = std::make_unique<Kernel>(config_.engine, plugins_->hooks(), *intake_, *store_,
                                     plugins_.get(), decisions_);
  objects_ = std::make_unique<ObjectWriter>(*kernel_, index_, ids_);
  objects_->require_namespaces();
  events_ = std::make_unique<EventWriter>(*objects_, ids_);
  objects_->set_event_sink(events_.get());
  controllers_ = std::make_unique<ControllerLoop>(*objects_, index_);
  kernel_->listen(controllers_.get());
  kernel_->write_statuses();
  control_ = std::make_unique<ControlLoop>(*kernel_, *objects_, *store_, clock_);
}

Result<void> World::make_first_objects() {
  return control_->run_and_wait([this](ObjectAccess& objects) {
    const api::KindInfo* kind = scheme_.find("v1", "Namespace");
    for (const auto name : kNamespaces) {
      if (objects.exists(*kind, name)) continue;
      const auto made = objects.create(
          json::object{{"apiVersion", "v1"},
                       {"kind", "Namespace"},
                       {"metadata", json::object{{"name", json::string_view(name)}}}});
      if (!made)
        log(LogLevel::kError, "store", made.error().text, {{"namespace", std::string(name)}});
    }
  });
}

void World::stop() {
  if (control_) control_->stop();
}

}  // namespace sluice::host
