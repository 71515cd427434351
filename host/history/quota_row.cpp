#include "host/history/quota_row.hpp"

#include "host/history/packed.hpp"

namespace sluice::host {
namespace {

// A limit is written as one more than it is, none as 0.
std::uint64_t written(const std::optional<std::int64_t>& limit) {
  return limit ? static_cast<std::uint64_t>(*limit) + 1 : 0;
}

std::optional<std::int64_t> read(std::int64_t number) {
  return number == 0
             ? std::nullopt
             : std::optional(static_cast<std::int64_t>(static_cast<std::uint64_t>(number) - 1));
}

}  // namespace

std::string pack_quotas(const std::vector<QuotaRow>& quotas) {
  std::string out;
  for (const QuotaRow& each : quotas) {
    for (const std::int64_t number : {each.flavor, each.resource, each.nominal})
      append_number(static_cast<std::uint64_t>(number), out);
    for (const auto& limit : {each.borrowing_limit, each.lending_limit})
      append_number(written(limit), out);
  }
  return out;
}

std::vector<QuotaRow> unpack_quotas(std::string_view bytes) {
  std::vector<QuotaRow> out;
  while (!bytes.empty()) {
    QuotaRow row;
    std::int64_t borrowing = 0, lending = 0;
    for (std::int64_t* number : {&row.flavor, &row.resource, &row.nominal, &borrowing, &lending}) {
      const auto value = take_number(bytes);
      if (!value) return out;
      *number = *value;
    }
    row.borrowing_limit = read(borrowing);
    row.lending_limit = read(lending);
    out.push_back(row);
  }
  return out;
}

}  // namespace sluice::host
