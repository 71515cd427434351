// The names of a contributed kind: they become parts of the API's addresses, and users name objects
// by them, so each is of a form, and means one kind.
//
// Pure functions, any thread.
#pragma once

#include <map>
#include <string>

#include "api/schema/source.hpp"
#include "core/base/mistakes.hpp"
#include "core/base/result.hpp"

namespace sluice::api {

/// Is the text of the form that a version, a plural and a short name have? The error says what was
/// found and what is allowed.
Result<void> judge_dns_label(std::string_view text);

/// Group, kind, plural, short names and categories of `kind`: their forms, and that none of `kinds`
/// is called so. Within a group plurals, singulars and short names are one set; a short name
/// is nobody's name in any group.
void judge_names(const KindInfo& kind, const std::map<std::string, KindSource>& kinds,
                 Mistakes& mistakes);

}  // namespace sluice::api
