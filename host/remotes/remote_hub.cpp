#include "host/remotes/remote_hub.hpp"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <boost/json.hpp>
#include <chrono>

#include "api/json/json.hpp"
#include "host/client/client.hpp"
#include "host/objects/object_key.hpp"
#include "host/objects/parts.hpp"
#include "host/rest/selectors.hpp"
#include "sluice/svc/remotes.h"

namespace sluice::host {
namespace {

namespace json = boost::json;

PortAnswer not_found(std::string text) { return {SLUICE_OBJECTS_NOT_FOUND, std::move(text)}; }
PortAnswer invalid(std::string text) { return {SLUICE_OBJECTS_INVALID, std::move(text)}; }

PortAnswer unknown_remote(std::string_view remote) {
  return not_found("there is no remote " + std::string(remote));
}

PortAnswer not_followed(std::string_view remote, std::string_view api_version,
                        std::string_view kind) {
  return invalid(fmt::format("{} of {} is not followed at remote {}", kind, api_version, remote));
}

std::string_view verb_name(RemoteVerb verb) {
  constexpr std::string_view kNames[] = {"create", "patch", "erase"};
  return kNames[static_cast<std::size_t>(verb)];
}

std::string text_of(const json::object& object) {
  std::string out;
  api::append_json(object, out);
  return out;
}

std::vector<ApiResource> answered_only(const api::Scheme& scheme) {
  std::vector<ApiResource> out = served_resources(scheme);
  out.push_back(explained_resource());
  std::erase_if(out, [](const ApiResource& each) {
    return each.info != nullptr ||
           (each.subresources.empty() &&
            std::find(each.verbs.begin(), each.verbs.end(), "create") == each.verbs.end());
  });
  return out;
}

constexpr Duration kLongestRest = 3600 * kSecond;

}  // namespace

RemoteHub::RemoteHub(const api::Scheme& scheme, const PluginClock& clock,
                     std::function<void()> changed, RemoteLimits limits)
    : scheme_(scheme),
      answered_only_(answered_only(scheme)),
      clock_(clock),
      changed_(std::move(changed)),
      limits_(limits) {}

void RemoteHub::start() {
  thread_ = std::thread([this] { keep(); });
}

void RemoteHub::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
  std::map<Name, std::shared_ptr<Remote>> remotes;
  std::vector<std::shared_ptr<Remote>> ending;
  {
    const std::lock_guard lock(mutex_);
    remotes.swap(remotes_);
    ending.swap(ending_);
    held_.clear();
    sealed_.clear();
  }
  for (const auto& [name, remote] : remotes) remote->close();
  for (const auto& remote : ending) remote->close();
}

void RemoteHub::keep() {
  pthread_setname_np(pthread_self(), "remotes");
  for (;;) {
    const Duration next = tend_all();
    std::unique_lock lock(mutex_);
    const Duration rest = std::clamp<Duration>(next - clock_.steady(), 0, kLongestRest);
    wake_.wait_for(lock, std::chrono::nanoseconds(rest), [this] { return woken_ || stopping_; });
    woken_ = false;
    if (stopping_) return;
  }
}

Duration RemoteHub::tend_all() {
  std::vector<std::shared_ptr<Remote>> remotes, ending;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, remote] : remotes_) remotes.push_back(remote);
    ending.swap(ending_);
  }
  for (const auto& remote : ending) remote->close();
  Duration next = clock_.steady() + kLongestRest;
  for (const auto& remote : remotes) next = std::min(next, remote->tend(clock_.steady()));
  return next;
}

void RemoteHub::tend_soon() {
  {
    const std::lock_guard lock(mutex_);
    woken_ = true;
  }
  wake_.notify_all();
}

std::shared_ptr<Remote> RemoteHub::find(const std::string& plugin, std::string_view remote) const {
  const std::lock_guard lock(mutex_);
  const auto it = remotes_.find({plugin, std::string(remote)});
  return it == remotes_.end() ? nullptr : it->second;
}

PortAnswer RemoteHub::set(const std::string& plugin, std::string_view remote,
                          std::string_view text) {
  auto spec = parse_remote_spec(text, scheme_);
  if (!spec) return invalid(spec.error().text);
  const Name name{plugin, std::string(remote)};
  {
    const std::lock_guard lock(mutex_);
    const auto present = remotes_.find(name);
    if (present != remotes_.end() && present->second->spec() == *spec) return {};
    if (present == remotes_.end() && remotes_.size() >= limits_.remotes)
      return invalid(
          fmt::format("there are {} remotes already, which is the limit", limits_.remotes));
    if (present != remotes_.end()) ending_.push_back(std::move(present->second));
    Remote::Around around{[this] { return clock_.now(); }, changed_, [this] { tend_soon(); }};
    remotes_[name] = std::make_shared<Remote>(name.first, name.second, std::move(*spec), limits_,
                                              std::move(around));
  }
  tend_soon();
  return {};
}

