// What a plugin adds to the schemas: any text is added or refused; a refused one changes nothing,
// and with an added one each kind has a name of its own and takes objects.
#include <boost/json/object.hpp>
#include <set>
#include <string>
#include <string_view>

#include "api/scheme/scheme.hpp"
#include "core/base/check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sluice;
  using namespace sluice::api;
  static Scheme scheme;
  const std::size_t kinds = scheme.kinds().size();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto added = scheme.add(text, "fuzz");
  if (!added) {
    SLUICE_CHECK(!added.error().text.empty());
    SLUICE_CHECK(scheme.kinds().size() == kinds, "a refused contribution added a kind");
    return 0;
  }
  std::set<std::string> called;
  for (const KindInfo* kind : scheme.kinds()) {
    SLUICE_CHECK(called.insert(kind->group + "/" + kind->plural).second, kind->plural, " twice");
    if (kind->contributed_by.empty() && kind->kind != "ClusterQueue") continue;
    static_cast<void>(scheme.fields_mark(*kind));
    for (const auto& version : kind->versions) {
      boost::json::object object{{"apiVersion", kind->api_version(version.name)},
                                 {"kind", kind->kind},
                                 {"metadata", {{"name", "a"}}},
                                 {"spec", boost::json::object()}};
      const Outcome outcome = scheme.admit(object);
      if (outcome.ok()) SLUICE_CHECK(scheme.convert(object, version.name).ok());
    }
  }
  scheme = Scheme();
  return 0;
}
