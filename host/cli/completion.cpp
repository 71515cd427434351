#include "host/cli/completion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <string_view>
#include <vector>

namespace sluice::host {
namespace {

using Each = std::function<void(const CommandInfo&)>;

void each_command(const CommandInfo& command, const Each& fn) {
  fn(command);
  for (const CommandInfo& below : command.commands) each_command(below, fn);
}

/// `plugin new`: how a command is typed behind the program's name.
std::string typed(const CommandInfo& command) {
  return fmt::format("{}", fmt::join(command.path.begin() + 1, command.path.end(), " "));
}

/// What may follow a command that is neither an option nor free: its commands, or allowed values.
std::string first_words(const CommandInfo& command) {
  std::string out;
  for (const CommandInfo& below : command.commands) out += (out.empty() ? "" : " ") + below.name();
  for (const OptionInfo& positional : command.positionals)
    for (const std::string& word : positional.words) out += (out.empty() ? "" : " ") + word;
  return out;
}

std::string names_of_options(const CommandInfo& command) {
  std::string out;
  for (const OptionInfo& option : command.options)
    out += fmt::format("{}{}", out.empty() ? "" : " ", fmt::join(option.names, " "));
  return out;
}

std::string replaced(std::string_view text, std::string_view what, std::string_view with) {
  std::string out;
  for (std::size_t at = text.find(what); at != std::string_view::npos; at = text.find(what)) {
    out.append(text.substr(0, at)).append(with);
    text.remove_prefix(at + what.size());
  }
  return out.append(text);
}

// ---- bash

/// The lines of the case in which the word before the cursor takes a value. Where they reply
/// nothing, readline completes names of files.
std::string bash_values(const CommandInfo& command) {
  std::string out, others;
  for (const OptionInfo& option : command.options) {
    if (option.value == ValueKind::kNone) continue;
    std::string labels;
    for (const std::string& name : option.names)
      labels += fmt::format("{}\"{} {}\"", labels.empty() ? "" : " | ", typed(command), name);
    std::string reply;
    if (option.value == ValueKind::kWords)
      reply = fmt::format("-W \"{}\"", fmt::join(option.words, " "));
    if (option.value == ValueKind::kFolder) reply = "-d";
    if (reply.empty())
      others += (others.empty() ? "" : " | ") + labels;
    else
      out +=
          fmt::format("    {}) COMPREPLY=($(compgen {} -- \"$cur\")); return ;;\n", labels, reply);
  }
  if (!others.empty()) out += fmt::format("    {}) return ;;\n", others);
  return out;
}

constexpr std::string_view kBashFrame = R"(# bash completion for {0}: source <({0} completion bash)
_{0}() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD - 1]}} typed="" i
  COMPREPLY=()
  if [ "$cur" = "=" ]; then cur=""; fi
  if [ "$prev" = "=" ]; then prev=${{COMP_WORDS[COMP_CWORD - 2]}}; fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    if [ "${{COMP_WORDS[i]}}" = "--" ]; then return; fi
    case "${{typed:+$typed }}${{COMP_WORDS[i]}}" in
      {1}) typed="${{typed:+$typed }}${{COMP_WORDS[i]}}" ;;
    esac
  done
  case "$typed $prev" in
{2}  esac
  case "$typed:$cur" in
{3}  esac
}}
complete -o default -F _{0} {0}
)";

// ---- zsh

/// A text within '…', where brackets and colons mean something.
std::string zsh_text(std::string_view text) {
  std::string out = replaced(text, "\\", "\\\\");
  for (const std::string_view each : {"[", "]", ":"})
    out = replaced(out, each, "\\" + std::string(each));
  return replaced(out, "'", "'\\''");
}

std::string zsh_action(const OptionInfo& option) {
  switch (option.value) {
    case ValueKind::kWords:
      return fmt::format("({})", fmt::join(option.words, " "));
    case ValueKind::kFile:
      return "_files";
    case ValueKind::kFolder:
      return "_files -/";
    case ValueKind::kNone:
    case ValueKind::kText:
      break;
  }
  return " ";
}

std::string zsh_option(const OptionInfo& option) {
  const std::string value =
      option.value == ValueKind::kNone
          ? ""
          : fmt::format(":{}:{}", zsh_text(option.placeholder), zsh_action(option));
  const std::string_view repeats = option.repeats ? "*" : "";
  if (option.names.size() == 1)
    return fmt::format("    '{}{}[{}]{}'", repeats, option.names.front(), zsh_text(option.about),
                       value);
  return fmt::format("    '({})'{}{{{}}}'[{}]{}'", fmt::join(option.names, " "), repeats,
                     fmt::join(option.names, ","), zsh_text(option.about), value);
}

