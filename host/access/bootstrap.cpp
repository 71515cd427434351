#include "host/access/bootstrap.hpp"

#include <boost/json/parse.hpp>
#include <string_view>

#include "core/base/check.hpp"

namespace sluice::host {

extern const std::string_view kBootstrapText;  // bootstrap.json, made by the build

std::vector<boost::json::object> bootstrap_objects() {
  boost::system::error_code error;
  const auto data = boost::json::parse({kBootstrapText.data(), kBootstrapText.size()}, error);
  SLUICE_CHECK(!error && data.is_array(), "bootstrap.json is no list");
  std::vector<boost::json::object> out;
  for (const auto& each : data.get_array()) {
    SLUICE_CHECK(each.is_object(), "bootstrap.json holds something else than objects");
    out.push_back(each.get_object());
    out.back()["apiVersion"] = "rbac.authorization.k8s.io/v1";
  }
  return out;
}

}  // namespace sluice::host
