#include "host/apiserver/url.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "core/base/text.hpp"
#include "core/base/utf8.hpp"

namespace sluice::host {
namespace {

constexpr std::size_t kMostParameters = 256;

bool is_control(char c) {
  const auto code = static_cast<unsigned char>(c);
  return code < 0x20 || code == 0x7f;
}

Result<std::string> decode_segment(std::string_view raw) {
  auto segment = percent_decode(raw, false);
  if (!segment) return segment;
  if (*segment == "." || *segment == "..")
    return Error{"the path has a segment " + *segment + ", which is not allowed"};
  if (segment->find('/') != std::string::npos)
    return Error{"the path has an escaped slash, which is not allowed"};
  if (std::any_of(segment->begin(), segment->end(), is_control))
    return Error{"the path has a control character, which is not allowed"};
  if (find_bad_utf8(*segment) != std::string_view::npos)
    return Error{"the path is not valid UTF-8"};
  return segment;
}

Result<std::string> decode_path(std::string_view raw) {
  std::string path;
  path.reserve(raw.size());
  std::size_t at = 0;
  while (at < raw.size()) {
    const std::size_t end = std::min(raw.find('/', at), raw.size());
    if (end > at) {
      auto segment = decode_segment(raw.substr(at, end - at));
      if (!segment) return segment;
      path += '/';
      path += *segment;
    }
    at = end + 1;
  }
  if (path.empty()) path = "/";
  return path;
}

}  // namespace

Result<std::string> percent_decode(std::string_view text, bool plus_is_space) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_space) {
      out += ' ';
    } else if (text[i] != '%') {
      out += text[i];
    } else {
      const int high = i + 1 < text.size() ? hex_digit(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
      if (high < 0 || low < 0)
        return Error{"invalid URL escape \"" + std::string(text.substr(i, 3)) + "\""};
      out += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  return out;
}

Result<Target> parse_target(std::string_view raw) {
  if (raw.empty() || raw.front() != '/')
    return Error{"the request target must be a path that begins with /"};
  Target target;
  const std::size_t question = std::min(raw.find('?'), raw.size());
  auto path = decode_path(raw.substr(0, question));
  if (!path) return path.error();
  target.path = std::move(*path);
  std::string_view rest = question < raw.size() ? raw.substr(question + 1) : std::string_view();
  rest = rest.substr(0, rest.find('#'));
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('&'), rest.size());
    const std::string_view pair = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (pair.empty()) continue;
    if (target.query.size() == kMostParameters)
      return Error{"the query has more than 256 parameters"};
    const std::size_t equals = std::min(pair.find('='), pair.size());
    auto name = percent_decode(pair.substr(0, equals), true);
    if (!name) return name.error();
    auto value = percent_decode(pair.substr(std::min(equals + 1, pair.size())), true);
    if (!value) return value.error();
    if (find_bad_utf8(*name) != std::string_view::npos ||
        find_bad_utf8(*value) != std::string_view::npos)
      return Error{"the query has a NUL or is not valid UTF-8"};
    target.query.emplace_back(std::move(*name), std::move(*value));
  }
  return target;
}

std::vector<std::string_view> path_segments(std::string_view path) {
  std::vector<std::string_view> out;
  while (!path.empty()) {
    path.remove_prefix(1);
    const std::size_t end = std::min(path.find('/'), path.size());
    if (end > 0) out.push_back(path.substr(0, end));
    path.remove_prefix(end);
  }
  return out;
}

}  // namespace sluice::host
