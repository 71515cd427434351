// Loading a plugin's library, once and for good.
//
// A library is never unloaded: code of it may be on a stack, in a static destructor or in a thread
// of its own. Loading the same file again gives the same library; a new file in its place (of a
// build, say) gives a new one beside it. One thread at a time.
#pragma once

#include <filesystem>

#include "core/base/result.hpp"
#include "sluice/abi.h"

namespace sluice::host {

/// Runs the library's constructors and its entry function. The error names the file.
Result<const sluice_plugin_t*> load_library(const std::filesystem::path& path);

}  // namespace sluice::host
