#include "host/apiserver/form.hpp"

#include <algorithm>
#include <optional>

#include "core/base/text.hpp"

namespace sluice::host {
namespace {

/// Up to `separator`; `rest` becomes what is behind it.
std::string_view next(std::string_view& rest, char separator) {
  const std::size_t end = std::min(rest.find(separator), rest.size());
  const std::string_view out = trim(rest.substr(0, end), " \t");
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return out;
}

/// One entry of the header; nullopt when it cannot be served.
std::optional<Form> read_entry(std::string_view entry) {
  const std::string_view type = next(entry, ';');
  if (type != "application/json" && type != "application/*" && type != "*/*") return std::nullopt;
  std::string_view as, version, group = "meta.k8s.io";
  while (!entry.empty()) {
    std::string_view parameter = next(entry, ';');
    const std::string_view name = next(parameter, '=');
    if (name == "as") as = parameter;
    if (name == "v") version = parameter;
    if (name == "g") group = parameter;
  }
  Form form;
  if (as.empty()) return form;
  if (group != "meta.k8s.io" || (version != "v1" && version != "v1beta1")) return std::nullopt;
  if (as == "Table")
    form.shape = Form::Shape::kTable;
  else if (as == "PartialObjectMetadata" || as == "PartialObjectMetadataList")
    form.shape = Form::Shape::kPartial;
  else
    return std::nullopt;
  form.meta_version = std::string(version);
  return form;
}

}  // namespace

ApiResult<Form> negotiate(const Request& request) {
  std::optional<Form> chosen;
  std::string_view rest = request.accept;
  if (trim(rest, " \t").empty()) chosen = Form();
  while (!chosen && !rest.empty()) chosen = read_entry(next(rest, ','));
  if (!chosen) {
    ApiError error;
    error.code = 406;
    error.reason = "NotAcceptable";
    error.text =
        "only the following media types are accepted: application/json, also as Table, "
        "PartialObjectMetadata or PartialObjectMetadataList of meta.k8s.io/v1";
    return error;
  }
  if (const auto* include = request.parameter("includeObject")) {
    if (*include == "None") chosen->row_object = Form::RowObject::kNone;
    if (*include == "Object") chosen->row_object = Form::RowObject::kObject;
  }
  return *chosen;
}

}  // namespace sluice::host
