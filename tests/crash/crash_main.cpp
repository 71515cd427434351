// crash_loop: the crash test as a program.
//
//   crash_loop --sluice build/release/bin/sluice [--rounds N] [--seed N] [--folder FOLDER]
//
// Exit status 1 when something was lost; then the folder is kept, and the seed repeats the draws.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "tests/crash/crash_loop.hpp"

int main(int argc, char** argv) {
  using namespace sluice::host::test;
  CrashOptions options;
  options.folder =
      std::filesystem::temp_directory_path() / fmt::format("sluice-crash-{}", getpid());
  CLI::App app("kills a host again and again and looks for what was lost");
  app.add_option("--sluice", options.sluice, "the program")->required();
  app.add_option("--folder", options.folder, "for the store; removed at the end");
  app.add_option("--rounds", options.rounds, "how often it is killed");
  app.add_option("--clients", options.clients, "that write at the same time");
  app.add_option("--seed", options.seed, "of all random draws");
  CLI11_PARSE(app, argc, argv);
  if (::isatty(STDERR_FILENO) != 0)
    options.progress = [](int round, int of) { fmt::print(stderr, "\r{} of {} ", round, of); };
  std::error_code ignored;
  std::filesystem::remove_all(options.folder, ignored);
  const CrashFigures figures = run_crash_loop(options);
  fmt::print("{}", to_text(figures));
  if (!figures.findings.empty()) {
    fmt::print("seed {}, folder {}\n", options.seed, options.folder.string());
    return 1;
  }
  std::filesystem::remove_all(options.folder, ignored);
  return 0;
}
