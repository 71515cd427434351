// TableFormat: how objects of one kind and version are shown as rows: the Table answers by which
// kubectl prints columns.
//
// The columns are data of the kind (KindInfo::Version::columns, contributed ones included): a JSON
// path, or `=NAME` for a cell that is computed (table_cells.hpp). Made once per kind and version,
// then only read: any thread.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/json/json_path.hpp"
#include "api/scheme/scheme.hpp"
#include "core/base/time.hpp"

namespace sluice::host {

class TableFormat {
 public:
  /// `version` is one of the kind's.
  TableFormat(const api::KindInfo& kind, std::string_view version);

  /// The columnDefinitions, as compact JSON.
  const std::string& columns() const { return columns_; }
  /// Appends the cells of `object` (in the version of the format), as compact JSON: `["a",1,null]`.
  void append_cells(const boost::json::object& object, Time now, std::string& out) const;

 private:
  using Computed = void (*)(const boost::json::object& object, Time now, std::string& out);
  enum class CellType : std::uint8_t { kText, kInteger, kNumber, kBoolean, kDate };
  struct Cell {
    api::JsonPath path;
    Computed computed = nullptr;  ///< instead of the path; appends a JSON value
    CellType type = CellType::kText;
  };
  static void append_value(const Cell& cell, const boost::json::object& object, Time now,
                           std::string& out);

  std::vector<Cell> cells_;
  std::string columns_;
};

/// The time that has passed, in kubectl's words: `45s`, `3m20s`, `5h`, `2d4h`, `1y30d`.
std::string human_duration(Duration span);

}  // namespace sluice::host
