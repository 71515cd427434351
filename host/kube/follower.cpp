#include "host/kube/follower.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <utility>

#include "api/json/json.hpp"
#include "host/base/log.hpp"
#include "host/client/client.hpp"
#include "host/client/link.hpp"
#include "host/kube/cluster_credentials.hpp"
#include "host/kube/page.hpp"
#include "host/kube/watch_lines.hpp"

namespace sluice::host {
namespace {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

constexpr auto kAwaited = asio::as_tuple(asio::use_awaitable);
constexpr Duration kPatience = 60 * kSecond;  // between two pieces of a list
constexpr std::size_t kLongestRefusal = 64U << 10;

/// A request's end, and what a person should know of it.
struct Outcome {
  Ended ended;
  std::string trouble;  // empty: there is none
};

Outcome unreachable(const Error& error) { return {{Ending::kUnreachable, 0}, error.text}; }
Outcome malformed(const std::string& what) { return {{Ending::kMalformed, 0}, what}; }

}  // namespace

struct ClusterFollower::State {
  struct Kind {
    FollowedKind followed;
    Reflector reflector;
    std::unique_ptr<Link> link;  // kept from page to page
    FollowState state;           // guarded by mutex
  };

  State(const Kubeconfig& config, FollowLimits most)
      : limits(most), credentials(config, most.token_age) {}

  LinkTarget target;
  ClusterSink* sink = nullptr;
  FollowLimits limits;
  ClusterCredentials credentials;
  asio::io_context io{1};
  std::vector<std::unique_ptr<Kind>> kinds;
  std::thread thread;
  mutable std::mutex mutex;
  mutable std::condition_variable changed;

  /// Tells when it changes whether anything comes of the kind.
  void note(Kind& kind, const std::string& trouble, bool refused = false) {
    note_state(kind, trouble, refused);
    sink->noted();
  }
  void note_state(Kind& kind, const std::string& trouble, bool refused) {
    const std::lock_guard lock(mutex);
    const bool was_absent = kind.state.absent;
    kind.state.synced = kind.reflector.synced();
    kind.state.absent = kind.reflector.absent();
    const std::string name = kind.followed.kind->full_resource();
    if (kind.state.absent && !was_absent)
      log(LogLevel::kInfo, limits.called, "the cluster has no " + name);
    if (trouble != kind.state.trouble && !kind.state.absent) {
      // A warning once, and again when it becomes a refusal, which does not end by itself; how it
      // went on is logged at level debug.
      if (trouble.empty()) {
        log(LogLevel::kInfo, limits.called, "following " + name + " again");
      } else {
        const bool first = kind.state.trouble.empty() || (refused && !kind.state.refused);
        log(first ? LogLevel::kWarning : LogLevel::kDebug, limits.called,
            fmt::format("cannot follow {}: {}", name, trouble));
      }
    }
    kind.state.refused = refused;
    kind.state.trouble = kind.state.absent ? "" : trouble;
    changed.notify_all();
  }

  asio::awaitable<void> follow(Kind& kind) {
    for (;;) {
      const Ask ask = kind.reflector.next();
      const Duration wait = ask.from - steady_now();
      if (wait > 0) {
        asio::steady_timer timer(io, std::chrono::nanoseconds(wait));
        co_await timer.async_wait(kAwaited);
      }
      credentials.refresh(steady_now());
      Outcome outcome;
      try {
        if (ask.what == Ask::What::kList) {
          outcome = co_await list(kind, ask);
        } else {
          outcome = co_await watch(kind, ask);
        }
      } catch (const std::exception& e) {  // no memory for it, for instance: this kind comes again
        kind.link.reset();
        outcome = malformed(e.what());
      }
      const bool again = outcome.ended.how == Ending::kClosed || outcome.ended.how == Ending::kGone;
      kind.reflector.ended(steady_now(), outcome.ended);
      // The next version may be served, and a watch that ends is asked for again.
      if (outcome.ended.how == Ending::kMissing && !kind.reflector.absent()) continue;
      note(kind, again ? std::string() : outcome.trouble, outcome.ended.how == Ending::kRefused);
    }
  }

  /// The answer's head. What the server refuses is an outcome, its text read.
  asio::awaitable<std::optional<Outcome>> open(Kind& kind, const Ask& ask) {
    if (!kind.link || !kind.link->reusable())
      kind.link = std::make_unique<Link>(target, io.get_executor());
    // Named, because g++ 12 destroys a temporary of a co_await twice.
    LinkRequest request;
    request.path = collection_path(ask.api_version, kind.followed.kind->plural, kind.followed.ns) +
                   "?" + ask.query;
    if (!kind.followed.labels.empty())
      request.path += "&labelSelector=" + percent_encoded(kind.followed.labels);
    std::string token = credentials.token();
    Result<LinkAnswer> answer = co_await kind.link->ask(std::move(request), std::move(token));
    if (!answer) co_return unreachable(answer.error());
    if (answer->status == 200) co_return std::nullopt;
    std::string text;
    while (text.size() < kLongestRefusal) {
      Result<bool> more = co_await kind.link->read(text, kPatience);
      if (!more || !*more) break;
    }
    if (answer->status == 401) credentials.doubt();
    const auto said = api::parse_object(text);
    Outcome refused{ending_of(answer->status, answer->retry_after, said ? &*said : nullptr),
                    message_of(answer->status, text)};
    if (refused.ended.how == Ending::kClosed) refused.ended.how = Ending::kMalformed;
    co_return refused;
  }

