// `sluice completion` and `sluice manual`: what the program says of itself, for shells and man.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <memory>

#include "host/cli/arguments.hpp"
#include "host/cli/command.hpp"
#include "host/cli/completion.hpp"
#include "host/cli/man_page.hpp"

namespace sluice::host {
namespace {

constexpr const char* kCompletionFooter = R"(The script goes to standard output.

Examples:
  source <(sluice completion bash)
      in this shell; in ~/.bashrc for all
  sluice completion zsh > "${fpath[1]}/_sluice"
      where zsh looks for completions
  sluice completion fish > ~/.config/fish/completions/sluice.fish
      where fish does)";

constexpr const char* kManualFooter = R"(One page per command, in section 1.

Example:
  sluice manual man1 && man ./man1/sluice-explain.1)";

Result<int> write_manual(const CommandInfo& command, const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / (man_page_name(command) + ".1");
  std::ofstream out(file, std::ios::binary);
  out << man_page(command);
  out.close();
  if (!out) return Error{fmt::format("{} cannot be written", file.string())};
  for (const CommandInfo& below : command.commands)
    if (auto done = write_manual(below, folder); !done) return done;
  return 0;
}

}  // namespace

void add_completion_command(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("completion", "Print the script by which a shell completes a line");
  command->footer(kCompletionFooter);
  auto shell = std::make_shared<std::string>();
  command->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(one_of({"bash", "zsh", "fish"}));
  command->callback([&app, &action, shell] {
    action = [&app, shell]() -> Result<int> {
      const CommandInfo program = describe_commands(app);
      fmt::print("{}", *shell == "bash"  ? bash_completion(program)
                       : *shell == "zsh" ? zsh_completion(program)
                                         : fish_completion(program));
      return 0;
    };
  });
}

void add_manual_command(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("manual", "Write the man pages into a folder");
  command->footer(kManualFooter);
  auto folder = std::make_shared<std::string>();
  command->add_option("FOLDER", *folder, "Made when it is not there")->required();
  command->callback([&app, &action, folder] {
    action = [&app, folder]() -> Result<int> {
      std::error_code code;
      std::filesystem::create_directories(*folder, code);
      if (code) return Error{fmt::format("{}: {}", *folder, code.message())};
      return write_manual(describe_commands(app), *folder);
    };
  });
}

}  // namespace sluice::host
