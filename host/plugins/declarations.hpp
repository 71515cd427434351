// Declarations: what a plugin's library says that it provides and may do, read from the file.
//
// The lines of the section `.sluice.declares` (sdk/include/sluice/metadata.h). A library without
// the section was built before there was one: it may do to objects all that it could then. A plain
// value; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace sluice::host {

/// One line `may VERBS KIND`.
struct ObjectRight {
  std::vector<std::string> verbs;
  std::string kind;  ///< [GROUP/]Kind[/status], or *[/status] for all kinds

  std::string text() const;
};

struct Declarations {
  bool any_object = false;  ///< it declares nothing, and may do everything to objects
  std::vector<std::string> provides;
  std::vector<ObjectRight> may;

  /// `subresource`: "" or status.
  bool allows(std::string_view verb, std::string_view api_version, std::string_view kind,
              std::string_view subresource) const;
  /// For people: one right after the other, "nothing", or "everything, as it declares nothing".
  std::string rights() const;
};

/// Lines that this host does not know are left out. The error does not name the file.
Result<Declarations> parse_declarations(std::string_view section);

/// [GROUP/]Kind[/status], as rights are written.
std::string right_kind(std::string_view api_version, std::string_view kind,
                       std::string_view subresource);

}  // namespace sluice::host
