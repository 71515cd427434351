// A certificate and its key as two files, PATH.crt and PATH.key.
//
// Two files cannot be replaced at once. So write_pair() has both ready beside (PATH.key.new,
// PATH.crt.new) before it renames the first: whatever moment the process dies in, the old pair or
// the new one can be put together from what is there, which kept_pair() does. System calls only;
// any thread, but one at a time for a path.
#pragma once

#include <optional>
#include <string>

#include "core/base/result.hpp"
#include "host/access/pki.hpp"

namespace sluice::host {

/// An error when one cannot be read, or they do not belong together.
Result<CertifiedKey> read_pair(const std::string& certificate, const std::string& key);

/// Replaces the pair, durably, by one that only this user may read.
Result<void> write_pair(const CertifiedKey& pair, const std::string& path);

/// What there is when PATH.crt and PATH.key do not belong together.
enum class Torn : bool { kIsAnError, kIsNone };

/// The pair at `path`; one that write_pair() did not finish is finished. nullopt: there is none, or
/// half of one. Others can read the key no longer. A file that is there and cannot be read is an
/// error.
Result<std::optional<CertifiedKey>> kept_pair(const std::string& path, Torn torn);

}  // namespace sluice::host
