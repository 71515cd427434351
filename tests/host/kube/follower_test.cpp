// The follower against a scripted API server on loopback.
#include "host/kube/follower.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>

#include "api/json/json.hpp"
#include "host/apiserver/listener.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr Duration kLong = 60 * kSecond;

std::shared_ptr<const std::string> text(std::string value) {
  return std::make_shared<const std::string>(std::move(value));
}

std::string object(const std::string& name, int version) {
  return R"({"metadata":{"name":")" + name + R"(","resourceVersion":")" + std::to_string(version) +
         R"("}})";
}

std::string page(const std::string& items, int version, const std::string& token = {}) {
  return R"({"metadata":{"resourceVersion":")" + std::to_string(version) + R"(","continue":")" +
         token + R"("},"items":[)" + items + "]}";
}

std::string event(const char* type, const std::string& what) {
  return std::string(R"({"type":")") + type + R"(","object":)" + what + "}\n";
}

/// Answers the n-th request for a path with the n-th of its answers; later ones get what the path
/// always answers, or find the server busy.
class Script {
 public:
  using Answer = std::function<void(const std::shared_ptr<Exchange>&)>;

  Script() {
    ListenerOptions options;
    options.address = "127.0.0.1:0";
    auto opened = Listener::open(options, [this](const auto& exchange) { answer(exchange); });
    EXPECT_TRUE(opened);
    listener_ = std::move(*opened);
  }
  ~Script() { listener_->stop(0); }

  void add(const std::string& path, Answer answer) {
    const std::lock_guard lock(mutex_);
    answers_[path].push_back(std::move(answer));
  }
  void add(const std::string& path, int status, const std::string& body) {
    add(path, [status, body](const auto& exchange) {
      exchange->reply({status, "application/json", text(body), {}});
    });
  }
  void always(const std::string& path, int status, const std::string& body) {
    const std::lock_guard lock(mutex_);
    always_[path] = [status, body](const auto& exchange) {
      exchange->reply({status, "application/json", text(body), {}});
    };
  }
  /// A watch that says this and then ends, or goes on in silence.
  void watch(const std::string& path, const std::string& events, bool ends) {
    add(path, [this, events, ends](const auto& exchange) {
      auto stream = exchange->stream(200, "application/json", {});
      if (!events.empty()) stream->write(text(events));
      if (ends) return;
      const std::lock_guard lock(mutex_);
      open_.push_back(std::move(stream));
    });
  }

  /// As they came: `PATH?NAME=VALUE&…` without what differs from run to run.
  std::vector<std::string> requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
  }
  Kubeconfig config() const {
    Kubeconfig out;
    out.server = "http://" + listener_->address();
    out.token = "secret";
    return out;
  }

 private:
  void answer(const std::shared_ptr<Exchange>& exchange) {
    const Request& request = exchange->request();
    Answer next;
    {
      const std::lock_guard lock(mutex_);
      std::string told = request.method + " " + request.path;
      for (const auto& [name, value] : request.query)
        if (name != "timeoutSeconds") told += "," + name + "=" + value;
      const std::string* authorization = request.header("authorization");
      if (!authorization || *authorization != "Bearer secret") told += " without token";
      requests_.push_back(told);
      auto& answers = answers_[request.path];
      if (!answers.empty()) {
        next = answers.front();
        answers.erase(answers.begin());
      } else if (const auto known = always_.find(request.path); known != always_.end()) {
        next = known->second;
      }
    }
    if (next) return next(exchange);
    exchange->reply({503, "application/json", text(R"({"message":"no more"})"), {}});
  }

  mutable std::mutex mutex_;
  std::map<std::string, std::vector<Answer>> answers_;
  std::map<std::string, Answer> always_;
  std::vector<std::string> requests_;
  std::vector<std::shared_ptr<Stream>> open_;
  std::unique_ptr<Listener> listener_;
};

