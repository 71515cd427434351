// CommandTree: what the program understands, as data: read once from the parser's own description,
// so that completions, man pages and suggestions cannot know other commands than the parser does.
// Pure functions and values, any thread.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::host {

/// What may stand as the value of an option or at a place of the line.
enum class ValueKind : std::uint8_t { kNone, kText, kWords, kFile, kFolder };

struct OptionInfo {
  std::vector<std::string> names;  ///< with their dashes, short ones first; empty: positional
  std::string placeholder;         ///< of the value, as the help shows it: FILE
  ValueKind value = ValueKind::kNone;
  std::vector<std::string> words;  ///< the values that are allowed; of kWords
  std::string about;               ///< one line
  bool required = false, repeats = false;
};

struct CommandInfo {
  std::vector<std::string> path;  ///< {"sluice", "plugin", "new"}
  std::string about, footer;
  std::vector<OptionInfo> options, positionals;
  std::vector<CommandInfo> commands;

  const std::string& name() const { return path.back(); }
};

/// All commands below `app` that the help shows, in its order.
CommandInfo describe_commands(const CLI::App& app);

/// That of `known` which `word` was meant to be, if it is off by at most two letters; else empty.
std::string_view nearest(std::string_view word, const std::vector<std::string>& known);

}  // namespace sluice::host
