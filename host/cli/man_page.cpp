#include "host/cli/man_page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "host/base/version.hpp"

namespace sluice::host {
namespace {

constexpr std::string_view kExamples = "Example";

/// A text as lines of roff: a backslash, a dash, and a dot in front are commands otherwise.
std::string roff(std::string_view text) {
  std::string out;
  bool begins = true;
  for (const char c : text) {
    if (begins && (c == '.' || c == '\'')) out += "\\&";
    begins = c == '\n';
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
  }
  return out;
}

std::string spaced(const CommandInfo& command) {
  return fmt::format("{}", fmt::join(command.path, " "));
}

std::string synopsis(const CommandInfo& command) {
  std::string out = fmt::format(".B {}\n", roff(spaced(command)));
  if (!command.options.empty()) out += "[\\fIOPTIONS\\fR]\n";
  if (!command.commands.empty()) out += "\\fICOMMAND\\fR\n";
  for (const OptionInfo& each : command.positionals)
    out += fmt::format("\\fI{}\\fR{}\n", roff(each.placeholder), each.repeats ? "..." : "");
  return out;
}

std::string options(const CommandInfo& command) {
  std::string out = ".SH OPTIONS\n";
  for (const OptionInfo& each : command.positionals)
    out += fmt::format(".TP\n\\fI{}\\fR\n{}\n", roff(each.placeholder), roff(each.about));
  for (const OptionInfo& each : command.options) {
    std::string names;
    for (const std::string& name : each.names)
      names += fmt::format("{}\\fB{}\\fR", names.empty() ? "" : ", ", roff(name));
    if (each.value != ValueKind::kNone) names += fmt::format(" \\fI{}\\fR", roff(each.placeholder));
    std::string about = each.about;
    if (!each.words.empty()) about += fmt::format(" (one of {})", fmt::join(each.words, ", "));
    out += fmt::format(".TP\n{}\n{}\n", names, roff(about));
  }
  return out;
}

std::string commands(const CommandInfo& command) {
  std::string out = ".SH COMMANDS\n";
  for (const CommandInfo& each : command.commands)
    out += fmt::format(".TP\n\\fB{}\\fR(1)\n{}\n", roff(man_page_name(each)), roff(each.about));
  return out;
}

}  // namespace

std::string man_page_name(const CommandInfo& command) {
  return fmt::format("{}", fmt::join(command.path, "-"));
}

std::string man_page(const CommandInfo& command) {
  std::string title = man_page_name(command);
  std::transform(title.begin(), title.end(), title.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  // What the program says of a command: sentences, then examples, each with a line of its own.
  const std::string_view footer = command.footer;
  const std::size_t examples = std::min(footer.find(kExamples), footer.size());
  std::string out = fmt::format(".TH {} 1 \"\" \"{} {}\" \"\"\n.SH NAME\n{} \\- {}\n", roff(title),
                                command.path.front(), version(), roff(man_page_name(command)),
                                roff(command.about));
  out += ".SH SYNOPSIS\n" + synopsis(command);
  if (examples > 0) out += ".SH DESCRIPTION\n" + roff(footer.substr(0, examples)) + "\n";
  out += options(command);
  if (!command.commands.empty()) out += commands(command);
  if (examples < footer.size()) {
    const std::size_t begin = std::min(footer.find('\n', examples), footer.size() - 1) + 1;
    out += ".SH EXAMPLES\n.nf\n" + roff(footer.substr(begin)) + "\n.fi\n";
  }
  if (command.path.size() > 1) {
    CommandInfo above;
    above.path.assign(command.path.begin(), command.path.end() - 1);
    out += fmt::format(".SH SEE ALSO\n\\fB{}\\fR(1)\n", roff(man_page_name(above)));
  }
  return out;
}

}  // namespace sluice::host
