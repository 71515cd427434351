// The web page's files: open to all, never in the way of clients of the API, and nothing else.
#include "host/apiserver/web_page.hpp"

#include <gtest/gtest.h>

#include "tests/host/apiserver/api_fixture.hpp"

namespace sluice::host {
namespace {

using test::Answer;
using test::kAdmin;

class WebPage : public test::ApiFixture {};

std::string header(const Answer& answer, const std::string& name) {
  const auto found = answer.headers.find(name);
  return found == answer.headers.end() ? "" : found->second;
}

TEST_F(WebPage, IsServedToEverybody) {
  const struct {
    std::string path, type, part;
  } cases[] = {
      {"/ui", "text/html; charset=utf-8", "<!doctype html>"},
      {"/ui/", "text/html; charset=utf-8", "<!doctype html>"},
      {"/ui/index.html", "text/html; charset=utf-8", "<!doctype html>"},
      {"/ui/main.js", "text/javascript; charset=utf-8", "import "},
      {"/ui/lib/follow.js", "text/javascript; charset=utf-8", "export class Follow"},
      {"/ui/style.css", "text/css; charset=utf-8", ":root"},
      {"/ui/icon.svg", "image/svg+xml", "<svg"},
  };
  for (const auto& one : cases) {
    const Answer answer = client().get(one.path);
    EXPECT_EQ(answer.status, 200) << one.path;
    EXPECT_EQ(header(answer, "content-type"), one.type) << one.path;
    EXPECT_NE(answer.body.find(one.part), std::string::npos) << one.path;
    EXPECT_NE(header(answer, "content-security-policy").find("default-src 'none'"),
              std::string::npos)
        << one.path;
    EXPECT_EQ(header(answer, "content-security-policy").find("unsafe"), std::string::npos);
    EXPECT_EQ(header(answer, "x-content-type-options"), "nosniff") << one.path;
    EXPECT_EQ(header(answer, "referrer-policy"), "no-referrer") << one.path;
  }
}

TEST_F(WebPage, HoldsNoInlineCode) {
  for (const EmbeddedText& file : web_files()) {
    if (!file.path.ends_with(".html")) continue;
    for (const std::string_view inline_code : {"<style", " style=", " onload=", " onclick="})
      EXPECT_EQ(file.text.find(inline_code), std::string_view::npos) << file.path << inline_code;
    EXPECT_EQ(file.text.find("http"), std::string_view::npos) << file.path << ": another machine";
  }
}

TEST_F(WebPage, IsNotSentTwice) {
  const Answer first = client().get("/ui/main.js");
  const std::string etag = header(first, "etag");
  ASSERT_GT(etag.size(), 10U);
  EXPECT_EQ(client().get("/ui/main.js", "If-None-Match: " + etag + "\r\n").status, 304);
  EXPECT_EQ(client().get("/ui/main.js", "If-None-Match: W/" + etag + "\r\n").status, 304);
  EXPECT_EQ(client().get("/ui/main.js", "If-None-Match: \"other\"\r\n").status, 200);
  EXPECT_NE(header(client().get("/ui/style.css"), "etag"), etag);
}

TEST_F(WebPage, StandsInNobodysWay) {
  const std::string browser = "Accept: text/html,application/xhtml+xml,*/*;q=0.8\r\n";
  const Answer moved = client().get("/", browser);
  EXPECT_EQ(moved.status, 302);
  EXPECT_EQ(header(moved, "location"), "/ui/");
  const struct {
    std::string method, path, headers;
    int status;
  } cases[] = {
      {"GET", "/", "", 401},  // as ever, for clients of the API
      {"GET", "/", "Accept: application/json\r\n" + kAdmin, 404},
      {"GET", "/api", browser, 401},
      {"GET", "/uix", browser, 401},
      {"GET", "/ui/../api", browser, 400},
      {"GET", "/ui/none.js", "", 404},
      {"GET", "/ui/package.json", "", 404},
      {"GET", "/ui/%2e%2e/%2e%2e/etc/passwd", "", 400},
      {"POST", "/ui/", "Content-Length: 0\r\n", 405},
      {"DELETE", "/ui/main.js", "", 405},
  };
  for (const auto& one : cases) {
    test::Client client = this->client();
    client.send(one.method + " " + one.path + " HTTP/1.1\r\nHost: x\r\n" + one.headers + "\r\n");
    EXPECT_EQ(client.read().status, one.status) << one.method << " " << one.path;
  }
}

}  // namespace
}  // namespace sluice::host
