#include "host/kernel/traits_source.hpp"

#include <algorithm>
#include <utility>

namespace sluice::host {

TraitsSource::Told TraitsSource::ask(const hooks::TraitsQuery& query, const Claims& before) const {
  hooks::TraitsAnswer answer;
  hooks::Fault fault;
  if (provider_) provider_->traits(query, answer, fault);
  if (!provider_ && before.plugins.empty()) return {};
  Told out{std::move(answer.traits), before};
  Claims& claims = out.claims;
  // One that is there and was asked, and says nothing, has no claim.
  for (const std::string& plugin : loaded_)
    if (!fault) claims.remove(plugin);
  for (const std::string& plugin : answer.claimed_by) claims.add(plugin);
  // An absent plugin may be the one because of which it stands aside.
  const bool stays_aside = before.aside && (fault || !all_loaded(claims));
  claims.aside = !claims.plugins.empty() && (!out.traits.takes_part || stays_aside);
  if (fault) out.traits.unknown_because = fault.sentence();
  if (!out.traits.takes_part) return out;
  if (const std::string absent = claims.first_absent(loaded_); !absent.empty())
    out.traits.waits_because = "Plugin " + absent + ", which manages this workload, is not loaded";
  out.traits.takes_part = !claims.aside;
  if (claims.aside) out.traits.takes_no_part_because = out.traits.waits_because;
  return out;
}

}  // namespace sluice::host
