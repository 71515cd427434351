#include "host/client/link.hpp"

#include <fmt/format.h>

#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <chrono>
#include <iterator>
#include <optional>
#include <utility>

#include "host/base/version.hpp"
#include "host/client/tunnel.hpp"

namespace sluice::host {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;

constexpr std::uint32_t kLongestHead = 64U << 10;
constexpr std::size_t kPiece = 64U << 10;

std::string text_of(const Endpoint& to, const LinkRequest& request, std::string_view token) {
  std::string out = fmt::format(
      "{} {}{} HTTP/1.1\r\nHost: {}:{}\r\nUser-Agent: sluice/{}\r\n"
      "Accept: application/json, */*\r\n",
      request.method, to.prefix, request.path, to.host, to.port, version());
  auto end = std::back_inserter(out);
  if (!token.empty()) fmt::format_to(end, "Authorization: Bearer {}\r\n", token);
  if (!request.content_type.empty())
    fmt::format_to(end, "Content-Type: {}\r\nContent-Length: {}\r\n", request.content_type,
                   request.body.size());
  return out.append("\r\n").append(request.body);
}

}  // namespace

struct Link::State {
  State(const LinkTarget& to, asio::any_io_executor executor)
      : target(to), tunnel(to, std::move(executor)) {}

  const LinkTarget& target;
  Tunnel tunnel;
  std::string inbox;     // what came and is not parsed
  bool starved = false;  // it is no whole line, or chunk
  std::optional<http::response_parser<http::buffer_body>> parser;
  std::array<char, kPiece> piece;

  /// Parses what is there, or waits for more of it.
  asio::awaitable<error_code> step(Duration patience) {
    http::buffer_body::value_type& body = parser->get().body();
    body.data = piece.data();
    body.size = piece.size();
    error_code problem;
    if (inbox.empty() || starved) {
      std::size_t size = 0;
      problem = co_await tunnel.read(piece, size, patience);
      if (problem == asio::error::eof) {
        if (parser->got_some()) {
          parser->put_eof(problem);
        } else {
          problem = http::error::end_of_stream;
        }
        co_return problem;
      }
      if (problem) co_return problem;
      inbox.append(piece.data(), size);
    }
    inbox.erase(0, parser->put(asio::buffer(inbox), problem));
    starved = problem == http::error::need_more;
    if (starved || problem == http::error::need_buffer) problem = {};
    co_return problem;
  }

  /// Of the body, in the last step.
  std::string_view parsed() const {
    return {piece.data(), piece.size() - parser->get().body().size};
  }
};

Link::Link(const LinkTarget& target, asio::any_io_executor executor)
    : state_(std::make_unique<State>(target, std::move(executor))) {}
Link::~Link() = default;

bool Link::reusable() const {
  return state_->parser && state_->parser->is_done() && state_->parser->get().keep_alive() &&
         state_->inbox.empty() && !state_->tunnel.ended_by_peer();
}

asio::awaitable<Result<void>> Link::connect() {
  if (state_->tunnel.connected()) co_return Result<void>();
  co_return co_await state_->tunnel.connect();
}

asio::awaitable<Result<LinkAnswer>> Link::ask(LinkRequest request, std::string token) {
  State& state = *state_;
  Result<void> connected = co_await connect();
  if (!connected) co_return connected.error();
  const std::string text = text_of(state.target.endpoint, request, token);
  state.parser.emplace();
  state.parser->header_limit(kLongestHead);
  state.parser->body_limit(boost::none);  // read() has a limit of its own
  error_code problem = co_await state.tunnel.write(text, request.patience);
  while (!problem && !state.parser->is_header_done())
    problem = co_await state.step(request.patience);
  if (problem) co_return tunnel_error(state.target, "no answer from", problem);
  state.parser->eager(true);
  LinkAnswer answer;
  answer.status = static_cast<int>(state.parser->get().result_int());
  answer.retry_after = std::string(state.parser->get()[http::field::retry_after]);
  co_return answer;
}

asio::awaitable<Result<bool>> Link::read(std::string& out, Duration patience) {
  State& state = *state_;
  if (state.parser->is_done()) co_return false;
  const error_code problem = co_await state.step(patience);
  if (problem) co_return tunnel_error(state.target, "the answer broke off from", problem);
  out.append(state.parsed());
  co_return true;
}

}  // namespace sluice::host
