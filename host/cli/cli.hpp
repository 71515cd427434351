// The command line. Called once, by main().
#pragma once

namespace sluice::host {

/// Exit status: 0, 1 after an error (told on stderr), 2 after bad usage. Throws nothing.
int run_cli(int argc, const char* const* argv);

}  // namespace sluice::host
