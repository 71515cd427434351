#include "host/remotes/remote_spec.hpp"

#include <boost/json.hpp>
#include <utility>

#include "api/json/json.hpp"
#include "host/base/files.hpp"
#include "host/objects/parts.hpp"
#include "host/rest/selectors.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr std::size_t kLongestKubeconfig = 1U << 20;

Result<RemoteKind> kind_of(const json::object& said, const api::Scheme& scheme) {
  RemoteKind out;
  out.api_version = api::find_text(said, "apiVersion");
  const std::string_view kind = api::find_text(said, "kind");
  out.kind = scheme.find(out.api_version, kind);
  if (!out.kind)
    return Error{"this host has no kind " + std::string(kind) + " of " + out.api_version +
                 "; allowed: kinds that it has"};
  out.labels = api::find_text(said, "labels");
  if (const auto query = LabelQuery::parse(out.labels); !query)
    return Error{"labels of " + std::string(kind) + ": " + query.error().text};
  return out;
}

}  // namespace

Result<RemoteSpec> parse_remote_spec(std::string_view text, const api::Scheme& scheme) {
  boost::system::error_code code;
  const json::value value = api::parse_deep(text, code);
  const json::object* said = value.if_object();
  if (code || !said) return Error{"the spec of a remote is no JSON object"};
  RemoteSpec out;
  out.kubeconfig = api::find_text(*said, "kubeconfig");
  out.file = api::find_text(*said, "file");
  if (out.kubeconfig.empty() == out.file.empty())
    return Error{
        "the spec of a remote has one of kubeconfig and file, as a text that is not empty"};
  std::string wrong;
  for_each_object(*said, "kinds", [&](const json::object& each) {
    auto kind = kind_of(each, scheme);
    if (!kind && wrong.empty()) wrong = kind.error().text;
    if (kind) out.kinds.push_back(std::move(*kind));
  });
  if (!wrong.empty()) return Error{"kinds: " + wrong};
  if (out.kinds.empty()) return Error{"kinds: at least one is to be followed"};
  return out;
}

Result<std::string> read_remote_kubeconfig(const RemoteSpec& spec) {
  if (spec.file.empty()) return spec.kubeconfig;
  auto out = read_file(spec.file);
  if (!out) return Error{"cannot read " + spec.file};
  if (out->size() > kLongestKubeconfig) return Error{spec.file + " is too long for a kubeconfig"};
  return std::move(*out);
}

Result<Kubeconfig> remote_credentials(const std::string& text, bool own_file,
                                      const std::string& path, RemoteProblem& problem) {
  const std::string called = own_file ? path : "the kubeconfig";
  const auto refused = [&](const char* what, const Error& error) {
    problem = {what, error.text};
    return error;
  };
  auto config =
      parse_kubeconfig(text, called, {}, own_file ? NamedFiles::kRead : NamedFiles::kNoted);
  if (!config) return refused("Kubeconfig", config.error());
  if (!config->names_file.empty())
    return refused("Insecure", {called + ": " + config->names_file +
                                " names a file; allowed: what is in the kubeconfig itself"});
  if (!config->verify)
    return refused("Insecure", {called + ": insecure-skip-tls-verify is not allowed; give the "
                                         "certificate-authority-data of the server"});
  if (!config->server.starts_with("https://"))
    return refused("Insecure", {called + ": the server is \"" + config->server +
                                "\"; allowed: https://HOST:PORT"});
  return config;
}

}  // namespace sluice::host
