#include "host/cluster/validations.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <boost/json/object.hpp>
#include <utility>

namespace sluice::host {
namespace {

namespace json = boost::json;
using api::NodeType;
using api::Rule;
using api::SchemaNode;

constexpr std::array<std::string_view, 21> kReserved = {
    "true",     "false",   "null",   "in",       "as",   "break",  "const",
    "continue", "else",    "for",    "function", "if",   "import", "let",
    "loop",     "package", "return", "var",      "void", "while",  "namespace"};

std::string identifier(std::string_view name) {
  if (std::find(kReserved.begin(), kReserved.end(), name) != kReserved.end())
    return fmt::format("__{}__", name);
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name.substr(i, 2) == "__") {
      out += "__underscores__";
      ++i;
    } else if (name[i] == '.') {
      out += "__dot__";
    } else if (name[i] == '-') {
      out += "__dash__";
    } else if (name[i] == '/') {
      out += "__slash__";
    } else {
      out += name[i];
    }
  }
  return out;
}

std::string cel_text(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string list_of(const std::vector<std::string>& texts) {
  std::vector<std::string> each;
  for (const std::string& text : texts) each.push_back(cel_text(text));
  return fmt::format("[{}]", fmt::join(each, ", "));
}

/// The node at a dotted path; nullptr when there is none.
const SchemaNode* node_at(const SchemaNode& node, std::string_view path) {
  const auto dot = path.find('.');
  const api::SchemaField* field = node.field(path.substr(0, dot));
  if (field == nullptr || dot == std::string_view::npos)
    return field != nullptr ? field->node : nullptr;
  return node_at(*field->node, path.substr(dot + 1));
}

bool is_text(const SchemaNode& node, std::string_view path) {
  const SchemaNode* at = node_at(node, path);
  return at != nullptr && at->type == NodeType::kString;
}

/// The number of entries of a list that may be absent.
std::string size_of(std::string_view object, std::string_view path) {
  return fmt::format("({} ? size({}) : 0)", is_there(object, path), place_of(object, path));
}

using Expression = std::optional<std::string>;

// --- general rules, as the data of kinds and of plugins uses them

Expression conditions(const Rule& rule, const SchemaNode& node) {
  std::string out;
  for (const api::RuleCondition& each : rule.when) {
    if (node_at(node, each.field) == nullptr) return std::nullopt;
    if (!out.empty()) out += " && ";
    out += is_there("self", each.field);
    if (each.values.empty()) continue;
    if (!is_text(node, each.field)) return std::nullopt;
    out += fmt::format(" && {} in {}", place_of("self", each.field), list_of(each.values));
  }
  return out.empty() ? "true" : out;
}

Expression allowed_if(const Rule& rule, const SchemaNode& node) {
  const Expression when = conditions(rule, node);
  if (!when || node_at(node, rule.field) == nullptr) return std::nullopt;
  return fmt::format("!({}) || ({})", is_there("self", rule.field), *when);
}

Expression forbidden_if(const Rule& rule, const SchemaNode& node) {
  const Expression when = conditions(rule, node);
  if (!when || node_at(node, rule.field) == nullptr) return std::nullopt;
  return fmt::format("!({}) || !({})", is_there("self", rule.field), *when);
}

Expression required_if(const Rule& rule, const SchemaNode& node) {
  const Expression when = conditions(rule, node);
  if (!when || node_at(node, rule.field) == nullptr) return std::nullopt;
  return fmt::format("({}) || !({})", is_there("self", rule.field), *when);
}

Expression value_if(const Rule& rule, const SchemaNode& node) {
  const Expression when = conditions(rule, node);
  if (!when || !is_text(node, rule.field)) return std::nullopt;
  return fmt::format("!({}) || !({}) || {} in {}", is_there("self", rule.field), *when,
                     place_of("self", rule.field), list_of(rule.one_of));
}

/// Whether each of the fields is there; empty lists are not. Empty: it cannot be said.
std::vector<std::string> present(const Rule& rule, const SchemaNode& node) {
  std::vector<std::string> each;
  for (const std::string& field : rule.fields) {
    const SchemaNode* at = node_at(node, field);
    if (at == nullptr) return {};
    each.push_back(is_there("self", field));
    if (at->type == NodeType::kArray)
      each.back() += fmt::format(" && size({}) > 0", place_of("self", field));
  }
  return each;
}

// Of two fields without a count: an API server estimates what a rule costs, and refuses more than
// so much for all places in which it may hold.

Expression exactly_one(const Rule& rule, const SchemaNode& node) {
  const auto each = present(rule, node);
  if (each.empty()) return std::nullopt;
  if (each.size() == 2) return fmt::format("({}) != ({})", each[0], each[1]);
  return fmt::format("[{}].filter(x, x).size() == 1", fmt::join(each, ", "));
}

Expression exclusive(const Rule& rule, const SchemaNode& node) {
  const auto each = present(rule, node);
  if (each.empty()) return std::nullopt;
  if (each.size() == 2) return fmt::format("!({}) || !({})", each[0], each[1]);
  return fmt::format("[{}].filter(x, x).size() <= 1", fmt::join(each, ", "));
}

// --- rules of one kind's own

Expression no_borrowing_limit_without(const Rule& rule, const SchemaNode&) {
  return fmt::format(
      "({} && {} != '') || !has(self.resourceGroups) || self.resourceGroups.all(g, "
      "!has(g.flavors) || g.flavors.all(f, !has(f.resources) || "
      "f.resources.all(r, !has(r.borrowingLimit))))",
      is_there("self", rule.field), place_of("self", rule.field));
}

Expression assignment_per_pod_set(const Rule&, const SchemaNode&) {
  return "!(has(self.status) && has(self.status.admission) && has(self.status.conditions) && "
         "self.status.conditions.exists(c, c.type == 'QuotaReserved' && c.status == 'True')) || "
         "!has(self.spec) || " +
         size_of("self", "spec.podSets") +
         " == " + size_of("self.status.admission", "podSetAssignments");
}

Expression resources_per_flavor(const Rule&, const SchemaNode&) {
  return "!has(self.flavors) || self.flavors.all(f, " + size_of("f", "resources") +
         " == " + size_of("self", "coveredResources") + ")";
}

Expression values_per_level_length(const Rule&, const SchemaNode&) {
  return "!has(self.slices) || self.slices.all(s, " + size_of("s", "valuesPerLevel") +
         " == " + size_of("self", "levels") + ")";
}

using Maker = Expression (*)(const Rule&, const SchemaNode&);

constexpr std::array<std::pair<std::string_view, Maker>, 11> kMakers = {{
    {"allowedIf", allowed_if},
    {"forbiddenIf", forbidden_if},
    {"requiredIf", required_if},
    {"valueIf", value_if},
    {"exactlyOne", exactly_one},
    {"exclusive", exclusive},
    {"exclusiveChecks", exclusive},  // two lists without bound cost too much to compare
    {"noBorrowingLimitWithout", no_borrowing_limit_without},
    {"assignmentPerPodSet", assignment_per_pod_set},
    {"resourcesPerFlavor", resources_per_flavor},
    {"valuesPerLevelLength", values_per_level_length},
}};

constexpr std::array<std::pair<std::string_view, std::string_view>, 12> kFixed = {{
    {"taintEffect",
     "self.all(x, !has(x.effect) || x.effect in ['NoSchedule', 'PreferNoSchedule', 'NoExecute'])"},
    {"tolerationEffect",
     "self.all(x, !has(x.effect) || x.effect in ['', 'NoSchedule', 'PreferNoSchedule', "
     "'NoExecute'])"},
    {"tolerationKeyOperator",
     "self.all(x, (has(x.key) && x.key != '') || (has(x.operator) && x.operator == 'Exists'))"},
    {"tolerationSecondsEffect",
     "self.all(x, !has(x.tolerationSeconds) || (has(x.effect) && x.effect == 'NoExecute'))"},
    {"tolerationOperator",
     "self.all(x, !has(x.operator) || x.operator in ['', 'Equal', 'Exists'])"},
    {"tolerationValue",
     "self.all(x, !has(x.operator) || x.operator != 'Exists' || !has(x.value) || x.value == '')"},
    {"selectorValues",
     "!has(self.operator) || !(self.operator in ['In', 'NotIn']) || "
     "(has(self.values) && size(self.values) > 0)"},
    {"selectorNoValues",
     "!has(self.operator) || !(self.operator in ['Exists', 'DoesNotExist']) || "
     "!has(self.values) || size(self.values) == 0"},
    {"topologyNeedsLabels",
     "!has(self.topologyName) || self.topologyName == '' || "
     "(has(self.nodeLabels) && size(self.nodeLabels) > 0)"},
    {"minCountWithinCount",
     "!has(self.minCount) || self.minCount <= (has(self.count) ? self.count : 1)"},
    {"podCountsLength",
     "!has(self.podCounts) || !has(self.podCounts.individual) || "
     "size(self.podCounts.individual) == self.domainCount"},
    {"rootsLength",
     "!has(self.valuesPerLevel) || self.valuesPerLevel.all(l, !has(l.individual) || "
     "size(l.individual.roots) == self.domainCount)"},
}};

json::object validation(std::string expression, const std::string& message) {
  return {{"rule", std::move(expression)}, {"message", message}};
}

}  // namespace

