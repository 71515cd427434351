// Many clients at a few objects of a live host, over TLS: the history is linearizable for each
// object, and watches are ordered, without gaps, and go on where they were cut off.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <map>
#include <random>
#include <thread>

#include "host/objects/parts.hpp"
#include "tests/crash/history.hpp"
#include "tests/crash/host_process.hpp"
#include "tests/crash/objects.hpp"
#include "tests/support/amount.hpp"

namespace sluice::host::test {
namespace {

namespace json = boost::json;
using Type = Operation::Type;

constexpr int kObjects = 3, kClients = 8;
constexpr const char* kEnd = "end";

int operations_of_each_client() { return trial::amount("SLUICE_HISTORY_OPERATIONS", 120); }

constexpr const char* kConfig = R"(
apiVersion: config.sluice.dev/v1alpha1
kind: Configuration
server: {address: "127.0.0.1:0"}
metrics: {address: "127.0.0.1:0"}
store: {path: data}
plugins: {load: []}
executor: {type: none}
)";

std::string path_of(const std::string& name) {
  return std::string(collection(Kind::kConfigMap)) + "/" + name;
}

std::int64_t now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }

/// One client: what it did, by object.
class Actor {
 public:
  Actor(const HostProcess& host, int number)
      : client_(host), random_(static_cast<unsigned>(number)), number_(number) {}

  void act() {
    for (int i = 0; i < operations_of_each_client(); ++i) {
      const std::string name = fmt::format("o-{}", random_() % kObjects);
      Operation done = one(name, i);
      if (done.status == 200 || done.status == 201) known_[name] = done.version;
      done_[name].push_back(std::move(done));
    }
  }
  const std::map<std::string, std::vector<Operation>>& done() const { return done_; }

 private:
  Operation one(const std::string& name, int number) {
    Operation out;
    out.mark = fmt::format("{}-{}", number_, number);
    const auto draw = random_() % 100;
    out.type = draw < 20   ? Type::kCreate
               : draw < 50 ? Type::kRead
               : draw < 90 ? Type::kUpdate
                           : Type::kDelete;
    const bool conditional = out.type == Type::kUpdate && known_.contains(name) && random_() % 3;
    if (conditional) out.expected = known_[name];
    out.called = now();
    const Answer answer = send(name, out);
    out.answered = now();
    out.status = answer.status;
    if (out.status < 200 || out.status > 299) return out;
    const json::object body = parse_object(answer.body);
    if (out.type == Type::kDelete) {
      out.uid = api::find_text(part(body, "details"), "uid");
      if (out.uid.empty()) out.uid = api::find_text(part(body, "metadata"), "uid");
      return out;
    }
    const SeenObject object = seen(Kind::kConfigMap, body);
    out.version = object.version;
    if (out.type == Type::kRead) out.mark = object.mark.value_or("torn");
    return out;
  }

  Answer send(const std::string& name, const Operation& operation) {
    NewObject object;
    object.name = name;
    object.mark = operation.mark;
    switch (operation.type) {
      case Type::kCreate:
        return client_.send("POST", collection(Kind::kConfigMap), to_json(object));
      case Type::kRead:
        return client_.get(path_of(name));
      case Type::kDelete:
        return client_.send("DELETE", path_of(name), "{}");
      case Type::kUpdate:
        break;
    }
    if (operation.expected == 0)
      return client_.send("PATCH", path_of(name), patch_of(Kind::kConfigMap, operation.mark),
                          "application/merge-patch+json");
    json::object body = parse_object(to_json(object));
    body["metadata"].as_object()["resourceVersion"] = std::to_string(operation.expected);
    return client_.send("PUT", path_of(name), json::serialize(body));
  }

  AdminClient client_;
  std::mt19937 random_;
  int number_;
  std::map<std::string, std::uint64_t> known_;
  std::map<std::string, std::vector<Operation>> done_;
};

