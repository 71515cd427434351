#include <fmt/format.h>

#include "host/base/version.hpp"
#include "host/cli/command.hpp"

namespace sluice::host {

void add_version_command(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("version", "Print the version");
  command->footer("Example:\n  sluice version");
  command->callback([&action] {
    action = []() -> Result<int> {
      fmt::print("sluice {}\n", version());
      return 0;
    };
  });
}

}  // namespace sluice::host
