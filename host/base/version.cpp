#include "host/base/version.hpp"

namespace sluice::host {

std::string_view version() { return SLUICE_VERSION; }

}  // namespace sluice::host
