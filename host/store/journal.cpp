#include "host/store/journal.hpp"

#include "host/store/checksum.hpp"

namespace sluice::host {

std::uint64_t row_checksum(const JournalRow& row) {
  Checksum sum;
  for (const std::string_view text :
       {row.kind, row.key, row.metadata, row.body, row.status, row.hidden})
    sum.add(text);
  sum.add(row.version);
  return sum.value();
}

}  // namespace sluice::host