  asio::awaitable<Outcome> list(Kind& kind, const Ask& ask) {
    std::optional<Outcome> refused = co_await open(kind, ask);
    if (refused) co_return std::move(*refused);
    std::string body;
    for (;;) {
      Result<bool> more = co_await kind.link->read(body, kPatience);
      if (!more) co_return unreachable(more.error());
      if (!*more) break;
      if (body.size() > limits.page_bytes)
        co_return Outcome{{Ending::kTooLarge, 0}, "a page of the list is too large"};
    }
    Result<ListPage> page = parse_page(body);
    if (!page) co_return malformed(page.error().text);
    const api::KindInfo& info = *kind.followed.kind;
    if (ask.first_page) sink->list_begins(info, version_number(page->version));
    for (auto& item : page->items) sink->put(info, ask.api_version, std::move(item.get_object()));
    if (kind.reflector.page(page->continue_token, page->version)) sink->list_ends(info);
    sink->settle();
    co_return Outcome();
  }

  /// Hands one event on; an outcome ends the watch.
  std::optional<Outcome> take(Kind& kind, const Ask& ask, std::string_view line) {
    Result<WatchEvent> event = parse_event(line);
    if (!event) return malformed(event.error().text);
    const api::KindInfo& info = *kind.followed.kind;
    if (event->type == WatchEvent::Type::kError) {
      const auto code = api::find_int(event->object, "code").value_or(500);
      Outcome refused{
          ending_of(static_cast<int>(std::clamp<std::int64_t>(code, 400, 599)), "", &event->object),
          std::string(api::find_text(event->object, "message"))};
      return refused;
    }
    if (event->type == WatchEvent::Type::kChanged)
      sink->put(info, ask.api_version, std::move(event->object));
    if (event->type == WatchEvent::Type::kDeleted) sink->remove(info, event->object);
    kind.reflector.event(event->version);
    return std::nullopt;
  }

  asio::awaitable<Outcome> watch(Kind& kind, const Ask& ask) {
    std::optional<Outcome> ended = co_await open(kind, ask);
    if (ended) co_return std::move(*ended);
    note(kind, "");
    WatchLines lines(limits.event_bytes);
    std::string piece;
    for (;;) {
      piece.clear();
      Result<bool> more = co_await kind.link->read(piece, ask.lasts);
      if (!more) co_return unreachable(more.error());
      const bool taken = lines.add(piece, [&](std::string_view line) {
        ended = take(kind, ask, line);
        return !ended;
      });
      sink->settle();
      if (lines.too_long()) co_return Outcome{{Ending::kTooLarge, 0}, "an event is too large"};
      if (!taken) co_return std::move(*ended);
      if (!*more) co_return Outcome();
    }
  }
};

Result<std::unique_ptr<ClusterFollower>> ClusterFollower::make(const Kubeconfig& config,
                                                               std::vector<FollowedKind> kinds,
                                                               ClusterSink& sink,
                                                               FollowLimits limits) {
  Result<LinkTarget> target = link_target(config);
  if (!target) return target.error();
  auto state = std::make_unique<State>(config, limits);
  state->target = std::move(*target);
  state->sink = &sink;
  std::random_device random;
  for (FollowedKind& each : kinds) {
    Reflector reflector(each.api_versions, limits.reflector, random());
    FollowState shown;
    shown.kind = each.kind;
    state->kinds.push_back(std::make_unique<State::Kind>(
        State::Kind{std::move(each), std::move(reflector), nullptr, std::move(shown)}));
  }
  return std::unique_ptr<ClusterFollower>(new ClusterFollower(std::move(state)));
}

ClusterFollower::ClusterFollower(std::unique_ptr<State> state) : state_(std::move(state)) {}
ClusterFollower::~ClusterFollower() { stop(); }

void ClusterFollower::start() {
  for (auto& kind : state_->kinds)
    asio::co_spawn(state_->io, state_->follow(*kind), asio::detached);
  state_->thread = std::thread([this] { state_->io.run(); });
}

void ClusterFollower::stop() {
  state_->io.stop();
  if (state_->thread.joinable()) state_->thread.join();
}

FollowedKind in_all_versions(const api::KindInfo& kind) {
  FollowedKind out{&kind, {kind.hub_api_version()}};
  for (const auto& version : kind.versions)
    if (!version.storage) out.api_versions.push_back(kind.api_version(version.name));
  return out;
}

void ClusterFollower::wait_for_word(Duration most) const {
  std::unique_lock lock(state_->mutex);
  state_->changed.wait_for(lock, std::chrono::nanoseconds(most), [this] {
    return std::all_of(state_->kinds.begin(), state_->kinds.end(), [](const auto& kind) {
      return kind->state.synced || !kind->state.trouble.empty();
    });
  });
}

bool ClusterFollower::wait(Duration most) const {
  std::unique_lock lock(state_->mutex);
  return state_->changed.wait_for(lock, std::chrono::nanoseconds(most), [this] {
    return std::all_of(state_->kinds.begin(), state_->kinds.end(),
                       [](const auto& kind) { return kind->state.synced; });
  });
}

std::vector<FollowState> ClusterFollower::states() const {
  const std::lock_guard lock(state_->mutex);
  std::vector<FollowState> out;
  for (const auto& kind : state_->kinds) out.push_back(kind->state);
  return out;
}

}  // namespace sluice::host
