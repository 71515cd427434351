// The parts of an object's key: `namespace/name`, or `name` of what lies in no namespace.
//
// Values without state, for any thread. Neither names nor namespaces hold a slash: one says that
// there is a namespace. Nobody else cuts a key or puts one together.
#pragma once

#include <string>
#include <string_view>

#include "api/schema/kind_info.hpp"

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

/// Empty for a key without a slash, which is in no namespace. Points into `key`.
constexpr std::string_view namespace_of(std::string_view key) { return split_key(key).ns; }

/// The other way round: `ns/name`, or `name` without a namespace. Without a name it is what the
/// keys of the namespace begin with; without both, what all keys begin with.
inline std::string join_key(std::string_view ns, std::string_view name) {
  std::string key;
  key.reserve(ns.size() + 1 + name.size());
  if (!ns.empty()) (key += ns) += '/';
  key += name;
  return key;
}

/// The key of an object of this kind; the namespace counts only where its objects are in one. One
/// that is missing there makes `/name`, which is no object's key.
inline std::string key_of(const api::KindInfo& kind, std::string_view ns, std::string_view name) {
  std::string key;
  key.reserve(ns.size() + 1 + name.size());
  if (kind.namespaced) (key += ns) += '/';
  key += name;
  return key;
}

}  // namespace sluice::host
