// Everybody: whoever asks may do it, for tests of what is answered then. It has no state: any
// thread may ask.
#pragma once

#include "host/access/authorizer.hpp"

namespace sluice::host::test {

class Everybody final : public Authorizer {
 public:
  AccessAnswer may(const Identity&, const AccessRequest&) const override { return {true, ""}; }
};

}  // namespace sluice::host::test
