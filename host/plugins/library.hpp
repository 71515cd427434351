// Loading a plugin's library, once and for good, from a private copy.
//
// What is mapped is a sealed copy in memory of the bytes that were verified: whoever writes over
// the file, or swaps it between the look and the load, changes nothing that runs. A library is
// never unloaded: code of it may be on a stack, in a static destructor or in a thread of its own.
// Loading the same bytes again gives the same library; other bytes give one beside it. One thread
// at a time.
#pragma once

#include "core/base/result.hpp"
#include "host/plugins/plugin_file.hpp"
#include "sluice/abi.h"

namespace sluice::host {

/// A sealed file in memory with the bytes that were verified; the caller closes it. The error does
/// not name the file.
Result<int> sealed_copy(const PluginFile& file);

/// Runs the library's constructors and its entry function. The error names the file.
Result<const sluice_plugin_t*> load_library(const PluginFile& file);

}  // namespace sluice::host
