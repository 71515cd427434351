#include "host/access/host_authenticator.hpp"

#include <algorithm>

#include "host/access/denial.hpp"
#include "host/access/startup.hpp"
#include "host/base/log.hpp"
#include "host/base/trusted_file.hpp"

namespace sluice::host {
namespace {

constexpr std::string_view kAuthenticated = "system:authenticated";
constexpr std::string_view kServiceAccount = "system:serviceaccount:";

void add_group(Identity& who, std::string_view group) {
  if (std::find(who.groups.begin(), who.groups.end(), group) == who.groups.end())
    who.groups.emplace_back(group);
}

bool is_space(char c) { return c == ' ' || c == '\t'; }

/// The token of `Bearer TOKEN`; empty when it is something else.
std::string_view bearer_token(std::string_view header) {
  constexpr std::string_view kScheme = "bearer";
  if (header.size() <= kScheme.size() || !is_space(header[kScheme.size()])) return {};
  for (std::size_t i = 0; i < kScheme.size(); ++i) {
    if ((header[i] | 0x20) != kScheme[i]) return {};
  }
  header.remove_prefix(kScheme.size());
  while (!header.empty() && is_space(header.front())) header.remove_prefix(1);
  while (!header.empty() && is_space(header.back())) header.remove_suffix(1);
  return header;
}

/// `system:serviceaccount:NS:NAME` → NS and NAME; nullopt for other users.
std::optional<std::pair<std::string_view, std::string_view>> service_account(
    std::string_view user) {
  if (!user.starts_with(kServiceAccount)) return std::nullopt;
  user.remove_prefix(kServiceAccount.size());
  const auto colon = user.find(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 == user.size())
    return std::nullopt;
  return {{user.substr(0, colon), user.substr(colon + 1)}};
}

}  // namespace

Result<HostAuthenticator::Table> HostAuthenticator::read(const Digest& admin_token,
                                                         const std::string& token_file) {
  auto table = std::make_shared<TokenTable>();
  table->add(admin_token, admin_identity());
  if (!token_file.empty()) {
    if (auto trusted = check_writers(token_file); !trusted)
      return trusted.error().context("server.tokenFile");
    if (const auto doubt = doubt_about(token_file, true))
      log(LogLevel::kWarning, "access", "the token file: " + *doubt, {{"path", token_file}});
    const auto text = read_small_file(token_file);
    if (!text) return text.error().context("server.tokenFile");
    if (auto added = table->add_csv(*text, token_file); !added)
      return added.error().context("server.tokenFile");
  }
  return Table(std::move(table));
}

void HostAuthenticator::use(Table table) {
  const std::lock_guard lock(mutex_);
  tokens_ = std::move(table);
}

Result<void> HostAuthenticator::load(const Digest& admin_token, const std::string& token_file) {
  auto table = read(admin_token, token_file);
  if (!table) return table.error();
  use(std::move(*table));
  return {};
}

std::shared_ptr<const TokenTable> HostAuthenticator::tokens() const {
  const std::lock_guard lock(mutex_);
  return tokens_;
}

std::optional<Identity> HostAuthenticator::holder_of(std::string_view token) const {
  const auto table = tokens();
  const Identity* found = table->find(token);
  if (found == nullptr) return std::nullopt;
  Identity who = *found;
  add_group(who, kAuthenticated);
  return who;
}

ApiResult<Identity> HostAuthenticator::identify(const Credentials& credentials) const {
  Identity who;
  const CertificateSubject* certificate = credentials.certificate;
  if (certificate != nullptr && !certificate->common_name.empty()) {
    who.user = certificate->common_name;
    who.groups = certificate->organizations;
    add_group(who, kAuthenticated);
  } else if (!credentials.authorization.empty()) {
    const std::string_view token = bearer_token(credentials.authorization);
    auto holder = token.empty() ? std::nullopt : holder_of(token);
    if (!holder) return unauthorized();
    who = std::move(*holder);
  }
  const bool asks_for_more =
      !credentials.impersonate_user.empty() || !credentials.impersonate_uid.empty() ||
      !credentials.impersonate_groups.empty() || credentials.impersonate_extra;
  if (!asks_for_more) return who;
  if (who.user.empty()) return unauthorized();
  return impersonate(who, credentials);
}

ApiResult<Identity> HostAuthenticator::impersonate(const Identity& who,
                                                   const Credentials& credentials) const {
  if (credentials.impersonate_user.empty())
    return bad_request("Impersonate-Uid, -Group and -Extra need Impersonate-User");
  AccessRequest request;
  request.verb = "impersonate";
  std::vector<AccessRequest> wanted;
  const auto want = [&](std::string_view group, std::string_view resource, std::string_view ns,
                        std::string_view name) {
    request.group = group;
    request.resource = resource;
    request.ns = ns;
    request.name = name;
    wanted.push_back(request);
  };
  const auto account = service_account(credentials.impersonate_user);
  if (account) {
    want("", "serviceaccounts", account->first, account->second);
  } else {
    want("", "users", "", credentials.impersonate_user);
  }
  for (const std::string_view group : credentials.impersonate_groups) want("", "groups", "", group);
  if (!credentials.impersonate_uid.empty())
    want("authentication.k8s.io", "uids", "", credentials.impersonate_uid);
  for (const auto& each : wanted) {
    if (!authorizer_.may(who, each).allowed) return access_denied(who, each);
  }
  if (credentials.impersonate_extra) {
    want("authentication.k8s.io", "userextras", "", "");
    return access_denied(who, request, "extras are not supported here");
  }
  Identity out;
  out.user = credentials.impersonate_user;
  out.uid = credentials.impersonate_uid;
  out.impersonator = who.user;
  for (const std::string_view group : credentials.impersonate_groups) add_group(out, group);
  if (account && out.groups.empty()) {
    add_group(out, "system:serviceaccounts");
    add_group(out, "system:serviceaccounts:" + std::string(account->first));
  }
  add_group(out, out.user == "system:anonymous" ? "system:unauthenticated" : kAuthenticated);
  return out;
}

}  // namespace sluice::host
