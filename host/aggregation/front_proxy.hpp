// FrontProxy: how the API servers of a cluster pass requests of their users on to others: whose
// certificate they show, and in which headers they name the user.
//
// It stands in the ConfigMap extension-apiserver-authentication of kube-system. Headers count only
// beside such a certificate: anybody can send headers. Pure functions; any thread.
#pragma once

#include <boost/json/object.hpp>
#include <map>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "host/access/identity.hpp"
#include "host/apiserver/exchange.hpp"
#include "host/objects/api_error.hpp"

namespace sluice::host {

struct FrontProxy {
  std::string client_ca;                   ///< PEM
  std::vector<std::string> allowed_names;  ///< of certificates; empty: all that the CA issued
  /// Names of headers, in lower case; of the first kind the first with a value is taken.
  std::vector<std::string> user_headers, uid_headers, group_headers;
  std::vector<std::string> extra_prefixes;
  bool operator==(const FrontProxy&) const = default;
};

/// What the ConfigMap says; an error names the key that is missing or wrong.
Result<FrontProxy> front_proxy_of(const boost::json::object& config_map);

/// A user of the cluster, for whom an API server asks.
struct ProxiedUser {
  Identity who;
  std::map<std::string, std::vector<std::string>> extra;
};

/// 401 where no API server of the cluster asks, or it names nobody. REQUIRES: certificates of
/// requests were verified against `client_ca`.
ApiResult<ProxiedUser> proxied_user(const FrontProxy& proxy, const Request& request);

}  // namespace sluice::host
