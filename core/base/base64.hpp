// Base64 with the standard alphabet and padding, as JSON carries bytes. A pure function, any
// thread.
#pragma once

#include <string>
#include <string_view>

namespace sluice {

std::string base64_text(std::string_view bytes);

}  // namespace sluice
