#include "host/webhook/keys.hpp"

#include <utility>

#include "api/json/json.hpp"
#include "core/base/base64.hpp"
#include "host/access/secrets.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr std::int64_t kDay = 86'400;
constexpr std::int64_t kRenewBefore = 60 * kDay;
/// As make_authority() gives it.
constexpr std::int64_t kAuthorityLasts = 3650 * kDay;
constexpr std::int64_t kKnownAfter = kDay;

Result<WebhookKeys> all_new(const std::vector<std::string>& names, std::int64_t now) {
  auto authority = make_authority("sluice-webhook-ca", now);
  if (!authority) return authority.error();
  auto server = issue_server(*authority, names, now);
  if (!server) return server.error();
  return WebhookKeys{std::move(authority->certificate), std::move(authority->key),
                     std::move(*server)};
}

std::string first_certificate(const std::string& text) {
  constexpr std::string_view kEnd = "-----END CERTIFICATE-----\n";
  const std::size_t end = text.find(kEnd);
  return end == std::string::npos ? text : text.substr(0, end + kEnd.size());
}

}  // namespace

Result<std::optional<WebhookKeys>> renewed(const std::optional<WebhookKeys>& present,
                                           const std::vector<std::string>& names,
                                           std::int64_t now) {
  const auto anew = [&]() -> Result<std::optional<WebhookKeys>> {
    auto made = all_new(names, now);
    if (!made) return made.error();
    return std::optional(std::move(*made));
  };
  if (!present) return anew();
  const CertifiedKey authority{first_certificate(present->trust), present->authority_key};
  const auto authority_ends = expiry_of(authority.certificate);
  const auto server_ends = expiry_of(present->server.certificate);
  const auto together = belong_together(authority);
  const auto served = belong_together(present->server);
  if (!authority_ends || !server_ends || !together || !*together || !served || !*served)
    return anew();
  if (*authority_ends < now) return anew();
  WebhookKeys next = *present;
  if (*authority_ends < now + kRenewBefore) {
    auto made = make_authority("sluice-webhook-ca", now);
    if (!made) return made.error();
    next.trust = made->certificate + authority.certificate;
    next.authority_key = std::move(made->key);
    return std::optional(std::move(next));
  }
  const auto good = is_server_certificate(present->server, authority.certificate, names);
  const bool known = now >= *authority_ends - kAuthorityLasts + kKnownAfter;
  // One that the former authority issued serves until the new one is known, or it ends.
  const bool waits = !known && present->trust != authority.certificate && *server_ends > now;
  const bool near_end = *server_ends < now + kRenewBefore;
  if (waits || (good && *good && !near_end)) return std::optional<WebhookKeys>();
  auto made = issue_server(authority, names, now);
  if (!made) return made.error();
  next.server = std::move(*made);
  return std::optional(std::move(next));
}

Result<WebhookKeys> keys_of_files(const std::string& certificate_file, const std::string& key_file,
                                  const std::string& trust_file) {
  auto certificate = read_small_file(certificate_file);
  if (!certificate) return certificate.error();
  auto key = read_small_file(key_file);
  if (!key) return key.error();
  WebhookKeys out;
  out.server = {std::move(*certificate), std::move(*key)};
  const auto together = belong_together(out.server);
  if (!together) return together.error().context(certificate_file + " and " + key_file);
  if (!*together)
    return Error{key_file + " is not the key of the certificate in " + certificate_file};
  if (trust_file.empty()) {
    out.trust = trust_anchor_of(out.server.certificate);
    return out;
  }
  auto trust = read_small_file(trust_file);
  if (!trust) return trust.error();
  if (const auto read = expiry_of(*trust); !read) return read.error().context(trust_file);
  out.trust = std::move(*trust);
  return out;
}

std::optional<WebhookKeys> keys_of_secret(const json::object& secret) {
  const json::object& data = part(secret, "data");
  const auto text = [&data](std::string_view name) {
    return base64_bytes(api::find_text(data, name));
  };
  WebhookKeys out{text("ca.crt"), text("ca.key"), {text("tls.crt"), text("tls.key")}};
  if (out.trust.empty() || out.authority_key.empty() || out.server.certificate.empty() ||
      out.server.key.empty())
    return std::nullopt;
  return out;
}

json::object secret_data(const WebhookKeys& keys) {
  return {{"ca.crt", base64_text(keys.trust)},
          {"ca.key", base64_text(keys.authority_key)},
          {"tls.crt", base64_text(keys.server.certificate)},
          {"tls.key", base64_text(keys.server.key)}};
}

}  // namespace sluice::host
