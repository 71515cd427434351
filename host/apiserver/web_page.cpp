#include "host/apiserver/web_page.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>

#include "host/base/digest.hpp"

namespace sluice::host {
namespace {

constexpr std::string_view kRoot = "/ui";  // the path is normalised: without / at its end

// Scripts and styles from here and nothing else from anywhere: no inline code, no frames, no
// requests to other machines. What is shown is never made from text (Trusted Types).
constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'";

bool is_below_root(std::string_view path) {
  return path.starts_with(kRoot) && (path.size() == kRoot.size() || path[kRoot.size()] == '/');
}

std::string_view type_of(std::string_view path) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kTypes = {{
      {".html", "text/html; charset=utf-8"},
      {".js", "text/javascript; charset=utf-8"},
      {".css", "text/css; charset=utf-8"},
      {".svg", "image/svg+xml"},
  }};
  for (const auto& [ending, type] : kTypes)
    if (path.ends_with(ending)) return type;
  return "text/plain; charset=utf-8";
}

std::string etag_of(std::string_view text) {
  return '"' + to_hex(sha256(text)).substr(0, 32) + '"';
}

struct File {
  std::string_view type;
  std::string etag;
  std::shared_ptr<const std::string> body;
};

const std::unordered_map<std::string_view, File>& files() {
  static const auto* const kFiles = [] {
    auto* out = new std::unordered_map<std::string_view, File>;
    for (const EmbeddedText& file : web_files())
      out->emplace(file.path, File{type_of(file.path), etag_of(file.text),
                                   std::make_shared<const std::string>(file.text)});
    return out;
  }();
  return *kFiles;
}

Reply moved_to_page() {
  Reply reply = plain_reply(302, "the page is at /ui/\n");
  reply.headers = {{"Location", "/ui/"}, {"Vary", "Accept"}};
  return reply;
}

Reply file_reply(const Request& request) {
  std::string_view path = "index.html";
  if (request.path != kRoot) path = std::string_view(request.path).substr(kRoot.size() + 1);
  const auto found = files().find(path);
  if (found == files().end()) return plain_reply(404, "no such file of the page\n");
  const File& file = found->second;
  // A new version of the host brings new files: browsers ask each time, and mostly get 304.
  Headers headers = {{"ETag", file.etag}, {"Cache-Control", "no-cache"}};
  const auto* known = request.header("if-none-match");
  if (known && known->find(file.etag) != std::string::npos)
    return {304, "", nullptr, std::move(headers)};
  return {200, std::string(file.type), file.body, std::move(headers)};
}

}  // namespace

bool is_page_request(const Request& request) {
  if (is_below_root(request.path)) return true;
  return request.path == "/" && (request.method == "GET" || request.method == "HEAD") &&
         request.accept.find("text/html") != std::string::npos;
}

Reply page_reply(const Request& request) {
  Reply reply;
  if (request.method != "GET" && request.method != "HEAD") {
    reply = plain_reply(405, "only GET and HEAD are allowed here\n");
    reply.headers.emplace_back("Allow", "GET, HEAD");
  } else {
    reply = is_below_root(request.path) ? file_reply(request) : moved_to_page();
  }
  const std::array<std::pair<std::string_view, std::string_view>, 4> fixed = {{
      {"Content-Security-Policy", kPolicy},
      {"Referrer-Policy", "no-referrer"},
      {"Cross-Origin-Opener-Policy", "same-origin"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
  }};
  for (const auto& [name, value] : fixed) reply.headers.emplace_back(name, value);
  return reply;
}

}  // namespace sluice::host