/// Keeps the names that there are, and waits for them to be as wanted.
class Names final : public ClusterSink {
 public:
  void list_begins(const api::KindInfo& kind, std::uint64_t) override { listed_[&kind].clear(); }
  void list_ends(const api::KindInfo& kind) override {
    const std::lock_guard lock(mutex_);
    names_[kind.plural] = listed_[&kind];
  }
  void put(const api::KindInfo& kind, const std::string&, json::object one) override {
    const std::string name = name_of(one);
    listed_[&kind].insert(name);
    const std::lock_guard lock(mutex_);
    names_[kind.plural].insert(name);
  }
  void remove(const api::KindInfo& kind, const json::object& one) override {
    const std::lock_guard lock(mutex_);
    names_[kind.plural].erase(name_of(one));
  }
  void settle() override { changed_.notify_all(); }

  bool become(const std::string& plural, const std::set<std::string>& wanted) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::nanoseconds(kLong),
                             [&] { return names_[plural] == wanted; });
  }

 private:
  static std::string name_of(const json::object& one) {
    return std::string(api::find_text(part(one, "metadata"), "name"));
  }
  std::map<const api::KindInfo*, std::set<std::string>> listed_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::set<std::string>> names_;
};

api::KindInfo kind(const std::string& group, const std::string& plural) {
  api::KindInfo out;
  out.group = group;
  out.plural = plural;
  return out;
}

struct Fixture : testing::Test {
  std::unique_ptr<ClusterFollower> follow(std::vector<FollowedKind> kinds, FollowLimits limits) {
    return follow(script.config(), std::move(kinds), limits);
  }
  std::unique_ptr<ClusterFollower> follow(Kubeconfig config, std::vector<FollowedKind> kinds,
                                          FollowLimits limits) {
    limits.reflector.first_wait = kMillisecond;
    auto made = ClusterFollower::make(std::move(config), std::move(kinds), names, limits);
    EXPECT_TRUE(made);
    (*made)->start();
    return std::move(*made);
  }

  Script script;
  Names names;
  const api::KindInfo pods = kind("", "pods");
  const api::KindInfo queues = kind("q", "queues");
  const std::string pods_path = "/api/v1/pods";
  const std::string queues_path = "/apis/q/v2/queues";
};

using Follower = Fixture;

TEST_F(Follower, OneNamespaceIsAskedForByItsPath) {
  script.add("/apis/q/v2/namespaces/team a/queues", 200, page(object("a", 1), 5));
  const auto follower = follow({{&queues, {"q/v2"}, "team a"}}, {});
  EXPECT_TRUE(names.become("queues", {"a"}));
}

TEST_F(Follower, AWordIsAListOrARefusal) {
  script.add(pods_path, 200, page(object("a", 1), 5));
  // However often it was refused until the test looks.
  script.always(queues_path, 403, R"({"message":"you may not"})");
  const auto follower = follow({{&pods, {"v1"}}, {&queues, {"q/v2"}}}, {});
  follower->wait_for_word(kLong);
  const auto states = follower->states();
  EXPECT_TRUE(states[0].synced);
  EXPECT_FALSE(states[1].synced);
  EXPECT_EQ(states[1].trouble, "you may not");
}

TEST_F(Follower, KeepsUpOverPagesWatchesAndABrokenHistory) {
  script.add(pods_path, 200, page(object("a", 1), 5, "next"));
  script.add(pods_path, 200, page(object("b", 2), 5));
  script.watch(pods_path, event("ADDED", object("c", 6)) + event("DELETED", object("a", 7)), true);
  script.watch(pods_path,
               R"({"type":"ERROR","object":{"code":410,"message":"too old"}})"
               "\n",
               true);
  script.add(pods_path, 200, page(object("d", 9), 9));
  script.watch(pods_path, event("BOOKMARK", object("", 12)), true);
  script.watch(pods_path, event("MODIFIED", object("e", 13)), false);
  const auto follower = follow({{&pods, {"v1"}}}, {});
  EXPECT_TRUE(names.become("pods", {"d", "e"}));
  EXPECT_EQ(script.requests(),
            (std::vector<std::string>{
                "GET /api/v1/pods,limit=500", "GET /api/v1/pods,limit=500,continue=next",
                "GET /api/v1/pods,watch=1,allowWatchBookmarks=true,resourceVersion=5",
                "GET /api/v1/pods,watch=1,allowWatchBookmarks=true,resourceVersion=7",
                "GET /api/v1/pods,limit=500",
                "GET /api/v1/pods,watch=1,allowWatchBookmarks=true,resourceVersion=9",
                "GET /api/v1/pods,watch=1,allowWatchBookmarks=true,resourceVersion=12"}));
}