std::string zsh_function(const CommandInfo& command) {
  const std::string own = fmt::format("_{}", fmt::join(command.path, "_"));
  std::string out = own + "() {\n  local context state line\n  _arguments -C";
  for (const OptionInfo& option : command.options) out += " \\\n" + zsh_option(option);
  std::size_t place = 0;
  for (const OptionInfo& positional : command.positionals)
    out += fmt::format(" \\\n    '{}:{}:{}'", positional.repeats ? "*" : std::to_string(++place),
                       zsh_text(positional.placeholder), zsh_action(positional));
  if (command.commands.empty()) return out + "\n}\n";
  out += " \\\n    ': :->command' '*::: :->rest'\n  case $state in\n    command)\n";
  out += "      local -a commands=(";
  for (const CommandInfo& below : command.commands)
    out += fmt::format("\n        '{}:{}'", below.name(), zsh_text(below.about));
  out += ")\n      _describe command commands ;;\n    rest)\n";
  out += "      words=($line[1] \"${words[@]}\")\n      ((CURRENT += 1))\n      case $line[1] in\n";
  for (const CommandInfo& below : command.commands)
    out += fmt::format("        {}) {}_{} ;;\n", below.name(), own, below.name());
  return out + "      esac ;;\n  esac\n}\n";
}

// ---- fish

std::string fish_text(std::string_view text) {
  return "'" + replaced(replaced(text, "\\", "\\\\"), "'", "\\'") + "'";
}

std::string fish_option(const std::string& when, const OptionInfo& option) {
  std::string out = when;
  for (const std::string& name : option.names)
    out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  switch (option.value) {
    case ValueKind::kNone:
      break;
    case ValueKind::kFile:
      out += " -rF";
      break;
    case ValueKind::kFolder:
      out += " -x -a '(__fish_complete_directories)'";
      break;
    case ValueKind::kWords:
      out += fmt::format(" -x -a '{}'", fmt::join(option.words, " "));
      break;
    case ValueKind::kText:
      out += " -x";
      break;
  }
  return out + " -d " + fish_text(option.about) + "\n";
}

std::string fish_lines(const CommandInfo& command) {
  const std::string when =
      fmt::format("complete -c {0} -n 'test (__{0}_typed) = \"{1}\"'", command.path.front(),
                  typed(command).empty() ? "none" : typed(command));
  std::string out;
  for (const CommandInfo& below : command.commands)
    out += fmt::format("{} -f -a {} -d {}\n", when, below.name(), fish_text(below.about));
  for (const OptionInfo& option : command.options) out += fish_option(when, option);
  for (const OptionInfo& positional : command.positionals)
    if (!positional.words.empty())
      out += fmt::format("{} -f -a '{}'\n", when, fmt::join(positional.words, " "));
  return out;
}

constexpr std::string_view kFishFrame = R"(# fish completion for {0}: {0} completion fish | source
function __{0}_typed
    set -l typed
    for word in (commandline -opc)[2..-1]
        if contains -- "$typed $word" {1}
            set typed "$typed $word"
        end
    end
    if test -n "$typed"
        string sub -s 2 -- $typed
    else
        echo none
    end
end
)";

}  // namespace

std::string bash_completion(const CommandInfo& program) {
  std::string commands, values, words;
  each_command(program, [&](const CommandInfo& command) {
    if (&command != &program)
      commands += fmt::format("{}\"{}\"", commands.empty() ? "" : " | ", typed(command));
    values += bash_values(command);
    words += fmt::format("    \"{}:\"-*) COMPREPLY=($(compgen -W \"{}\" -- \"$cur\")) ;;\n",
                         typed(command), names_of_options(command));
    if (const std::string first = first_words(command); !first.empty())
      words += fmt::format("    \"{}:\"*) COMPREPLY=($(compgen -W \"{}\" -- \"$cur\")) ;;\n",
                           typed(command), first);
  });
  return fmt::format(kBashFrame, program.name(), commands, values, words);
}

std::string zsh_completion(const CommandInfo& program) {
  std::string out =
      fmt::format("#compdef {0}\n# zsh completion: source <({0} completion zsh)\n", program.name());
  each_command(program, [&](const CommandInfo& command) { out += zsh_function(command); });
  return out + fmt::format("compdef _{0} {0}\n", program.name());
}

std::string fish_completion(const CommandInfo& program) {
  std::string commands, lines;
  each_command(program, [&](const CommandInfo& command) {
    if (&command != &program) commands += fmt::format(" \" {}\"", typed(command));
    lines += fish_lines(command);
  });
  return fmt::format(kFishFrame, program.name(), commands.substr(1)) + lines;
}

}  // namespace sluice::host
