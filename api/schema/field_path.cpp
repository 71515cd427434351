#include "api/schema/field_path.hpp"

#include <algorithm>

#include "api/schema/walk.hpp"

namespace sluice::api {

namespace {

/// Nothing that people write comes near it, and what is built from a path calls itself per part.
constexpr std::size_t kMostParts = 64;

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '$';
}

bool is_inside(std::string_view text) { return text.starts_with("[]") || text.starts_with("{}"); }

const char* allowed(PathForm form) {
  switch (form) {
    case PathForm::kName:
      return "a name of A-Z, a-z, 0-9, -, _ and $";
    case PathForm::kMember:
      return "at most 64 names of A-Z, a-z, 0-9, -, _ and $, with \".\" between them";
    case PathForm::kPlace:
      break;
  }
  return "at most 64 names of A-Z, a-z, 0-9, -, _ and $, with \".\" between them, and \"[]\" or "
         "\"{}\" behind a name";
}

}  // namespace

Result<void> judge_path(std::string_view path, PathForm form) {
  const Error wrong{"found " + shown(path) + "; allowed: " + allowed(form)};
  std::string_view rest = path;
  for (std::size_t parts = 1; parts <= kMostParts; ++parts) {
    const auto* end = std::find_if_not(rest.begin(), rest.end(), is_name_character);
    if (end == rest.begin()) return wrong;
    rest.remove_prefix(static_cast<std::size_t>(end - rest.begin()));
    for (; form == PathForm::kPlace && is_inside(rest); ++parts) rest.remove_prefix(2);
    if (rest.empty()) return parts <= kMostParts ? Result<void>() : Result<void>(wrong);
    if (form == PathForm::kName || rest.front() != '.') return wrong;
    rest.remove_prefix(1);
  }
  return wrong;
}

std::vector<std::string> path_parts(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    if (path[0] == '.') {
      path.remove_prefix(1);
    } else if (is_inside(path)) {
      parts.emplace_back(path.substr(0, 2));
      path.remove_prefix(2);
    } else {
      // The first character is of the part whatever it is: each round takes one at least.
      const auto end = std::min(path.find_first_of(".[{", 1), path.size());
      parts.emplace_back(path.substr(0, end));
      path.remove_prefix(end);
    }
  }
  return parts;
}

}  // namespace sluice::api
