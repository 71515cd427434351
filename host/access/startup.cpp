#include "host/access/startup.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>

#include "api/json/json.hpp"
#include "api/schema/formats.hpp"
#include "host/access/key_files.hpp"
#include "host/access/pki.hpp"
#include "host/access/tokens.hpp"
#include "host/base/digest.hpp"
#include "host/base/files.hpp"
#include "host/base/log.hpp"
#include "host/manifests/manifests.hpp"

namespace sluice::host {
namespace {

constexpr std::int64_t kRenewBefore = 60LL * 86'400;
constexpr const char* kAuthority = "sluice-ca";
constexpr const char* kAdminUser = "sluice-admin";

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

/// HOST of HOST:PORT, without brackets.
std::string host_part(std::string_view address) {
  std::string host(address.substr(0, address.rfind(':')));
  if (host.size() > 1 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  return host;
}

struct Ip {
  bool loopback = false;
  bool any = false;
};

std::optional<Ip> parse_ip(const std::string& host) {
  in_addr four{};
  if (::inet_pton(AF_INET, host.c_str(), &four) == 1) {
    const std::uint32_t bits = ntohl(four.s_addr);
    return Ip{bits >> 24 == 127, bits == 0};
  }
  in6_addr six{};
  if (::inet_pton(AF_INET6, host.c_str(), &six) == 1)
    return Ip{IN6_IS_ADDR_LOOPBACK(&six) != 0, IN6_IS_ADDR_UNSPECIFIED(&six) != 0};
  return std::nullopt;
}

bool reaches_this_machine_only(const std::string& address) {
  const std::string host = host_part(address);
  const auto ip = parse_ip(host);
  return host == "localhost" || (ip && ip->loopback);
}

/// Addresses of this machine's interfaces that are up.
std::vector<std::string> own_addresses() {
  std::vector<std::string> out;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return out;
  for (const ifaddrs* each = list; each != nullptr; each = each->ifa_next) {
    if (each->ifa_addr == nullptr || (each->ifa_flags & IFF_UP) == 0) continue;
    std::array<char, INET6_ADDRSTRLEN> text{};
    const void* bytes = nullptr;
    if (each->ifa_addr->sa_family == AF_INET) {
      bytes = &reinterpret_cast<const sockaddr_in*>(each->ifa_addr)->sin_addr;
    } else if (each->ifa_addr->sa_family == AF_INET6) {
      const auto* six = &reinterpret_cast<const sockaddr_in6*>(each->ifa_addr)->sin6_addr;
      if (!IN6_IS_ADDR_LINKLOCAL(six)) bytes = six;
    }
    if (bytes != nullptr &&
        ::inet_ntop(each->ifa_addr->sa_family, bytes, text.data(), text.size()) != nullptr)
      out.emplace_back(text.data());
  }
  ::freeifaddrs(list);
  return out;
}

void add_name(std::vector<std::string>& names, const std::string& name) {
  const bool usable = parse_ip(name) || (api::is_dns_subdomain(name) && name.size() <= 253);
  if (usable && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

/// The pair at `path`, without a path the one of before; nullopt when there is none.
Result<std::optional<CertifiedKey>> find_pair(const std::string& path, const CertifiedKey& before,
                                              Torn torn) {
  if (!path.empty()) return kept_pair(path, torn);
  if (before.certificate.empty()) return std::optional<CertifiedKey>();
  return std::optional<CertifiedKey>(before);
}

Result<void> keep(const CertifiedKey& made, const std::string& path, std::string_view what) {
  if (path.empty()) return {};
  if (auto written = write_pair(made, path); !written) return written;
  log(LogLevel::kInfo, "access", "made a " + std::string(what), {{"path", path + ".crt"}});
  return {};
}

/// It is valid, and for a while yet.
bool lasts(const Validity& valid, std::int64_t now) {
  return valid.begins <= now && valid.ends >= now + kRenewBefore;
}

/// Our own CA; `path` empty: not kept. One that is not valid yet was made while the clock was
/// ahead, or the clock is behind now. Nobody can tell which, so it keeps its key: whoever trusts
/// it, and what it issued, goes on.
Result<CertifiedKey> own_authority(const std::string& path, const CertifiedKey& before,
                                   std::int64_t now) {
  auto kept = find_pair(path, before, Torn::kIsAnError);
  if (!kept) return kept.error();
  Result<CertifiedKey> made = Error{};
  if (!*kept) {
    made = make_authority(kAuthority, now);
  } else {
    const auto valid = validity_of((*kept)->certificate);
    if (!valid) return valid.error().context(path + ".crt");
    if (lasts(*valid, now)) return std::move(**kept);
    made = valid->begins > now ? predate_authority(**kept, kAuthority, now)
                               : make_authority(kAuthority, now);
  }
  if (!made) return made;
  if (auto done = keep(*made, path, "certificate authority"); !done) return done.error();
  return made;
}

Result<CertifiedKey> own_server(const CertifiedKey& authority, const std::string& path,
                                const CertifiedKey& before, const std::vector<std::string>& names,
                                std::int64_t now) {
  auto kept = find_pair(path, before, Torn::kIsNone);
  if (!kept) return kept.error();
  if (*kept) {
    const auto valid = validity_of((*kept)->certificate);
    if (!valid) return valid.error().context(path + ".crt");
    const auto good = is_server_certificate(**kept, authority.certificate, names);
    if (!good) return good.error().context(path + ".crt");
    if (*good && lasts(*valid, now)) return std::move(**kept);
  }
  auto made = issue_server(authority, names, now);
  if (!made) return made;
  if (auto done = keep(*made, path, "server certificate"); !done) return done.error();
  return made;
}

/// It is served all the same: whoever gave it may have a reason, and some clients do not mind.
void warn_of_end(const std::string& certificate, const std::string& path, std::int64_t now) {
  const auto valid = validity_of(certificate);
  if (!valid || (valid->begins <= now && now <= valid->ends)) return;
  log(LogLevel::kWarning, "access",
      now > valid->ends ? "the server certificate has ended; clients will refuse it"
                        : "the server certificate is not valid yet; clients will refuse it",
      {{"path", path}});
}

/// The token in a kubeconfig that we wrote; empty when there is none.
std::string token_in(const std::string& path) {
  auto text = read_small_file(path);
  if (!text) return {};
  std::string token;
  const auto read = load_text(std::move(*text), path, {}, [&](Document&& document) -> Result<void> {
    const auto* users = api::find_array(document.object, "users");
    if (users == nullptr) return {};
    for (const auto& each : *users) {
      const auto* entry = each.if_object();
      if (entry == nullptr || api::find_text(*entry, "name") != kAdminUser) continue;
      if (const auto* user = api::find_object(*entry, "user"))
        token = api::find_text(*user, "token");
    }
    return {};
  });
  return read ? token : std::string();
}

std::string kubeconfig_text(std::string_view url, const std::string& trust,
                            const std::string& token) {
  std::string out = "apiVersion: v1\nkind: Config\nclusters:\n- name: sluice\n  cluster:\n";
  out += "    server: " + std::string(url) + "\n";
  out += "    certificate-authority-data: " + to_base64(trust) + "\n";
  out += "users:\n- name: " + std::string(kAdminUser) + "\n  user:\n    token: " + token + "\n";
  out += "contexts:\n- name: sluice\n  context:\n    cluster: sluice\n    user: " +
         std::string(kAdminUser) + "\n    namespace: default\ncurrent-context: sluice\n";
  return out;
}

/// A start on a full disk writes nothing that is there.
Result<void> write_where_other(const std::string& path, const std::string& text) {
  if (const auto present = read_small_file(path); present && *present == text) return {};
  return write_durably(path, text);
}

/// How a client on this machine calls an address on which the host listens.
std::string url_of(std::string_view address) {
  const std::string host = host_part(address);
  const std::string port(address.substr(address.rfind(':') + 1));
  const auto ip = parse_ip(host);
  if (ip && ip->any) return "https://127.0.0.1:" + port;
  return "https://" + (host.find(':') != std::string::npos ? "[" + host + "]" : host) + ":" + port;
}

}  // namespace

Identity admin_identity() { return {kAdminUser, "", {"system:masters"}}; }

std::vector<std::string> server_names(const std::string& address) {
  std::vector<std::string> out = {"127.0.0.1", "::1", "localhost"};
  const std::string host = host_part(address);
  const auto ip = parse_ip(host);
  if (!ip || !ip->any) {
    add_name(out, host);
    return out;
  }
  for (const auto& own : own_addresses()) add_name(out, own);
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) == 0) add_name(out, name.data());
  return out;
}

Result<void> check_exposure(const ServerConfig& server) {
  const std::string& plain = server.insecure_http;
  if (!plain.empty() && !reaches_this_machine_only(plain))
    return Error{"server.insecureHttp: found \"" + plain +
                 "\", which other machines may reach without encryption and without credentials; "
                 "allowed: localhost or a loopback address such as 127.0.0.1:8080. For other "
                 "machines use server.address, which always has TLS and asks for credentials"};
  const std::string host = host_part(server.address);
  if (!parse_ip(host) && host != "localhost")
    return Error{"server.address: found \"" + server.address +
                 "\"; allowed: an IP address or localhost, with a port"};
  return {};
}

Result<ServerKeys> prepare_keys(const ServerConfig& server, const std::string& folder,
                                std::int64_t now, const ServerKeys* before) {
  const ServerKeys earlier = before != nullptr ? *before : ServerKeys();
  const bool own_server_key = server.tls.cert_file.empty();
  const bool own_client_ca = server.tls.client_ca_file.empty();
  ServerKeys out;
  const std::string pki = folder.empty() ? std::string() : folder + "/pki";
  if (own_server_key || own_client_ca) {
    if (!pki.empty()) {
      if (auto made = make_private_folder(pki); !made) return made.error();
    }
    auto authority = own_authority(pki.empty() ? pki : pki + "/ca", earlier.authority, now);
    if (!authority) return authority.error();
    if (own_client_ca) out.client_ca = authority->certificate;
    if (own_server_key) {
      auto pair = own_server(*authority, pki.empty() ? pki : pki + "/server",
                             {earlier.certificate, earlier.key}, server_names(server.address), now);
      if (!pair) return pair.error();
      out.certificate = std::move(pair->certificate);
      out.key = std::move(pair->key);
      out.trust = authority->certificate;
    }
    out.authority = std::move(*authority);
  }
  if (!own_server_key) {
    auto pair = read_pair(server.tls.cert_file, server.tls.key_file);
    if (!pair) return pair.error().context("server.tls");
    if (auto whole = check_certificates(pair->certificate); !whole)
      return whole.error().context("server.tls.certFile: " + server.tls.cert_file);
    warn_of_end(pair->certificate, server.tls.cert_file, now);
    out.certificate = std::move(pair->certificate);
    out.key = std::move(pair->key);
    out.trust = trust_anchor_of(out.certificate);
  }
  if (!own_client_ca) {
    auto authority = read_small_file(server.tls.client_ca_file);
    if (!authority) return authority.error().context("server.tls.clientCAFile");
    if (auto whole = check_certificates(*authority); !whole)
      return whole.error().context("server.tls.clientCAFile: " + server.tls.client_ca_file);
    if (const auto read = expiry_of(*authority); !read)
      return read.error().context("server.tls.clientCAFile: " + server.tls.client_ca_file);
    out.client_ca = std::move(*authority);
  }
  return out;
}

Result<std::string> kubeconfig_path(const ServerConfig& server, const std::string& folder) {
  if (!server.kubeconfig.empty()) return server.kubeconfig;
  if (!folder.empty()) return folder + "/kubeconfig";
  return Error{
      "server.kubeconfig: is missing; a store in memory needs a file for the "
      "administrator's kubeconfig"};
}

Result<Digest> publish_kubeconfig(const std::string& path, const std::string& folder,
                                  std::string_view address, const ServerKeys& keys) {
  const std::string kept = folder.empty() ? std::string() : folder + "/pki/admin-token";
  std::string token;
  if (!kept.empty() && exists(kept)) {
    const auto text = read_small_file(kept);
    if (!text) return text.error();
    TokenTable known;
    if (auto added = known.add_csv(*text, kept); !added) return added.error();
    token = token_in(path);
    if (known.find(token) == nullptr) token.clear();
  }
  if (token.empty()) {
    auto made = random_token();
    if (!made) return made.error();
    token = std::move(*made);
    if (!kept.empty()) {
      if (auto folder_made = make_private_folder(folder + "/pki"); !folder_made)
        return folder_made.error();
      const std::string line = "# Digest of the token in the administrator's kubeconfig.\n" +
                               token_line(sha256(token), admin_identity());
      if (auto written = write_durably(kept, line); !written) return written.error();
    }
  }
  const auto slash = path.rfind('/');
  if (slash != std::string::npos && slash > 0) {
    if (auto made = make_private_folder(path.substr(0, slash)); !made) return made.error();
  }
  const std::string text = kubeconfig_text(url_of(address), keys.trust, token);
  if (auto written = write_where_other(path, text); !written) return written.error();
  return sha256(token);
}

Result<void> update_kubeconfig(const std::string& path, std::string_view address,
                               const ServerKeys& keys, const Digest& token) {
  const std::string present = token_in(path);
  if (present.empty() || !same_digest(sha256(present), token)) return {};
  return write_where_other(path, kubeconfig_text(url_of(address), keys.trust, present));
}

}  // namespace sluice::host
