#include "host/webhook/amendments.hpp"

#include <string>
#include <string_view>
#include <utility>

#include "api/json/json.hpp"
#include "api/json/json_path.hpp"
#include "host/objects/parts.hpp"
#include "host/rest/json_patch.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

class Differences {
 public:
  json::array take() { return std::move(out_); }

  void objects(const json::object& before, const json::object& after, const std::string& path,
               Leaving leaving) {
    for (const auto& member : after)
      values(before.if_contains(member.key()), member.value(),
             path + "/" + api::pointer_step(api::view(member.key())), leaving);
    if (leaving == Leaving::kIsNoWish) return;
    for (const auto& member : before)
      if (!after.contains(member.key()) && !member.value().is_null())
        out_.push_back(json::object{
            {"op", "remove"}, {"path", path + "/" + api::pointer_step(api::view(member.key()))}});
  }

 private:
  void values(const json::value* before, const json::value& after, const std::string& path,
              Leaving leaving) {
    if (!before) return change("add", path, after);
    if (same_json(*before, after)) return;
    if (before->is_object() && after.is_object())
      return objects(before->get_object(), after.get_object(), path, leaving);
    if (before->is_array() && after.is_array() &&
        before->get_array().size() == after.get_array().size()) {
      for (std::size_t i = 0; i < after.get_array().size(); ++i)
        values(&before->get_array()[i], after.get_array()[i], path + "/" + std::to_string(i),
               leaving);
      return;
    }
    change("replace", path, after);
  }

  void change(const char* how, const std::string& path, const json::value& value) {
    out_.push_back(json::object{{"op", how}, {"path", path}, {"value", value}});
  }

  json::array out_;
};

bool is_system(std::string_view name) {
  return name == "apiVersion" || name == "kind" || name == "metadata" || name == "status";
}

json::object without_system(const json::object& object) {
  json::object out;
  for (const auto& member : object)
    if (!is_system(api::view(member.key()))) out[member.key()] = member.value();
  return out;
}

}  // namespace

json::array amendments(const json::object& before, const json::object& after, Leaving leaving) {
  Differences found;
  json::object old_maps, maps;
  for (const char* name : {"labels", "annotations"}) {
    const json::object* had = api::find_object(part(before, "metadata"), name);
    const json::object* has = api::find_object(part(after, "metadata"), name);
    if (had) old_maps[name] = *had;
    if (has && (had || !has->empty()))
      maps[name] = *has;
    else if (had)
      maps[name] = json::object();
  }
  found.objects(old_maps, maps, "/metadata", Leaving::kIsRemoving);
  found.objects(without_system(before), without_system(after), "", leaving);
  return found.take();
}

}  // namespace sluice::host
