#include "host/apiserver/http_exchange.hpp"

#include <boost/json/serialize.hpp>
#include <utility>

#include "api/json/json.hpp"
#include "core/base/utf8.hpp"
#include "host/apiserver/stream_queue.hpp"

namespace sluice::host {

const std::string* Request::parameter(std::string_view name) const {
  for (const auto& [key, value] : query)
    if (key == name) return &value;
  return nullptr;
}

const std::string* Request::header(std::string_view lower_case_name) const {
  for (const auto& [key, value] : headers)
    if (key == lower_case_name) return &value;
  return nullptr;
}

Reply error_reply(const ApiError& error) {
  Reply reply;
  reply.status = error.code;
  std::string text;
  api::append_json(to_status(error), text);
  // A message may quote what a client sent.
  if (find_bad_utf8(text) != std::string_view::npos) text = clean_utf8(text);
  text += '\n';
  reply.body = std::make_shared<const std::string>(std::move(text));
  if (error.retry_after_seconds > 0)
    reply.headers.emplace_back("Retry-After", std::to_string(error.retry_after_seconds));
  return reply;
}

HttpExchange::HttpExchange(std::shared_ptr<Worker> worker, std::shared_ptr<Responder> responder,
                           Request request, ByteHold hold)
    : worker_(std::move(worker)),
      responder_(std::move(responder)),
      request_(std::move(request)),
      hold_(std::move(hold)) {
  worker_->request_begins(request_.user.user);
}

HttpExchange::~HttpExchange() {
  if (answered_) return;
  ApiError error;
  error.reason = "InternalError";
  error.text = "the request was not answered";
  reply(error_reply(error));
}

void HttpExchange::reply(Reply reply) {
  if (answered_.exchange(true)) return;
  hold_ = ByteHold();
  end([responder = responder_, reply = std::move(reply)]() mutable {
    responder->answer(std::move(reply));
  });
}

/// The connection decides what it does next while the request counts as one in hand.
void HttpExchange::end(Task answer) {
  worker_->dispatch(
      [worker = worker_.get(), user = request_.user.user, answer = std::move(answer)] {
        answer();
        worker->request_ends(user);
      });
}

std::shared_ptr<Stream> HttpExchange::stream(int status, std::string content_type,
                                             Headers headers) {
  auto queue = std::make_shared<StreamQueue>(
      worker_, responder_, worker_->shared().options.limits.backlog_bytes, responder_->budget());
  auto out = std::make_shared<QueueStream>(queue);
  if (answered_.exchange(true)) {
    queue->client_gone();
    return out;
  }
  hold_ = ByteHold();
  end([responder = responder_, status, type = std::move(content_type), headers = std::move(headers),
       queue = std::move(queue)] { responder->answer_stream(status, type, headers, queue); });
  return out;
}

void HttpExchange::after(std::int64_t delay_ms, std::function<void()> task) {
  worker_->dispatch([worker = worker_.get(), delay_ms, task = std::move(task)]() mutable {
    worker->after(delay_ms, std::move(task));
  });
}

}  // namespace sluice::host
