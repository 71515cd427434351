#include "host/apiserver/documents.hpp"

#include <utility>

#include "host/apiserver/call.hpp"

namespace sluice::host {
namespace {

ApiError no_such_form() {
  ApiError error;
  error.code = 406;
  error.reason = "NotAcceptable";
  error.text = "the document is there as application/json; /openapi/v2 also as protobuf";
  return error;
}

}  // namespace

Reply document_reply(const Request& request, const Discovery& discovery, const OpenApi& open_api) {
  const ApiDocument* document = discovery.find(request.path, request.accept);
  if (document == nullptr) {
    const auto answer = open_api.find(request.path, request.accept);
    if (!answer.exists) return error_reply(no_such_resource());
    if (answer.document == nullptr) return error_reply(no_such_form());
    document = answer.document;
  }
  Headers headers = {{"ETag", document->etag}, {"Vary", "Accept"}};
  // What is asked for by its hash never changes.
  const auto* hash = request.parameter("hash");
  if (hash && "\"" + *hash + "\"" == document->etag)
    headers.emplace_back("Cache-Control", "public, immutable, max-age=31536000");
  const auto* known = request.header("if-none-match");
  if (known && !document->etag.empty() && *known == document->etag)
    return {304, "", nullptr, std::move(headers)};
  return {200, document->content_type, document->body, std::move(headers)};
}

}  // namespace sluice::host
