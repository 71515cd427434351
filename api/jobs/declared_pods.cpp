// The pod sets of an object by the page of its kind: which there are, what their pods are like, and
// where a start puts what an admission wants of them.
#include <algorithm>
#include <limits>
#include <set>

#include "api/jobs/declared_job.hpp"
#include "api/json/parts.hpp"
#include "core/base/text.hpp"

namespace sluice::api {

namespace json = boost::json;

namespace {

constexpr std::size_t kMostPodSets = 18;  // of a workload
constexpr std::size_t kLongestPath = 250;

JsonPlace joined(JsonPlace front, const JsonPlace& back) {
  front.insert(front.end(), back.begin(), back.end());
  return front;
}

Result<std::int32_t> pods(const CountExpression& expression, const CountScope& scope,
                          const std::string& what) {
  const auto number = expression.value(scope);
  if (!number) return Error{what + ": " + number.error().text};
  if (*number < 0 || *number > std::numeric_limits<std::int32_t>::max())
    return Error{what + " is " + std::to_string(*number) +
                 "; allowed is a number from 0 to 2147483647"};
  return static_cast<std::int32_t>(*number);
}

/// The first value there; nullptr: none.
const json::value* first(const JsonPath& path, const json::object& object) {
  const auto found = path.find(object);
  return found.empty() || found.front()->is_null() ? nullptr : found.front();
}

std::string text_at(const JsonPath& path, const json::object& object) {
  const json::value* found = first(path, object);
  if (!found) return {};
  return found->is_string() ? std::string(view(found->get_string())) : to_json(*found);
}

std::string numbered(std::string name, std::size_t number) {
  const std::size_t at = name.find('#');
  if (at != std::string::npos) name.replace(at, 1, std::to_string(number));
  return name;
}

void add_all(json::object& to, std::string_view field, const json::object& from) {
  for (const auto& [key, value] : part(from, field)) object_of(to, field)[key] = value;
}

/// What a template has deeper, from fields that stand beside each other.
void merge_fields(json::object& pod_template, const json::object& fields) {
  for (const std::string_view field : {"labels", "annotations"})
    if (!part(fields, field).empty()) add_all(object_of(pod_template, "metadata"), field, fields);
  json::object& spec = object_of(pod_template, "spec");
  add_all(spec, "nodeSelector", fields);
  if (const json::array* tolerations = find_array(fields, "tolerations"))
    for (const json::value& each : *tolerations) array_of(spec, "tolerations").push_back(each);
  for (const char* field : {"affinity", "priorityClassName"})
    if (const json::value* value = fields.if_contains(field)) spec[field] = *value;
}

/// The first container, which is made where there is none.
json::object& container_of(json::object& spec, const std::string& name) {
  json::array& list = array_of(spec, "containers");
  if (list.empty()) list.push_back(json::object{{"name", name}});
  if (!list[0].is_object()) list[0].emplace_object();
  return list[0].get_object();
}

bool is_number(const std::string& name) {
  return !name.empty() && name.find_first_not_of("0123456789") == std::string::npos;
}

/// What stands where an object or a list has to lead to the place; empty: nothing does.
std::string in_the_way(const json::object& whole, const JsonPlace& place) {
  for (std::size_t i = 1; i <= place.size(); ++i) {
    const json::value* at = at_place(whole, std::span(place).first(i));
    const bool list = i < place.size() && is_number(place[i]);
    if (!at || at->is_null() || at->is_object() || (list && at->is_array())) continue;
    return dotted({place.begin(), place.begin() + static_cast<std::ptrdiff_t>(i)}) +
           (list ? " is no list" : " is no object") + "; a start puts node selectors below it";
  }
  return {};
}

/// Nothing but empty lists and objects, and the members that tell an entry from others.
bool is_hollow(const json::value& value,
               const std::vector<std::pair<JsonPlace, JsonPath::One>>& named) {
  if (const json::array* list = value.if_array())
    return std::all_of(list->begin(), list->end(),
                       [&](const json::value& each) { return is_hollow(each, named); });
  const json::object* object = value.if_object();
  if (!object) return value.is_null();
  return std::all_of(object->begin(), object->end(), [&](const auto& member) {
    const auto tells = [&](const auto& each) {
      const auto* text = member.value().if_string();
      return view(member.key()) == each.second.key && text && view(*text) == each.second.text;
    };
    return is_hollow(member.value(), named) || std::any_of(named.begin(), named.end(), tells);
  });
}

}  // namespace

JsonPlace DeclaredJob::template_of(const DeclaredPodSet& declared, const CountScope& outer,
                                   const CountScope& scope, const std::string& who, Reading& out) {
  if (!declared.template_at)
    return declared.pod_template.empty() ? JsonPlace() : joined(scope.place, declared.pod_template);
  const std::string text = text_at(*declared.template_at, scope.element);
  const auto path = text.size() > kLongestPath ? Result<JsonPath>(Error{"it is too long"})
                                               : JsonPath::parse("." + text);
  auto found = path ? path->places(outer.element, outer.place) : std::vector<JsonPath::Found>();
  if (!text.empty() && found.size() == 1) return std::move(found.front().place);
  out.tell(who + ": its template is said to be at \"" + text.substr(0, kLongestPath) + "\" of " +
           (outer.place.empty() ? "the object" : dotted(outer.place)) +
           ", which leads to no place; allowed is a path such as template.spec.template");
  return {};
}

void DeclaredJob::read_requests(const DeclaredPodSet& declared, const CountScope& scope,
                                const std::string& who, Found& into, Reading& out) {
  if (declared.requests_from) {
    const json::value* found = first(*declared.requests_from, scope.element);
    if (!found || !found->is_object())
      return out.tell(who + (found ? ": what its pods ask for is " + to_json(*found)
                                   : ": the object does not say what its pods ask for"));
    for (const auto& [key, value] : found->get_object())
      into.requests.emplace_back(
          view(key), value.is_string() ? std::string(view(value.get_string())) : to_json(value));
  }
  for (const DeclaredRequest& request : declared.requests) {
    std::string resource = request.resource;
    if (request.resource_path) resource = text_at(*request.resource_path, scope.element);
    if (resource.empty()) continue;
    const auto amount = request.amount.value(scope);
    if (!amount || *amount < 0)
      out.tell(who + ": request of " + resource +
               (amount ? " is " + std::to_string(*amount) + "; allowed is a number from 0"
                       : ": " + amount.error().text));
    else
      into.requests.emplace_back(resource, std::to_string(*amount) + request.suffix);
  }
}

void DeclaredJob::read_start(const DeclaredPodSet& declared, const CountScope& outer,
                             const std::string& who, Found& into, Reading& out) {
  into.flat = declared.flat;
  into.start = outer.place;
  for (const JsonPath::One& step : declared.start) {
    const json::value* at = into.start.empty() ? nullptr : at_place(outer.whole, into.start);
    if (step.name == "#") {
      into.start.push_back(
          std::to_string(std::count_if(out.sets.begin(), out.sets.end(), [&](const Found& each) {
            return !each.start.empty() && each.of == outer.place;
          })));
    } else if (step.key.empty()) {
      into.start.push_back(step.name);
    } else {
      const json::array* list = at ? at->if_array() : nullptr;
      std::size_t index = 0;
      const auto is_it = [&](const json::value& each) {
        return each.is_object() && find_text(each.get_object(), step.key) == step.text;
      };
      while (list && index < list->size() && !is_it((*list)[index])) ++index;
      into.start.push_back(std::to_string(index));
      into.named.emplace_back(into.start, step);
    }
  }
  if (std::string why = in_the_way(outer.whole, into.start); !why.empty())
    out.tell(who + ": " + why);
}

/// Of a report that cannot be read, as of one that is not there, none.
std::int32_t DeclaredJob::finished(const DeclaredPodSet& declared, const CountScope& scope,
                                   const JobPodSet& set) {
  if (!declared.finished) return 0;
  CountScope reported = scope;
  for (const json::value* each : declared.reports->find(scope.whole))
    if (const json::object* entry = each->if_object();
        entry && lower_ascii(find_text(*entry, "name")) == set.name)
      reported.report = entry;
  const auto count = declared.finished->value(reported);
  return count ? static_cast<std::int32_t>(std::clamp<std::int64_t>(*count, 0, set.count)) : 0;
}

void DeclaredJob::read_one(const DeclaredPodSet& declared, const CountScope& outer,
                           const CountScope& scope, Reading& out) const {
  Found found;
  found.of = outer.place;
  found.set.name =
      declared.name_is_key ? scope.place.back() : numbered(declared.name, out.sets.size());
  if (declared.name_path) found.set.name = text_at(*declared.name_path, scope.element);
  found.set.name = lower_ascii(found.set.name);
  const std::string who = "pod set " + found.set.name;
  found.pod_template = template_of(declared, outer, scope, who, out);
  const json::value* own =
      found.pod_template.empty() ? nullptr : at_place(scope.whole, found.pod_template);
  if ((!own || own->is_null()) && declared.optional) return;
  found.described = declared.has_requests();
  const bool absent = !own || own->is_null();
  if (absent ? !found.described : !own->is_object())
    out.tell(who + ": " + dotted(found.pod_template) +
             (absent ? " is not there; its pods are described by it" : " is no pod template"));
  if (!declared.start.empty()) {
    read_start(declared, outer, who, found, out);
  } else if (absent) {
    const std::string why = in_the_way(scope.whole, found.pod_template);
    if (!why.empty()) out.tell(who + ": " + why);
  }
  if (declared.count) {
    const auto count = pods(*declared.count, scope, who + ": count");
    found.set.count = count ? *count : 0;
    if (!count) out.tell(count.error().text);
    const JsonPlace place = declared.count->lone_place();
    if (!place.empty()) found.count = joined(scope.place, place);
  }
  if (declared.total) {
    const auto total = pods(*declared.total, scope, who + ": total");
    if (total)
      found.set.total = *total;
    else
      out.tell(total.error().text);
  }
  if (declared.min_count) {
    // What is not there asks for nothing.
    const auto least = declared.min_count->value(scope);
    if (least && *least > 0 && *least < found.set.count)
      found.set.min_count = static_cast<std::int32_t>(*least);
  }
  read_requests(declared, scope, who, found, out);
  found.finished = finished(declared, scope, found.set);
  out.sets.push_back(std::move(found));
}

DeclaredJob::Reading DeclaredJob::read(const json::object& job) const {
  Reading out;
  const auto as_scope = [&](JsonPath::Found& found, auto&& use) {
    if (out.sets.size() > kMostPodSets) return;
    if (const json::object* element = found.value->if_object())
      use(CountScope{job, *element, std::move(found.place)});
    else
      out.tell(dotted(found.place) + " is " + to_json(*found.value) + "; allowed is an object");
  };
  for (const DeclaredPodSet& declared : pod_sets_) {
    const auto below = [&](const CountScope& outer) {
      if (declared.unless && first(*declared.unless, outer.element)) return;
      if (!declared.each) return read_one(declared, outer, outer, out);
      for (JsonPath::Found& each : declared.each->places(outer.element, outer.place))
        as_scope(each, [&](const CountScope& inner) { read_one(declared, outer, inner, out); });
    };
    if (!declared.for_each) {
      below({job, job, {}});
      continue;
    }
    for (JsonPath::Found& each : declared.for_each->places(job)) as_scope(each, below);
  }
  if (out.sets.size() > kMostPodSets)
    out.problem = "it has more than " + std::to_string(kMostPodSets) +
                  " pod sets; so many at most can be queued";
  if (out.sets.empty()) out.tell("it has no pod set");
  std::set<std::string_view> names;
  for (const Found& each : out.sets)
    if (out.problem.empty() && (each.set.name.empty() || !names.insert(each.set.name).second))
      out.problem = each.set.name.empty() ? "a pod set has no name"
                                          : "two pod sets have the name " + each.set.name;
  return out;
}

std::vector<JobPodSet> DeclaredJob::pod_sets(const json::object& job) const {
  std::vector<JobPodSet> out;
  for (Found& each : read(job).sets) out.push_back(std::move(each.set));
  return out;
}

json::object* DeclaredJob::pod_template(json::object& job, std::size_t i) const {
  const Reading reading = read(job);
  if (i >= reading.sets.size() || reading.sets[i].pod_template.empty()) return nullptr;
  json::value* own = at_place(job, reading.sets[i].pod_template);
  return own ? own->if_object() : nullptr;
}

std::string DeclaredJob::template_path(const json::object& job, std::size_t i) const {
  const Reading reading = read(job);
  if (i >= reading.sets.size()) return "spec";
  const Found& found = reading.sets[i];
  return dotted(found.pod_template.empty() ? found.start : found.pod_template);
}

const json::object* DeclaredJob::described(json::object& job, std::size_t i,
                                           json::object& made) const {
  const Reading reading = read(job);
  if (i >= reading.sets.size()) return nullptr;
  const Found& found = reading.sets[i];
  const auto object_at = [&](const JsonPlace& place) {
    const json::value* there = place.empty() ? nullptr : at_place(std::as_const(job), place);
    return there ? there->if_object() : nullptr;
  };
  const json::object* own = object_at(found.pod_template);
  const json::object* fields = found.flat ? object_at(found.start) : nullptr;
  if (!own && !found.described) return nullptr;
  if (!fields && !found.described) return own;
  made = own ? *own : json::object();
  if (fields) merge_fields(made, *fields);
  json::object& spec = object_of(made, "spec");
  if (!found.described) return &made;
  json::object& container = container_of(spec, found.set.name);
  json::object& requests = object_of(object_of(container, "resources"), "requests");
  for (const auto& [resource, quantity] : found.requests)
    requests[json_view(resource)] = json_view(quantity);
  return &made;
}

std::optional<StartPlace> DeclaredJob::start_place(json::object& job, std::size_t i) const {
  const Reading reading = read(job);
  if (i >= reading.sets.size() || !reading.problem.empty()) return std::nullopt;
  const Found& found = reading.sets[i];
  if (found.start.empty()) {
    if (found.described) make_place(job, found.pod_template);
    return JobKind::start_place(job, i);
  }
  json::object* holder = make_place(job, found.start);
  if (!holder) return std::nullopt;
  for (const auto& [place, step] : found.named)
    if (json::object* entry = make_place(job, place)) (*entry)[step.key] = step.text;
  holder = make_place(job, found.start);  // it may have moved
  if (found.flat) return StartPlace{*holder, *holder};
  object_of(*holder, "spec");
  object_of(*holder, "metadata");
  return StartPlace{*find_object(*holder, "spec"), *find_object(*holder, "metadata")};
}

void DeclaredJob::tidy_start(json::object& job, std::size_t i) const {
  const Reading reading = read(job);
  if (i >= reading.sets.size()) return;
  const Found& found = reading.sets[i];
  if (found.start.empty()) JobKind::tidy_start(job, i);
  // What was made goes: a list with all that leads on from it, or a template that was not there.
  std::span<const std::string> place(found.start);
  auto index = place.end();
  if (!found.start.empty()) {
    const auto own_steps = place.begin() + static_cast<std::ptrdiff_t>(found.of.size());
    index = std::find_if(own_steps, place.end(), is_number);
    if (index == place.end()) return;
  } else if (found.described) {
    place = found.pod_template;
    index = place.end();
  }
  const auto upto = static_cast<std::size_t>(index - place.begin());
  if (upto == 0) return;
  place = place.first(upto);
  json::value* own = at_place(job, place);
  if (!own) return;
  if (!found.named.empty() && own->is_array()) {
    const auto entry = static_cast<std::ptrdiff_t>(std::stoul(*index));
    json::array& list = own->get_array();
    if (entry < static_cast<std::ptrdiff_t>(list.size()) &&
        is_hollow(list[static_cast<std::size_t>(entry)], found.named))
      list.erase(list.begin() + entry);
  }
  if (!is_hollow(*own, found.named)) return;
  if (json::object* holder = make_place(job, place.first(upto - 1)))
    holder->erase(json_view(place.back()));
}

}  // namespace sluice::api
