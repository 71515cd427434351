#include "host/cli/command_tree.hpp"

#include <algorithm>
#include <numeric>

namespace sluice::host {
namespace {

/// `TEXT:{text,json}` → text, json.
std::vector<std::string> words_of(std::string_view type) {
  const std::size_t open = type.find('{'), close = type.rfind('}');
  std::vector<std::string> out;
  if (open == std::string_view::npos || close == std::string_view::npos) return out;
  std::string_view rest = type.substr(open + 1, close - open - 1);
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    out.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return out;
}

ValueKind kind_of(std::string_view placeholder, bool words) {
  if (words) return ValueKind::kWords;
  if (placeholder.starts_with("FILE") || placeholder == "PATH") return ValueKind::kFile;
  if (placeholder == "FOLDER") return ValueKind::kFolder;
  return ValueKind::kText;
}

OptionInfo describe(const CLI::Option& option) {
  OptionInfo out;
  for (const std::string& name : option.get_snames()) out.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) out.names.push_back("--" + name);
  out.about = option.get_description();
  out.required = option.get_required();
  out.repeats = option.get_expected_max() > 1;
  if (option.get_items_expected_max() == 0) return out;
  const std::string type = option.get_type_name();
  out.words = words_of(type);
  out.placeholder = option.nonpositional() ? type.substr(0, type.find(':')) : option.get_name(true);
  out.value = kind_of(out.placeholder, !out.words.empty());
  return out;
}

std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, change});
    }
  }
  return row.back();
}

CommandInfo describe_below(const CLI::App& app, std::vector<std::string> path) {
  CommandInfo out;
  path.push_back(app.get_name());
  out.path = path;
  out.about = app.get_description();
  out.footer = app.get_footer();
  for (const CLI::Option* option : app.get_options())
    (option->nonpositional() ? out.options : out.positionals).push_back(describe(*option));
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    if (!command->get_group().empty()) out.commands.push_back(describe_below(*command, path));
  return out;
}

}  // namespace

CommandInfo describe_commands(const CLI::App& app) { return describe_below(app, {}); }

std::string_view nearest(std::string_view word, const std::vector<std::string>& known) {
  constexpr std::size_t kLettersOff = 2;
  std::string_view best;
  std::size_t least = std::min(kLettersOff, word.size() / 2) + 1;
  for (const std::string& each : known) {
    const std::size_t off = distance(word, each);
    if (off >= least) continue;
    least = off;
    best = each;
  }
  return best;
}

}  // namespace sluice::host
