#include "api/schema/formats.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/time.hpp"

namespace sluice::api {
namespace {

constexpr std::array<std::pair<std::string_view, Format>, 8> kFormats = {{
    {"dns-subdomain", Format::kDnsSubdomain},
    {"dns-label", Format::kDnsLabel},
    {"qualified-name", Format::kQualifiedName},
    {"condition-reason", Format::kConditionReason},
    {"kind-name", Format::kKindName},
    {"date-time", Format::kDateTime},
    {"int32", Format::kInt32},
    {"int64", Format::kInt64},
}};

constexpr bool is_lower_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}
constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool is_alnum(char c) { return is_letter(c) || (c >= '0' && c <= '9'); }

template <typename Ends, typename Inside>
bool ends_and_inside(std::string_view text, Ends ends, Inside inside) {
  return !text.empty() && ends(text.front()) && ends(text.back()) &&
         std::all_of(text.begin(), text.end(), inside);
}

bool is_name_part(std::string_view text) {
  return ends_and_inside(text, is_alnum,
                         [](char c) { return is_alnum(c) || c == '-' || c == '_' || c == '.'; });
}

bool is_condition_reason(std::string_view text) {
  return !text.empty() && is_letter(text.front()) &&
         (is_alnum(text.back()) || text.back() == '_') &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return is_alnum(c) || c == '_' || c == ',' || c == ':'; });
}

bool is_kind_name(std::string_view text) {
  return ends_and_inside(text, is_alnum, [](char c) { return is_alnum(c) || c == '-'; }) &&
         is_letter(text.front());
}

}  // namespace

std::optional<Format> format_of(std::string_view name) {
  for (const auto& [each, format] : kFormats) {
    if (each == name) return format;
  }
  return std::nullopt;
}

std::string format_names() {
  std::string out;
  for (const auto& [name, format] : kFormats) {
    if (!out.empty()) out += ", ";
    out += name;
  }
  return out;
}

const char* format_pattern(Format format) {
  switch (format) {
    case Format::kDnsSubdomain:
      return R"(^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$)";
    case Format::kDnsLabel:
      return "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$";
    case Format::kQualifiedName:
      return R"(^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?)"
             R"((([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$)";
    case Format::kConditionReason:
      return "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$";
    case Format::kKindName:
      return "^(?i)[a-z]([-a-z0-9]*[a-z0-9])?$";
    default:
      return "";
  }
}

bool has_format(Format format, std::string_view text) {
  switch (format) {
    case Format::kDnsSubdomain:
      return is_dns_subdomain(text);
    case Format::kDnsLabel:
      return is_dns_label(text);
    case Format::kQualifiedName:
      return is_qualified_name(text);
    case Format::kConditionReason:
      return is_condition_reason(text);
    case Format::kKindName:
      return is_kind_name(text);
    case Format::kDateTime:
      return parse_time(text).has_value();
    default:
      return true;
  }
}

bool is_dns_label(std::string_view text) {
  return ends_and_inside(text, is_lower_or_digit,
                         [](char c) { return is_lower_or_digit(c) || c == '-'; });
}

bool is_short_dns_label(std::string_view text) {
  return text.size() <= kLabelBytes && is_dns_label(text);
}

bool is_dns_subdomain(std::string_view text) {
  for (;;) {
    const auto dot = text.find('.');
    if (!is_dns_label(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

bool is_qualified_name(std::string_view text) {
  const auto slash = text.find('/');
  if (slash == std::string_view::npos) return is_name_part(text);
  return is_dns_subdomain(text.substr(0, slash)) && is_name_part(text.substr(slash + 1));
}

bool is_short_key(std::string_view qualified_name) {
  const auto slash = qualified_name.find('/');
  if (slash == std::string_view::npos) return qualified_name.size() <= kLabelBytes;
  return slash <= kSubdomainBytes && qualified_name.size() - slash - 1 <= kLabelBytes;
}

bool is_label_value(std::string_view text) { return text.empty() || is_name_part(text); }

bool is_base64(std::string_view text) {
  std::size_t characters = 0, padding = 0;
  for (const char c : text) {
    if (c == '\n' || c == '\r') continue;
    const bool letter = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    const bool other = (c >= '0' && c <= '9') || c == '+' || c == '/';
    if (c == '=') {
      ++padding;
    } else if (padding > 0 || !(letter || other)) {
      return false;
    }
    ++characters;
  }
  return characters % 4 == 0 && padding <= 2;
}

std::size_t text_length(std::string_view text) {
  std::size_t length = 0;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) ++length;
  }
  return length;
}

}  // namespace sluice::api
