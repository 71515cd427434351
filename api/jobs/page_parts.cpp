#include "api/jobs/page_parts.hpp"

#include <algorithm>

#include "api/json/json.hpp"

namespace sluice::api {

namespace json = boost::json;

Result<void> only(const json::object& object, const std::string& where,
                  std::initializer_list<std::string_view> allowed) {
  for (const auto& member : object) {
    if (std::find(allowed.begin(), allowed.end(), view(member.key())) != allowed.end()) continue;
    std::string list;
    for (const std::string_view each : allowed)
      list += (list.empty() ? "" : ", ") + std::string(each);
    return Error{where + ": unknown key \"" + std::string(view(member.key())) + "\"; allowed are " +
                 list};
  }
  return {};
}

std::string quoted(std::string_view text) { return "\"" + std::string(text) + "\""; }

bool is_name(std::string_view text, std::string_view extra) {
  if (text.empty() || text.size() > 253) return false;
  const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return plain(text.front()) && plain(text.back()) &&
         std::all_of(text.begin(), text.end(),
                     [&](char c) { return plain(c) || extra.find(c) != std::string_view::npos; });
}

Result<JsonPath> read_path(std::string_view text, const std::string& where) {
  constexpr std::size_t kLongest = 250;
  if (text.size() > kLongest || !text.starts_with('.') || text.find("..") != std::string_view::npos)
    return Error{where + ": found " + quoted(text.substr(0, 60)) +
                 "; allowed is a path such as .spec.template, of at most 250 characters"};
  auto path = JsonPath::parse(text);
  if (!path) return path.error().context(where);
  return path;
}

Result<JsonPlace> read_place(std::string_view text, const std::string& where) {
  auto path = read_path(text, where);
  if (!path) return path.error();
  JsonPlace place = path->members();
  if (place.empty())
    return Error{where + ": found " + quoted(text) + "; allowed is a path of names alone"};
  return place;
}

Result<CountExpression> read_count(const json::value& value, const std::string& where,
                                   bool reports) {
  const auto* text = value.if_string();
  if (!text && !value.is_int64())
    return Error{where + ": found " + to_json(value) +
                 "; allowed is a number or an expression such as \".spec.replicas ?? 1\""};
  auto read = CountExpression::parse(text ? view(*text) : std::string_view(to_json(value)));
  if (!read) return read.error().context(where);
  if (!reports && read->reads_report())
    return Error{where + ": found " + to_json(value) +
                 "; a path may start with @ only in finished, beside reports"};
  return read;
}

}  // namespace sluice::api