TEST_F(Follower, OneKindThatHangsHoldsUpNoOther) {
  script.add(pods_path, [](const auto& exchange) {
    // Its answer never comes, as long as the server lives.
    exchange->after(3'600'000, [exchange] {});
  });
  script.add(queues_path, 200, page(object("main", 1), 5));
  script.watch(queues_path, event("ADDED", object("other", 6)), false);
  const auto follower = follow({{&pods, {"v1"}}, {&queues, {"q/v2"}}}, {});
  EXPECT_TRUE(names.become("queues", {"main", "other"}));
  EXPECT_FALSE(follower->wait(0));
  const auto states = follower->states();
  EXPECT_FALSE(states[0].synced);
  EXPECT_TRUE(states[1].synced);
}

TEST_F(Follower, FindsTheVersionThatIsServedAndSaysWhatIsNot) {
  script.add(queues_path, 404, "{}");
  script.add("/apis/q/v1/queues", 200, page(object("old", 1), 5));
  script.watch("/apis/q/v1/queues", "", false);
  script.add(pods_path, 404, "{}");
  const auto follower = follow({{&queues, {"q/v2", "q/v1"}}, {&pods, {"v1"}}}, {});
  EXPECT_TRUE(names.become("queues", {"old"}));
  EXPECT_TRUE(follower->wait(kLong));
  const auto states = follower->states();
  EXPECT_FALSE(states[0].absent);
  EXPECT_TRUE(states[1].absent);
  EXPECT_EQ(states[1].trouble, "");
}

TEST_F(Follower, SaysWhyNothingComes) {
  for (int i = 0; i < 40; ++i)
    script.add(pods_path, 403, R"({"message":"pods is forbidden: User \"x\" cannot list"})");
  const auto follower = follow({{&pods, {"v1"}}}, {});
  std::string trouble;
  while (trouble.empty()) trouble = follower->states()[0].trouble;
  EXPECT_EQ(trouble, "pods is forbidden: User \"x\" cannot list");
  EXPECT_FALSE(follower->wait(0));
}

/// What ends by itself is told once; a refusal that comes of it is a person's to mend.
TEST_F(Follower, ARefusalIsToldAlsoAfterTheServerWasAway) {
  for (const int status : {503, 500, 401, 503, 403})
    script.add(pods_path, status, R"({"message":"code )" + std::to_string(status) + "\"}");
  script.add(pods_path, 200, page(object("a", 1), 5));
  script.watch(pods_path, "", false);
  testing::internal::CaptureStderr();
  {
    const auto follower = follow({{&pods, {"v1"}}}, {});
    EXPECT_TRUE(names.become("pods", {"a"}));
    while (!follower->states()[0].trouble.empty()) {
    }
  }
  const std::string log = testing::internal::GetCapturedStderr();
  std::vector<std::string> told;
  for (std::size_t at = log.find("code "); at != std::string::npos; at = log.find("code ", at + 1))
    told.push_back(log.substr(at, 8));
  EXPECT_EQ(told, (std::vector<std::string>{"code 503", "code 401", "code 403"}));
}

TEST_F(Follower, APageThatIsTooLargeIsAskedForInSmallerOnes) {
  script.add(pods_path, 200, page(object(std::string(5000, 'x'), 1), 5));
  script.add(pods_path, 200, page(object("small", 1), 5));
  script.watch(pods_path, "", false);
  FollowLimits limits;
  limits.page_bytes = 4000;
  const auto follower = follow({{&pods, {"v1"}}}, limits);
  EXPECT_TRUE(names.become("pods", {"small"}));
  EXPECT_EQ(script.requests()[1], "GET /api/v1/pods,limit=125");
}

