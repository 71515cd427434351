#include "api/schema/kind_names.hpp"

#include <algorithm>

#include "api/schema/formats.hpp"
#include "api/schema/walk.hpp"

namespace sluice::api {

namespace {

bool is_short_name(const KindInfo& kind, std::string_view name) {
  return std::find(kind.short_names.begin(), kind.short_names.end(), name) !=
         kind.short_names.end();
}

/// Does `name`, of a kind of `group`, mean `other` already?
bool is_taken(std::string_view name, bool is_short, std::string_view group, const KindInfo& other) {
  if (is_short_name(other, name)) return true;
  return (is_short || other.group == group) && (other.plural == name || other.singular == name);
}

void judge_forms(const KindInfo& kind, Mistakes& mistakes) {
  const auto judge_label = [&mistakes](const char* key, std::string_view text) {
    if (auto judged = judge_dns_label(text); !judged) mistakes.add(judged.error().context(key));
  };
  if (!kind.group.empty() && (kind.group.size() > kSubdomainBytes || !is_dns_subdomain(kind.group)))
    mistakes.add({"group: found " + shown(kind.group) +
                  "; allowed: a DNS subdomain such as example.com, or \"\" for the core group"});
  if (kind.kind.size() > kLabelBytes || !has_format(Format::kKindName, kind.kind))
    mistakes.add({"kind: found " + shown(kind.kind) +
                  "; allowed: at most 63 letters, digits and -, a letter first"});
  judge_label("plural", kind.plural);
  for (const auto& name : kind.short_names) judge_label("shortNames", name);
  for (const auto& name : kind.categories) judge_label("categories", name);
}

}  // namespace

Result<void> judge_dns_label(std::string_view text) {
  if (is_short_dns_label(text)) return {};
  return Error{"found " + shown(text) +
               "; allowed: a DNS label (at most 63 of a-z, 0-9 and -, with no - at its ends)"};
}

void judge_names(const KindInfo& kind, const std::map<std::string, KindSource>& kinds,
                 Mistakes& mistakes) {
  judge_forms(kind, mistakes);
  const auto judge = [&](const char* key, std::string_view name, bool is_short) {
    for (const auto& [unused, source] : kinds) {
      const KindInfo& other = source.info;
      if (!is_taken(name, is_short, kind.group, other)) continue;
      return mistakes.add(
          {std::string(key) + ": " + shown(name) + " means kind " + other.kind + " of " +
           (other.group.empty() ? "the core group" : "group " + other.group) + " already" +
           (other.contributed_by.empty() ? "" : ", contributed by " + other.contributed_by)});
    }
  };
  judge("plural", kind.plural, false);
  if (kind.singular != kind.plural) judge("kind", kind.singular, false);
  for (const auto& name : kind.short_names) judge("shortNames", name, true);
}

}  // namespace sluice::api
