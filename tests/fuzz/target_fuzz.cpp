// The head of a request, a line each: target, Accept, Content-Type. A target is refused, or it is a
// path without tricks, whose options are refused or understood; and tokens read as they are
// written.
#include <algorithm>

#include "core/base/check.hpp"
#include "core/base/utf8.hpp"
#include "host/apiserver/list_options.hpp"
#include "host/apiserver/route.hpp"
#include "host/apiserver/url.hpp"
#include "host/rest/accept.hpp"
#include "host/rest/decode.hpp"
#include "tests/fuzz/lines.hpp"

namespace {

using namespace sluice;
using namespace sluice::host;

void check_path(const std::string& path) {
  SLUICE_CHECK(!path.empty() && path.front() == '/', path);
  SLUICE_CHECK(find_bad_utf8(path) == std::string::npos, path);
  for (const auto segment : path_segments(path)) {
    SLUICE_CHECK(!segment.empty() && segment != "." && segment != "..", path);
    SLUICE_CHECK(std::none_of(segment.begin(), segment.end(),
                              [](char c) { return static_cast<unsigned char>(c) < 0x20; }),
                 path);
  }
}

void check_token(const std::string& text) {
  const auto start = read_page_token(text);
  if (!start) return;
  const auto again = read_page_token(page_token(*start));
  SLUICE_CHECK(again && again->version == start->version && again->after == start->after, text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const api::Scheme scheme;
  static const RouteTable routes(scheme);
  if (size > (1U << 14)) return 0;
  const auto lines = fuzz_lines(data, size);
  for (const MediaRange& range : parse_accept(lines[1])) range.covers("application/json");
  const auto format = body_format(lines[2]);
  SLUICE_CHECK(format.ok() || format.error().code == 415);
  check_token(lines[0]);
  auto target = parse_target(lines[0]);
  if (!target) return 0;
  check_path(target->path);
  Request request;
  request.method = lines[3].empty() ? "GET" : lines[3];
  request.path = std::move(target->path);
  request.query = std::move(target->query);
  const Route route = routes.find(request);
  SLUICE_CHECK(route.type != Route::Type::kResource || route.kind != nullptr);
  if (const auto* token = request.parameter("continue")) check_token(*token);
  if (route.type != Route::Type::kResource) return 0;
  const auto options = read_list_options(request, route);
  if (!options) {
    SLUICE_CHECK(options.error().code == 400 || options.error().code == 422, options.error().text);
    return 0;
  }
  StoredObject object;
  object.kind = route.kind;
  object.key = "ns/name";
  object.metadata = Header(R"({"name":"name","namespace":"ns","labels":{"a":"b","n":"7"}})");
  object.body = std::make_shared<const std::string>(R"({"spec":{"nodeName":"n"},"reason":"r"})");
  object.status = R"({"phase":"Running"})";
  SLUICE_CHECK(options->selector.matches(object) == options->selector.matches(object));
  return 0;
}
