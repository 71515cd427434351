// Names of options: `${parent}-option-${option}`, always with `-option-` in it.
//
// The same two names always give the same one. Pure functions, any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace options {

/// The longest name that the API allows for a Workload, in bytes.
inline constexpr std::size_t kLongestName = 253;

/// The name of a parent's option. A name that would be too long is shortened on both sides of
/// `-option-` and ends in a hash of both whole names. `taken`: the plain name is another object's,
/// so the name gets the hash in any case.
std::string option_name(std::string_view parent, std::string_view option, bool taken = false);

}  // namespace options
