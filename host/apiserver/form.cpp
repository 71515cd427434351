#include "host/apiserver/form.hpp"

#include <optional>
#include <string_view>

#include "host/rest/accept.hpp"

namespace sluice::host {
namespace {

/// In which shape it asks for objects; nullopt when it cannot be served.
std::optional<Form> form_of(const MediaRange& range) {
  if (!range.covers("application/json")) return std::nullopt;
  Form form;
  const std::string_view as = range.parameter("as"), version = range.parameter("v"),
                         group = range.parameter("g");
  if (as.empty()) return form;
  if ((!group.empty() && group != "meta.k8s.io") || (version != "v1" && version != "v1beta1"))
    return std::nullopt;
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
  for (const MediaRange& range : parse_accept(request.accept))
    if (chosen = form_of(range); chosen) break;
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
