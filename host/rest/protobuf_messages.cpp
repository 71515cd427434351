#include "host/rest/protobuf_messages.hpp"

#include <array>
#include <boost/json/parse.hpp>
#include <charconv>
#include <utility>

#include "api/json/json.hpp"
#include "api/schema/embedded.hpp"
#include "api/schema/type_expression.hpp"
#include "core/base/check.hpp"

namespace sluice::host {

namespace json = boost::json;

namespace {

constexpr std::array<std::pair<std::string_view, ProtoKind>, 11> kScalars = {{
    {"string", ProtoKind::kString},
    {"int32", ProtoKind::kInt32},
    {"int64", ProtoKind::kInt64},
    {"boolean", ProtoKind::kBool},
    {"bytes", ProtoKind::kBytes},
    {"quantity", ProtoKind::kQuantity},
    {"time", ProtoKind::kTime},
    {"microTime", ProtoKind::kMicroTime},
    {"intOrString", ProtoKind::kIntOrString},
    {"rawJson", ProtoKind::kRawJson},
    {"[]string", ProtoKind::kTextList},
}};

/// What clients send in protobuf: what is stored, and the requests that are only answered.
constexpr std::array<std::pair<std::string_view, std::string_view>, 22> kKinds = {{
    {"v1", "Pod"},
    {"v1", "Event"},
    {"v1", "Namespace"},
    {"v1", "Node"},
    {"v1", "ConfigMap"},
    {"v1", "Secret"},
    {"v1", "Service"},
    {"v1", "ServiceAccount"},
    {"batch/v1", "Job"},
    {"scheduling.k8s.io/v1", "PriorityClass"},
    {"coordination.k8s.io/v1", "Lease"},
    {"rbac.authorization.k8s.io/v1", "Role"},
    {"rbac.authorization.k8s.io/v1", "ClusterRole"},
    {"rbac.authorization.k8s.io/v1", "RoleBinding"},
    {"rbac.authorization.k8s.io/v1", "ClusterRoleBinding"},
    {"authorization.k8s.io/v1", "SelfSubjectAccessReview"},
    {"authorization.k8s.io/v1", "SelfSubjectRulesReview"},
    {"authorization.k8s.io/v1", "SubjectAccessReview"},
    {"authorization.k8s.io/v1", "LocalSubjectAccessReview"},
    {"authentication.k8s.io/v1", "SelfSubjectReview"},
    {"authentication.k8s.io/v1", "TokenReview"},
    {"autoscaling/v1", "Scale"},
}};

}  // namespace

const MessageTable& MessageTable::instance() {
  static const MessageTable table;
  return table;
}

MessageTable::MessageTable() {
  json::error_code error;
  const json::value types = json::parse(api::json_view(api::embedded_types()), error);
  SLUICE_CHECK(!error && types.is_object(), "types.json is not JSON");
  for (const auto& type : types.get_object()) messages_[std::string(api::view(type.key()))];
  for (const auto& type : types.get_object()) {
    ProtoMessage& message = messages_.find(api::view(type.key()))->second;
    for (const auto& member : type.value().get_object()) {
      const std::string_view text = api::view(member.value().get_string());
      if (ProtoField field = field_of(api::view(member.key()), text); field.number != 0)
        message.fields.push_back(std::move(field));
    }
  }
}

ProtoField MessageTable::field_of(std::string_view name, std::string_view text) const {
  ProtoField field;
  api::TypeExpression expression = api::parse_type_expression(text);
  if (name.front() == '+') {  // the text is only the number
    field.merged = true;
    std::from_chars(text.data(), text.data() + text.size(), expression.number);
    expression.type = name.substr(1);
  } else {
    field.name = name;
  }
  field.number = expression.number;
  field.pointer = expression.pointer;
  std::string_view type = expression.type;
  const std::string_view prefix = type.substr(0, 2);
  field.repeated = prefix == "[]";
  field.map = prefix == "{}";
  if (field.repeated || field.map) type.remove_prefix(2);
  if (field.number == 0) return field;  // it is no part of protobuf
  field.kind = ProtoKind::kMessage;
  for (const auto& [scalar, kind] : kScalars) {
    if (scalar == type) field.kind = kind;
  }
  if (field.kind == ProtoKind::kMessage) {
    const auto it = messages_.find(type);
    SLUICE_CHECK(it != messages_.end(), "unknown type ", type, " of field ", name);
    field.message = &it->second;
  }
  return field;
}

const ProtoMessage* MessageTable::find(std::string_view api_version, std::string_view kind) const {
  bool known = kind == "DeleteOptions";
  for (const auto& [version, name] : kKinds) {
    if (version == api_version && name == kind) known = true;
  }
  const auto it = known ? messages_.find(kind) : messages_.end();
  return it != messages_.end() ? &it->second : nullptr;
}

}  // namespace sluice::host
