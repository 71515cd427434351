#include "api/jobs/count_expression.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "api/json/json.hpp"
#include "core/base/text.hpp"
#include "core/types/quantity.hpp"

namespace sluice::api {

namespace json = boost::json;

namespace {

constexpr int kDeepest = 16;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return c >= 'a' && c <= 'z'; }

/// Ends a path outside of brackets.
bool ends_path(char c) {
  return std::string_view(" \t,()*/+-<>=?").find(c) != std::string_view::npos;
}

std::string shown(const json::value& value) {
  constexpr std::size_t kMost = 60;
  std::string text = json_bytes(value, 4 * kMost) > 4 * kMost ? "a larger value" : to_json(value);
  if (text.size() > kMost) text = text.substr(0, kMost - 3) + "...";
  return text;
}

}  // namespace

class CountParser {
 public:
  explicit CountParser(std::string_view text) : rest_(text) {}

  Result<CountExpression> run() {
    if (rest_.size() > CountExpression::kLongest)
      return Error{"an expression has at most " + std::to_string(CountExpression::kLongest) +
                   " characters"};
    auto root = comparison(0);
    if (!root) return root.error();
    skip();
    if (!rest_.empty()) return bad("nothing more");
    out_.root_ = *root;
    return std::move(out_);
  }

 private:
  using Op = CountExpression::Op;
  using Node = CountExpression::Node;
  using Index = Result<std::int32_t>;

  Error bad(std::string_view wanted) const {
    return Error{"cannot read \"" + std::string(rest_.substr(0, 40)) +
                 "\"; allowed here: " + std::string(wanted)};
  }
  void skip() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t'))
      rest_.remove_prefix(1);
  }
  bool take(std::string_view token) {
    skip();
    if (!rest_.starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }
  std::int32_t add(Node node) {
    out_.nodes_.push_back(std::move(node));
    return static_cast<std::int32_t>(out_.nodes_.size()) - 1;
  }
  std::int32_t add(Op op, std::int32_t left, std::int32_t right) {
    Node node;
    node.op = op;
    node.left = left;
    node.right = right;
    return add(std::move(node));
  }

  Index comparison(int depth) {
    auto left = addition(depth);
    if (!left) return left;
    const std::pair<std::string_view, Op> ops[] = {{">=", Op::kAtLeast},
                                                   {"<=", Op::kAtMost},
                                                   {"==", Op::kEqual},
                                                   {">", Op::kMore},
                                                   {"<", Op::kLess}};
    for (const auto& [token, op] : ops) {
      if (!take(token)) continue;
      auto right = addition(depth);
      return right ? Index(add(op, *left, *right)) : right;
    }
    return left;
  }

  Index addition(int depth) {
    auto left = product(depth);
    while (left) {
      const bool plus = take("+");
      if (!plus && !take("-")) break;
      auto right = product(depth);
      if (!right) return right;
      left = add(plus ? Op::kAdd : Op::kSubtract, *left, *right);
    }
    return left;
  }

  Index product(int depth) {
    auto left = factor(depth);
    while (left) {
      const bool times = take("*");
      if (!times && !take("/")) break;
      auto right = factor(depth);
      if (!right) return right;
      left = add(times ? Op::kMultiply : Op::kDivide, *left, *right);
    }
    return left;
  }

  Index factor(int depth) {
    if (depth > kDeepest) return Error{"an expression nests at most 16 deep"};
    skip();
    if (take("(")) {
      auto inner = addition(depth + 1);
      if (inner && !take(")")) return bad(")");
      return inner;
    }
    if (!rest_.empty() && is_digit(rest_.front())) return number();
    const bool calls = !rest_.empty() && is_letter(rest_.front());
    auto found = calls ? call(depth) : path();
    if (!found || !out_.reads(*found) || !take("??")) return found;
    auto absent = factor(depth + 1);
    return absent ? Index(add(Op::kDefault, *found, *absent)) : absent;
  }

  Index number() {
    Node node;
    const auto read = std::from_chars(rest_.data(), rest_.data() + rest_.size(), node.number);
    if (read.ec != std::errc()) return bad("a number that is smaller");
    rest_.remove_prefix(static_cast<std::size_t>(read.ptr - rest_.data()));
    return add(std::move(node));
  }

  Index path() {
    std::size_t end = 0;
    char quote = 0;
    int brackets = 0;
    for (; end < rest_.size(); ++end) {
      const char c = rest_[end];
      if (quote != 0) {
        if (c == quote) quote = 0;
      } else if (brackets > 0 && (c == '\'' || c == '"')) {
        quote = c;
      } else if (c == '[') {
        ++brackets;
      } else if (c == ']') {
        --brackets;
      } else if (brackets == 0 && ends_path(c)) {
        break;
      }
    }
    Node node;
    node.op = Op::kPath;
    node.text = rest_.substr(0, end);
    if (node.text.starts_with('$')) node.root = CountScope::Root::kWhole;
    if (node.text.starts_with('@')) node.root = CountScope::Root::kReport;
    const bool of_element = node.root == CountScope::Root::kElement;
    if (!of_element && in_sum_)
      return Error{"within a sum paths start with a dot, not with $ or @: \"" + node.text + "\""};
    if (of_element && !node.text.starts_with('.'))
      return bad(
          "a number, a path such as .spec.replicas, min, max, sum, count, milli, mib, is or (");
    const bool reported = node.root == CountScope::Root::kReport;
    auto parsed = JsonPath::parse(std::string_view(node.text).substr(reported ? 1 : 0));
    if (!parsed) return parsed.error();
    node.path = std::move(*parsed);
    rest_.remove_prefix(end);
    return add(std::move(node));
  }

  Index call(int depth) {
    std::size_t end = 0;
    while (end < rest_.size() && is_letter(rest_[end])) ++end;
    const std::string_view name = rest_.substr(0, end);
    const std::pair<std::string_view, Op> known[] = {
        {"min", Op::kMin},     {"max", Op::kMax}, {"sum", Op::kSum}, {"count", Op::kCount},
        {"milli", Op::kMilli}, {"mib", Op::kMib}, {"is", Op::kIs}};
    for (const auto& [word, op] : known) {
      if (name != word) continue;
      rest_.remove_prefix(end);
      if (!take("(")) return bad("(");
      const bool over = op == Op::kSum || op == Op::kCount;
      const bool two = op == Op::kMin || op == Op::kMax;
      auto made = two ? two_of(op, depth) : over ? over_path(op, depth) : of_path(op);
      if (made && !take(")")) return bad(")");
      return made;
    }
    return bad("min, max, sum, count, milli, mib or is");
  }

  Index two_of(Op op, int depth) {
    auto left = addition(depth + 1);
    if (!left) return left;
    if (!take(",")) return bad("a comma");
    auto right = addition(depth + 1);
    return right ? Index(add(op, *left, *right)) : right;
  }

  Index of_path(Op op) {
    skip();
    auto of = path();
    if (!of || op != Op::kIs) return of ? Index(add(op, *of, -1)) : of;
    if (!take(",")) return bad("a comma");
    skip();
    const char quote = rest_.empty() ? ' ' : rest_.front();
    const std::size_t end = quote == '\'' || quote == '"' ? rest_.find(quote, 1) : rest_.npos;
    if (end == rest_.npos) return bad("a text in quotes");
    Node node;
    node.op = op;
    node.left = *of;
    node.text = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return add(std::move(node));
  }

  Index over_path(Op op, int depth) {
    if (in_sum_) return Error{"a sum or count cannot stand in a sum"};
    skip();
    auto over = path();
    if (!over || op == Op::kCount || !take(",")) return over ? Index(add(op, *over, -1)) : over;
    in_sum_ = true;
    auto each = addition(depth + 1);
    in_sum_ = false;
    return each ? Index(add(op, *over, *each)) : each;
  }

  std::string_view rest_;
  bool in_sum_ = false;
  CountExpression out_;
};

