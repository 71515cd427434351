#include "host/cli/arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/base/text.hpp"
#include "core/base/time.hpp"

namespace sluice::host {

std::string check_duration(const std::string& text) {
  if (parse_duration(text)) return {};
  return fmt::format("found \"{}\"; allowed: a duration such as 1500ms, 90s, 2m30s or 1h", text);
}

CLI::Validator one_of(std::vector<std::string> words) {
  const std::string allowed = fmt::format("{{{}}}", fmt::join(words, ","));
  return CLI::Validator(
      [words = std::move(words)](std::string& text) {
        if (std::find(words.begin(), words.end(), text) != words.end()) return std::string();
        return fmt::format("found \"{}\"; allowed: {}", text, fmt::join(words, ", "));
      },
      allowed);
}

std::vector<std::string> names_of(const std::string& text) {
  const auto names = words(text, ',');
  return {names.begin(), names.end()};
}

void add_plugins_option(CLI::App& command, std::optional<std::vector<std::string>>& chosen,
                        const std::string& how) {
  command
      .add_option_function<std::string>(
          "--plugins",
          [&chosen](const std::string& text) {
            chosen = text == "none" ? std::vector<std::string>() : names_of(text);
          },
          how + " exactly these plugins instead of those of the configuration; none: no plugin")
      ->type_name("NAME,NAME…|none");
}

void add_cluster_options(CLI::App& command, std::string& kubeconfig, std::string& context,
                         std::string& config_file) {
  command
      .add_option("--kubeconfig", kubeconfig,
                  "Default: a pod's own ServiceAccount, else $KUBECONFIG, ~/.kube/config")
      ->type_name("FILE");
  command.add_option("--context", context, "Of the kubeconfig (default: the current one)")
      ->type_name("NAME");
  command.add_option("--config", config_file, "Configuration file of the engine")
      ->type_name("FILE");
}

void add_log_options(CLI::App& command, LogFormat& format, LogLevel& level) {
  command
      .add_option_function<std::string>(
          "--log-format",
          [&format](const std::string& text) {
            format = text == "json" ? LogFormat::kJson : LogFormat::kText;
          },
          "Lines of the log: text (default) or json")
      ->check(one_of({"text", "json"}));
  command
      .add_option_function<std::string>(
          "--log-level",
          [&level](const std::string& text) {
            level = text == "debug"     ? LogLevel::kDebug
                    : text == "info"    ? LogLevel::kInfo
                    : text == "warning" ? LogLevel::kWarning
                                        : LogLevel::kError;
          },
          "The least level that is logged: debug, info (default), warning, error")
      ->check(one_of({"debug", "info", "warning", "error"}));
}

}  // namespace sluice::host
