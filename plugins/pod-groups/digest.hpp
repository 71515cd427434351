// SHA-1 (FIPS 180-4), which Kueue's names are made with. For names only: nothing is trusted because
// of it.
//
// A pure function, any thread.
#pragma once

#include <string>
#include <string_view>

namespace pods {

/// 40 hexadecimal digits.
std::string sha1(std::string_view text);

}  // namespace pods
