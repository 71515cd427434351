#include <cstdio>
#include <string>
#include <string_view>

#include "host/base/version.hpp"

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "version") {
    std::printf("sluice %s\n", std::string(sluice::host::version()).c_str());
    return 0;
  }
  std::fprintf(stderr, "usage: sluice version\n");
  return 2;
}
