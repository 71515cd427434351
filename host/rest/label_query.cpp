#include <algorithm>
#include <boost/json/object.hpp>
#include <charconv>
#include <numeric>

#include "api/json/json_text.hpp"
#include "api/schema/formats.hpp"
#include "host/base/text.hpp"
#include "host/rest/selectors.hpp"

namespace sluice::host {

namespace {

constexpr std::size_t kMaxRequirements = 1000;
constexpr std::string_view kSpecial = "()=!,<>";

ApiError wrong_requirement(std::string text) {
  return bad_request("unable to parse requirement: " + std::move(text));
}

std::string key_problem(std::string_view key) {
  const auto slash = key.find('/');
  const std::size_t name = slash == std::string_view::npos ? key.size() : key.size() - slash - 1;
  if (!api::is_qualified_name(key)) return "must be a name, or a DNS subdomain, a slash and a name";
  if (name > 63) return "name part must be no more than 63 bytes";
  if (slash != std::string_view::npos && slash > 253)
    return "prefix must be no more than 253 bytes";
  return {};
}

}  // namespace

/// One pass over the text, a requirement at a time.
class LabelQueryParser {
 public:
  explicit LabelQueryParser(std::string_view text) : text_(text) {}

  ApiResult<LabelQuery> run() {
    LabelQuery query;
    blanks();
    if (at_ == text_.size()) return query;
    for (;;) {
      LabelQuery::Requirement one;
      if (auto read = requirement(one); !read) return read.error();
      query.requirements_.push_back(std::move(one));
      if (query.requirements_.size() > kMaxRequirements)
        return wrong_requirement("more than " + std::to_string(kMaxRequirements) + " requirements");
      blanks();
      if (at_ == text_.size()) break;
      if (!take(',')) return unexpected("',' or end of text");
      blanks();
      if (at_ == text_.size()) return unexpected("identifier after ','");
    }
    query.sort_keys();
    return query;
  }

 private:
  using Operator = LabelQuery::Operator;

  void blanks() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  }
  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::string_view word() {
    blanks();
    const std::size_t start = at_;
    while (at_ < text_.size() && !is_blank(text_[at_]) &&
           kSpecial.find(text_[at_]) == std::string_view::npos)
      ++at_;
    return text_.substr(start, at_ - start);
  }
  ApiError unexpected(const std::string& expected) const {
    const std::string found = at_ < text_.size() ? std::string(1, text_[at_]) : std::string();
    return wrong_requirement("found '" + found + "', expected: " + expected);
  }

  ApiResult<void> requirement(LabelQuery::Requirement& out) {
    const bool absent = take('!');
    out.key = word();
    if (out.key.empty()) return unexpected(absent ? "identifier" : "!, identifier, or end of text");
    if (const std::string problem = key_problem(out.key); !problem.empty())
      return wrong_requirement("key: Invalid value: \"" + out.key + "\": " + problem);
    blanks();
    if (absent || at_ == text_.size() || text_[at_] == ',') {
      out.op = absent ? Operator::kDoesNotExist : Operator::kExists;
      return {};
    }
    if (take('=')) {
      take('=');
      out.op = Operator::kIn;
      return one_value(out);
    }
    if (take('!')) {
      if (!take('=')) return unexpected("'='");
      out.op = Operator::kNotIn;
      return one_value(out);
    }
    if (take('>') || take('<')) {
      out.op = text_[at_ - 1] == '>' ? Operator::kAbove : Operator::kBelow;
      return bound(out);
    }
    const std::string_view name = word();
    if (name != "in" && name != "notin") {
      at_ -= name.size();
      return unexpected("in, notin, =, ==, !=, >, <");
    }
    out.op = name == "in" ? Operator::kIn : Operator::kNotIn;
    return value_set(out);
  }

  ApiResult<void> add_value(LabelQuery::Requirement& out, std::string_view value) {
    if (value.size() > 63 || !api::is_label_value(value))
      return wrong_requirement(
          "values[" + std::to_string(out.values.size()) + "][" + out.key + "]: Invalid value: \"" +
          std::string(value) +
          "\": a label value is empty, or at most 63 letters, digits, '-', '_' and '.' "
          "with a letter or digit at both ends");
    out.values.emplace_back(value);
    return {};
  }

