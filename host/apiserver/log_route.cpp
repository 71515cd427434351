// GET of a pod's log: as the file has it, and on as it grows when the client follows.
#include <utility>

#include "host/apiserver/call.hpp"
#include "host/apiserver/paced_stream.hpp"
#include "host/apiserver/parameters.hpp"
#include "host/base/wall_clock.hpp"

namespace sluice::host {
namespace {

constexpr std::size_t kLogPieceBytes = 64U << 10;

ApiResult<std::optional<Time>> since_of(const Request& request) {
  auto seconds = number_parameter(request, "sinceSeconds", 1);
  if (!seconds) return seconds.error();
  const auto* time = request.parameter("sinceTime");
  const bool has_time = time && !time->empty();
  if (*seconds && has_time)
    return bad_request("at most one of sinceTime or sinceSeconds may be specified");
  if (*seconds) {
    const Time now = wall_clock();
    // A century is as good as any longer time.
    const std::int64_t back = std::min<std::int64_t>(**seconds, 3'153'600'000) * kSecond;
    return std::optional<Time>(now - back);
  }
  if (!has_time) return std::optional<Time>();
  auto parsed = parse_time(*time);
  if (!parsed) return wrong_parameter("sinceTime", *time, "an RFC 3339 time");
  return std::optional<Time>(*parsed);
}

ApiResult<LogQuery> read_query(const Request& request) {
  LogQuery out;
  if (const auto* stream = request.parameter("stream"); stream && *stream != "All")
    return wrong_parameter("stream", *stream, "All: what a container says is kept in one file");
  if (const auto* container = request.parameter("container")) out.container = *container;
  out.follow = flag(request, "follow");
  out.previous = flag(request, "previous");
  out.timestamps = flag(request, "timestamps");
  auto since = since_of(request);
  if (!since) return since.error();
  out.since = *since;
  auto tail = number_parameter(request, "tailLines");
  if (!tail) return tail.error();
  out.tail_lines = *tail;
  auto limit = number_parameter(request, "limitBytes", 1);
  if (!limit) return limit.error();
  out.limit_bytes = *limit;
  return out;
}

class LogStream final : public PacedStream {
 public:
  LogStream(CallPtr call, std::unique_ptr<LogReader> reader)
      : PacedStream(std::move(call)), reader_(std::move(reader)) {}

 private:
  Progress make(std::string& piece) override {
    switch (reader_->read(piece, kLogPieceBytes)) {
      case LogReader::Progress::kMore:
        return Progress::kMore;
      case LogReader::Progress::kWait:
        return Progress::kNotYet;
      case LogReader::Progress::kEnd:
        break;
    }
    return Progress::kEnd;
  }

  const std::unique_ptr<LogReader> reader_;
};

}  // namespace

void serve_log(const CallPtr& call) {
  auto query = read_query(call->request());
  if (!query) return call->fail(query.error());
  const Route& route = call->route;
  if (!call->store().get(*route.kind, route.key()))
    return call->fail(not_found(*route.kind, route.name));
  if (call->at->backend.logs == nullptr)
    return call->fail(bad_request("this host runs no pods: there is no log of " + route.name));
  auto reader = call->at->backend.logs->open(route.key(), *query);
  if (!reader) return call->fail(reader.error());
  std::make_shared<LogStream>(call, std::move(*reader))->start("text/plain");
}

}  // namespace sluice::host
