// QuotaRow: quotas as they stand in the file: names as numbers, amounts as a few bytes. Plain
// values and pure functions; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/history/run_row.hpp"

namespace sluice::host {

struct QuotaRow {
  NameId flavor = 0, resource = 0;
  std::int64_t nominal = 0;
  std::optional<std::int64_t> borrowing_limit, lending_limit;
  bool operator==(const QuotaRow&) const = default;
};

std::string pack_quotas(const std::vector<QuotaRow>& quotas);
/// What cannot be read is left out.
std::vector<QuotaRow> unpack_quotas(std::string_view bytes);

}  // namespace sluice::host