std::string place_of(std::string_view object, std::string_view path) {
  std::string out(object);
  while (!path.empty()) {
    const std::string_view part = path.substr(0, path.find('.'));
    out += "." + identifier(part);
    path.remove_prefix(std::min(path.size(), part.size() + 1));
  }
  return out;
}

std::string is_there(std::string_view object, std::string_view path) {
  std::string out;
  for (auto dot = path.find('.');; dot = path.find('.', dot + 1)) {
    if (!out.empty()) out += " && ";
    out += fmt::format("has({})", place_of(object, path.substr(0, dot)));
    if (dot == std::string_view::npos) return out;
  }
}

Expression expression_of(const Rule& rule, const SchemaNode& node) {
  for (const auto& [name, maker] : kMakers)
    if (name == rule.name) return maker(rule, node);
  for (const auto& [name, text] : kFixed)
    if (name == rule.name) return std::string(text);
  return std::nullopt;
}

std::string expression_of(const api::UpdateRule& rule) {
  const std::string before = is_there("oldSelf", rule.path);
  const std::string after = is_there("self", rule.path);
  const std::string same =
      fmt::format("{} == {}", place_of("self", rule.path), place_of("oldSelf", rule.path));
  if (rule.once_set) return fmt::format("!({}) || ({} && {})", before, after, same);
  return fmt::format("!({}) || !({}) || {}", before, after, same);
}

json::array validations(const SchemaNode& node) {
  json::array out;
  for (const Rule& rule : node.rules)
    if (auto expression = expression_of(rule, node))
      out.push_back(validation(std::move(*expression), rule.message));
  return out;
}

json::array validations(const std::vector<api::UpdateRule>& rules) {
  json::array out;
  for (const api::UpdateRule& rule : rules) {
    json::object made = validation(expression_of(rule), rule.message);
    made["fieldPath"] = "." + rule.path;
    out.push_back(std::move(made));
  }
  return out;
}

}  // namespace sluice::host
