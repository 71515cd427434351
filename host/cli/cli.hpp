// The command line: subcommands, help, and what an error looks like on the terminal.
// Called once, by main(), on its thread.
#pragma once

namespace sluice::host {

/// Exit status: 0, 1 after an error (told on stderr), 2 after bad usage. Throws nothing.
int run_cli(int argc, const char* const* argv);

}  // namespace sluice::host
