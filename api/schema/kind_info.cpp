#include "api/schema/kind_info.hpp"

#include <algorithm>

#include "core/base/check.hpp"

namespace sluice::api {

const KindInfo::Version& KindInfo::hub() const {
  const auto it = std::find_if(versions.begin(), versions.end(),
                               [](const Version& version) { return version.storage; });
  SLUICE_CHECK(it != versions.end(), kind, " has no storage version");
  return *it;
}

std::string KindInfo::api_version(std::string_view version) const {
  return group.empty() ? std::string(version) : group + "/" + std::string(version);
}

std::string Outcome::error_text() const {
  std::string out;
  for (const Problem& each : errors) {
    if (!out.empty()) out += ", ";
    out += each.text();
  }
  return out;
}

}  // namespace sluice::api
