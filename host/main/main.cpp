#include "host/cli/cli.hpp"

int main(int argc, char** argv) { return sluice::host::run_cli(argc, argv); }
