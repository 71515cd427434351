// Three lines: a label selector, a field selector, a JSON path. Each is refused with 400 or means
// the same every time; labels are looked up in a text as in the parsed object.
#include <boost/json.hpp>

#include "api/json/json.hpp"
#include "api/json/json_path.hpp"
#include "core/base/check.hpp"
#include "host/rest/selectors.hpp"
#include "tests/fuzz/lines.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sluice;
  using namespace sluice::host;
  static const api::Scheme scheme;
  static const boost::json::object object =
      boost::json::parse(R"({"metadata":{"name":"a","labels":{"a":"b","c":"","n":"12"}},
        "spec":{"x":[{"type":"A","n":1},{"type":"B"}],"a.b":"c"},"status":{"phase":"Running"}})")
          .as_object();
  if (size > (1U << 14)) return 0;
  const auto lines = fuzz_lines(data, size);
  const auto labels = LabelQuery::parse(lines[0]);
  if (labels.ok()) {
    const std::string text = R"({"a":"b","c":"","n":"12"})";
    SLUICE_CHECK(labels->matches_labels(text) == labels->matches_labels(text), lines[0]);
    SLUICE_CHECK(!labels->empty() || labels->matches_labels(""), lines[0]);
  } else {
    SLUICE_CHECK(labels.error().code == 400, labels.error().text);
  }
  for (const char* name : {"pods", "events", "workloads"}) {
    const api::KindInfo& kind = *scheme.find_by_name(name);
    const auto fields = FieldQuery::parse(lines[1], kind, kind.hub().name);
    SLUICE_CHECK(fields.ok() || fields.error().code == 400);
    if (!fields.ok()) continue;
    TextPool pool;
    StoredObject stored = to_stored(kind, object, pool);
    SLUICE_CHECK(fields->matches(stored) == fields->matches(stored), lines[1]);
  }
  const auto path = api::JsonPath::parse(lines[2]);
  if (path.ok()) SLUICE_CHECK(path->find(object).size() <= 64, lines[2]);
  return 0;
}
