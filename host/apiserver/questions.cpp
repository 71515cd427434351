// What is answered and never stored: reviews, what would be, pending workloads, explanations,
// documents.
#include <algorithm>
#include <boost/json/object.hpp>
#include <utility>

#include "api/json/json.hpp"
#include "host/access/reviews.hpp"
#include "host/apiserver/body.hpp"
#include "host/apiserver/call.hpp"
#include "host/apiserver/documents.hpp"
#include "host/apiserver/pending.hpp"
#include "host/apiserver/write_options.hpp"
#include "host/objects/api_error.hpp"

namespace sluice::host {
namespace {

void reply_json(const Call& call, int status, const boost::json::value& value) {
  std::string out;
  api::append_json(value, out);
  call.reply(status, out + "\n");
}

Insight::Done reply_when_done(const CallPtr& call) {
  return [call](ApiResult<boost::json::value> result) {
    if (!result) return call->fail(result.error());
    reply_json(*call, 200, *result);
  };
}

// Whoever answers for a check of the workload may wait for the word of another place. It is asked
// after 20 ms, and each time after a half more, nine times within 1.5 s.
constexpr std::int64_t kAwaitedMs = 20;
constexpr int kMostAwaited = 9;

bool is_awaited(const boost::json::value& document) {
  const auto* object = document.if_object();
  const auto* checks = object ? api::find_array(*object, "checks") : nullptr;
  return checks != nullptr &&
         std::any_of(checks->begin(), checks->end(), [](const boost::json::value& check) {
           return check.is_object() && api::find_bool(check.get_object(), "awaited", false);
         });
}

/// What is awaited is asked for again, so often at most, until nothing is awaited any more.
Insight::Done told(const CallPtr& call, std::int64_t pause_ms, int more) {
  return [call, pause_ms, more](ApiResult<boost::json::value> result) {
    if (more == 0 || !result || !is_awaited(*result))
      return reply_when_done(call)(std::move(result));
    call->exchange->after(
        pause_ms, [call, pause_ms, more, document = std::move(result->get_object())]() mutable {
          call->at->backend.insight->await(call->route.ns, call->route.name, std::move(document),
                                           told(call, pause_ms + pause_ms / 2, more - 1));
        });
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
  auto* question = body->value.if_object();
  const auto is = [&](std::string_view field, std::string_view wanted) {
    return api::find_text(*question, field) == wanted;
  };
  if (!question || !is("kind", "WhatIf") || !is("apiVersion", "sluice.dev/v1alpha1"))
    return call->fail(bad_request("the body must be a WhatIf of sluice.dev/v1alpha1"));
  call->at->backend.what_if->ask(
      {call->request().user, std::move(*question), options.field_validation},
      [call](ApiResult<boost::json::value> result) {
        if (!result) return call->fail(result.error());
        reply_json(*call, 201, *result);
      });
}

void serve_history(const CallPtr& call) {
  if (call->at->backend.history == nullptr) return call->fail(no_such_resource());
  const Request& request = call->request();
  HistoryRequest asked{request.user.user, call->route.ns, {}, call->route.resource == "quotas"};
  for (const auto& [name, value] : request.query) asked.parameters.emplace(name, value);
  call->at->backend.history->ask(std::move(asked), reply_when_done(call));
}

void serve_pending(const CallPtr& call) {
  if (call->at->backend.insight == nullptr) return call->fail(no_such_resource());
  answer_pending(*call->at->backend.insight, call->route, call->request(), reply_when_done(call));
}

void serve_explain(const CallPtr& call) {
  if (call->at->backend.insight == nullptr) return call->fail(no_such_resource());
  // A user that may not read a namespace's workloads gets no names of them.
  const MayKnow may_know = [call](std::string_view ns) {
    return call->at->backend.authorizer->may(call->request().user, sight_of_workloads(ns)).allowed;
  };
  call->at->backend.insight->explain(call->route.ns, call->route.name, may_know,
                                     told(call, kAwaitedMs, kMostAwaited));
}

void serve_document(const CallPtr& call) {
  call->exchange->reply(document_reply(call->request(), call->at->discovery, call->at->open_api));
}

}  // namespace sluice::host
