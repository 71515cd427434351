#include "host/client/what_if.hpp"

#include <boost/json/array.hpp>
#include <iostream>
#include <iterator>
#include <utility>

#include "api/json/json.hpp"
#include "host/manifests/manifests.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr const char* kPath = "/apis/sluice.dev/v1alpha1/whatifs";

Result<json::array> objects_of(const std::vector<std::string>& files) {
  if (files.empty()) return Error{"say what is asked about: -f FILE, --queue or --clusterqueue"};
  json::array objects;
  const DocumentSink take = [&](Document&& document) -> Result<void> {
    objects.push_back(json::object(document.object, json::storage_ptr()));
    return {};
  };
  for (const std::string& file : files) {
    const bool standard_input = file == "-";
    const auto read = standard_input ? load_text({std::istreambuf_iterator<char>(std::cin), {}},
                                                 "standard input", {}, take)
                                     : load_manifests({file}, {}, take);
    if (!read) return read.error();
  }
  if (objects.empty()) return Error{"-f names no object; give a manifest with at least one"};
  return objects;
}

}  // namespace

Result<json::object> question_of(const WhatIfQuestion& question, const std::string& ns) {
  json::object spec;
  if (!question.cluster_queue.empty()) {
    spec["waiting"] = json::object{{"clusterQueue", question.cluster_queue}};
  } else if (!question.local_queue.empty()) {
    const std::size_t slash = question.local_queue.find('/');  // kubectl and explain print both
    const bool both = slash != std::string::npos;
    spec["waiting"] = json::object{
        {"localQueue", both ? question.local_queue.substr(slash + 1) : question.local_queue},
        {"namespace", both ? question.local_queue.substr(0, slash) : ns}};
  } else {
    auto objects = objects_of(question.files);
    if (!objects) return objects.error();
    spec["namespace"] = ns;
    spec[question.remove ? "delete" : "objects"] = std::move(*objects);
  }
  if (!question.estimate) spec["estimate"] = false;
  return json::object{
      {"apiVersion", "sluice.dev/v1alpha1"}, {"kind", "WhatIf"}, {"spec", std::move(spec)}};
}

Result<json::object> ask_what_if(const Client& client, const WhatIfQuestion& question) {
  const auto asked = question_of(question, question.ns.empty() ? client.config().ns : question.ns);
  if (!asked) return asked.error();
  return client.call("POST", kPath, api::to_json(*asked));
}

}  // namespace sluice::host
