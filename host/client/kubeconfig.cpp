#include "host/client/kubeconfig.hpp"

#include <openssl/evp.h>

#include <boost/json/object.hpp>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "api/json/json.hpp"
#include "host/base/files.hpp"
#include "host/manifests/manifests.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

Result<std::string> read_text(const std::filesystem::path& path) {
  auto text = read_file(path);
  if (!text) return Error{"cannot read " + path.string()};
  return std::move(*text);
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): no thread sets them
  return value ? value : "";
}

Result<std::string> decode(std::string_view text, const std::string& what) {
  std::string clean;
  for (const char c : text) {
    if (c != '\n' && c != '\r' && c != ' ') clean += c;
  }
  std::vector<unsigned char> out(clean.size() / 4 * 3 + 3);
  const int size = EVP_DecodeBlock(out.data(), reinterpret_cast<const unsigned char*>(clean.data()),
                                   static_cast<int>(clean.size()));
  if (size < 0) return Error{what + " is not base64"};
  std::size_t length = static_cast<std::size_t>(size);
  for (std::size_t i = clean.size(); i > 0 && clean[i - 1] == '=' && length > 0; --i) --length;
  return std::string(reinterpret_cast<const char*>(out.data()), length);
}

/// Where a kubeconfig came from, and what to do with other files that it names.
struct Source {
  std::string path;
  NamedFiles files = NamedFiles::kRead;

  /// The file of this name, relative to the kubeconfig; nullopt: it is only noted, in `out`.
  std::optional<std::filesystem::path> file(std::string_view name, const std::string& key,
                                            Kubeconfig& out) const {
    if (files == NamedFiles::kRead) return std::filesystem::path(path).parent_path() / name;
    out.names_file = key;
    return std::nullopt;
  }
};

/// The entry of this name in a list of named entries; nullptr when there is none.
const json::object* named(const json::object& object, std::string_view list,
                          std::string_view name) {
  const json::array* entries = api::find_array(object, list);
  if (!entries) return nullptr;
  for (const json::value& entry : *entries) {
    const json::object* found = entry.if_object();
    if (found && api::find_text(*found, "name") == name) return found;
  }
  return nullptr;
}

/// `key`-data in base64, or the file that `key` names (relative to the kubeconfig); may be absent.
Result<std::string> content(const json::object& object, const std::string& key,
                            const Source& source, Kubeconfig& out) {
  const std::string_view data = api::find_text(object, key + "-data");
  if (!data.empty()) return decode(data, source.path + ": " + key + "-data");
  const std::string_view named = api::find_text(object, key);
  if (named.empty()) return std::string();
  const auto file = source.file(named, key, out);
  return file ? read_text(*file) : std::string();
}

/// The names of a list of named entries, for an error.
std::string names_in(const json::object& object, std::string_view list) {
  std::string out;
  for_each_object(object, list, [&](const json::object& entry) {
    out += (out.empty() ? "" : ", ") + std::string(api::find_text(entry, "name"));
  });
  return out.empty() ? "there is none" : out;
}

Result<std::string> read_token(const std::filesystem::path& file) {
  const Result<std::string> text = read_text(file);
  if (!text) return text.error();
  std::string token = text->substr(0, text->find_last_not_of(" \r\n") + 1);
  if (token.empty()) return Error{file.string() + " holds no token"};
  return token;
}

/// The credentials of the context's user, into `out`.
Result<void> read_user(const json::object& who, const std::string& name, const Source& source,
                       Kubeconfig& out) {
  const std::string place = source.path + ": user \"" + name + "\"";
  for (const char* program : {"exec", "auth-provider"}) {
    if (!api::find(who, program)) continue;
    return Error{place + " gets its credentials from a program (" + program +
                 "), and Sluice runs none; give it a token, for instance that of a "
                 "ServiceAccount: kubectl create token NAME --duration 8h"};
  }
  if (api::find(who, "username"))
    return Error{place +
                 " has a username and a password; allowed: a token, a tokenFile or a "
                 "client certificate"};
  out.token = api::find_text(who, "token");
  if (const auto file = api::find_text(who, "tokenFile"); out.token.empty() && !file.empty()) {
    if (const auto path = source.file(file, "tokenFile", out)) {
      out.token_file = path->string();
      Result<std::string> token = read_token(out.token_file);
      if (!token) return token.error();
      out.token = std::move(*token);
    }
  }
  Result<std::string> certificate = content(who, "client-certificate", source, out);
  if (!certificate) return certificate.error();
  Result<std::string> key = content(who, "client-key", source, out);
  if (!key) return key.error();
  out.client_certificate = std::move(*certificate);
  out.client_key = std::move(*key);
  return {};
}