Result<CountExpression> CountExpression::parse(std::string_view text) {
  return CountParser(text).run();
}

std::string dotted(const JsonPlace& place) {
  std::string out;
  for (const std::string& name : place) {
    const bool index = !name.empty() && std::all_of(name.begin(), name.end(), is_digit);
    if (index) {
      out += "[" + name + "]";
    } else {
      if (!out.empty()) out += '.';
      out += name;
    }
  }
  return out;
}

Result<std::int64_t> whole_number(const json::value& value) {
  if (const auto number = as_int(value)) return *number;
  if (const auto* text = value.if_string(); text != nullptr && text->size() < 20) {
    std::int64_t number = 0;
    const char* end = text->data() + text->size();
    const auto read = std::from_chars(text->data(), end, number);
    if (read.ec == std::errc() && read.ptr == end) return number;
  }
  return Error{"is " + shown(value) + ", which is no whole number"};
}

namespace {

std::string text_in_value(const json::value& value) {
  const auto* text = value.if_string();
  return text ? std::string(view(*text)) : to_json(value);
}

/// An amount as Kubernetes writes it, in thousandths, rounded up.
Result<std::int64_t> in_milli(const json::value& value) {
  const auto read = Quantity::parse(text_in_value(value));
  if (!read) return Error{"is " + shown(value) + ", which is no amount such as 500m or 2"};
  if (read->saturated()) return Error{"is " + shown(value) + ", which is too large"};
  return read->milli();
}

/// A size as Java writes it, in MiB, rounded up: 512m, 2g; of a bare number the unit is MiB.
Result<std::int64_t> in_mib(const json::value& value) {
  const Error wrong{"is " + shown(value) + ", which is no size such as 512m or 2g"};
  const std::string text = text_in_value(value);
  std::int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc() || number < 0) return wrong;
  std::string unit = lower_ascii(text.substr(static_cast<std::size_t>(read.ptr - text.data())));
  if (unit.size() > 1 && unit.ends_with('b')) unit.pop_back();
  if (unit.size() > 1 && unit.ends_with('i')) unit.pop_back();
  constexpr std::string_view kUnits = "bkmgtp";  // each 1024 times the one before
  const std::size_t at = unit.empty() ? 2 : unit.size() > 1 ? kUnits.npos : kUnits.find(unit[0]);
  if (at == kUnits.npos) return wrong;
  constexpr std::int64_t kStep = 1024;
  for (std::size_t i = at; i < 2; ++i) number = number / kStep + (number % kStep != 0 ? 1 : 0);
  for (std::size_t i = 2; i < at; ++i)
    if (__builtin_mul_overflow(number, kStep, &number)) return wrong;
  return number;
}

}  // namespace