void RemoteHub::remove(const std::string& plugin, std::string_view remote) {
  {
    const std::lock_guard lock(mutex_);
    const auto it = remotes_.find({plugin, std::string(remote)});
    if (it == remotes_.end()) return;
    ending_.push_back(std::move(it->second));
    remotes_.erase(it);
    ended_[plugin].emplace_back(remote);
  }
  tend_soon();
  changed_();
}

PortAnswer RemoteHub::state(const std::string& plugin, std::string_view remote) const {
  const auto found = find(plugin, remote);
  if (!found) return unknown_remote(remote);
  const RemoteHealth health = found->health();
  return {SLUICE_OBJECTS_OK, text_of({{"connected", health.connected},
                                      {"since", health.since},
                                      {"synced", health.synced},
                                      {"problem", health.problem.what},
                                      {"message", health.problem.message},
                                      {"objects", health.objects},
                                      {"writes", health.outstanding}})};
}

PortAnswer RemoteHub::get(const std::string& plugin, std::string_view remote,
                          const PluginObjectRef& ref) const {
  const auto found = find(plugin, remote);
  if (!found) return unknown_remote(remote);
  const RemoteKind* kind = found->kind_of(ref.api_version, ref.kind);
  if (!kind) return not_followed(remote, ref.api_version, ref.kind);
  auto object = found->get({kind->kind, join_key(ref.ns, ref.name)});
  if (!object)
    return not_found(fmt::format("{} {} not found", ref.kind, join_key(ref.ns, ref.name)));
  return {SLUICE_OBJECTS_OK, std::move(*object)};
}

PortAnswer RemoteHub::list(const std::string& plugin, std::string_view remote,
                           const PluginObjectRef& ref, std::string_view selector) const {
  const auto found = find(plugin, remote);
  if (!found) return unknown_remote(remote);
  const RemoteKind* kind = found->kind_of(ref.api_version, ref.kind);
  if (!kind) return not_followed(remote, ref.api_version, ref.kind);
  const auto labels = LabelQuery::parse(selector);
  if (!labels) return invalid(labels.error().text);
  return {SLUICE_OBJECTS_OK, found->list(*kind->kind, ref.ns, *labels)};
}

PortAnswer RemoteHub::writing(const std::string& plugin, std::string_view remote,
                              const PluginObjectRef& ref) const {
  const auto found = find(plugin, remote);
  if (!found) return unknown_remote(remote);
  const RemoteKind* kind = found->kind_of(ref.api_version, ref.kind);
  if (!kind) return not_followed(remote, ref.api_version, ref.kind);
  const auto state = found->writing({kind->kind, join_key(ref.ns, ref.name)});
  if (!state) return not_found("no write to it is under way");
  return {SLUICE_OBJECTS_OK, text_of({{"verb", api::json_view(verb_name(state->verb))},
                                      {"state", state->failed ? "failed" : "waiting"},
                                      {"code", state->code},
                                      {"message", state->message}})};
}

PortAnswer RemoteHub::check(const std::string& plugin, RemoteWrite& write, std::size_t more) const {
  const auto found = find(plugin, write.remote);
  if (!found) return unknown_remote(write.remote);
  if (write.verb != RemoteVerb::kErase) {
    boost::system::error_code code;
    const json::value body = api::parse_deep(write.body, code);
    if (code || !body.is_object()) return invalid("what is to be written is no JSON object");
    if (write.verb == RemoteVerb::kCreate) {
      const json::object& object = body.get_object();
      const json::object& metadata = part(object, "metadata");
      write.api_version = api::find_text(object, "apiVersion");
      write.kind = api::find_text(object, "kind");
      write.ns = api::find_text(metadata, "namespace");
      write.name = api::find_text(metadata, "name");
    }
  }
  const RemoteKind* kind = found->kind_of(write.api_version, write.kind);
  if (!kind) return not_followed(write.remote, write.api_version, write.kind);
  if (write.name.empty()) return invalid("metadata.name: Required value");
  if (kind->kind->namespaced == write.ns.empty())
    return invalid(kind->kind->namespaced ? "metadata.namespace: Required value"
                                          : "metadata.namespace: the kind has none");
  if (!write.subresource.empty() && write.subresource != "status")
    return invalid("the subresource is \"" + write.subresource + "\"; allowed: none, or status");
  if (!found->takes(more))
    return {SLUICE_REMOTES_BUSY,
            fmt::format("{} writes to remote {} have no answer yet, which is the limit",
                        limits_.writes, write.remote)};
  return {};
}

void RemoteHub::submit(const std::string& plugin, std::vector<RemoteWrite> writes) {
  for (RemoteWrite& write : writes) {
    auto found = find(plugin, write.remote);
    const RemoteKind* kind = found ? found->kind_of(write.api_version, write.kind) : nullptr;
    if (!kind) continue;
    RemoteKey key{kind->kind, join_key(write.ns, write.name)};
    found->add(key, std::move(write));
    const std::lock_guard lock(mutex_);
    held_.emplace_back(std::move(found), std::move(key));
  }
}

