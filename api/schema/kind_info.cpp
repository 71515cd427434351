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

std::string group_version(std::string_view group, std::string_view version) {
  std::string out;
  out.reserve(group.size() + 1 + version.size());
  if (!group.empty()) (out += group) += '/';
  out += version;
  return out;
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
