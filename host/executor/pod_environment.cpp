#include "host/executor/pod_environment.hpp"

#include <utility>

#include "api/codec/codec.hpp"
#include "core/base/base64.hpp"
#include "host/objects/object_key.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr std::size_t kMemberBytes = 32;  // what a member costs beside its texts

std::size_t bytes_of_data(const json::object& object) {
  std::size_t out = 0;
  for (const auto& member : part(object, "data")) {
    out += kMemberBytes + member.key().size();
    if (member.value().is_string()) out += member.value().get_string().size();
  }
  return out;
}

PodProblem config_error(std::string text, bool may_pass) {
  return {"CreateContainerConfigError", std::move(text), may_pass};
}

std::string value_of(std::string_view kind, const json::value& value) {
  const std::string_view text = api::view(value.get_string());
  if (kind != "Secret") return std::string(text);
  std::string one_line(text);  // the API takes several
  std::erase_if(one_line, [](char c) { return c == '\n' || c == '\r'; });
  return base64_bytes(one_line);
}

std::string resource(const json::object& reference, const json::object& container) {
  const std::string_view path = api::find_text(reference, "resource");
  const std::size_t dot = path.find('.');
  if (dot == std::string_view::npos) return "0";
  const std::string_view name = path.substr(dot + 1);
  const json::value* value =
      api::find(part(part(container, "resources"), path.substr(0, dot)), name);
  if (!value) return "0";
  const std::int64_t amount = api::engine_amount(name, api::quantity_or_zero(*value));
  // Whole units, rounded up; cpu is counted in thousandths.
  return std::to_string(name == "cpu" ? (amount + 999) / 1000 : amount);
}

}  // namespace

PodProblem too_long(std::string_view container) {
  return {"ArgumentsTooLong", "container \"" + std::string(container) +
                                  "\": its words and variables are longer than " +
                                  std::to_string(PodVariables::kMostBytes) +
                                  " bytes together, with what $(NAME) stands for"};
}

PodProblem too_long_together() {
  return {"ArgumentsTooLong",
          "words and variables of all containers, with the ConfigMaps and "
          "Secrets that they name, are longer than " +
              std::to_string(PodEnvironment::kMostBytes) + " bytes together"};
}

Result<PodVariables, PodProblem> PodEnvironment::of(const json::object& container) {
  PodVariables out;
  problem_ = {};
  container_ = api::find_text(container, "name");
  for_each_object(container, "envFrom", [&](const json::object& from) {
    if (problem_.reason.empty()) give_all(from, out);
  });
  for_each_object(container, "env", [&](const json::object& entry) {
    if (problem_.reason.empty()) give_one(entry, container, out);
  });
  if (!problem_.reason.empty()) return problem_;
  return out;
}

void PodEnvironment::give(PodVariables& out, std::string name, std::string value) {
  given_bytes_ += name.size() + value.size();
  if (given_bytes_ > kMostBytes)
    problem_ = too_long_together();
  else if (!out.set(std::move(name), std::move(value)))
    problem_ = too_long(container_);
}

void PodEnvironment::give_all(const json::object& from, PodVariables& out) {
  const std::string prefix(api::find_text(from, "prefix"));
  for (const auto& [key, kind] :
       {std::pair{"configMapRef", "ConfigMap"}, std::pair{"secretRef", "Secret"}}) {
    if (part(from, key).empty()) continue;
    const json::object* found = find(kind, part(from, key));
    if (!found) continue;
    for (const auto& member : part(*found, "data")) {
      if (!member.value().is_string()) continue;
      give(out, prefix + std::string(member.key()), value_of(kind, member.value()));
      if (!problem_.reason.empty()) return;
    }
  }
}

void PodEnvironment::give_one(const json::object& entry, const json::object& container,
                              PodVariables& out) {
  const std::string name(api::find_text(entry, "name"));
  const json::object& from = part(entry, "valueFrom");
  if (!from.empty()) {
    if (auto value = resolve(from, container)) give(out, name, std::move(*value));
  } else if (auto value = out.expand(api::find_text(entry, "value"))) {
    give(out, name, std::move(*value));
  } else {
    problem_ = too_long(container_);
  }
}

const json::object* PodEnvironment::find(std::string_view kind, const json::object& reference) {
  const std::string name(api::find_text(reference, "name"));
  const std::string key = join_key(api::find_text(part(pod_, "metadata"), "namespace"), name);
  const auto [place, fresh] = found_.try_emplace({std::string(kind), key});
  auto& object = place->second;
  if (fresh) {
    object = sources_.find(kind, key);
    if (object) read_bytes_ += bytes_of_data(*object);
  }
  if (read_bytes_ > kMostBytes) {
    problem_ = too_long_together();
    return nullptr;
  }
  if (object) return &*object;
  if (!api::find_bool(reference, "optional", false))
    problem_ = config_error(std::string(kind) + " \"" + name + "\" not found", true);
  return nullptr;
}

std::optional<std::string> PodEnvironment::resolve(const json::object& from,
                                                   const json::object& container) {
  if (!part(from, "fieldRef").empty())
    return field(api::find_text(part(from, "fieldRef"), "fieldPath"));
  if (!part(from, "resourceFieldRef").empty())
    return resource(part(from, "resourceFieldRef"), container);
  for (const auto& [member, kind] :
       {std::pair{"configMapKeyRef", "ConfigMap"}, std::pair{"secretKeyRef", "Secret"}})
    if (const json::object& reference = part(from, member); !reference.empty())
      return keyed(kind, reference);
  return std::nullopt;
}

std::optional<std::string> PodEnvironment::keyed(std::string_view kind,
                                                 const json::object& reference) {
  const json::object* found = find(kind, reference);
  if (!found) return std::nullopt;
  const std::string key(api::find_text(reference, "key"));
  const json::value* value = api::find(part(*found, "data"), key);
  if (value && value->is_string()) return value_of(kind, *value);
  if (!api::find_bool(reference, "optional", false))
    problem_ = config_error(
        "couldn't find key " + key + " in " + std::string(kind) + " " + key_of(*found), true);
  return std::nullopt;
}

std::optional<std::string> PodEnvironment::field(std::string_view path) {
  const json::object& metadata = part(pod_, "metadata");
  for (const char* map : {"labels", "annotations"}) {
    const std::string start = std::string("metadata.") + map + "['";
    if (path.starts_with(start) && path.ends_with("']")) {
      const std::string_view key = path.substr(start.size(), path.size() - start.size() - 2);
      return std::string(api::find_text(part(metadata, map), key));
    }
  }
  if (path.starts_with("metadata.")) return std::string(api::find_text(metadata, path.substr(9)));
  if (path.starts_with("spec."))
    return std::string(api::find_text(part(pod_, "spec"), path.substr(5)));
  if (path == "status.podIP" || path == "status.hostIP" || path == "status.podIPs")
    return "127.0.0.1";
  problem_ = config_error(
      "env refers to the field \"" + std::string(path) + "\", which is not supported", false);
  return std::nullopt;
}

}  // namespace sluice::host
