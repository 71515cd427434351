// Cells of the smaller kinds: roles, services, data, flavors.
#include <array>

#include "api/json/json.hpp"
#include "host/objects/parts.hpp"
#include "host/rest/table_cells.hpp"

namespace sluice::host::cells {

namespace json = boost::json;

namespace {

using api::find_text;

void data_count(const json::object& object, Time, std::string& out) {
  out += std::to_string(part(object, "data").size() + part(object, "binaryData").size());
}

void secret_count(const json::object& account, Time, std::string& out) {
  const json::array* list = api::find_array(account, "secrets");
  out += std::to_string(list != nullptr ? list->size() : 0);
}

void global_default(const json::object& priority_class, Time, std::string& out) {
  out += api::find_bool(priority_class, "globalDefault", false) ? "true" : "false";
}

void node_labels(const json::object& flavor, Time, std::string& out) {
  api::append_json_text(labels_text(api::find_object(part(flavor, "spec"), "nodeLabels")), out);
}

void role_ref(const json::object& binding, Time, std::string& out) {
  const json::object& role = part(binding, "roleRef");
  std::string text(find_text(role, "kind"));
  text.append("/").append(find_text(role, "name"));
  api::append_json_text(text, out);
}

void append_subjects(const json::object& binding, std::string_view kind, std::string& out) {
  std::string text;
  const json::array* list = api::find_array(binding, "subjects");
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const auto* subject = (*list)[i].if_object();
    if (subject == nullptr || find_text(*subject, "kind") != kind) continue;
    if (!text.empty()) text += ", ";
    if (kind == "ServiceAccount") text.append(find_text(*subject, "namespace")).append("/");
    text += find_text(*subject, "name");
  }
  api::append_json_text(text, out);
}

void binding_users(const json::object& binding, Time, std::string& out) {
  append_subjects(binding, "User", out);
}

void binding_groups(const json::object& binding, Time, std::string& out) {
  append_subjects(binding, "Group", out);
}

void binding_accounts(const json::object& binding, Time, std::string& out) {
  append_subjects(binding, "ServiceAccount", out);
}

void service_cluster_ip(const json::object& service, Time, std::string& out) {
  append_or_none(find_text(part(service, "spec"), "clusterIP"), out);
}

void service_external_ip(const json::object& service, Time, std::string& out) {
  std::string text(find_text(part(service, "spec"), "externalName"));
  const json::array* list = api::find_array(part(service, "spec"), "externalIPs");
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const auto* each = (*list)[i].if_string();
    if (each != nullptr) text.append(text.empty() ? "" : ",").append(api::view(*each));
  }
  append_or_none(text, out);
}

void service_ports(const json::object& service, Time, std::string& out) {
  std::string text;
  const json::array* list = api::find_array(part(service, "spec"), "ports");
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const auto* port = (*list)[i].if_object();
    if (port == nullptr) continue;
    if (!text.empty()) text += ',';
    text += std::to_string(api::find_int(*port, "port").value_or(0));
    if (const auto node = api::find_int(*port, "nodePort"); node && *node > 0) {
      text += ":" + std::to_string(*node);
    }
    text.append("/").append(find_text(*port, "protocol"));
  }
  append_or_none(text, out);
}

void service_selector(const json::object& service, Time, std::string& out) {
  api::append_json_text(labels_text(api::find_object(part(service, "spec"), "selector")), out);
}

constexpr std::array<Named, 12> kOtherCells = {{
    {"dataCount", data_count},
    {"secretCount", secret_count},
    {"globalDefault", global_default},
    {"nodeLabels", node_labels},
    {"roleRef", role_ref},
    {"bindingUsers", binding_users},
    {"bindingGroups", binding_groups},
    {"bindingAccounts", binding_accounts},
    {"serviceClusterIp", service_cluster_ip},
    {"serviceExternalIp", service_external_ip},
    {"servicePorts", service_ports},
    {"serviceSelector", service_selector},
}};

}  // namespace

ComputedCell of_others(std::string_view name) {
  for (const Named& each : kOtherCells) {
    if (each.name == name) return each.cell;
  }
  return nullptr;
}

}  // namespace sluice::host::cells