  ApiResult<void> one_value(LabelQuery::Requirement& out) { return add_value(out, word()); }

  ApiResult<void> bound(LabelQuery::Requirement& out) {
    const std::string_view value = word();
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), out.bound);
    if (error != std::errc() || end != value.data() + value.size() || value.empty())
      return wrong_requirement("values[0][" + out.key + "]: Invalid value: \"" +
                               std::string(value) +
                               "\": for 'Gt', 'Lt' operators, the value must be an integer");
    return {};
  }

  ApiResult<void> value_set(LabelQuery::Requirement& out) {
    blanks();
    if (!take('(')) return unexpected("'('");
    for (;;) {
      if (auto added = add_value(out, word()); !added) return added;
      blanks();
      if (take(')')) break;
      if (!take(',')) return unexpected("',' or ')'");
    }
    if (out.values.size() == 1 && out.values[0].empty())
      return wrong_requirement(
          "values: Invalid value: []: for 'in', 'notin' operators, values set can't be "
          "empty");
    std::sort(out.values.begin(), out.values.end());
    return {};
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

ApiResult<LabelQuery> LabelQuery::parse(std::string_view text) {
  return LabelQueryParser(text).run();
}

std::optional<boost::json::array> LabelQuery::expressions() const {
  boost::json::array out;
  for (const Requirement& each : requirements_) {
    const char* name = nullptr;
    if (each.op == Operator::kIn) name = "In";
    if (each.op == Operator::kNotIn) name = "NotIn";
    if (each.op == Operator::kExists) name = "Exists";
    if (each.op == Operator::kDoesNotExist) name = "DoesNotExist";
    if (name == nullptr) return std::nullopt;
    boost::json::object one{{"key", each.key}, {"operator", name}};
    if (!each.values.empty())
      one["values"] = boost::json::array(each.values.begin(), each.values.end());
    out.push_back(std::move(one));
  }
  return out;
}

bool LabelQuery::satisfied(const Requirement& requirement, const std::string_view* value) {
  const auto among = [&] {
    return std::binary_search(requirement.values.begin(), requirement.values.end(), *value,
                              std::less<>());
  };
  switch (requirement.op) {
    case Operator::kIn:
      return value != nullptr && among();
    case Operator::kNotIn:
      return value == nullptr || !among();
    case Operator::kExists:
      return value != nullptr;
    case Operator::kDoesNotExist:
      return value == nullptr;
    case Operator::kAbove:
    case Operator::kBelow:
      break;
  }
  if (value == nullptr) return false;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(value->data(), value->data() + value->size(), number);
  if (error != std::errc() || end != value->data() + value->size()) return false;
  return requirement.op == Operator::kAbove ? number > requirement.bound
                                            : number < requirement.bound;
}

void LabelQuery::sort_keys() {
  by_key_.resize(requirements_.size());
  std::iota(by_key_.begin(), by_key_.end(), 0);
  std::stable_sort(by_key_.begin(), by_key_.end(),
                   [this](std::uint32_t a, std::uint32_t b) { return key_of(a) < key_of(b); });
}

bool LabelQuery::matches_labels(std::string_view labels) const {
  std::vector<bool> answered(requirements_.size());
  std::string scratch;
  std::size_t left = requirements_.size();
  bool holds = true;
  const auto is_before = [this](std::uint32_t i, std::string_view key) { return key_of(i) < key; };
  api::each_member(labels, [&](std::string_view key, std::string_view raw) {
    auto each = std::lower_bound(by_key_.begin(), by_key_.end(), key, is_before);
    for (; each != by_key_.end() && key_of(*each) == key; ++each, --left) {
      const std::string_view value = api::scalar_text(raw, scratch);
      holds &= satisfied(requirements_[*each], &value);
      answered[*each] = true;
    }
    return holds && left > 0;
  });
  for (std::size_t i = 0; holds && left > 0 && i < answered.size(); ++i)
    if (!answered[i]) holds = satisfied(requirements_[i], nullptr);
  return holds;
}

bool LabelQuery::matches(const StoredObject& object) const {
  return requirements_.empty() || matches_labels(object.metadata.labels());
}

}  // namespace sluice::host