bool CountExpression::reads(std::int32_t index) const {
  const Op op = at(index).op;
  return op == Op::kPath || op == Op::kMilli || op == Op::kMib;
}

JsonPlace CountExpression::lone_place() const {
  const Node* node = &at(root_);
  if (node->op == Op::kDefault) node = &at(node->left);
  return node->op == Op::kPath && node->root == CountScope::Root::kElement ? node->path.members()
                                                                           : JsonPlace();
}

bool CountExpression::reads_report() const {
  return std::any_of(nodes_.begin(), nodes_.end(),
                     [](const Node& node) { return node.root == CountScope::Root::kReport; });
}

Result<std::int64_t> CountExpression::value(const CountScope& scope) const {
  return value(at(root_), scope);
}

Result<std::int64_t> CountExpression::sum(const Node& node, const CountScope& scope) const {
  const Node& path = at(node.left);
  const auto found = scope.places(path.path, path.root);
  if (node.op == Op::kCount) return static_cast<std::int64_t>(found.size());
  std::int64_t total = 0;
  for (const JsonPath::Found& each : found) {
    Result<std::int64_t> one = 0;
    if (node.right < 0) {
      one = whole_number(*each.value);
      if (!one) return Error{dotted(each.place) + " " + one.error().text};
    } else {
      const json::object* element = each.value->if_object();
      if (element == nullptr) return Error{dotted(each.place) + " is no object"};
      one = value(at(node.right), CountScope{scope.whole, *element, each.place});
      if (!one) return one;
    }
    if (__builtin_add_overflow(total, *one, &total)) return Error{"a sum is too large"};
  }
  return total;
}

Result<std::int64_t> CountExpression::read(const Node& node, const CountScope& scope) const {
  const Node& reader = node.op == Op::kDefault ? at(node.left) : node;
  const Node& path = reader.op == Op::kPath ? reader : at(reader.left);
  const auto found = scope.places(path.path, path.root);
  if (found.empty() || found.front().value->is_null()) {
    if (node.op == Op::kDefault) return value(at(node.right), scope);
    const bool below = path.root == CountScope::Root::kElement;
    return Error{(below ? dotted(scope.place) : "") + path.text + " is not there"};
  }
  if (found.size() > 1) return Error{path.text + " leads to several values"};
  const json::value& there = *found.front().value;
  auto number = reader.op == Op::kMilli ? in_milli(there)
                : reader.op == Op::kMib ? in_mib(there)
                                        : whole_number(there);
  if (!number) return Error{dotted(found.front().place) + " " + number.error().text};
  return number;
}

Result<std::int64_t> CountExpression::value(const Node& node, const CountScope& scope) const {
  if (node.op == Op::kNumber) return node.number;
  if (node.op == Op::kSum || node.op == Op::kCount) return sum(node, scope);
  if (node.op == Op::kIs) {
    const auto found = scope.places(at(node.left).path, at(node.left).root);
    return std::any_of(
               found.begin(), found.end(),
               [&](const JsonPath::Found& each) { return text_in_value(*each.value) == node.text; })
               ? 1
               : 0;
  }
  if (node.op == Op::kPath || node.op == Op::kMilli || node.op == Op::kMib ||
      node.op == Op::kDefault)
    return read(node, scope);
  auto left = value(at(node.left), scope);
  if (!left) return left;
  auto right = value(at(node.right), scope);
  if (!right) return right;
  std::int64_t out = 0;
  bool beyond = false;
  switch (node.op) {
    case Op::kAdd:
      beyond = __builtin_add_overflow(*left, *right, &out);
      break;
    case Op::kSubtract:
      beyond = __builtin_sub_overflow(*left, *right, &out);
      break;
    case Op::kMultiply:
      beyond = __builtin_mul_overflow(*left, *right, &out);
      break;
    case Op::kDivide:
      if (*right == 0) return Error{"a division by 0"};
      beyond = *right == -1 && __builtin_sub_overflow(std::int64_t{0}, *left, &out);
      if (*right != -1) out = *left / *right;
      break;
    case Op::kMin:
      return std::min(*left, *right);
    case Op::kMax:
      return std::max(*left, *right);
    case Op::kAtLeast:
      return *left >= *right ? 1 : 0;
    case Op::kMore:
      return *left > *right ? 1 : 0;
    case Op::kAtMost:
      return *left <= *right ? 1 : 0;
    case Op::kLess:
      return *left < *right ? 1 : 0;
    case Op::kEqual:
      return *left == *right ? 1 : 0;
    default:
      break;
  }
  if (beyond) return Error{"a number is too large"};
  return out;
}

}  // namespace sluice::api
