#include "names.hpp"

#include <sluice/cpp/sha1.hpp>

namespace provisioning {

namespace {

constexpr std::size_t kLongestName = 247;
constexpr std::size_t kHashDigits = 5;

}  // namespace

std::string limited_name(const std::string& name) {
  if (name.size() <= kLongestName) return name;
  return name.substr(0, kLongestName - kHashDigits - 1) + "-" +
         sluice::sha1_hex(name).substr(0, kHashDigits);
}

std::string request_name(std::string_view workload, std::string_view check, std::int64_t attempt) {
  std::string name(workload);
  name.append("-").append(check).append("-").append(std::to_string(attempt));
  return limited_name(name);
}

std::string template_name(std::string_view request, std::string_view pod_set) {
  std::string name("ppt-");
  return limited_name(name.append(request).append("-").append(pod_set));
}

}  // namespace provisioning
