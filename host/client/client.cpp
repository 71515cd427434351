#include "host/client/client.hpp"

#include <fmt/format.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/json/parse.hpp>
#include <exception>
#include <optional>
#include <utility>

#include "api/json/json.hpp"
#include "host/client/endpoint.hpp"
#include "host/client/link.hpp"

namespace sluice::host {
namespace {

namespace asio = boost::asio;

constexpr std::size_t kMaxBody = 1ULL << 30;
constexpr std::size_t kMaxRefusal = 1 << 20;
constexpr Duration kPatience = 24 * 3600 * kSecond;  // a person gives up on his own

constexpr std::string_view kOwnGroup = "/apis/sluice.dev/";

/// The sentence of a Status object; nullopt: a bare status.
std::optional<std::string> says_why(const ClientAnswer& answer) {
  boost::system::error_code problem;
  const boost::json::value value = api::parse_deep(answer.body, problem);
  if (problem || !value.is_object()) return std::nullopt;
  const std::string_view message = api::find_text(value.get_object(), "message");
  return message.empty() ? std::nullopt : std::optional(std::string(message));
}

/// What a Status object, or a bare status, says.
std::string message_of(const ClientAnswer& answer) {
  if (auto why = says_why(answer)) return std::move(*why);
  return "the server answered " + std::to_string(answer.status) +
         (answer.status / 100 == 3 ? ", a redirect, which is not followed" : "");
}

/// `status` becomes that of the answer, after `take` got its body, all of it or until it said
/// false.
asio::awaitable<void> exchange(Link& link, LinkRequest request, std::string token,
                               const Client::Take& take, Result<int>& status) {
  Result<LinkAnswer> head = co_await link.ask(std::move(request), std::move(token));
  if (!head) {
    status = head.error();
    co_return;
  }
  status = head->status;
  std::string piece;
  for (;;) {
    piece.clear();
    Result<bool> more = co_await link.read(piece, kPatience);
    if (!more) status = more.error();
    if (!more || !*more || !take(head->status, piece)) co_return;
  }
}

}  // namespace

Client::Client(Kubeconfig config, LinkTarget target)
    : config_(std::move(config)), target_(std::make_unique<LinkTarget>(std::move(target))) {}
Client::~Client() = default;
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;

Result<Client> Client::make(Kubeconfig config) {
  Result<LinkTarget> target = link_target(config);
  if (!target) return target.error();
  return Client(std::move(config), std::move(*target));
}

Result<int> Client::run(std::string_view method, const std::string& target, std::string_view body,
                        const Take& take) const {
  LinkRequest request{.method = method, .path = target, .patience = kPatience};
  if (!body.empty()) {
    request.content_type = "application/json";
    request.body = body;
  }
  Result<int> status = Error{"not asked"};
  std::exception_ptr thrown;
  try {
    asio::io_context io{1};
    Link link(*target_, io.get_executor());
    asio::co_spawn(io, exchange(link, std::move(request), config_.token, take, status),
                   [&](std::exception_ptr problem) { thrown = std::move(problem); });
    io.run();
    if (thrown) std::rethrow_exception(thrown);
  } catch (const std::exception& e) {
    return Error{e.what()};
  }
  return status;
}

Result<ClientAnswer> Client::request(std::string_view method, const std::string& target,
                                     std::string_view body) const {
  ClientAnswer answer;
  const Result<int> status = run(method, target, body, [&](int, std::string_view piece) {
    answer.body += piece;
    return answer.body.size() <= kMaxBody;
  });
  if (!status) return status.error();
  if (answer.body.size() > kMaxBody)
    return Error{fmt::format("the answer of {} has more than {} bytes", config_.server, kMaxBody)};
  answer.status = *status;
  return answer;
}

Result<boost::json::object> Client::call(std::string_view method, const std::string& target,
                                         std::string_view body, bool* missing) const {
  const Result<ClientAnswer> answer = request(method, target, body);
  if (!answer) return answer.error();
  if (missing) *missing = answer->status == 404;
  if (missing && *missing) return boost::json::object();
  // A cluster's own API server, which may as well forbid it, or know the group and no more.
  if (answer->status == 404 && target.starts_with(kOwnGroup) && !says_why(*answer))
    return Error{
        fmt::format("{} is no host of Sluice, and this is asked of one: on a cluster give "
                    "the kubeconfig that its controller or an observer writes",
                    config_.server)};
  if (answer->status < 200 || answer->status > 299) return Error{message_of(*answer)};
  boost::system::error_code problem;
  boost::json::value value = api::parse_deep(answer->body, problem);
  if (problem || !value.is_object()) return Error{"the server's answer is not a JSON object"};
  return std::move(value.get_object());
}

Result<void> Client::stream(const std::string& target,
                            const std::function<bool(std::string_view)>& take) const {
  std::string refusal;
  const Result<int> status = run("GET", target, {}, [&](int code, std::string_view piece) {
    if (code == 200) return piece.empty() || take(piece);
    refusal += piece;
    return refusal.size() < kMaxRefusal;
  });
  if (!status) return status.error();
  if (*status != 200) return Error{message_of({*status, refusal})};
  return {};
}

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~";
  std::string out;
  for (const char c : text) {
    if (kPlain.find(c) != std::string_view::npos) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += '%';
    out += kHex[byte >> 4U];
    out += kHex[byte & 15U];
  }
  return out;
}

std::string collection_path(std::string_view api_version, std::string_view plural,
                            std::string_view ns) {
  const bool core = api_version.find('/') == std::string_view::npos;
  std::string out = fmt::format("{}{}/", core ? "/api/" : "/apis/", api_version);
  if (!ns.empty()) out += "namespaces/" + percent_encoded(ns) + "/";
  return out.append(plural);
}

}  // namespace sluice::host
