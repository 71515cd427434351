#include "api/schema/limits.hpp"

#include <limits>
#include <optional>
#include <string>

#include "api/json/decode_parts.hpp"
#include "api/json/json.hpp"
#include "api/schema/formats.hpp"
#include "api/schema/walk.hpp"

namespace sluice::api {

namespace json = boost::json;

namespace {

/// A limit, `least` or more; absent without one, and where it is wrong.
std::optional<std::int64_t> limit(const json::object& from, const char* key, std::int64_t least,
                                  Mistakes& mistakes) {
  const json::value* given = find(from, key);
  if (given == nullptr) return std::nullopt;
  const auto value = as_int(*given);
  if (value && *value >= least) return value;
  mistakes.add({std::string(key) + ": found " + shown(*given) + "; allowed: a whole number" +
                (least == 0 ? ", 0 or more" : "")});
  return std::nullopt;
}

void check_order(const char* low, std::optional<std::int64_t> least, const char* high,
                 std::optional<std::int64_t> most, Mistakes& mistakes) {
  if (!least || !most || *least <= *most) return;
  mistakes.add({std::string(low) + ": found " + std::to_string(*least) + "; allowed: at most " +
                std::to_string(*most) + ", the " + high});
}

void read_enum(const json::object& from, SchemaNode& node, Mistakes& mistakes) {
  const json::value* given = find(from, "enum");
  if (given == nullptr) return;
  node.one_of = one_or_more_texts(from, "enum");
  const std::size_t listed = given->is_array() ? given->get_array().size() : 1;
  if (node.one_of.empty() || node.one_of.size() != listed)
    mistakes.add({"enum: found " + shown(*given) + "; allowed: one text or more"});
}

}  // namespace

void read_limits(const json::object& from, SchemaNode& node, Mistakes& mistakes) {
  if (const auto name = find_text(from, "format"); !name.empty()) {
    if (const auto format = format_of(name)) {
      node.format = *format;
    } else {
      mistakes.add(
          {"format \"" + std::string(name) + "\" is not known; allowed are " + format_names()});
    }
  }
  read_enum(from, node, mistakes);
  constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::min();
  node.min = limit(from, "min", kAny, mistakes);
  node.max = limit(from, "max", kAny, mistakes);
  check_order("min", node.min, "max", node.max, mistakes);
  const auto sizes = [&](const char* low, std::size_t& least, const char* high, std::size_t& most) {
    const auto lower = low != nullptr ? limit(from, low, 0, mistakes) : std::nullopt;
    const auto upper = limit(from, high, 0, mistakes);
    check_order(low, lower, high, upper, mistakes);
    if (lower) least = static_cast<std::size_t>(*lower);
    if (upper) most = static_cast<std::size_t>(*upper);
  };
  std::size_t none = 0;
  sizes("minLength", node.min_length, "maxLength", node.max_length);
  sizes("minItems", node.min_items, "maxItems", node.max_items);
  sizes(nullptr, none, "maxProperties", node.max_properties);
  node.list_keys = one_or_more_texts(from, "listKeys");
  node.list_set = find_text(from, "listType") == "set";
}

}  // namespace sluice::api
