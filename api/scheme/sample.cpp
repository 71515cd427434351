#include "api/scheme/sample.hpp"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <string>

#include "api/json/json.hpp"
#include "api/schema/node.hpp"

namespace sluice::api {

namespace json = boost::json;

namespace {

constexpr int kMostTries = 500;  // each is a validation
constexpr int kMostDepth = 8;    // below that only what is required

json::string sample_text(const SchemaNode& node) {
  if (!node.one_of.empty()) return json::string(node.one_of.front());
  if (node.format == Format::kDateTime) return "2026-01-01T00:00:00Z";
  const bool word = node.format == Format::kConditionReason || node.format == Format::kKindName;
  json::string text = word ? "Sample" : "sample";
  if (text.size() < node.min_length) text.append(std::string(node.min_length - text.size(), 'x'));
  if (text.size() > node.max_length) text.resize(node.max_length);
  return text;
}

/// A container that asks for a cpu: what the schema of pods requires, and quota has a use for.
json::value sample_pods() {
  return json::parse(R"({"spec": {"containers": [{"name": "main", "image": "busybox",
    "resources": {"requests": {"cpu": "1"}}}], "restartPolicy": "Never"}})");
}

json::value least(const SchemaNode& node, int depth);

json::value least_object(const SchemaNode& node, int depth) {
  if (node.type_name == "PodTemplateSpec") return sample_pods();
  if (node.type_name == "PodSpec") return sample_pods().at("spec");
  json::object out;
  for (const SchemaField& field : node.fields)
    if (field.required && !field.default_value) out[field.name] = least(*field.node, depth + 1);
  return out;
}

/// The smallest value that the node takes, as far as its own limits tell.
json::value least(const SchemaNode& node, int depth) {
  if (depth > 2 * kMostDepth) return {};
  switch (node.type) {
    case NodeType::kObject:
      return least_object(node, depth);
    case NodeType::kArray: {
      json::array out;
      while (out.size() < node.min_items && node.items != nullptr)
        out.push_back(least(*node.items, depth + 1));
      return out;
    }
    case NodeType::kString:
      return sample_text(node);
    case NodeType::kInteger:
    case NodeType::kNumber:
      return std::clamp<std::int64_t>(
          1, node.min.value_or(1),
          node.max.value_or(std::max<std::int64_t>(1, node.min.value_or(1))));
    case NodeType::kBoolean:
      return true;
    case NodeType::kQuantity:
      return "1";
    case NodeType::kIntOrString:
      return 1;
    case NodeType::kBytes:
      return "c2FtcGxl";
    case NodeType::kAny:
      break;
  }
  return json::object();
}

class Sampler {
 public:
  Sampler(const Scheme& scheme, const SchemaNode& root, const KindInfo& info, json::object start)
      : scheme_(scheme), root_(root), info_(info), value_(std::move(start)), errors_(count()) {}

  /// Adds fields as long as that leaves fewer mistakes.
  void repair() {
    for (std::size_t before = errors_ + 1; errors_ > 0 && errors_ < before;) {
      before = errors_;
      grow(root_, value_, 0);
    }
  }
  /// Adds what leaves no mistake. REQUIRES: there is none.
  void enrich() {
    enriches_ = true;
    grow(root_, value_, 0);
  }

  Result<json::object> take() {
    json::object object = std::move(value_.get_object());
    const Outcome outcome = admitted(object);
    if (!outcome.ok()) return Error{outcome.error_text()};
    return object;
  }

 private:
  Outcome admitted(json::object& object) const {
    AdmitOptions options;
    options.unknown_fields = UnknownFields::kRefuse;
    return scheme_.admit(object, nullptr, options);
  }

  std::size_t count() {
    ++tries_;
    json::object copy = value_.get_object();
    const Outcome outcome = admitted(copy);
    return outcome.errors.size();
  }

  /// Whether the value as it stands now is kept.
  bool is_better() {
    const std::size_t now = count();
    if (now > errors_ || (errors_ > 0 && now == errors_)) return false;
    errors_ = now;
    return true;
  }

  bool is_over() const { return tries_ > kMostTries || (!enriches_ && errors_ == 0); }

  bool is_for_others(const std::string& field) const {
    return field == "apiVersion" || field == "kind" || field == "metadata" ||
           (field == "status" && info_.status_subresource);
  }

  void grow(const SchemaNode& node, json::value& value, int depth) {
    if (depth > kMostDepth || is_over()) return;
    if (enriches_ && depth > 0 && !node.type_name.empty()) return;
    if (json::object* object = value.if_object()) {
      for (const SchemaField& field : node.fields) {
        if (depth == 0 && is_for_others(field.name)) continue;
        add_member(*object, field.name, *field.node);
        if (json::value* present = object->if_contains(field.name))
          grow(*field.node, *present, depth + 1);
      }
      if (node.values != nullptr && object->empty()) add_member(*object, "sample", *node.values);
      for (auto& member : *object)
        if (node.values != nullptr) grow(*node.values, member.value(), depth + 1);
    } else if (json::array* array = value.if_array(); array != nullptr && node.items != nullptr) {
      if (array->empty() && !is_over()) {
        array->push_back(least(*node.items, depth));
        if (!is_better()) array->clear();
      }
      for (json::value& each : *array) grow(*node.items, each, depth + 1);
    }
  }

  void add_member(json::object& object, const std::string& name, const SchemaNode& node) {
    if (object.contains(name) || is_over()) return;
    object[name] = least(node, 0);
    if (is_better()) return;
    if (node.type == NodeType::kArray && node.items != nullptr && node.min_items == 0) {
      object[name] = json::array{least(*node.items, 0)};  // a list that may not be empty
      if (is_better()) return;
    }
    object.erase(name);
  }

  const Scheme& scheme_;
  const SchemaNode& root_;
  const KindInfo& info_;
  json::value value_;
  int tries_ = 0;
  bool enriches_ = false;
  std::size_t errors_;
};

}  // namespace

Result<json::object> sample(const Scheme& scheme, std::string_view api_version,
                            std::string_view kind, SampleSize size) {
  const KindInfo* info = scheme.find(api_version, kind);
  const SchemaNode* root = scheme.schema(api_version, kind);
  if (info == nullptr || root == nullptr)
    return Error{"no kind " + std::string(kind) + " in " + std::string(api_version)};
  json::object metadata{{"name", "sample"}};
  if (info->namespaced) metadata["namespace"] = "team-a";
  json::object start{{"apiVersion", json_view(api_version)},
                     {"kind", json_view(kind)},
                     {"metadata", std::move(metadata)}};
  json::value required = least_object(*root, 0);
  for (auto& member : required.get_object()) start.emplace(member.key(), std::move(member.value()));
  Sampler sampler(scheme, *root, *info, std::move(start));
  sampler.repair();
  if (size == SampleSize::kMost) sampler.enrich();
  auto object = sampler.take();
  if (!object) return object.error().context("no " + std::string(kind) + " was found to be valid");
  return object;
}

}  // namespace sluice::api