struct Event {
  std::string type, name;
  WatchedState state;
  bool operator==(const Event&) const = default;
};

/// The events after `version` until the object named kEnd; the connection is cut after each
/// `most` events, and the watch goes on from the last version.
std::vector<Event> watch(const HostProcess& host, std::uint64_t version, unsigned most) {
  std::vector<Event> out;
  while (out.empty() || out.back().name != kEnd) {
    AdminClient client(host);
    client.raw().send(
        fmt::format("GET {}?watch=1&allowWatchBookmarks=true&resourceVersion={} "
                    "HTTP/1.1\r\nHost: localhost\r\n{}\r\n",
                    collection(Kind::kConfigMap), version, client.headers()));
    const Answer head = client.raw().read_head();
    EXPECT_EQ(head.status, 200);
    if (head.status != 200) return out;
    std::string text;
    for (unsigned taken = 0; taken < most && (out.empty() || out.back().name != kEnd);) {
      const std::string chunk = client.raw().read_chunk();
      EXPECT_FALSE(chunk.empty());
      if (chunk.empty()) return out;
      text += chunk;
      for (std::size_t end = 0; taken < most && (end = text.find('\n')) != std::string::npos;) {
        const json::object event = parse_object(text.substr(0, end));
        text.erase(0, end + 1);
        const json::object& object = part(event, "object");
        Event next{std::string(api::find_text(event, "type")), "", {}};
        const SeenObject found = seen(Kind::kConfigMap, object);
        if (next.type == "BOOKMARK") {
          EXPECT_GE(found.version, version);
          version = found.version;
          continue;
        }
        EXPECT_GT(found.version, version);
        version = found.version;
        next.name = found.name;
        next.state = {found.version, next.type != "DELETED",
                      std::string(api::find_text(part(object, "metadata"), "uid")),
                      found.mark.value_or("torn")};
        out.push_back(std::move(next));
        ++taken;
      }
    }
  }
  return out;
}

class HistoryTest : public testing::Test {
 protected:
  HistoryTest()
      : host_(SLUICE_PROGRAM,
              std::filesystem::path(SLUICE_TEST_FOLDER) / fmt::format("history-{}", getpid()),
              kConfig) {}
  ~HistoryTest() override {
    host_.kill();
    std::filesystem::remove_all(host_.folder());
  }
  void SetUp() override {
    ASSERT_TRUE(host_.spawn().ok());
    const Result<void> ready = host_.wait_until_ready();
    ASSERT_TRUE(ready.ok()) << ready.error().text;
  }
  HostProcess host_;
};

TEST_F(HistoryTest, IsLinearizableAndWatchedWithoutGaps) {
  AdminClient client(host_);
  const std::uint64_t start =
      version_of(parse_object(client.get(collection(Kind::kConfigMap)).body));
  std::vector<std::vector<Event>> watched(4);
  std::vector<std::thread> watchers;
  for (std::size_t i = 0; i < watched.size(); ++i)
    watchers.emplace_back([&, i] {
      const unsigned most[] = {1'000'000, 1, 7, 40};
      watched[i] = watch(host_, start, most[i]);
    });
  std::vector<std::unique_ptr<Actor>> actors;
  for (int i = 0; i < kClients; ++i) actors.push_back(std::make_unique<Actor>(host_, i));
  std::vector<std::thread> threads;
  for (auto& actor : actors) threads.emplace_back([&] { actor->act(); });
  for (std::thread& thread : threads) thread.join();
  NewObject end;
  end.name = kEnd;
  EXPECT_EQ(client.send("POST", collection(Kind::kConfigMap), to_json(end)).status, 201);
  for (std::thread& thread : watchers) thread.join();

  for (const auto& other : watched) EXPECT_TRUE(other == watched.front());
  std::map<std::string, std::vector<WatchedState>> states;
  for (const Event& event : watched.front()) {
    auto& of = states[event.name];
    const bool existed = !of.empty() && of.back().exists;
    EXPECT_EQ(event.type, !event.state.exists ? "DELETED" : existed ? "MODIFIED" : "ADDED");
    of.push_back(event.state);
  }
  std::map<std::string, std::vector<Operation>> operations;
  std::map<int, int> statuses;
  for (const auto& actor : actors) {
    for (const auto& [name, done] : actor->done()) {
      operations[name].insert(operations[name].end(), done.begin(), done.end());
      for (const Operation& operation : done) ++statuses[operation.status];
    }
  }
  for (const auto& [name, done] : operations) {
    SCOPED_TRACE(name);
    EXPECT_THAT(check_history(states[name], done), testing::IsEmpty());
  }
  // Each kind of answer was part of the history, and nothing else.
  EXPECT_THAT(
      statuses,
      testing::ElementsAre(testing::Pair(200, testing::Gt(0)), testing::Pair(201, testing::Gt(0)),
                           testing::Pair(404, testing::Gt(0)), testing::Pair(409, testing::Gt(0))));
}

