// What requests are answered with: access, routing, hostile bodies, forms, options of writes.
#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>
#include <cstring>
#include <utility>

#include "api/json/json.hpp"
#include "tests/host/apiserver/api_fixture.hpp"

namespace sluice::host {
namespace {

using test::Answer;
using test::Client;
using test::kAdmin;
using test::kMaps;

class Requests : public test::ApiFixture {};

std::string reason(const Answer& answer) {
  const std::size_t at = answer.body.find("\"reason\":\"");
  if (at == std::string::npos) return "no reason";
  return answer.body.substr(at + 10, answer.body.find('"', at + 10) - at - 10);
}

TEST_F(Requests, AskWhoItIs) {
  const std::string all = "/api/v1/configmaps";
  const struct {
    std::string path, credentials;
    int status;
    std::string reason;
  } cases[] = {
      {kMaps, "", 401, "Unauthorized"},
      {"/api", "", 401, "Unauthorized"},
      {"/apis", "", 401, "Unauthorized"},
      {"/nothing", "", 401, "Unauthorized"},
      {kMaps, "Authorization: Bearer bad\r\n", 401, "Unauthorized"},
      {kMaps, "Authorization: Bearer reader\r\n", 200, "no reason"},
      {all, "Authorization: Bearer reader\r\n", 403, "Forbidden"},  // walls
      {"/api/v1/namespaces/other/configmaps", "Authorization: Bearer reader\r\n", 403, "Forbidden"},
      {kMaps + "?watch=1", "Authorization: Bearer other\r\n", 403, "Forbidden"},
      {all, kAdmin, 200, "no reason"},
      {"/version", "", 200, "no reason"},
      {"/healthz", "", 200, "no reason"},
      {"/livez", "", 200, "no reason"},
      {"/readyz", "", 200, "no reason"},
      {"/readyzzz", "", 401, "Unauthorized"},
  };
  for (const auto& one : cases) {
    const Answer answer = client().get(one.path, one.credentials);
    EXPECT_EQ(answer.status, one.status) << one.path << answer.body;
    EXPECT_EQ(reason(answer), one.reason) << answer.body;
  }
}

TEST_F(Requests, C13_FindTheirResource) {
  writes_.put("configmaps", "open/a");
  writes_.put("resourceflavors", "spot");
  const struct {
    std::string method, path;
    int status;
  } cases[] = {
      {"GET", kMaps + "/a", 200},
      {"GET", "/api/v1//namespaces/open/configmaps/a/", 200},
      {"GET", kMaps + "/b", 404},
      {"GET", "/api/v1/configmaps/a", 404},  // which namespace?
      {"GET", "/api/v1/nothings", 404},
      {"GET", "/api/v2/configmaps", 404},
      {"GET", "/apis/kueue.x-k8s.io/v1beta2/resourceflavors/spot", 200},
      {"GET", "/apis/kueue.x-k8s.io/v1beta1/resourceflavors/spot", 200},
      {"GET", "/apis/kueue.x-k8s.io/v1beta9/resourceflavors/spot", 404},
      {"GET", "/apis/kueue.x-k8s.io/v1beta2/namespaces/open/resourceflavors", 404},
      {"GET", kMaps + "/a/log", 404},
      {"GET", kMaps + "/a/status/more", 404},
      {"GET", "/api/v1/namespaces/open/pods/a/exec", 404},
      {"POST", "/api/v1/configmaps", 405},
      {"POST", kMaps + "/a", 405},
      {"PUT", kMaps, 405},
      {"PATCH", kMaps, 405},
      {"BREW", kMaps, 405},
      {"CONNECT", kMaps, 405},
      {"OPTIONS", kMaps, 405},
      {"POST", "/version", 405},
      {"GET", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", 405},
      {"GET", "/api", 200},
      {"GET", "/apis", 200},
      {"GET", "/apis/kueue.x-k8s.io/v1beta2", 200},
      {"GET", "/nothing/at/all", 404},
  };
  for (const auto& one : cases) {
    const Answer answer = send(one.method, one.path, "");
    EXPECT_EQ(answer.status, one.status) << one.method << " " << one.path << answer.body;
    // kubectl debug looks into the details of a 404 without asking.
    if (answer.body.find("\"Status\"") != std::string::npos) {
      EXPECT_NE(answer.body.find("\"details\":{"), std::string::npos) << answer.body;
    }
  }
  EXPECT_EQ(send("HEAD", kMaps + "/a", "").status, 200);
}

TEST_F(Requests, OfALogSayWhatTheyWant) {
  writes_.put("pods", "open/p");
  const std::pair<const char*, const char*> cases[] = {
      {"sinceSeconds=0", R"(sinceSeconds: Invalid value: "0": must be greater than 0)"},
      {"sinceSeconds=-1", R"(sinceSeconds: Invalid value: "-1": must be greater than 0)"},
      {"limitBytes=0", R"(limitBytes: Invalid value: "0": must be greater than 0)"},
      {"tailLines=many", R"(tailLines: Invalid value: "many": must be an integer that is not )"},
      {"sinceTime=noon", R"(sinceTime: Invalid value: "noon": must be an RFC 3339 time)"},
      {"sinceSeconds=1&sinceTime=2026-01-01T00:00:00Z",
       "at most one of sinceTime or sinceSeconds may be specified"},
      {"stream=Stderr", R"(stream: Invalid value: "Stderr": must be All: what a container says )"
                        "is kept in one file"},
      {"stream=All&tailLines=0", "this host runs no pods: there is no log of p"},
  };
  for (const auto& [query, says] : cases) {
    const Answer answer = get(std::string("/api/v1/namespaces/open/pods/p/log?") + query);
    EXPECT_EQ(answer.status, 400) << query;
    EXPECT_EQ(api::find_text(json(answer), "message").substr(0, std::strlen(says)), says);
  }
}

TEST_F(Requests, WithHostileBodiesAreRefused) {
  const std::string deep(100'000, '[');
  std::string nested;
  for (int i = 0; i < 100'000; ++i) nested += R"({"a":)";
  const struct {
    std::string what, type, body;
    int status;
  } cases[] = {
      {"over the limit", "application/json", std::string((3U << 20) + 1, ' '), 413},
      {"deep lists", "application/json", deep, 400},
      {"deep objects", "application/json", nested, 400},
      {"truncated", "application/json", R"({"metadata":{"name":"a")", 400},
      {"two values", "application/json", "{}{}", 400},
      {"no UTF-8", "application/json", "{\"a\":\"\xff\"}", 400},
      {"empty", "application/json", "", 400},
      {"a list", "application/json", "[]", 400},
      {"deep YAML", "application/yaml", deep, 400},
      {"no protobuf", "application/vnd.kubernetes.protobuf", "nonsense", 400},
      {"truncated protobuf", "application/vnd.kubernetes.protobuf", std::string("k8s\0\x0a\x7f", 6),
       400},
      {"text", "text/plain", "{}", 415},
      {"a form", "application/x-www-form-urlencoded", "a=b", 415},
      {"no type at all", "", R"({"metadata":{"name":"untyped"}})", 201},
  };
  for (const auto& one : cases) {
    const Answer answer = send("POST", kMaps, one.body, one.type);
    EXPECT_EQ(answer.status, one.status) << one.what << answer.body.substr(0, 300);
    EXPECT_LT(answer.body.size(), 4096U) << one.what;
  }
  EXPECT_EQ(get(kMaps).status, 200);
}

TEST_F(Requests, SayHowToWrite) {
  const std::string body = R"({"metadata":{"name":"w"}})";
  EXPECT_EQ(send("POST", kMaps + "?dryRun=All&fieldManager=me&fieldValidation=Strict", body).status,
            201);
  WriteRequest last = writes_.last();
  EXPECT_TRUE(last.dry_run);
  EXPECT_EQ(last.field_manager, "me");
  EXPECT_EQ(last.field_validation, FieldValidation::kStrict);
  EXPECT_EQ(last.user, "admin");
  EXPECT_EQ(get(kMaps + "/w").status, 404);
  client().request("POST", kMaps, body, kAdmin + "User-Agent: kubectl/v1.32.0 (linux/amd64)\r\n");
  EXPECT_EQ(writes_.last().field_manager, "kubectl");
  EXPECT_EQ(writes_.last().field_validation, FieldValidation::kWarn);
  client().request("POST", kMaps, body,
                   kAdmin +
                       "User-Agent: a\xFF"
                       "b/1\r\n");
  EXPECT_EQ(writes_.last().field_manager, "a\uFFFDb");  // part of what is stored
  for (const std::string bad :
       {"dryRun=Some", "dryRun=", "fieldValidation=Maybe", "fieldManager=a%0ab"})
    EXPECT_EQ(send("POST", kMaps + "?" + bad, body).status, 400) << bad;
}

TEST_F(Requests, SayHowToDelete) {
  const struct {
    std::string query, body;
    Propagation propagation;
    std::optional<std::int64_t> grace;
    bool dry_run;
    std::string uid;
  } cases[] = {
      {"", "", Propagation::kDefault, std::nullopt, false, ""},
      {"?propagationPolicy=Background", "", Propagation::kBackground, std::nullopt, false, ""},
      {"?orphanDependents=true", "", Propagation::kOrphan, std::nullopt, false, ""},
      {"?gracePeriodSeconds=7&dryRun=All", "", Propagation::kDefault, 7, true, ""},
      {"", R"({"propagationPolicy":"Foreground","gracePeriodSeconds":0,"dryRun":["All"]})",
       Propagation::kForeground, 0, true, ""},
      {"", R"({"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"u"}})",
       Propagation::kDefault, std::nullopt, false, "u"},
  };
  for (const auto& one : cases) {
    writes_.put("configmaps", "open/d");
    const Answer answer = send("DELETE", kMaps + "/d" + one.query, one.body);
    EXPECT_EQ(answer.status, 200) << answer.body;
    EXPECT_NE(answer.body.find(R"("status":"Success")"), std::string::npos) << answer.body;
    const WriteRequest last = writes_.last();
    EXPECT_EQ(last.deletion.propagation, one.propagation) << one.query << one.body;
    EXPECT_EQ(last.deletion.grace_period_seconds, one.grace) << one.query << one.body;
    EXPECT_EQ(last.dry_run, one.dry_run) << one.query << one.body;
    EXPECT_EQ(last.deletion.uid, one.uid) << one.query << one.body;
  }
  for (const std::string bad : {"?propagationPolicy=Later", "?gracePeriodSeconds=-1"})
    EXPECT_EQ(send("DELETE", kMaps + "/d" + bad, "").status, 400) << bad;
  for (const std::string bad : {"[]", R"({"kind":"Pod"})", R"({"dryRun":["Some"]})"})
    EXPECT_EQ(send("DELETE", kMaps + "/d", bad).status, 400) << bad;
}

TEST_F(Requests, PatchByTheirContentType) {
  writes_.put("configmaps", "open/p");
  writes_.put("localqueues", "open/q");
  const std::string queue = "/apis/kueue.x-k8s.io/v1beta2/namespaces/open/localqueues/q";
  const struct {
    std::string path, type, body;
    int status;
  } cases[] = {
      {kMaps + "/p", "application/merge-patch+json", "{}", 200},
      {kMaps + "/p", "application/strategic-merge-patch+json", "{}", 200},
      {queue, "application/merge-patch+json", "{}", 200},
      {queue, "application/strategic-merge-patch+json", "{}", 415},
      {kMaps + "/p", "application/json", "{}", 415},
      {kMaps + "/p", "application/apply-patch+yaml", "{}", 400},  // no field manager
      {kMaps + "/p?force=true", "application/merge-patch+json", "{}", 400},
  };
  for (const auto& one : cases)
    EXPECT_EQ(send("PATCH", one.path, one.body, one.type).status, one.status)
        << one.path << one.type;
}

TEST_F(Requests, DeleteManyOneByOne) {
  for (int i = 0; i < 150; ++i)
    writes_.put("configmaps", "open/m" + std::to_string(i), i % 2 ? R"({"odd":"yes"})" : "{}");
  writes_.put("configmaps", "other/m1", R"({"odd":"yes"})");
  EXPECT_EQ(send("DELETE", kMaps + "?labelSelector=odd", "").status, 200);
  EXPECT_EQ(json(get("/api/v1/configmaps")).at("items").as_array().size(), 76U);
  EXPECT_EQ(send("DELETE", kMaps, "").status, 200);
  EXPECT_EQ(test::names(json(get("/api/v1/configmaps"))), "m1");
  EXPECT_EQ(send("DELETE", kMaps, "").status, 200);  // nothing left
  EXPECT_EQ(send("DELETE", kMaps + "?labelSelector=((", "").status, 400);
  writes_.put("configmaps", "open/m");
  writes_.fail_with(forbidden(*scheme_.find_by_name("configmaps"), "m", "so it is"));
  EXPECT_EQ(send("DELETE", kMaps, "").status, 403);
}

TEST_F(Requests, ChooseTheForm) {
  writes_.put("configmaps", "open/a", R"({"x":"y"})", R"({"data":{"k":"v"}})");
  const std::string partial =
      "Accept: application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1\r\n";
  auto object = json(get(kMaps + "/a", partial));
  EXPECT_EQ(object.at("kind"), "PartialObjectMetadata");
  EXPECT_EQ(object.at("metadata").at("labels").at("x"), "y");
  EXPECT_FALSE(object.contains("data"));
  const std::string partials =
      "Accept: application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1\r\n";
  auto list = json(get(kMaps, partials));
  EXPECT_EQ(list.at("kind"), "PartialObjectMetadataList");
  EXPECT_EQ(test::names(list), "a");
  EXPECT_EQ(json(get(kMaps)).at("kind"), "ConfigMapList");
  EXPECT_EQ(get(kMaps, "Accept: application/vnd.kubernetes.protobuf,application/json\r\n").status,
            200);
  EXPECT_EQ(get(kMaps, "Accept: application/json, */*;q=0.8\r\n").status, 200);
  EXPECT_EQ(get(kMaps, "Accept: text/html\r\n").status, 406);
  EXPECT_EQ(get(kMaps, "Accept: application/json;as=Nonsense;g=meta.k8s.io;v=v1\r\n").status, 406);
}

TEST_F(Requests, AreAnsweredAsTables) {
  writes_.put("configmaps", "open/a", R"({"x":"y"})", R"({"data":{"k":"v"}})");
  const std::string table = "Accept: application/json;as=Table;v=v1;g=meta.k8s.io\r\n";
  for (const std::string& path : {kMaps, kMaps + "/a"}) {
    const auto answer = json(get(path, table));
    EXPECT_EQ(answer.at("kind"), "Table") << path;
    const auto& columns = answer.at("columnDefinitions").as_array();
    EXPECT_EQ(columns.at(0).at("name"), "Name");
    const auto& row = answer.at("rows").as_array().at(0).as_object();
    EXPECT_EQ(row.at("cells").as_array().size(), columns.size());
    EXPECT_EQ(row.at("cells").as_array().at(0), "a");
    EXPECT_EQ(row.at("object").at("kind"), "PartialObjectMetadata");
    EXPECT_EQ(row.at("object").at("metadata").at("labels").at("x"), "y");
  }
  const auto whole = json(get(kMaps + "?includeObject=Object", table));
  EXPECT_EQ(whole.at("rows").as_array().at(0).at("object").at("kind"), "ConfigMap");
  const auto none = json(get(kMaps + "?includeObject=None", table));
  EXPECT_FALSE(none.at("rows").as_array().at(0).as_object().contains("object"));
}

TEST_F(Requests, WarnOfOldVersions) {
  writes_.put("localqueues", "open/q", "{}", R"({"spec":{"clusterQueue":"c"}})");
  const Answer old = get("/apis/kueue.x-k8s.io/v1beta1/namespaces/open/localqueues/q");
  EXPECT_EQ(old.headers.at("warning"),
            "299 - \"This version is deprecated. Use v1beta2 instead.\"");
  EXPECT_EQ(json(old).at("apiVersion"), "kueue.x-k8s.io/v1beta1");
  const Answer present = get("/apis/kueue.x-k8s.io/v1beta2/namespaces/open/localqueues/q");
  EXPECT_EQ(present.headers.count("warning"), 0U);
  EXPECT_EQ(json(present).at("apiVersion"), "kueue.x-k8s.io/v1beta2");
}

TEST_F(Requests, AreAnsweredWithoutABackend) {
  Client client(listener_->port());
  EXPECT_EQ(client.get(kMaps, kAdmin).status, 200);
  api_.detach();
  const Answer answer = client.get(kMaps, kAdmin);
  EXPECT_EQ(answer.status, 503);
  EXPECT_EQ(answer.headers.at("retry-after"), "1");
  EXPECT_EQ(client.get("/livez").body, "ok");
  EXPECT_EQ(client.get("/readyz").status, 503);
  // A20: a client without credentials got the store's path and SQLite's words.
  EXPECT_EQ(client.get("/readyz?verbose").body,
            "[+]ping ok\n[+]control ok\n[+]plugins ok\n"
            "[-]store failed: reason withheld\nreadyz check failed\n");
  api_.attach(backend());
  EXPECT_EQ(client.get("/readyz").body, "ok");
  EXPECT_NE(client.get("/readyz?verbose").body.find("[+]store ok"), std::string::npos);
  EXPECT_EQ(client.get(kMaps, kAdmin).status, 200);
  EXPECT_EQ(listener_->counters().accepted, 1U);
}

class FewRequests : public test::ApiFixture {
 protected:
  FewRequests() : test::ApiFixture({.watches = 3, .watches_per_user = 2}) {}
};

TEST_F(FewRequests, OfOneUserAreLimited) {
  const std::string path = kMaps + "?watch=1";
  const test::WatchClient first(listener_->port(), path);
  EXPECT_EQ(first.status(), 200);
  {
    const test::WatchClient second(listener_->port(), path);
    EXPECT_EQ(second.status(), 200);
    const test::WatchClient third(listener_->port(), path);
    EXPECT_EQ(third.status(), 429);
    EXPECT_EQ(third.head().headers.at("retry-after"), "1");
    Client reader(listener_->port());
    reader.send("GET " + path + " HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer reader\r\n\r\n");
    EXPECT_EQ(reader.read_head().status, 200);
    EXPECT_EQ(api_.counters().watches, 3U);
  }
  while (api_.counters().watches > 1) std::this_thread::yield();
  EXPECT_EQ(test::WatchClient(listener_->port(), path).status(), 200);
}

}  // namespace
}  // namespace sluice::host
