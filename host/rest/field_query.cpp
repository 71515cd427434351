#include <algorithm>
#include <array>
#include <optional>

#include "api/json/json_text.hpp"
#include "host/rest/selectors.hpp"

namespace sluice::host {
namespace {

constexpr std::size_t kMaxTerms = 1000;

/// A field label of a kind beside metadata.name and metadata.namespace.
struct FieldLabel {
  std::string_view group, kind;
  std::string_view version;  ///< empty: all
  std::string_view label;
  std::string_view path;      ///< where it stands; empty: at the label
  std::string_view fallback;  ///< path to look at when there is nothing
  std::string_view absent;    ///< value of an absent field
};

constexpr std::array kLabels = std::to_array<FieldLabel>({
    {"", "Event", "", "involvedObject.kind", "", "", ""},
    {"", "Event", "", "involvedObject.namespace", "", "", ""},
    {"", "Event", "", "involvedObject.name", "", "", ""},
    {"", "Event", "", "involvedObject.uid", "", "", ""},
    {"", "Event", "", "involvedObject.apiVersion", "", "", ""},
    {"", "Event", "", "involvedObject.resourceVersion", "", "", ""},
    {"", "Event", "", "involvedObject.fieldPath", "", "", ""},
    {"", "Event", "", "reason", "", "", ""},
    {"", "Event", "", "reportingComponent", "", "", ""},
    {"", "Event", "", "source", "source.component", "reportingComponent", ""},
    {"", "Event", "", "type", "", "", ""},
    {"", "Pod", "", "spec.nodeName", "", "", ""},
    {"", "Pod", "", "spec.restartPolicy", "", "", ""},
    {"", "Pod", "", "spec.schedulerName", "", "", ""},
    {"", "Pod", "", "spec.serviceAccountName", "", "", ""},
    {"", "Pod", "", "spec.hostNetwork", "", "", "false"},
    {"", "Pod", "", "status.phase", "", "", ""},
    {"", "Pod", "", "status.podIP", "", "", ""},
    {"", "Pod", "", "status.nominatedNodeName", "", "", ""},
    {"", "Namespace", "", "status.phase", "", "", ""},
    {"", "Namespace", "", "name", "metadata.name", "", ""},
    {"", "Node", "", "spec.unschedulable", "", "", "false"},
    {"", "Secret", "", "type", "", "", ""},
    {"batch", "Job", "", "status.successful", "status.succeeded", "", "0"},
    {"kueue.x-k8s.io", "Workload", "v1beta2", "status.admission.clusterQueue", "", "", ""},
});

const FieldLabel* find_label(const api::KindInfo& kind, std::string_view version,
                             std::string_view label) {
  const auto it = std::find_if(kLabels.begin(), kLabels.end(), [&](const FieldLabel& each) {
    return each.label == label && each.kind == kind.kind && each.group == kind.group &&
           (each.version.empty() || each.version == version);
  });
  return it == kLabels.end() ? nullptr : &*it;
}

const FieldLabel* find_path(const api::KindInfo& kind, std::string_view label) {
  const auto it = std::find_if(kLabels.begin(), kLabels.end(), [&](const FieldLabel& each) {
    return each.label == label && each.kind == kind.kind && each.group == kind.group;
  });
  return it == kLabels.end() ? nullptr : &*it;
}

std::string_view text_at(const StoredObject& object, std::string_view path, std::string& scratch) {
  if (path == "metadata.name") return object.name();
  const auto part = [&](std::string_view name) -> std::optional<std::string_view> {
    if (path.substr(0, name.size()) != name || path.size() <= name.size() ||
        path[name.size()] != '.')
      return std::nullopt;
    return path.substr(name.size() + 1);
  };
  if (const auto rest = part("status"))
    return api::scalar_text(api::member_at(object.status, *rest), scratch);
  if (const auto rest = part("metadata"))
    return api::scalar_text(api::member_at(object.metadata.text(), *rest), scratch);
  return object.body ? api::scalar_text(api::member_at(*object.body, path), scratch)
                     : std::string_view();
}

std::string_view field_text(const StoredObject& object, std::string_view label,
                            std::string& scratch) {
  if (label == "metadata.name") return object.name();
  if (label == "metadata.namespace") return object.ns();
  const FieldLabel* known = find_path(*object.kind, label);
  if (known == nullptr) return {};
  std::string_view text = text_at(object, known->path.empty() ? label : known->path, scratch);
  if (text.empty() && !known->fallback.empty()) text = text_at(object, known->fallback, scratch);
  return text.empty() ? known->absent : text;
}

/// The next term, up to a comma that is not escaped.
std::string_view next_term(std::string_view& rest) {
  std::size_t at = 0;
  while (at < rest.size() && rest[at] != ',') at += rest[at] == '\\' ? 2 : 1;
  at = std::min(at, rest.size());
  const std::string_view term = rest.substr(0, at);
  rest.remove_prefix(std::min(at + 1, rest.size()));
  return term;
}

std::optional<std::string> unescape(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
      if (i == text.size() || (text[i] != '\\' && text[i] != ',' && text[i] != '='))
        return std::nullopt;
    } else if (text[i] == '=') {
      return std::nullopt;
    }
    out += text[i];
  }
  return out;
}

