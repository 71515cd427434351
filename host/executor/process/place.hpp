// Place: whether an executor's folder is the one that its pods were started in, or a copy of it.
//
// A copy of a store beside the host that runs (to try something with it) holds the records of
// processes that belong to that host. The file `place` in the folder says which folder it was made
// for, and where that was. Functions of files; any thread, one folder at a time.
#pragma once

#include <filesystem>

#include "core/base/result.hpp"

namespace sluice::host {

/// Whether the folder is a copy of one that is still where it was. One that was moved, or put back
/// from a backup after the other was lost, is none. A folder without the file is none.
Result<bool> is_a_copy(const std::filesystem::path& folder);

/// Durably: from now on the folder is no copy. Writes nothing where nothing changes.
Result<void> note_place(const std::filesystem::path& folder);

}  // namespace sluice::host
