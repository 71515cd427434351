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
  std::size_t bytes = 0;  ///< of its texts, and a few for each value: less than its JSON has
};

constexpr std::size_t kBytesOfValue = 2;

void add_extent(const json::value& value, std::size_t depth, Extent& out) {
  api::Steps::count();
  ++out.values;
  out.bytes += kBytesOfValue;
  out.depth = std::max(out.depth, depth + (value.is_structured() ? 1 : 0));
  if (const auto* object = value.if_object()) {
    for (const auto& member : *object) {
      out.bytes += member.key().size();
      add_extent(member.value(), depth + 1, out);
    }
  } else if (const auto* array = value.if_array()) {
    for (const auto& item : *array) add_extent(item, depth + 1, out);
  } else if (const auto* text = value.if_string()) {
    out.bytes += text->size();
  }
}

Extent extent_of(const json::value& value) {
  Extent out;
  add_extent(value, 0, out);
  return out;
}

struct Operation {
  std::string_view name, path_text, from_text;
  Pointer path, from;
  const json::value* value = nullptr;
};

/// What went wrong; an empty text: nothing.
struct Problem {
  std::string text;
  int code = 422;
  Problem() = default;
  Problem(std::string what, int with = 422)  // NOLINT(google-explicit-constructor)
      : text(std::move(what)), code(with) {}
  Problem(const char* what) : text(what) {}  // NOLINT(google-explicit-constructor)
  bool none() const { return text.empty(); }
};

/// Carries out operations one by one. What a value costs that is there already (to measure it, to
/// close the gap that it leaves) is charged to the patch as a whole: it may be moved again and
/// again by an operation of a few bytes.
class Patcher {
 public:
  Patcher(json::value& root, const PatchLimits& limits)
      : root_(root), limits_(limits), bytes_(extent_of(root).bytes) {}

  Problem apply(const Operation& op) {
    if (op.name == "add") return add(op.path, copy_of(*op.value), extent_of(*op.value));
    if (op.name == "remove") return remove(op.path);
    if (op.name == "replace") return replace(op);
    if (op.name == "test") return test(op);
    if (op.name == "move") return move(op);
    return copy(op);
  }

 private:
  // Values are made where the document's are: to move one into other memory copies it.
  json::value copy_of(const json::value& value) const {
    return json::value(value, root_.storage());
  }

  bool afford(std::size_t steps) {
    steps_ += steps;
    return steps_ <= limits_.steps;
  }
  Problem too_much() const {
    return "the patch moves and copies more than the limit of " + std::to_string(limits_.steps) +
           " values";
  }
  static Problem missing(std::string_view path) {
    return "there is nothing at \"" + std::string(path) + "\"";
  }

  /// Entries of a list that stand behind a place: they move all at once, many in one step.
  bool afford_shift(std::size_t entries) {
    constexpr std::size_t kAtOnce = 8;
    api::Steps::count(entries / kAtOnce);
    return afford(entries / kAtOnce);
  }

  /// Whether a value of this extent may stand at `path`; its bytes are counted.
  Problem take_in(const Pointer& path, const Extent& extent) {
    if (path.size() + extent.depth > limits_.depth)
      return "the result would be nested deeper than " + std::to_string(limits_.depth) + " levels";
    bytes_ += extent.bytes + (path.empty() ? 0 : path.back().size());
    if (bytes_ <= limits_.bytes) return {};
    return {
        "the result would be larger than the limit of " + std::to_string(limits_.bytes) + " bytes",
        413};
  }

  /// The value goes away; false: it cannot be afforded.
  bool give_back(std::size_t key_bytes, const json::value& value) {
    const Extent extent = extent_of(value);
    bytes_ -= std::min(bytes_, extent.bytes + key_bytes);
    return afford(extent.values);
  }

