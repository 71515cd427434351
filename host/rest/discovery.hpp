// Discovery: the documents by which clients learn what is served: /api, /apis, /apis/GROUP, /api/v1
// and /apis/GROUP/VERSION, in the two forms that clients ask for; and that there are no definitions
// of custom kinds.
//
// Made once from a Scheme, as texts; then only read: any thread. When the served kinds change (a
// plugin comes or goes) another Discovery takes its place.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/scheme/scheme.hpp"
#include "host/rest/resources.hpp"

namespace sluice::host {

struct ApiDocument {
  std::string content_type;
  std::shared_ptr<const std::string> body;
  std::string etag;  ///< quoted; changes with the body
};

/// Of a document that is `body`.
ApiDocument make_document(std::string content_type, std::string body);

class Discovery {
 public:
  explicit Discovery(const api::Scheme& scheme);
  /// Of these alone, in the order of served_resources().
  explicit Discovery(const std::vector<ApiResource>& resources);

  /// The document at `path` (a slash at the end is allowed) in the first form of the Accept header
  /// that exists; nullptr when nothing is described there.
  const ApiDocument* find(std::string_view path, std::string_view accept) const;

 private:
  enum class Form { kLegacy, kV2, kV2Beta1 };
  std::map<std::string, ApiDocument, std::less<>> legacy_, v2_, v2beta1_;
};

}  // namespace sluice::host
