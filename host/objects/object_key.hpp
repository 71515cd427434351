// The parts of an object's key: `namespace/name`, or `name` of what lies in no namespace.
//
// Values without state, for any thread. Neither names nor namespaces hold a slash: one says that
// there is a namespace.
#pragma once

#include <string_view>

namespace sluice::host {

struct KeyParts {
  std::string_view ns;  ///< empty: in no namespace
  std::string_view name;
};

/// Both point into `key`.
constexpr KeyParts split_key(std::string_view key) {
  const std::size_t slash = key.find('/');
  if (slash == std::string_view::npos) return {{}, key};
  return {key.substr(0, slash), key.substr(slash + 1)};
}

}  // namespace sluice::host
