#include "host/rest/json_patch.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "api/json/json.hpp"

namespace sluice::host {

namespace json = boost::json;

namespace {

using Pointer = std::vector<std::string>;

/// nullopt when it is no JSON pointer (RFC 6901).
std::optional<Pointer> parse_pointer(std::string_view text) {
  Pointer out;
  if (text.empty()) return out;
  if (text[0] != '/') return std::nullopt;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '/') {
      out.emplace_back();
    } else if (text[i] == '~') {
      if (++i == text.size() || (text[i] != '0' && text[i] != '1')) return std::nullopt;
      out.back() += text[i] == '0' ? '~' : '/';
    } else {
      out.back() += text[i];
    }
  }
  return out;
}

std::optional<std::size_t> parse_index(std::string_view text) {
  if (text.empty() || text.size() > 9 || (text.size() > 1 && text[0] == '0')) return std::nullopt;
  std::size_t index = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    index = index * 10 + static_cast<std::size_t>(c - '0');
  }
  return index;
}

json::value* child(json::value& value, const std::string& token) {
  if (auto* object = value.if_object()) return object->if_contains(token);
  if (auto* array = value.if_array()) {
    const auto index = parse_index(token);
    if (index && *index < array->size()) return &(*array)[*index];
  }
  return nullptr;
}

json::value* walk(json::value& root, const Pointer& path, std::size_t steps) {
  json::value* at = &root;
  for (std::size_t i = 0; i < steps && at != nullptr; ++i) at = child(*at, path[i]);
  return at;
}

struct Extent {
  std::size_t depth = 0;
  std::size_t values = 0;
};

Extent extent_of(const json::value& value) {
  Extent out{0, 1};
  const auto add = [&](const json::value& inner) {
    const Extent below = extent_of(inner);
    out.depth = std::max(out.depth, below.depth);
    out.values += below.values;
  };
  if (const auto* object = value.if_object()) {
    for (const auto& member : *object) add(member.value());
    ++out.depth;
  } else if (const auto* array = value.if_array()) {
    for (const auto& item : *array) add(item);
    ++out.depth;
  }
  return out;
}

struct Operation {
  std::string_view name, path_text, from_text;
  Pointer path, from;
  const json::value* value = nullptr;
};

/// What went wrong; empty: nothing.
using Problem = std::string;

class Patcher {
 public:
  Patcher(json::value& root, const PatchLimits& limits) : root_(root), limits_(limits) {}

  Problem apply(const Operation& op) {
    if (op.name == "add") return add(op.path, *op.value);
    if (op.name == "remove") return remove(op.path);
    if (op.name == "replace") return replace(op);
    if (op.name == "test") return test(op);
    if (op.name == "move") return move(op);
    return copy(op);
  }

 private:
  /// Entries of lists that have to move.
  bool afford(std::size_t moves) {
    moved_ += moves;
    return moved_ <= limits_.moved_entries;
  }
  static Problem too_much() { return "the patch moves too many entries of long lists"; }

  static Problem missing(std::string_view path) {
    return "there is nothing at \"" + std::string(path) + "\"";
  }

  Problem add(const Pointer& path, json::value value) {
    if (path.size() + extent_of(value).depth > limits_.depth)
      return "the result would be nested deeper than " + std::to_string(limits_.depth) + " levels";
    if (path.empty()) {
      root_ = std::move(value);
      return {};
    }
    json::value* parent = walk(root_, path, path.size() - 1);
    if (parent == nullptr) return "the parent of the place does not exist";
    if (auto* object = parent->if_object()) {
      object->insert_or_assign(path.back(), std::move(value));
      return {};
    }
    auto* array = parent->if_array();
    if (array == nullptr) return "the parent of the place is neither an object nor a list";
    const auto index = path.back() == "-" ? array->size() : parse_index(path.back());
    if (!index || *index > array->size())
      return "\"" + path.back() + "\" is no index of a list with " + std::to_string(array->size()) +
             " entries";
    if (!afford(array->size() - *index)) return too_much();
    array->insert(array->begin() + static_cast<std::ptrdiff_t>(*index), std::move(value));
    return {};
  }

  Problem remove(const Pointer& path) {
    if (path.empty()) return "the whole object cannot be removed";
    json::value* parent = walk(root_, path, path.size() - 1);
    if (parent == nullptr || child(*parent, path.back()) == nullptr)
      return "there is nothing to remove";
    if (auto* object = parent->if_object()) {
      object->erase(path.back());
    } else if (auto* array = parent->if_array()) {
      if (!afford(array->size())) return too_much();
      array->erase(array->begin() + static_cast<std::ptrdiff_t>(*parse_index(path.back())));
    }
    return {};
  }

  Problem replace(const Operation& op) {
    json::value* at = walk(root_, op.path, op.path.size());
    if (at == nullptr) return missing(op.path_text);
    if (op.path.size() + extent_of(*op.value).depth > limits_.depth)
      return "the result would be nested deeper than " + std::to_string(limits_.depth) + " levels";
    *at = *op.value;
    return {};
  }

