#include "connection.hpp"

#include <algorithm>
#include <cstdint>

namespace clusters {

using sluice::Json;

namespace {

constexpr std::string_view kLoadFailed = "load client config failed: ";

/// Whether the path lies below the folder, as it is written.
bool is_below(std::string_view path, std::string folder) {
  if (folder.empty() || path.find("/../") != path.npos || path.ends_with("/..")) return false;
  if (!folder.ends_with('/')) folder += '/';
  return path.starts_with(folder) && path.size() > folder.size();
}

std::string listed(const std::vector<std::string>& names) {
  std::string out = "[";
  for (const std::string& name : names) out += (out.size() > 1 ? " " : "") + name;
  return out + "]";
}

int sextet(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  return c == '/' ? 63 : -1;
}

std::optional<std::string> from_base64(std::string_view text) {
  std::string out;
  std::uint32_t bits = 0;
  int count = 0;
  while (text.ends_with('=')) text.remove_suffix(1);
  for (const char c : text) {
    const int value = sextet(c);
    if (value < 0) return std::nullopt;
    bits = (bits << 6U) | static_cast<std::uint32_t>(value);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out += static_cast<char>((bits >> static_cast<unsigned>(count)) & 0xFFU);
  }
  return out;
}

}  // namespace

Whence whence_of(const Json& cluster, const std::string& folder) {
  Whence out;
  const Json* source = cluster.find("spec.clusterSource.kubeConfig");
  if (source == nullptr) {
    out.reason = "MultiKueueClusterProfileFeatureDisabled";
    out.wrong = std::string(kLoadFailed) +
                "ClusterProfiles are not read; give a kubeConfig, in a Secret or a file";
    return out;
  }
  const std::string location = source->string_or("location", "");
  if (source->string_or("locationType", "Secret") == "Secret") {
    out.secret = location;
  } else if (is_below(location, folder)) {
    out.path = location;
  } else {
    out.reason = "BadKubeConfig";
    out.wrong = std::string(kLoadFailed) + "kubeconfig path is not under the allowed prefix (" +
                (folder.empty() ? "the plugin's kubeconfigFolder, which is not set" : folder) + ")";
  }
  return out;
}

std::optional<Active> active_of(const sluice::RemoteState& state) {
  if (state.connected) return Active{true, "Active", "Connected"};
  if (state.problem.empty()) return std::nullopt;
  if (state.problem == "Kubeconfig")
    return Active{false, "BadKubeConfig", std::string(kLoadFailed) + state.message};
  if (state.problem == "Insecure")
    return Active{false, "InsecureKubeConfig", std::string(kLoadFailed) + state.message};
  return Active{false, "ClientConnectionFailed", state.message};
}

Active check_active(const std::vector<std::string>& clusters,
                    const std::vector<std::string>& missing,
                    const std::vector<std::string>& inactive) {
  if (missing.empty() && inactive.empty()) return {true, "Active", "The admission check is active"};
  const bool some = missing.size() + inactive.size() < clusters.size();
  std::string message;
  if (!missing.empty()) message = "Missing clusters: " + listed(missing);
  if (!inactive.empty())
    message += (message.empty() ? "" : ", ") + ("Inactive clusters: " + listed(inactive));
  return {some, some ? "SomeActiveClusters" : "NoUsableClusters", message};
}

std::optional<std::string> secret_text(const Json& secret, std::string_view key) {
  const Json* data = secret.find("data");
  const Json* found = data == nullptr ? nullptr : data->member(key);
  if (found == nullptr || !found->is_string()) return std::nullopt;
  return from_base64(found->as_string());
}

}  // namespace clusters
