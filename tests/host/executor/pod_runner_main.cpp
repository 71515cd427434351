// The pod's runner as a program of its own, for tests that must not need the whole of sluice.
#include "host/executor/process/runner.hpp"

int main(int argc, char** argv) {
  return argc == 3 ? sluice::host::run_pod_runner(argv[1], argv[2]) : 2;
}