  Problem test(const Operation& op) {
    const json::value* at = walk(root_, op.path, op.path.size());
    if (at == nullptr && op.value->is_null() && !op.path.empty()) {
      // An absent member is null, as clients test for.
      const json::value* parent = walk(root_, op.path, op.path.size() - 1);
      if (parent != nullptr && parent->is_object()) return {};
    }
    if (at == nullptr) return missing(op.path_text);
    if (same_json(*at, *op.value)) return {};
    std::string found = api::to_json(*at);
    if (found.size() > 200) found = found.substr(0, 200) + "…";
    return "the value is " + found;
  }

  Problem move(const Operation& op) {
    if (op.from == op.path)
      return walk(root_, op.from, op.from.size()) ? "" : missing(op.from_text);
    if (op.from.size() < op.path.size() &&
        std::equal(op.from.begin(), op.from.end(), op.path.begin()))
      return "a value cannot be moved into itself";
    json::value* at = walk(root_, op.from, op.from.size());
    if (at == nullptr) return missing(op.from_text);
    json::value value = std::move(*at);
    if (Problem problem = remove(op.from); !problem.empty()) return problem;
    return add(op.path, std::move(value));
  }

  Problem copy(const Operation& op) {
    const json::value* at = walk(root_, op.from, op.from.size());
    if (at == nullptr) return missing(op.from_text);
    copied_ += extent_of(*at).values;
    if (copied_ > limits_.copied_values)
      return "the patch copies more than " + std::to_string(limits_.copied_values) + " values";
    return add(op.path, *at);
  }

  json::value& root_;
  const PatchLimits& limits_;
  std::size_t copied_ = 0;
  std::size_t moved_ = 0;
};

ApiResult<Operation> read(const json::value& entry, std::size_t index) {
  const auto wrong = [&](const std::string& what) {
    return bad_request("JSON patch: operation " + std::to_string(index) + " " + what);
  };
  const auto* object = entry.if_object();
  if (object == nullptr) return wrong("is not an object");
  Operation out;
  out.name = api::find_text(*object, "op");
  static constexpr std::string_view kNames[] = {"add", "remove", "replace", "move", "copy", "test"};
  if (std::find(std::begin(kNames), std::end(kNames), out.name) == std::end(kNames))
    return wrong("has \"op\" \"" + std::string(out.name) +
                 "\"; allowed are add, remove, replace, move, copy, test");
  const auto pointer = [&](const char* key, std::string_view& text, Pointer& into) {
    const json::value* value = api::find(*object, key);
    if (value == nullptr || !value->is_string()) return false;
    text = api::view(value->get_string());
    auto parsed = parse_pointer(text);
    if (!parsed) return false;
    into = std::move(*parsed);
    return true;
  };
  if (!pointer("path", out.path_text, out.path))
    return wrong("needs \"path\": a JSON pointer such as \"/spec/suspend\"");
  const bool two_places = out.name == "move" || out.name == "copy";
  if (two_places && !pointer("from", out.from_text, out.from))
    return wrong("needs \"from\": a JSON pointer such as \"/spec/suspend\"");
  out.value = api::find(*object, "value");
  if (out.value == nullptr && !two_places && out.name != "remove") return wrong("needs \"value\"");
  return out;
}

}  // namespace

bool same_json(const json::value& a, const json::value& b) {
  if (a.is_number() && b.is_number()) {
    if (a.is_double() || b.is_double()) {
      json::error_code one, two;
      return a.to_number<double>(one) == b.to_number<double>(two);
    }
    return a == b;
  }
  if (a.kind() != b.kind()) return false;
  if (const auto* x = a.if_object()) {
    const auto& y = b.get_object();
    return x->size() == y.size() && std::all_of(x->begin(), x->end(), [&](const auto& member) {
             const json::value* other = y.if_contains(member.key());
             return other != nullptr && same_json(member.value(), *other);
           });
  }
  if (const auto* x = a.if_array()) {
    const auto& y = b.get_array();
    return x->size() == y.size() && std::equal(x->begin(), x->end(), y.begin(), same_json);
  }
  return a == b;
}

ApiResult<void> json_patch(json::value& target, const json::value& patch,
                           const PatchLimits& limits) {
  const auto* operations = patch.if_array();
  if (operations == nullptr)
    return bad_request("JSON patch: the body must be a list of operations");
  if (operations->size() > limits.operations) {
    ApiError out;
    out.code = 413;
    out.reason = "RequestEntityTooLarge";
    out.text = "The allowed maximum operations in a JSON patch is " +
               std::to_string(limits.operations) + ", got " + std::to_string(operations->size());
    return out;
  }
  Patcher patcher(target, limits);
  for (std::size_t i = 0; i < operations->size(); ++i) {
    const auto operation = read((*operations)[i], i);
    if (!operation) return operation.error();
    const Problem problem = patcher.apply(*operation);
    if (problem.empty()) continue;
    ApiError out;
    out.code = 422;
    out.reason = "Invalid";
    out.text = "the JSON patch cannot be applied: operation " + std::to_string(i) + " (" +
               std::string(operation->name) + " " + std::string(operation->path_text) +
               "): " + problem;
    return out;
  }
  return {};
}

}  // namespace sluice::host
