// Identity: who makes a request, as authentication established it, with all groups it is in.
// A plain value; any thread.
#pragma once

#include <string>
#include <vector>

namespace sluice::host {

struct Identity {
  std::string user;  ///< empty: anonymous, which only health and version endpoints serve
  std::string uid;
  std::vector<std::string> groups;
  std::string impersonator{};  ///< who really asks, when he acts as `user`; empty: the user himself
};

}  // namespace sluice::host