TEST_F(Follower, AnEventThatIsTooLargeEndsTheWatchAndTheListIsReadAgain) {
  script.add(pods_path, 200, page(object("a", 1), 5));
  script.watch(pods_path, event("ADDED", object(std::string(5000, 'x'), 6)), true);
  script.add(pods_path, 200, page(object("b", 7), 7));
  script.watch(pods_path, "", false);
  FollowLimits limits;
  limits.event_bytes = 4000;
  const auto follower = follow({{&pods, {"v1"}}}, limits);
  EXPECT_TRUE(names.become("pods", {"b"}));
}

/// A token in a file, as a pod has it: rotation writes another one there.
struct TokenFile {
  TokenFile() { put("rotated away"); }
  ~TokenFile() { std::filesystem::remove(path); }
  void put(const std::string& token) const { std::ofstream(path) << token << "\n"; }

  Kubeconfig of(Kubeconfig config) const {
    config.token_file = path;
    config.token = *present_token(config);
    return config;
  }

  const std::string path = testing::TempDir() + "token-" + std::to_string(::getpid());
};

constexpr Duration kForEver = 10LL * 365 * 86'400 * kSecond;

TEST_F(Follower, ATokenThatIsRefusedIsReadAgain) {
  const TokenFile file;
  script.add(pods_path, 401, R"({"message":"Unauthorized"})");
  script.add(pods_path, [&](const auto& exchange) {
    file.put("secret");
    exchange->reply({401, "application/json", text(R"({"message":"Unauthorized"})"), {}});
  });
  script.add(pods_path, 200, page(object("a", 1), 5));
  script.watch(pods_path, event("ADDED", object("b", 6)), false);
  FollowLimits limits;
  limits.token_age = kForEver;  // longer than any machine is up
  const auto follower = follow(file.of(script.config()), {{&pods, {"v1"}}}, limits);
  EXPECT_TRUE(names.become("pods", {"a", "b"}));
  EXPECT_EQ(script.requests(),
            (std::vector<std::string>{
                "GET /api/v1/pods,limit=500 without token",
                "GET /api/v1/pods,limit=500 without token", "GET /api/v1/pods,limit=500",
                "GET /api/v1/pods,watch=1,allowWatchBookmarks=true,resourceVersion=5"}));
}

TEST_F(Follower, ATokenIsReadAgainBeforeItEnds) {
  const TokenFile file;
  script.add(pods_path, [&](const auto& exchange) {
    file.put("secret");
    exchange->reply({200, "application/json", text(page(object("a", 1), 5)), {}});
  });
  script.watch(pods_path, event("ADDED", object("b", 6)), true);
  script.add(pods_path, [&](const auto& exchange) {
    std::filesystem::remove(file.path);  // in the middle of being rotated
    exchange->stream(200, "application/json", {})->write(text(event("ADDED", object("c", 7))));
  });
  script.watch(pods_path, event("ADDED", object("d", 8)), false);
  FollowLimits limits;
  limits.token_age = 0;
  const auto follower = follow(file.of(script.config()), {{&pods, {"v1"}}}, limits);
  EXPECT_TRUE(names.become("pods", {"a", "b", "c", "d"}));
  EXPECT_EQ(script.requests(),
            (std::vector<std::string>{
                "GET /api/v1/pods,limit=500 without token",
                "GET /api/v1/pods,watch=1,allowWatchBookmarks=true,resourceVersion=5",
                "GET /api/v1/pods,watch=1,allowWatchBookmarks=true,resourceVersion=6",
                "GET /api/v1/pods,watch=1,allowWatchBookmarks=true,resourceVersion=7"}));
}

TEST(FollowerOfNobody, SaysThatItCannotConnect) {
  const api::KindInfo pods = kind("", "pods");
  Names names;
  Kubeconfig config;
  config.server = "http://127.0.0.1:1";
  auto follower = ClusterFollower::make(config, {{&pods, {"v1"}}}, names);
  ASSERT_TRUE(follower);
  (*follower)->start();
  std::string trouble;
  while (trouble.empty()) trouble = (*follower)->states()[0].trouble;
  EXPECT_EQ(trouble, "cannot connect to 127.0.0.1:1: Connection refused");
  config.server = "ftp://x";
  EXPECT_FALSE(ClusterFollower::make(config, {{&pods, {"v1"}}}, names));
}

}  // namespace
}  // namespace sluice::host
