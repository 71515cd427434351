// What several commands take in the same way: lists of names, durations, how to log.
//
// Pure, but for what the options write into when the command line is read. Main thread.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "host/base/log.hpp"

namespace sluice::host {

/// `a,b` without empty ones.
std::vector<std::string> names_of(const std::string& text);

/// For CLI::Option::check: what is wrong with a duration; empty: nothing.
std::string check_duration(const std::string& text);

/// For CLI::Option::check: one of these words. An error says which they are; help and completion
/// know them, too.
CLI::Validator one_of(std::vector<std::string> words);

/// --plugins: what is chosen in place of the configuration's; nullopt stays without the option.
/// `how`: what is done with them, before "exactly these plugins". `chosen` must outlive the reading
/// of the command line.
void add_plugins_option(CLI::App& command, std::optional<std::vector<std::string>>& chosen,
                        const std::string& how);

/// --kubeconfig, --context and --config of a command that follows a cluster. All must outlive the
/// reading of the command line.
void add_cluster_options(CLI::App& command, std::string& kubeconfig, std::string& context,
                         std::string& config_file);

/// --log-format and --log-level. Both places must outlive the reading of the command line.
void add_log_options(CLI::App& command, LogFormat& format, LogLevel& level);

}  // namespace sluice::host
