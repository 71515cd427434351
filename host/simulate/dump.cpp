#include "host/simulate/dump.hpp"

#include <algorithm>
#include <boost/json/array.hpp>

#include "api/json/json.hpp"
#include "host/manifests/yaml_text.hpp"
#include "host/objects/kinds.hpp"
#include "host/simulate/output.hpp"
#include "host/simulate/record_sink.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

json::object clock_of(Time start, Duration offset) {
  std::string from;
  append_seconds(from, offset);
  return {{"apiVersion", "sluice.dev/v1alpha1"},
          {"kind", "Timeline"},
          {"start", format_time(start)},
          {"from", from + "s"},
          {"events", json::array()}};
}

class DumpWriter {
 public:
  DumpWriter(PendingOutput& output, bool yaml) : output_(output), yaml_(yaml) {
    if (!yaml_) output_.append("{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[\n");
  }

  void add(const json::object& object) {
    std::string& out = output_.buffer();
    if (yaml_) {
      if (!first_) out += "---\n";
      append_yaml(object, out);
    } else {
      if (!first_) out += ",\n";
      api::append_json(object, out);
    }
    first_ = false;
    output_.filled();
  }

  Result<void> commit() {
    if (!yaml_) output_.append("\n]}\n");
    return output_.commit();
  }

 private:
  PendingOutput& output_;
  bool yaml_;
  bool first_ = true;
};

}  // namespace

Result<void> write_dump(const std::string& path, const Kernel& kernel, Time start,
                        Duration offset) {
  auto output = PendingOutput::open(path);
  if (!output) return output.error().context("--dump");
  DumpWriter writer(*output, path.ends_with(".yaml") || path.ends_with(".yml"));
  writer.add(clock_of(start, offset));
  auto kinds = kernel.scheme().kinds();
  std::sort(kinds.begin(), kinds.end(), [](const auto* a, const auto* b) {
    return a->kind != b->kind ? a->kind < b->kind : a->group < b->group;
  });
  for (const api::KindInfo* kind : kinds) {
    if (kind->internal && !decides_about_pods(*kind)) continue;
    for (const StoredObject* stored : kernel.store().list(*kind))
      writer.add(kernel.current(*kind, stored->key));
  }
  return writer.commit();
}

}  // namespace sluice::host