std::string RemoteHub::path_of(const PluginObjectRef& ref, bool reads, PortAnswer& wrong) const {
  const auto refuse = [&](std::string why) {
    wrong = invalid(std::move(why));
    return std::string();
  };
  if (ref.name.empty()) return refuse("a question needs a name");
  for (const ApiResource& each : answered_only_) {
    if (each.api_version() != ref.api_version) continue;
    const auto part = std::find_if(each.subresources.begin(), each.subresources.end(),
                                   [&](const auto& one) { return one.kind == ref.kind; });
    const bool is_it = reads ? part != each.subresources.end()
                             : each.kind == ref.kind && each.subresources.empty();
    if (!is_it) continue;
    if (each.namespaced == ref.ns.empty())
      return refuse(each.namespaced ? "the question needs a namespace"
                                    : "the kind of the question has no namespaces");
    std::string out = collection_path(ref.api_version, each.plural, ref.ns);
    if (reads) out += "/" + percent_encoded(ref.name) + "/" + part->name;
    return out;
  }
  return refuse(fmt::format("{} of {} is no question; allowed: {}", ref.kind, ref.api_version,
                            reads ? "what is worked out of one object, as Explanation is"
                                  : "kinds of which nothing is kept"));
}

PortAnswer RemoteHub::ask(const std::string& plugin, std::string_view remote,
                          const PluginObjectRef& ref, std::string_view question) {
  const auto found = find(plugin, remote);
  if (!found) return unknown_remote(remote);
  PortAnswer wrong;
  std::string path = path_of(ref, question.empty(), wrong);
  if (path.empty()) return wrong;
  const RemoteChange name{found->name(), std::string(ref.api_version), std::string(ref.kind),
                          std::string(ref.ns), std::string(ref.name)};
  if (!found->ask(name, std::move(path), std::string(question)))
    return {SLUICE_REMOTES_BUSY,
            fmt::format("{} questions to remote {} are open, which is the limit", limits_.questions,
                        remote)};
  return {};
}

PortAnswer RemoteHub::answer(const std::string& plugin, std::string_view remote,
                             const PluginObjectRef& ref) {
  const auto found = find(plugin, remote);
  if (!found) return unknown_remote(remote);
  const auto reply =
      found->take_reply({found->name(), std::string(ref.api_version), std::string(ref.kind),
                         std::string(ref.ns), std::string(ref.name)});
  if (!reply) return not_found("there is no such question");
  json::object out{{"waiting", reply->waiting}, {"code", reply->code}, {"message", reply->message}};
  if (!reply->body.empty()) {
    boost::system::error_code problem;
    out["answer"] = api::parse_deep(reply->body, problem);
    if (problem || !out["answer"].is_object()) {
      out.erase("answer");
      out["message"] = "what it answered is no JSON object";
    }
  }
  return {SLUICE_OBJECTS_OK, text_of(out)};
}

std::vector<RemoteChange> RemoteHub::take_changes(const std::string& plugin) {
  std::vector<std::shared_ptr<Remote>> remotes;
  std::vector<RemoteChange> out;
  {
    const std::lock_guard lock(mutex_);
    for (auto it = remotes_.lower_bound({plugin, ""}); it != remotes_.end(); ++it) {
      if (it->first.first != plugin) break;
      remotes.push_back(it->second);
    }
    for (std::string& name : std::exchange(ended_[plugin], {}))
      out.push_back({std::move(name), {}, {}, {}, {}});
  }
  for (const auto& remote : remotes) {
    for (RemoteChange& question : remote->take_answered()) out.push_back(std::move(question));
    for (const RemoteKey& key : remote->take_changes()) {
      RemoteChange change{remote->name(), {}, {}, {}, {}};
      if (key.kind != nullptr) {
        for (const RemoteKind& kind : remote->spec().kinds)
          if (kind.kind == key.kind) change.api_version = kind.api_version;
        change.kind = key.kind->kind;
        const auto [ns, name] = split_key(key.key);
        change.ns = ns;
        change.name = name;
      }
      out.push_back(std::move(change));
    }
  }
  return out;
}

std::uint64_t RemoteHub::seal() {
  const std::lock_guard lock(mutex_);
  if (!held_.empty()) sealed_[++turn_] = std::exchange(held_, {});
  return turn_;
}

void RemoteHub::release(std::uint64_t turn) {
  std::vector<Held> free;
  {
    const std::lock_guard lock(mutex_);
    while (!sealed_.empty() && sealed_.begin()->first <= turn) {
      free.push_back(std::move(sealed_.begin()->second));
      sealed_.erase(sealed_.begin());
    }
  }
  for (const Held& held : free)
    for (const auto& [remote, key] : held) remote->release({key});
}

std::vector<RemoteHealth> RemoteHub::health() const {
  std::vector<std::shared_ptr<Remote>> remotes;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [name, remote] : remotes_) remotes.push_back(remote);
  }
  std::vector<RemoteHealth> out;
  for (const auto& remote : remotes) out.push_back(remote->health());
  return out;
}

}  // namespace sluice::host