// ---- the checker itself: it has to find what is wrong

std::vector<WatchedState> three_states() {
  return {{1, true, "u", "a"}, {2, true, "u", "b"}, {3, false, "u", "b"}};
}

std::vector<Operation> good() {
  Operation create{Type::kCreate, 0, 10, 201, 0, 1, "u", "a"};
  Operation update{Type::kUpdate, 20, 30, 200, 1, 2, "u", "b"};
  Operation remove{Type::kDelete, 40, 50, 200, 0, 0, "u", ""};
  return {create, update, remove};
}

std::size_t problems(const Operation& more) {
  std::vector<Operation> all = good();
  all.push_back(more);
  return check_history(three_states(), all).size();
}

TEST(HistoryCheck, TakesWhatCanHaveBeen) {
  EXPECT_THAT(check_history(three_states(), good()), testing::IsEmpty());
  EXPECT_EQ(problems({Type::kRead, 11, 25, 200, 0, 1, "u", "a"}), 0U);
  EXPECT_EQ(problems({Type::kRead, 11, 25, 200, 0, 2, "u", "b"}), 0U);
  EXPECT_EQ(problems({Type::kUpdate, 29, 31, 409, 1, 0, "", ""}), 0U);
  EXPECT_EQ(problems({Type::kRead, 45, 46, 404, 0, 0, "", ""}), 0U);
}

TEST(HistoryCheck, FindsWhatCannot) {
  // A stale read, one from the future, a torn one.
  EXPECT_GT(problems({Type::kRead, 31, 32, 200, 0, 1, "u", "a"}), 0U);
  EXPECT_GT(problems({Type::kRead, 11, 12, 200, 0, 2, "u", "b"}), 0U);
  EXPECT_GT(problems({Type::kRead, 11, 25, 200, 0, 1, "u", "b"}), 0U);
  // Refusals of what was so all the time.
  EXPECT_GT(problems({Type::kUpdate, 12, 18, 409, 1, 0, "", ""}), 0U);
  EXPECT_GT(problems({Type::kRead, 12, 18, 404, 0, 0, "", ""}), 0U);
  EXPECT_GT(problems({Type::kCreate, 52, 58, 409, 0, 0, "", ""}), 0U);
  // An acknowledged write that left nothing, and a version that no write made.
  EXPECT_GT(problems({Type::kUpdate, 12, 18, 200, 0, 9, "u", "c"}), 0U);
  std::vector<Operation> fewer = good();
  fewer.erase(fewer.begin() + 1);
  EXPECT_FALSE(check_history(three_states(), fewer).empty());
  // An update that was made for another version than the one before it.
  std::vector<Operation> lost = good();
  lost[1].expected = 7;
  EXPECT_FALSE(check_history(three_states(), lost).empty());
}

}  // namespace
}  // namespace sluice::host::test
