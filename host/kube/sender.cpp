#include "host/kube/sender.hpp"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <deque>
#include <exception>
#include <thread>
#include <utility>

#include "host/kube/cluster_credentials.hpp"
#include "host/kube/page.hpp"

namespace sluice::host {
namespace {

namespace asio = boost::asio;
constexpr auto kResumed = asio::as_tuple(asio::use_awaitable);

}  // namespace

struct RequestSender::State {
  State(LinkTarget to, const Kubeconfig& config, SenderHooks with, SenderLimits most)
      : target(std::move(to)),
        hooks(std::move(with)),
        limits(most),
        credentials(config, most.token_age),
        working(asio::make_work_guard(io)) {}

  LinkTarget target;
  SenderHooks hooks;
  SenderLimits limits;
  ClusterCredentials credentials;
  asio::io_context io{1};
  asio::executor_work_guard<asio::io_context::executor_type> working;
  std::deque<ClusterRequest> waiting;       // the sender's thread only, as all below
  std::deque<asio::steady_timer*> resting;  // of connections without work
  std::thread thread;

  void take(std::vector<ClusterRequest> requests) {
    for (ClusterRequest& request : requests) {
      waiting.push_back(std::move(request));
      if (resting.empty()) continue;
      resting.front()->cancel();
      resting.pop_front();
    }
  }

  /// One connection: request after request.
  asio::awaitable<void> serve() {
    std::unique_ptr<Link> link;
    for (;;) {
      while (waiting.empty()) {
        asio::steady_timer rest(io, std::chrono::steady_clock::time_point::max());
        resting.push_back(&rest);
        co_await rest.async_wait(kResumed);
      }
      ClusterRequest request = std::move(waiting.front());
      waiting.pop_front();
      ClusterAnswer answer;
      answer.id = request.id;
      try {
        co_await exchange(link, std::move(request), answer);
      } catch (const std::exception& e) {  // no memory for it, for instance
        link.reset();
        answer.status = 0;
        answer.body = e.what();
      }
      hooks.answered(std::move(answer));
    }
  }

  asio::awaitable<void> exchange(std::unique_ptr<Link>& link, ClusterRequest request,
                                 ClusterAnswer& answer) {
    if (!link || !link->reusable()) link = std::make_unique<Link>(target, io.get_executor());
    Result<void> connected = co_await link->connect();
    credentials.refresh(steady_now());
    if (!connected || !hooks.may_send()) {
      answer.sent = false;
      answer.body = connected ? "it may not be sent any more" : connected.error().text;
      link.reset();
      co_return;
    }
    // Named, because g++ 12 destroys a temporary of a co_await twice.
    LinkRequest asked{request.method, std::move(request.path), std::move(request.content_type),
                      std::move(request.body), limits.patience};
    std::string token = credentials.token();
    Result<LinkAnswer> head = co_await link->ask(std::move(asked), std::move(token));
    if (!head) {
      answer.body = head.error().text;
      link.reset();
      co_return;
    }
    for (;;) {
      Result<bool> more = co_await link->read(answer.body, limits.patience);
      if (!more || answer.body.size() > limits.answer_bytes) {
        answer.body = more ? "the answer is too large" : more.error().text;
        link.reset();
        co_return;
      }
      if (!*more) break;
    }
    answer.status = head->status;
    answer.retry_after = ending_of(head->status, head->retry_after).retry_after;
    if (answer.status == 401) credentials.doubt();
  }
};

RequestSender::RequestSender(LinkTarget target, const Kubeconfig& config, SenderHooks hooks,
                             SenderLimits limits)
    : state_(std::make_unique<State>(std::move(target), config, std::move(hooks), limits)) {}
RequestSender::~RequestSender() { stop(); }

void RequestSender::start() {
  for (std::size_t i = 0; i < state_->limits.connections; ++i)
    asio::co_spawn(state_->io, state_->serve(), asio::detached);
  state_->thread = std::thread([this] { state_->io.run(); });
}

void RequestSender::stop() {
  state_->io.stop();
  if (state_->thread.joinable()) state_->thread.join();
}

void RequestSender::send(std::vector<ClusterRequest> requests) {
  if (requests.empty()) return;
  asio::post(state_->io, [this, requests = std::move(requests)]() mutable {
    state_->take(std::move(requests));
  });
}

}  // namespace sluice::host
