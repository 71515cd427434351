// Watches: order, versions, selectors, bookmarks, expiry, slow clients.
#include <gtest/gtest.h>

#include <boost/json/object.hpp>
#include <ctime>
#include <thread>

#include "api/json/json.hpp"
#include "tests/host/apiserver/api_fixture.hpp"

namespace sluice::host {
namespace {

using test::kMaps;
using test::WatchClient;

const std::string kWatch = kMaps + "?watch=true";

class Watches : public test::ApiFixture {
 protected:
  explicit Watches(ApiLimits limits = {}, HistoryLimits history = {})
      : test::ApiFixture(limits, history) {}
  WatchClient watch(const std::string& query, const std::string& headers = {}) const {
    return WatchClient(listener_->port(), query, headers);
  }
  std::string put(const std::string& key, const std::string& labels = "{}") {
    return std::to_string(writes_.put("configmaps", key, labels));
  }
  std::string erase(const std::string& key) {
    return std::to_string(writes_.erase("configmaps", key));
  }
};

TEST_F(Watches, BeginWithWhatIsThere) {
  const std::string one = put("open/a");
  put("other/b");
  for (const std::string version : {"", "&resourceVersion=0"}) {
    auto events = watch(kWatch + version);
    EXPECT_EQ(events.next(), "ADDED a " + one);
    const std::string two = put("open/c");
    EXPECT_EQ(events.next(), "ADDED c " + two);
    const std::string three = put("open/c");
    EXPECT_EQ(events.next(), "MODIFIED c " + three);
    put("other/c");
    const std::string four = erase("open/c");
    EXPECT_EQ(events.next(), "DELETED c " + four);
  }
}

TEST_F(Watches, GoOnWhereTheyWere) {
  const std::string start = put("open/a");
  std::vector<std::string> expected;
  std::string last = start;
  for (int i = 0; i < 50; ++i) {
    const std::string name = "n" + std::to_string(i % 5);
    expected.push_back((i < 5 ? "ADDED " : "MODIFIED ") + name + " " + put("open/" + name));
  }
  // Reconnects after each few events, from the last version that was seen.
  std::vector<std::string> seen;
  while (seen.size() < expected.size()) {
    auto events = watch(kWatch + "&resourceVersion=" + last);
    for (int i = 0; i < 7 && seen.size() < expected.size(); ++i) {
      seen.push_back(events.next());
      last = seen.back().substr(seen.back().rfind(' ') + 1);
    }
  }
  EXPECT_EQ(seen, expected);
}

TEST_F(Watches, SeeObjectsComeAndGoWithTheSelector) {
  const std::string red = R"({"colour":"red"})";
  const std::string blue = R"({"colour":"blue"})";
  const std::string start = put("open/x", blue);
  auto events = watch(kWatch + "&labelSelector=colour%3Dred&resourceVersion=" + start);
  const std::string one = put("open/x", red);
  const std::string two = put("open/x", red);
  const std::string three = put("open/x", blue);
  put("open/x", blue);
  erase("open/x");
  const std::string four = put("open/y", red);
  const std::string five = erase("open/y");
  EXPECT_EQ(events.next(), "ADDED x " + one);
  EXPECT_EQ(events.next(), "MODIFIED x " + two);
  const auto gone = events.next_event();
  EXPECT_EQ(gone.at("type"), "DELETED");
  EXPECT_EQ(gone.at("object").at("metadata").at("resourceVersion"), boost::json::string(three));
  EXPECT_EQ(gone.at("object").at("metadata").at("labels").at("colour"), "red");
  EXPECT_EQ(events.next(), "ADDED y " + four);
  EXPECT_EQ(events.next(), "DELETED y " + five);
}

// Labels of 20 KB, which a few watches may look at in one go: the others come to it in their turns,
// and miss nothing.
TEST_F(Watches, WithLongLabelsToLookAtAllSeeEverythingInOrder) {
  std::string labels = R"({"colour":"red")";
  for (int i = 0; i < 1'000; ++i) labels += ",\"k" + std::to_string(10'000 + i) + R"(":"value")";
  labels += "}";
  const std::string start = put("open/x", labels);
  std::vector<WatchClient> all;
  for (int i = 0; i < 20; ++i)
    all.push_back(watch(kWatch + "&labelSelector=colour%3Dred&resourceVersion=" + start));
  std::vector<std::string> expected;
  for (int i = 0; i < 10; ++i) {
    expected.push_back("MODIFIED x " + put("open/x", labels));
    expected.push_back("ADDED y" + std::to_string(i) + " " +
                       put("open/y" + std::to_string(i), labels));
    put("open/z", "{}");
  }
  for (auto& events : all)
    for (const std::string& each : expected) EXPECT_EQ(events.next(), each);
}

// The end of the stream, in order: the connection takes the next request.
TEST_F(Watches, EndWithTheCertificateThatOpenedThem) {
  ListenerOptions options;
  options.address = "127.0.0.1:0";
  const auto check = [judge = api_.head_check()](Request& request) {
    request.certificate = CertificateSubject{"admin", {}, std::time(nullptr)};
    return judge(request);
  };
  const auto listener = Listener::open(std::move(options), api_.handler(), check);
  ASSERT_TRUE(listener.ok());
  test::Client client((*listener)->port());
  EXPECT_EQ(client.get(kWatch, test::kAdmin).status, 200);
  EXPECT_EQ(client.get(kMaps, test::kAdmin).status, 200);
}

TEST_F(Watches, OfOneObject) {
  put("open/a");
  const std::string one = put("open/b");
  auto events = watch(kWatch + "&fieldSelector=metadata.name%3Db&resourceVersion=0");
  EXPECT_EQ(events.next(), "ADDED b " + one);
  put("open/a");
  const std::string two = erase("open/b");
  EXPECT_EQ(events.next(), "DELETED b " + two);
}

TEST_F(Watches, SendInitialEventsWithAnEnd) {
  const std::string one = put("open/a");
  const std::string query = kWatch + "&sendInitialEvents=true&allowWatchBookmarks=true";
  EXPECT_EQ(watch(query).status(), 422);
  auto events = watch(query + "&resourceVersionMatch=NotOlderThan");
  EXPECT_EQ(events.next(), "ADDED a " + one);
  const auto mark = events.next_event();
  EXPECT_EQ(mark.at("type"), "BOOKMARK");
  EXPECT_EQ(mark.at("object").at("kind"), "ConfigMap");
  EXPECT_EQ(mark.at("object").at("metadata").at("annotations").at("k8s.io/initial-events-end"),
            "true");
  const std::string two = put("open/b");
  EXPECT_EQ(events.next(), "ADDED b " + two);
  // Without: only what comes.
  auto quiet = watch(kWatch + "&sendInitialEvents=false&resourceVersionMatch=NotOlderThan");
  const std::string three = put("open/c");
  EXPECT_EQ(quiet.next(), "ADDED c " + three);
}

TEST_F(Watches, RefuseVersionsThatAreNotThere) {
  EXPECT_EQ(watch(kWatch + "&resourceVersion=99999999").status(), 504);
  EXPECT_EQ(watch(kWatch + "&resourceVersion=x").status(), 400);
  EXPECT_EQ(watch(kWatch + "&labelSelector=%28").status(), 400);
  EXPECT_EQ(watch(kWatch + "&resourceVersionMatch=Exact&resourceVersion=1").status(), 422);
}

TEST_F(Watches, EndInTime) {
  auto events = watch(kWatch + "&timeoutSeconds=1");
  EXPECT_EQ(events.status(), 200);
  EXPECT_EQ(events.next(), "");
}

TEST_F(Watches, KnowBooleansAsGoDoes) {
  for (const std::string value : {"true", "True", "1", ""})
    EXPECT_EQ(
        watch(kMaps + "?timeoutSeconds=1&watch=" + value).head().headers.count("transfer-encoding"),
        1U)
        << value;
  for (const std::string value : {"0", "false"})
    EXPECT_EQ(get(kMaps + "?watch=" + value).headers.count("content-length"), 1U) << value;
}

TEST_F(Watches, ShowMetadataOnly) {
  auto events =
      watch(kWatch, "Accept: application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1\r\n");
  put("open/a");
  EXPECT_EQ(events.next_event().at("object").at("kind"), "PartialObjectMetadata");
}

TEST_F(Watches, ShowTablesWhoseColumnsComeOnce) {
  put("open/a");
  auto events = watch(kWatch, "Accept: application/json;as=Table;v=v1;g=meta.k8s.io\r\n");
  const auto first = events.next_event();
  EXPECT_TRUE(first.at("object").as_object().contains("columnDefinitions"));
  put("open/b");
  const auto second = events.next_event();
  EXPECT_EQ(second.at("object").at("rows").as_array().at(0).at("cells").as_array().at(0), "b");
  EXPECT_FALSE(second.at("object").as_object().contains("columnDefinitions"));
}

TEST_F(Watches, EndWithTheBackend) {
  auto events = watch(kWatch);
  const std::string one = put("open/a");
  EXPECT_EQ(events.next(), "ADDED a " + one);
  api_.detach();
  EXPECT_EQ(events.next(), "");
  api_.attach(backend());
  auto again = watch(kWatch + "&resourceVersion=" + one);
  const std::string two = put("open/b");
  EXPECT_EQ(again.next(), "ADDED b " + two);
}

// More than a watch is sent at once, in two namespaces that the feed takes together.
TEST_F(Watches, OfManyChangesAtOnceAreCompleteAndInOrder) {
  auto open = watch(kWatch);
  auto other = watch("/api/v1/namespaces/other/configmaps?watch=1");
  const std::string first = put("open/first"), second = put("other/second");
  ASSERT_EQ(open.next(), "ADDED first " + first);  // both are up to date, so members of the feed
  ASSERT_EQ(other.next(), "ADDED second " + second);
  constexpr int kChanges = 1300;
  std::vector<std::string> keys;
  for (int i = 0; i < kChanges; ++i)
    for (const char* ns : {"open/n", "other/n"}) keys.push_back(ns + std::to_string(i));
  const std::uint64_t last = writes_.put_all("configmaps", keys);
  for (std::uint64_t i = 0; i < kChanges; ++i) {
    const std::uint64_t version = last - 2 * (kChanges - 1 - i) - 1;  // they alternate
    ASSERT_EQ(open.next(), "ADDED n" + std::to_string(i) + " " + std::to_string(version));
    ASSERT_EQ(other.next(), "ADDED n" + std::to_string(i) + " " + std::to_string(version + 1));
  }
}

class BusyWatches : public Watches {
 protected:
  BusyWatches() : Watches({.stream_bytes = 20'000, .bookmark_ms = 10}, {.changes = 300}) {}
};

TEST_F(BusyWatches, AreMarkedWhenAskedFor) {
  put("open/a");
  auto marked = watch(
      kWatch + "&allowWatchBookmarks=true&resourceVersion=" + std::to_string(store_.version()));
  // Another kind moves the version on.
  const std::string version = std::to_string(writes_.put("resourceflavors", "f"));
  EXPECT_EQ(marked.next(), "BOOKMARK " + version);
  auto plain = watch(kWatch + "&resourceVersion=" + version);
  EXPECT_EQ(marked.next(), "BOOKMARK " + version);
  const std::string one = put("open/b");
  EXPECT_EQ(plain.next(), "ADDED b " + one);  // no bookmark before it
}

TEST_F(BusyWatches, ExpireWithTheHistory) {
  const std::string one = put("open/a");
  for (int i = 0; i < 700; ++i) put("open/b");
  EXPECT_EQ(watch(kWatch + "&resourceVersion=" + one).status(), 410);
}

TEST_F(BusyWatches, OfSlowClientsEndWithTheHistory) {
  auto slow = watch(kWatch);
  auto quick = watch(kWatch);
  const std::string large = R"({"data":{"f":")" + std::string(200'000, 'f') + "\"}}";
  std::uint64_t version = 0;
  // The slow one reads nothing: first the buffers of the kernel fill, then its place expires.
  for (int i = 0; i < 700; ++i) {
    version = writes_.put("configmaps", "open/big", "{}", large);
    ASSERT_EQ(quick.next(), (i == 0 ? "ADDED big " : "MODIFIED big ") + std::to_string(version));
  }
  std::string last;
  std::uint64_t before = 0;
  for (std::string event = slow.next(); !event.empty(); event = slow.next()) {
    last = event;
    if (event.starts_with("ERROR")) break;
    const std::uint64_t at = std::stoull(event.substr(event.rfind(' ') + 1));
    EXPECT_TRUE(before == 0 || at == before + 1) << "a gap after " << before;
    before = at;
  }
  EXPECT_EQ(last, "ERROR 410");
  EXPECT_LT(before, version);
}

TEST_F(BusyWatches, OfManyClientsAreCompleteAndInOrder) {
  constexpr int kClients = 8;
  constexpr int kChanges = 100;  // twice as many fit into the history, however late a client comes
  const std::string start = std::to_string(store_.version());
  std::vector<std::thread> clients;
  std::vector<int> seen(kClients, 0);
  for (int i = 0; i < kClients; ++i)
    clients.emplace_back([&, i] {
      // Half of them watch one namespace, the others all.
      const std::string path = i % 2 ? "/api/v1/configmaps?watch=1" : kWatch;
      auto events = watch(path + (i % 2 ? "&" : "&") + "resourceVersion=" + start);
      std::uint64_t last = 0;
      const int expected = i % 2 ? 2 * kChanges : kChanges;
      for (int n = 0; n < expected; ++n) {
        const std::string event = events.next();
        const std::uint64_t at = std::stoull(event.substr(event.rfind(' ') + 1));
        if (at <= last) return;
        last = at;
        ++seen[static_cast<std::size_t>(i)];
      }
    });
  for (int n = 0; n < kChanges; ++n) {
    put("open/n" + std::to_string(n % 3));
    put("other/n" + std::to_string(n % 3));
  }
  for (auto& client : clients) client.join();
  for (int i = 0; i < kClients; ++i)
    EXPECT_EQ(seen[static_cast<std::size_t>(i)], i % 2 ? 2 * kChanges : kChanges) << i;
}

}  // namespace
}  // namespace sluice::host