ApiError wrong_term(std::string_view text, std::string_view term) {
  return bad_request("invalid selector: '" + std::string(text) + "'; can't understand '" +
                     std::string(term) + "'");
}

}  // namespace

ApiResult<FieldQuery> FieldQuery::parse(std::string_view text, const api::KindInfo& kind,
                                        std::string_view version) {
  FieldQuery query;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view part = next_term(rest);
    if (part.empty()) continue;
    const auto equals = part.find('=');
    if (equals == std::string_view::npos || equals == 0) return wrong_term(text, part);
    Term term;
    term.equal = part[equals - 1] != '!';
    term.path = part.substr(0, term.equal ? equals : equals - 1);
    std::string_view value = part.substr(equals + 1);
    if (term.equal && !value.empty() && value[0] == '=') value.remove_prefix(1);
    auto plain = unescape(value);
    if (!plain || term.path.empty()) return wrong_term(text, part);
    term.value = std::move(*plain);
    if (term.path != "metadata.name" && term.path != "metadata.namespace" &&
        find_label(kind, version, term.path) == nullptr)
      return bad_request("field label not supported: " + term.path);
    query.terms_.push_back(std::move(term));
    if (query.terms_.size() > kMaxTerms)
      return bad_request("a field selector has at most " + std::to_string(kMaxTerms) + " terms");
  }
  return query;
}

bool FieldQuery::matches(const StoredObject& object) const {
  std::string scratch;
  return std::all_of(terms_.begin(), terms_.end(), [&](const Term& term) {
    return (field_text(object, term.path, scratch) == term.value) == term.equal;
  });
}

const std::string* FieldQuery::exact(std::string_view path) const {
  for (const Term& term : terms_) {
    if (term.equal && term.path == path) return &term.value;
  }
  return nullptr;
}

const std::string* FieldQuery::exact_name() const { return exact("metadata.name"); }
const std::string* FieldQuery::exact_namespace() const { return exact("metadata.namespace"); }

ApiResult<Selector> parse_selector(std::string_view labels, std::string_view fields,
                                   const api::KindInfo& kind, std::string_view version) {
  Selector out;
  auto label_query = LabelQuery::parse(labels);
  if (!label_query) return label_query.error();
  out.labels = std::move(*label_query);
  auto field_query = FieldQuery::parse(fields, kind, version);
  if (!field_query) return field_query.error();
  out.fields = std::move(*field_query);
  return out;
}

std::vector<std::string> selectable_fields(const api::KindInfo& kind, std::string_view version) {
  std::vector<std::string> out;
  for (const auto& each : kLabels) {
    if (find_label(kind, version, each.label) == &each) out.emplace_back(each.label);
  }
  return out;
}

}  // namespace sluice::host
