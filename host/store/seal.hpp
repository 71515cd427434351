// Seal: what a store says about all that it holds, as of its last transaction; and Mark: the seal
// of the last transaction that was acknowledged, in a file beside the database.
//
// SQLite ends its write-ahead log at the first frame that is damaged, and takes a log that is gone
// for an empty one: what was acknowledged would be lost without an error. So every transaction
// writes a seal with it, which counts transactions and sums over every object; what is read has to
// match it. And the mark outlives the log: a store that ends before its mark has lost something.
//
// Seals are values. A Mark belongs to the thread that writes the journal.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "host/base/fd.hpp"

namespace sluice::host {

struct Seal {
  std::uint64_t commits = 0;  ///< transactions so far: also those that changed no version
  std::uint64_t version = 0;
  std::uint64_t objects = 0;
  std::uint64_t digest = 0;
  bool operator==(const Seal&) const = default;
};

/// Always of the same length; carries a checksum of itself.
std::string to_text(const Seal& seal);
/// nullopt when the text is not what to_text() made.
std::optional<Seal> parse_seal(std::string_view text);

/// `objects`: the sum of the rows' checksums, in any order.
std::uint64_t digest_of(std::uint64_t objects,
                        const std::map<std::string, std::uint64_t, std::less<>>& kinds,
                        std::string_view fields);

/// An error, at the start of a host, when the store that ends with `found` has lost what was
/// acknowledged.
Result<void> check_against_mark(const Seal& found, const Seal& mark);

class Mark {
 public:
  /// The mark at `path`, which may not exist; an error when it cannot be understood.
  static Result<std::optional<Seal>> read(const std::string& path);
  /// Creates it durably where there is none.
  static Result<Mark> open(const std::string& path, const Seal& seal);

  /// From now on this much is acknowledged. Lasts when the process dies; the disk has it with the
  /// next transaction's sync, for which no thread waits.
  Result<void> set(const Seal& seal);

 private:
  Fd file_;
};

}  // namespace sluice::host
