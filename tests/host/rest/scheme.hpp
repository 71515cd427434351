// The kinds that come with the host, made once for all tests of this folder. Any thread; never
// changed.
#pragma once

#include "api/scheme/scheme.hpp"

namespace sluice::host::test {

inline const api::Scheme& scheme() {
  static const api::Scheme all;
  return all;
}

}  // namespace sluice::host::test