Result<Kubeconfig> read_context(const json::object& object, const Source& source,
                                const std::string& wanted) {
  const std::string& path = source.path;
  const std::string name =
      wanted.empty() ? std::string(api::find_text(object, "current-context")) : wanted;
  const json::object* context = named(object, "contexts", name);
  if (!context) {
    return Error{path + ": " + (wanted.empty() ? "current-context" : "the context asked for") +
                 " is \"" + name +
                 "\", which is not among contexts: " + names_in(object, "contexts")};
  }
  const json::object& chosen = part(*context, "context");
  const json::object* cluster = named(object, "clusters", api::find_text(chosen, "cluster"));
  if (!cluster) return Error{path + ": the cluster of context \"" + name + "\" is missing"};
  const json::object& server = part(*cluster, "cluster");
  Kubeconfig out;
  out.server = api::find_text(server, "server");
  out.verify = !api::find_bool(server, "insecure-skip-tls-verify", false);
  if (const auto ns = api::find_text(chosen, "namespace"); !ns.empty()) out.ns = ns;
  Result<std::string> ca = content(server, "certificate-authority", source, out);
  if (!ca) return ca.error();
  out.ca = *ca;
  const json::object* user = named(object, "users", api::find_text(chosen, "user"));
  const json::object& who = user ? part(*user, "user") : part(object, "");
  if (auto read = read_user(who, std::string(api::find_text(chosen, "user")), source, out); !read)
    return read.error();
  if (!out.server.starts_with("https://") && !out.server.starts_with("http://"))
    return Error{path + ": the server is \"" + out.server + "\"; allowed: https://HOST:PORT"};
  return out;
}

}  // namespace

Result<std::string> find_kubeconfig(const std::string& wanted) {
  if (!wanted.empty()) return wanted;
  std::vector<std::string> places;
  const std::string named_file = variable("KUBECONFIG");
  if (!named_file.empty()) {  // and no other: what was meant for one host must not reach another
    places.push_back(named_file.substr(0, named_file.find(':')));
  } else {
    places.emplace_back("sluice-data/kubeconfig");
    if (const std::string home = variable("HOME"); !home.empty())
      places.push_back(home + "/.kube/config");
  }
  std::string looked;
  for (const std::string& place : places) {
    std::error_code ignored;
    if (std::filesystem::exists(place, ignored)) return place;
    looked += (looked.empty() ? "" : ", ") + place;
  }
  return Error{"found no kubeconfig (looked at " + looked +
               (named_file.empty() ? "" : ", which KUBECONFIG names") +
               "); name one with --kubeconfig FILE, or start a host with sluice serve"};
}

Result<Kubeconfig> parse_kubeconfig(const std::string& text, const std::string& path,
                                    const std::string& context, NamedFiles files) {
  std::optional<json::object> document;
  const Result<void> read =
      load_text(text, path, ManifestLimits{}, [&](Document&& found) -> Result<void> {
        if (!document) document = json::object(found.object, json::storage_ptr());
        return {};
      });
  if (!read) return read.error();
  if (!document) return Error{path + ": is empty"};
  return read_context(*document, {path, files}, context);
}

Result<Kubeconfig> load_kubeconfig(const std::string& path, const std::string& context) {
  const Result<std::string> text = read_text(path);
  if (!text) return text.error();
  return parse_kubeconfig(*text, path, context);
}

Result<std::optional<Kubeconfig>> service_account(const std::string& address,
                                                  const std::string& folder) {
  const std::filesystem::path place = folder;
  std::error_code ignored;
  if (address.empty() || !std::filesystem::exists(place / "token", ignored))
    return std::optional<Kubeconfig>();
  Kubeconfig out;
  out.server = "https://" + address;
  out.token_file = (place / "token").string();
  Result<std::string> token = read_token(out.token_file);
  if (!token) return token.error();
  Result<std::string> ca = read_text(place / "ca.crt");
  if (!ca) return ca.error();
  out.token = std::move(*token);
  out.ca = std::move(*ca);
  if (const auto ns = read_text(place / "namespace"); ns && !ns->empty()) out.ns = *ns;
  return std::optional(std::move(out));
}

Result<std::optional<Kubeconfig>> own_service_account() {
  std::string host = variable("KUBERNETES_SERVICE_HOST");
  const std::string port = variable("KUBERNETES_SERVICE_PORT");
  if (host.find(':') != std::string::npos) host = "[" + host + "]";
  return service_account(host.empty() || port.empty() ? "" : host + ":" + port,
                         kServiceAccountFolder);
}

Result<Kubeconfig> cluster_of(const std::string& kubeconfig, const std::string& context) {
  if (kubeconfig.empty() && context.empty()) {
    auto account = own_service_account();
    if (!account) return account.error();
    if (*account) return std::move(**account);
  }
  const auto path = find_kubeconfig(kubeconfig);
  if (!path) return path.error();
  return load_kubeconfig(*path, context);
}

Result<std::string> present_token(const Kubeconfig& config) {
  if (config.token_file.empty()) return config.token;
  return read_token(config.token_file);
}

}  // namespace sluice::host
