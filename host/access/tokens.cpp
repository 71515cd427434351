#include "host/access/tokens.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "core/base/text.hpp"
#include "core/base/utf8.hpp"
#include "host/base/digest.hpp"

namespace sluice::host {
namespace {

constexpr std::string_view kDigestPrefix = "sha256:";
constexpr std::size_t kLeastTokenLength = 16;
constexpr std::string_view kBlanks = " \t\r";  // lines may end as on Windows

/// The columns of one line; nullopt when a quote is wrong.
std::optional<std::vector<std::string>> columns_of(std::string_view line) {
  std::vector<std::string> out;
  for (;;) {
    std::string column;
    line = line.substr(std::min(line.find_first_not_of(" \t"), line.size()));
    if (!line.empty() && line[0] == '"') {
      std::size_t at = 1;
      for (;; ++at) {
        if (at >= line.size()) return std::nullopt;
        if (line[at] == '"') {
          if (at + 1 == line.size() || line[at + 1] != '"') break;
          ++at;  // a doubled quote
        }
        column += line[at];
      }
      line = trim(line.substr(at + 1), kBlanks);
      if (!line.empty() && line[0] != ',') return std::nullopt;
    } else {
      const auto end = std::min(line.find(','), line.size());
      column = trim(line.substr(0, end), kBlanks);
      if (column.find('"') != std::string::npos) return std::nullopt;
      line.remove_prefix(end);
    }
    out.push_back(std::move(column));
    if (line.empty()) return out;
    line.remove_prefix(1);
  }
}

std::uint64_t bucket_of(const Digest& digest) {
  std::uint64_t out = 0;
  std::memcpy(&out, digest.data(), sizeof(out));
  return out;
}

std::string csv_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

struct Line {
  Digest digest{};
  Identity identity;
};

/// The text of an error, or the line.
Result<Line> parse_line(std::string_view text) {
  // Names of users and groups are written into objects, which are UTF-8.
  if (const std::size_t at = find_bad_utf8(text); at < text.size())
    return Error{"byte " + std::to_string(at + 1) + " is not UTF-8; allowed: UTF-8"};
  const auto columns = columns_of(text);
  if (!columns) return Error{"a column with a misplaced quote"};
  if (columns->size() < 3 || columns->size() > 4)
    return Error{"has " + std::to_string(columns->size()) +
                 " columns; allowed: token,user,uid or token,user,uid,\"group,group\""};
  Line out;
  const std::string& token = (*columns)[0];
  if (token.starts_with(kDigestPrefix)) {
    if (!from_hex(std::string_view(token).substr(kDigestPrefix.size()), out.digest))
      return Error{"sha256: must be followed by 64 hexadecimal digits"};
  } else if (token.size() < kLeastTokenLength) {
    return Error{"the token is shorter than " + std::to_string(kLeastTokenLength) + " characters"};
  } else {
    out.digest = sha256(token);
  }
  out.identity.user = (*columns)[1];
  out.identity.uid = (*columns)[2];
  if (out.identity.user.empty()) return Error{"the user is empty"};
  if (columns->size() == 4) {
    for (std::string_view rest = (*columns)[3]; !rest.empty();) {
      const auto end = std::min(rest.find(','), rest.size());
      const std::string_view group = trim(rest.substr(0, end), kBlanks);
      if (!group.empty()) out.identity.groups.emplace_back(group);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return out;
}

}  // namespace

Result<void> TokenTable::add_csv(std::string_view text, const std::string& file) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  TokenTable added = *this;
  std::size_t number = 0;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view line = trim(text.substr(0, end), kBlanks);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.empty() || line[0] == '#') continue;
    auto parsed = parse_line(line);
    const std::string place = file + ":" + std::to_string(number);
    if (!parsed) return parsed.error().context(place);
    if (!added.add(parsed->digest, std::move(parsed->identity)))
      return Error{place + ": the token is there already"};
  }
  *this = std::move(added);
  return {};
}

bool TokenTable::add(const Digest& digest, Identity identity) {
  if (lookup(digest) != nullptr) return false;
  entries_.emplace(bucket_of(digest), Entry{digest, std::move(identity)});
  return true;
}

const Identity* TokenTable::find(std::string_view token) const { return lookup(sha256(token)); }

const Identity* TokenTable::lookup(const Digest& digest) const {
  const auto [first, last] = entries_.equal_range(bucket_of(digest));
  const auto it = std::find_if(
      first, last, [&](const auto& entry) { return same_digest(entry.second.digest, digest); });
  return it == last ? nullptr : &it->second.identity;
}

std::string token_line(const Digest& digest, const Identity& identity) {
  std::string groups;
  for (const auto& group : identity.groups) groups += (groups.empty() ? "" : ",") + group;
  return std::string(kDigestPrefix) + to_hex(digest) + "," + csv_quoted(identity.user) + "," +
         csv_quoted(identity.uid) + "," + csv_quoted(groups) + "\n";
}

}  // namespace sluice::host
