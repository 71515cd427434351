#include "host/plugins/declarations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "host/plugins/text_gate.hpp"

namespace sluice::host {

namespace {

constexpr std::array<std::string_view, 6> kVerbs = {"get",    "list",  "create",
                                                    "update", "patch", "delete"};

/// The text up to the first of these characters; it and the character are taken off.
std::string_view take(std::string_view& text, std::string_view until) {
  const auto end = std::min(text.find_first_of(until), text.size());
  const std::string_view out = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return out;
}

bool is_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.';
  });
}

/// NAME/NUMBER.
bool is_point(std::string_view text) {
  const auto slash = text.find('/');
  if (slash == text.npos || !is_name(text.substr(0, slash))) return false;
  const std::string_view number = text.substr(slash + 1);
  return !number.empty() &&
         std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; });
}

constexpr std::string_view kStatus = "/status";

/// [GROUP/]Kind[/status] or *[/status].
bool is_kind(std::string_view text) {
  if (text.ends_with(kStatus)) text.remove_suffix(kStatus.size());
  if (text == "*") return true;
  const auto slash = text.find('/');
  if (slash == text.npos) return is_name(text);
  return is_name(text.substr(0, slash)) && is_name(text.substr(slash + 1));
}

Result<ObjectRight> parse_right(std::string_view text) {
  const Error wrong{fmt::format(
      "its metadata is damaged: it declares `may {}`; allowed: may VERB,… [GROUP/]Kind[/status], "
      "with * as the kind for all kinds, and the verbs {}",
      shown_text(text.substr(0, 100)), fmt::join(kVerbs, ", "))};
  ObjectRight out;
  std::string_view rest = text;
  for (std::string_view verbs = take(rest, " "); !verbs.empty();) {
    const std::string_view verb = take(verbs, ",");
    if (std::find(kVerbs.begin(), kVerbs.end(), verb) == kVerbs.end()) return wrong;
    out.verbs.emplace_back(verb);
  }
  if (out.verbs.empty() || !is_kind(rest)) return wrong;
  out.kind = rest;
  return out;
}

}  // namespace

std::string ObjectRight::text() const { return fmt::format("{} {}", fmt::join(verbs, ","), kind); }

std::string right_kind(std::string_view api_version, std::string_view kind,
                       std::string_view subresource) {
  const auto slash = api_version.find('/');
  std::string out;
  if (slash != api_version.npos) out.append(api_version.substr(0, slash)).append("/");
  out.append(kind);
  if (!subresource.empty()) out.append("/").append(subresource);
  return out;
}

bool Declarations::allows(std::string_view verb, std::string_view api_version,
                          std::string_view kind, std::string_view subresource) const {
  if (any_object) return true;
  const std::string wanted = right_kind(api_version, kind, subresource);
  const std::string of_all = right_kind("", "*", subresource);
  return std::any_of(may.begin(), may.end(), [&](const ObjectRight& right) {
    return (right.kind == of_all || right.kind == wanted) &&
           std::find(right.verbs.begin(), right.verbs.end(), verb) != right.verbs.end();
  });
}

std::string Declarations::rights() const {
  if (any_object) return "everything, as it declares nothing";
  std::string out;
  for (const ObjectRight& right : may) out += (out.empty() ? "" : "; ") + right.text();
  return out.empty() ? "nothing" : out;
}

Result<Declarations> parse_declarations(std::string_view section) {
  using namespace std::string_view_literals;
  Declarations out;
  while (!section.empty()) {
    std::string_view line = take(section, "\n\0"sv);
    const std::string_view word = take(line, " ");
    if (word == "provides" && !line.empty()) {
      if (!is_point(line))
        return Error{fmt::format(
            "its metadata is damaged: it declares `provides {}`; allowed: provides NAME/NUMBER, as "
            "in provides flavor-filter/1",
            shown_text(line.substr(0, 100)))};
      out.provides.emplace_back(line);
    }
    if (word != "may") continue;
    auto right = parse_right(line);
    if (!right) return right.error();
    out.may.push_back(std::move(*right));
  }
  // Compilers put the lines into the section in orders of their own.
  std::sort(out.provides.begin(), out.provides.end());
  std::sort(out.may.begin(), out.may.end(), [](const ObjectRight& left, const ObjectRight& right) {
    return std::tie(left.kind, left.verbs) < std::tie(right.kind, right.verbs);
  });
  return out;
}

}  // namespace sluice::host
