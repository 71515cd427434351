// Formats of texts, checked by hand-written scanners (a regular expression library would dominate
// the cost of a write). Pure functions, any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice::api {

enum class Format : std::uint8_t {
  kNone,
  kDnsSubdomain,
  kDnsLabel,
  kQualifiedName,
  kConditionReason,
  kKindName,
  kDateTime,
  kInt32,
  kInt64,
};

/// `dns-subdomain`, `date-time`, …; nullopt when there is no such format.
std::optional<Format> format_of(std::string_view name);
/// All names, for an error message.
std::string format_names();
/// The regular expression that describes the format, for messages and documents; empty when there
/// is none.
const char* format_pattern(Format format);

/// Does the text have the format? Lengths are not checked.
bool has_format(Format format, std::string_view text);

/// The longest DNS label, name of a key, and value of a label; the longest DNS subdomain.
inline constexpr std::size_t kLabelBytes = 63, kSubdomainBytes = 253;

bool is_dns_label(std::string_view text);
/// A DNS label that is no longer than one may be.
bool is_short_dns_label(std::string_view text);
bool is_dns_subdomain(std::string_view text);
/// `name` or `prefix/name`.
bool is_qualified_name(std::string_view text);
/// Is such a name no longer than the key of a label, an annotation or a taint may be?
bool is_short_key(std::string_view qualified_name);
/// The characters of a label value: empty, or alphanumeric at both ends.
bool is_label_value(std::string_view text);

/// Base64 with the standard alphabet and padding; line breaks are allowed.
bool is_base64(std::string_view text);

/// Code points of valid UTF-8.
std::size_t text_length(std::string_view text);

}  // namespace sluice::api
