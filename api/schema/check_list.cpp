#include "api/schema/check_list.hpp"

#include <boost/json/array.hpp>
#include <set>
#include <string_view>
#include <utility>

#include "api/json/json.hpp"

namespace sluice::api {

namespace json = boost::json;

namespace {

constexpr const char* kList = "admissionChecks";
constexpr const char* kStrategy = "admissionChecksStrategy";

}  // namespace

bool check_list_is_strategy(const json::object& spec) {
  const json::array* list = find_array(spec, kList);
  const json::object* strategy = find_object(spec, kStrategy);
  const json::array* checks = strategy != nullptr ? find_array(*strategy, kList) : nullptr;
  if (list == nullptr || checks == nullptr) return false;
  std::set<std::string_view> listed, named;
  for (const auto& name : *list) {
    const json::string* text = name.if_string();
    if (text == nullptr) return false;
    listed.insert(view(*text));
  }
  for (const auto& each : *checks) {
    const json::object* check = each.if_object();
    if (check == nullptr) return false;
    const json::array* flavors = find_array(*check, "onFlavors");
    if (flavors != nullptr && !flavors->empty()) return false;
    named.insert(find_text(*check, "name"));
  }
  return listed == named;
}

void check_list_to_strategy(json::object& object) {
  json::object* spec = find_object(object, "spec");
  if (spec == nullptr) return;
  const json::array* names = find_array(*spec, kList);
  if (names == nullptr) return;
  if (names->empty()) {
    spec->erase(kList);
    return;
  }
  if (find(*spec, kStrategy) != nullptr) return;
  json::array checks;
  for (const auto& name : *names) checks.emplace_back(json::object{{"name", name}});
  (*spec)[kStrategy] = json::object{{kList, std::move(checks)}};
}

void show_check_list(json::object& object) {
  json::object* spec = find_object(object, "spec");
  if (spec == nullptr || find(*spec, kList) == nullptr) return;
  spec->erase(check_list_is_strategy(*spec) ? kStrategy : kList);
}

}  // namespace sluice::api
