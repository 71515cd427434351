// What is answered and never stored: reviews, what would be, pending workloads, explanations,
// documents.
#include <algorithm>
#include <boost/json/object.hpp>
#include <charconv>
#include <utility>

#include "api/json/json.hpp"
#include "host/access/reviews.hpp"
#include "host/apiserver/body.hpp"
#include "host/apiserver/call.hpp"
#include "host/apiserver/write_options.hpp"
#include "host/objects/api_error.hpp"

namespace sluice::host {
namespace {

constexpr std::int64_t kPendingLimit = 1'000;
constexpr std::int64_t kMostPending = 100'000;

ApiError no_such_form() {
  ApiError error;
  error.code = 406;
  error.reason = "NotAcceptable";
  error.text = "the document is there as application/json; /openapi/v2 also as protobuf";
  return error;
}

void reply_json(const Call& call, int status, const boost::json::value& value) {
  std::string out;
  api::append_json(value, out);
  call.reply(status, out + "\n");
}

ApiResult<std::int64_t> number(const Request& request, std::string_view name, std::int64_t absent) {
  const auto* text = request.parameter(name);
  if (!text || text->empty()) return absent;
  std::int64_t value = 0;
  const auto [end, bad] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (bad != std::errc() || end != text->data() + text->size() || value < 0)
    return bad_request(std::string(name) + ": Invalid value: \"" + *text +
                       "\": must be an integer that is not negative");
  return value;
}

Insight::Done reply_when_done(const CallPtr& call) {
  return [call](ApiResult<boost::json::value> result) {
    if (!result) return call->fail(result.error());
    reply_json(*call, 200, *result);
  };
}

const ReviewKind* find_review(const Route& route) {
  for (const auto& kind : review_kinds())
    if (kind.group == route.group && kind.version == route.version &&
        kind.plural == route.resource && kind.namespaced == !route.ns.empty())
      return &kind;
  return nullptr;
}

}  // namespace

void serve_review(const CallPtr& call) {
  const ApiBackend& backend = call->at->backend;
  const ReviewKind* kind = find_review(call->route);
  if (kind == nullptr || !backend.roles) return call->fail(no_such_resource());
  DecodeLimits limits;
  limits.depth = call->at->limits.body_depth;
  auto body = decode_body(call->request(), limits);
  if (!body) return call->fail(body.error());
  if (!body->value.is_object())
    return call->fail(bad_request("the body must be a " + std::string(kind->kind)));
  const auto index = backend.roles();
  const ReviewContext context{call->request().user, call->route.ns, *index, backend.holder_of};
  auto answer = answer_review(*kind, std::move(body->value.get_object()), context);
  if (!answer) return call->fail(answer.error());
  reply_json(*call, 201, std::move(*answer));
}

void serve_what_if(const CallPtr& call) {
  if (call->at->backend.what_if == nullptr) return call->fail(no_such_resource());
  WriteRequest options;
  if (auto read = read_write_options(call->request(), options); !read)
    return call->fail(read.error());
  DecodeLimits limits;
  limits.depth = call->at->limits.body_depth;
  auto body = decode_body(call->request(), limits);
  if (!body) return call->fail(body.error());
  if (!body->problems.empty() && options.field_validation == FieldValidation::kStrict)
    return call->fail(strict_decoding_error(body->problems));
  if (options.field_validation == FieldValidation::kWarn)
    for (const std::string& problem : body->problems) call->warn(problem);
  const auto* question = body->value.if_object();
  const auto is = [&](std::string_view field, std::string_view wanted) {
    return api::find_text(*question, field) == wanted;
  };
  if (!question || !is("kind", "WhatIf") || !is("apiVersion", "sluice.dev/v1alpha1"))
    return call->fail(bad_request("the body must be a WhatIf of sluice.dev/v1alpha1"));
  call->at->backend.what_if->ask({call->request().user, *question, options.field_validation},
                                 [call](ApiResult<boost::json::value> result) {
                                   if (!result) return call->fail(result.error());
                                   reply_json(*call, 201, *result);
                                 });
}

void serve_history(const CallPtr& call) {
  if (call->at->backend.history == nullptr) return call->fail(no_such_resource());
  const Request& request = call->request();
  HistoryRequest asked{request.user.user, call->route.ns, {}};
  for (const auto& [name, value] : request.query) asked.parameters.emplace(name, value);
  call->at->backend.history->ask(std::move(asked), reply_when_done(call));
}

void serve_pending(const CallPtr& call) {
  if (call->at->backend.insight == nullptr) return call->fail(no_such_resource());
  auto offset = number(call->request(), "offset", 0);
  if (!offset) return call->fail(offset.error());
  auto limit = number(call->request(), "limit", kPendingLimit);
  if (!limit) return call->fail(limit.error());
  call->at->backend.insight->pending_workloads(
      call->route.ns, call->route.name, *offset, std::min(*limit, kMostPending),
      [call](ApiResult<boost::json::value> result) {
        if (!result) return call->fail(result.error());
        result->as_object()["apiVersion"] = call->route.group + "/" + call->route.version;
        reply_json(*call, 200, *result);
      });
}

void serve_explain(const CallPtr& call) {
  if (call->at->backend.insight == nullptr) return call->fail(no_such_resource());
  // A user that may not read a namespace's workloads gets no names of them.
  MayKnow may_know = [call](std::string_view ns) {
    AccessRequest wish;
    wish.verb = "get";
    wish.group = "kueue.x-k8s.io";
    wish.resource = "workloads";
    wish.ns = ns;
    return call->at->backend.authorizer->may(call->request().user, wish).allowed;
  };
  call->at->backend.insight->explain(call->route.ns, call->route.name, std::move(may_know),
                                     reply_when_done(call));
}

void serve_document(const CallPtr& call) {
  const Request& request = call->request();
  const ApiDocument* document = call->at->discovery.find(request.path, request.accept);
  if (document == nullptr) {
    const auto answer = call->at->open_api.find(request.path, request.accept);
    if (!answer.exists) return call->fail(no_such_resource());
    if (answer.document == nullptr) return call->fail(no_such_form());
    document = answer.document;
  }
  Headers headers = {{"ETag", document->etag}, {"Vary", "Accept"}};
  // What is asked for by its hash never changes.
  const auto* hash = request.parameter("hash");
  if (hash && "\"" + *hash + "\"" == document->etag)
    headers.emplace_back("Cache-Control", "public, immutable, max-age=31536000");
  const auto* known = request.header("if-none-match");
  if (known && !document->etag.empty() && *known == document->etag)
    return call->exchange->reply({304, "", nullptr, std::move(headers)});
  call->exchange->reply({200, document->content_type, document->body, std::move(headers)});
}

}  // namespace sluice::host
