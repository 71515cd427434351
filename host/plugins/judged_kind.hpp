// JudgedKind: a line in which a validator names a kind: `[GROUP/]KIND`, and behind it of which
// objects API servers ask there, where they ask. On a host of its own a validator sees every object
// of the kind.
//
// Plain value; parsing is pure. Any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace sluice::host {

struct JudgedKind {
  std::string group_kind;           ///< `GROUP/KIND`, or `KIND` of the core group
  std::string labels;               ///< `label:`: only what this selects; empty: everything
  std::string annotation;           ///< `annotation:`: only what has it, or, with a `!`, has not
  std::vector<std::string> except;  ///< `except:`: nothing of these namespaces
  /// `if-answered`: nobody waits for an answer that does not come; the object is stored unasked.
  bool if_answered = false;
  /// `resource:`: VERSION/PLURAL of a kind that the host does not know; or
  /// GROUP/VERSION/PLURAL/SUBRESOURCE, by which others are written in a form of this kind (Scale).
  std::string version, plural;
  std::string written_group;  ///< of these others; empty: it is no subresource
};

/// The error names the word and what is allowed.
Result<JudgedKind> parse_judged_kind(std::string_view line);

}  // namespace sluice::host
