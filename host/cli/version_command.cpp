#include <fmt/format.h>

#include <memory>

#include "host/base/version.hpp"
#include "host/cli/command.hpp"
#include "host/cli/output.hpp"

namespace sluice::host {

void add_version_command(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("version", "Print the version");
  command->footer("Example:\n  sluice version");
  auto format = std::make_shared<OutputFormat>(OutputFormat::kTable);
  add_output_option(*command, *format);
  command->callback([format, &action] {
    action = [format]() -> Result<int> {
      fmt::print("{}", printed({{"version", version()}}, *format,
                               [] { return fmt::format("sluice {}\n", version()); }));
      return 0;
    };
  });
}

}  // namespace sluice::host
