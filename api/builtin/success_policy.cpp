#include "api/builtin/success_policy.hpp"

#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "api/builtin/rules.hpp"
#include "api/schema/rules.hpp"
#include "core/base/result.hpp"

namespace sluice::api::builtin {
namespace {

namespace json = boost::json;

constexpr std::size_t kLongestIndexes = 64 * 1024;

std::string quoted_text(std::string_view text) { return to_json(json::value(json_view(text))); }

Result<std::int64_t> index_below(std::string_view text, std::int64_t end) {
  std::int64_t value = 0;
  const char* const over = text.data() + text.size();
  const auto read = std::from_chars(text.data(), over, value);
  if (text.empty() || read.ec != std::errc() || read.ptr != over)
    return Error{"cannot convert string to integer for index: " + quoted_text(text)};
  if (value >= end) return Error{"too large index: " + quoted_text(text)};
  return value;
}

struct Interval {
  std::int64_t first = 0, last = 0;
};

Error not_increasing(std::int64_t previous, std::int64_t current) {
  return Error{"non-increasing order, previous: " + std::to_string(previous) +
               ", current: " + std::to_string(current)};
}

Result<Interval> interval_of(std::string_view text, std::int64_t end) {
  const std::size_t dash = text.find('-');
  if (dash != std::string_view::npos && text.find('-', dash + 1) != std::string_view::npos)
    return Error{"the fragment " + quoted_text(text) +
                 " violates the requirement that an index interval can have at most two parts "
                 "separated by '-'"};
  const auto first = index_below(text.substr(0, dash), end);
  if (!first) return first.error();
  if (dash == std::string_view::npos) return Interval{*first, *first};
  const auto last = index_below(text.substr(dash + 1), end);
  if (!last) return last.error();
  if (*first >= *last) return not_increasing(*first, *last);
  return Interval{*first, *last};
}

/// How many indexes a text like `1,3-5` names.
Result<std::int64_t> count_indexes(std::string_view text, std::int64_t end) {
  std::int64_t total = 0;
  std::optional<std::int64_t> last;
  for (bool more = !text.empty(); more;) {
    const std::size_t comma = text.find(',');
    const auto read = interval_of(text.substr(0, comma), end);
    if (!read) return read.error();
    if (last && *last >= read->first) return not_increasing(*last, read->first);
    total += read->last - read->first + 1;
    last = read->last;
    more = comma != std::string_view::npos;
    if (more) text.remove_prefix(comma + 1);
  }
  return total;
}

void check_rule(const json::object& rule, std::int64_t completions, const std::string& where,
                Outcome& outcome) {
  const auto count = find_int(rule, "succeededCount");
  const json::value* indexes = find(rule, "succeededIndexes");
  if (!count && !indexes)
    return add_required(outcome, where,
                        "at least one of succeededCount or succeededIndexes must be specified");
  std::int64_t named = 0;
  if (const auto* given = indexes ? indexes->if_string() : nullptr) {
    const std::string place = where + ".succeededIndexes";
    if (given->size() > kLongestIndexes)
      return add_problem(
          outcome, Problem::Kind::kTooLong, place,
          "Too long: may not be more than " + std::to_string(kLongestIndexes) + " bytes");
    const auto read = count_indexes(view(*given), completions);
    if (!read)
      add_invalid(outcome, place, *indexes, "error parsing succeededIndexes: " + read.error().text);
    named = read ? *read : 0;
  }
  if (!count) return;
  const auto at_most = [&](std::int64_t most, const char* what) {
    if (*count <= most) return;
    add_invalid(
        outcome, where + ".succeededCount", *count,
        "must be less than or equal to " + std::to_string(most) + " (the number of " + what + ")");
  };
  at_most(completions, "specified completions");
  if (indexes) at_most(named, "indexes in the specified succeededIndexes field");
}

}  // namespace

void check_success_policy(const json::object& spec, Outcome& outcome) {
  const auto completions = find_int(spec, "completions");
  if (!completions || !is_indexed(spec)) return;
  for_objects(part(spec, "successPolicy"), "rules", [&](std::size_t i, const json::object& rule) {
    check_rule(rule, *completions, indexed("spec.successPolicy.rules", i), outcome);
  });
}

}  // namespace sluice::api::builtin