  Problem add(const Pointer& path, json::value value, const Extent& extent) {
    if (Problem problem = take_in(path, extent); !problem.none()) return problem;
    if (path.empty()) {
      bytes_ = extent.bytes;
      root_ = std::move(value);
      return {};
    }
    json::value* parent = walk(root_, path, path.size() - 1);
    if (parent == nullptr) return "the parent of the place does not exist";
    if (auto* object = parent->if_object()) {
      json::value& into = (*object)[path.back()];
      if (!into.is_null() && !give_back(path.back().size(), into)) return too_much();
      into = std::move(value);
      return {};
    }
    auto* array = parent->if_array();
    if (array == nullptr) return "the parent of the place is neither an object nor a list";
    const auto index = path.back() == "-" ? array->size() : parse_index(path.back());
    if (!index || *index > array->size())
      return "\"" + path.back() + "\" is no index of a list with " + std::to_string(array->size()) +
             " entries";
    if (!afford_shift(array->size() - *index)) return too_much();
    array->insert(array->begin() + static_cast<std::ptrdiff_t>(*index), std::move(value));
    return {};
  }

  /// Takes the value out of its place.
  Problem take_out(const Pointer& path, json::value& value) {
    if (path.empty()) return "the whole object cannot be removed";
    json::value* parent = walk(root_, path, path.size() - 1);
    json::value* at = parent != nullptr ? child(*parent, path.back()) : nullptr;
    if (at == nullptr) return "there is nothing to remove";
    value = std::move(*at);
    if (auto* object = parent->if_object()) {
      object->erase(path.back());
    } else if (auto* array = parent->if_array()) {
      const std::size_t index = *parse_index(path.back());
      if (!afford_shift(array->size() - index)) return too_much();
      array->erase(array->begin() + static_cast<std::ptrdiff_t>(index));
    }
    return {};
  }

  Problem remove(const Pointer& path) {
    json::value gone(root_.storage());
    if (Problem problem = take_out(path, gone); !problem.none()) return problem;
    if (!give_back(path.back().size(), gone)) return too_much();
    return {};
  }

  Problem replace(const Operation& op) {
    json::value* at = walk(root_, op.path, op.path.size());
    if (at == nullptr) return missing(op.path_text);
    if (!give_back(0, *at)) return too_much();
    // The name of the place is there already.
    const Extent extent = extent_of(*op.value);
    if (Problem problem = take_in(op.path, extent); !problem.none()) return problem;
    bytes_ -= op.path.empty() ? 0 : op.path.back().size();
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
      return walk(root_, op.from, op.from.size()) ? Problem() : missing(op.from_text);
    if (op.from.size() < op.path.size() &&
        std::equal(op.from.begin(), op.from.end(), op.path.begin()))
      return "a value cannot be moved into itself";
    if (walk(root_, op.from, op.from.size()) == nullptr) return missing(op.from_text);
    json::value value(root_.storage());
    if (Problem problem = take_out(op.from, value); !problem.none()) return problem;
    const Extent extent = extent_of(value);
    if (!afford(extent.values)) return too_much();
    bytes_ -= std::min(bytes_, extent.bytes + op.from.back().size());
    return add(op.path, std::move(value), extent);
  }

  Problem copy(const Operation& op) {
    const json::value* at = walk(root_, op.from, op.from.size());
    if (at == nullptr) return missing(op.from_text);
    const Extent extent = extent_of(*at);
    if (!afford(extent.values)) return too_much();
    // Before it is copied: what does not fit is not made.
    if (bytes_ + extent.bytes > limits_.bytes) return take_in(op.path, extent);
    return add(op.path, copy_of(*at), extent);
  }

  json::value& root_;
  const PatchLimits& limits_;
  std::size_t bytes_;  ///< of the document, as Extent counts them
  std::size_t steps_ = 0;
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
  api::Steps::count();
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
    api::Steps::count();
    const auto operation = read((*operations)[i], i);
    if (!operation) return operation.error();
    const Problem problem = patcher.apply(*operation);
    if (problem.none()) continue;
    ApiError out;
    out.code = problem.code;
    out.reason = problem.code == 413 ? "RequestEntityTooLarge" : "Invalid";
    out.text = "the JSON patch cannot be applied: operation " + std::to_string(i) + " (" +
               std::string(operation->name) + " " + std::string(operation->path_text) +
               "): " + problem.text;
    return out;
  }
  return {};
}

}  // namespace sluice::host
