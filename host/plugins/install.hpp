// Installing: a library that was judged is put into the folder of plugins.
//
// It is there as a whole or not at all, whenever this process or the machine dies, and so is its
// signature: NAME.so.sig first gets the lines for the old library and those for the new one, then
// the new library takes the old one's name. So at each moment the library that is there has all of
// its signatures. A host that runs keeps what it loaded (library.hpp) until it is reloaded. One
// install at a time works in a folder; another is refused. Any thread.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "host/plugins/plugin_file.hpp"

namespace sluice::host {

/// Less than, equal to or greater than 0, as `a` is older than `b`, the same, or newer: numbers
/// between dots by their value, 1.0.0-rc before 1.0.0.
int compare_versions(std::string_view a, std::string_view b);

/// Whether this host can use the file, under its own name: what loading checks, and that it knows
/// the extension points that the file declares. The error names the file.
Result<void> check_candidate(const PluginFile& file);

struct Placed {
  std::filesystem::path path;
  std::string replaced;    ///< the version that was there; empty: none was
  bool was_there = false;  ///< the same bytes were there already
};

/// Called before each step by its name, "write", "signature" and "rename"; an error ends it there.
using PlacingStep = std::function<Result<void>(std::string_view step)>;

/// Puts the file into the folder, and its signatures (lines of NAME.so.sig, or none) beside it.
/// Without `replace`, what is there has to be older. An error: the folder is as it was.
Result<Placed> place_plugin(const PluginFile& file, std::string_view signatures,
                            const std::filesystem::path& folder, bool replace,
                            const PlacingStep& before = {});

/// Replaces the file by one with this text and mode 0644: a reader finds the old or the new one.
Result<void> replace_file(const std::filesystem::path& path, std::string_view text);

}  // namespace sluice::host
