// OpenApi: the documents under /openapi by which clients check manifests before they send them, and
// which `kubectl explain` reads: version 2 as one document (JSON or protobuf), version 3 as an
// index and a document per group version.
//
// Made from the Scheme that validates, contributions of plugins included, when a document is first
// asked for (some ten milliseconds), and kept. Any thread. When the served kinds change (a plugin
// comes or goes) another OpenApi takes its place.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/scheme/scheme.hpp"
#include "host/rest/discovery.hpp"
#include "host/rest/resources.hpp"

namespace sluice::host {

class OpenApi {
 public:
  /// `scheme` must outlive it.
  explicit OpenApi(const api::Scheme& scheme) : OpenApi(scheme, served_resources(scheme)) {}
  /// Of these alone, in the order of served_resources().
  OpenApi(const api::Scheme& scheme, std::vector<ApiResource> resources)
      : scheme_(scheme), resources_(std::move(resources)) {}

  struct Answer {
    bool exists = false;                    ///< something is described at the path
    const ApiDocument* document = nullptr;  ///< null: in none of the forms that are accepted
  };
  /// The document at `path` in the first form of the Accept header that exists. Valid as long as
  /// this is.
  Answer find(std::string_view path, std::string_view accept) const;

 private:
  struct Documents {
    ApiDocument v2_json, v2_protobuf, index;
    std::map<std::string, ApiDocument, std::less<>> v3;  ///< by path
  };
  static Documents make(const api::Scheme& scheme, const std::vector<ApiResource>& resources);

  const api::Scheme& scheme_;
  const std::vector<ApiResource> resources_;
  mutable std::once_flag once_;
  mutable std::unique_ptr<const Documents> documents_;  // set once, under once_
};

}  // namespace sluice::host
