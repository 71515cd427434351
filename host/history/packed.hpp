// Numbers as few bytes, of which the file's BLOBs are made: what holds and quotas are packed with.
//
// Pure functions; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sluice::host {

/// Seven bits a byte, the lowest first; small numbers take one.
void append_number(std::uint64_t value, std::string& out);
/// Takes one from the front; nullopt: there is no whole one.
std::optional<std::int64_t> take_number(std::string_view& bytes);

}  // namespace sluice::host
