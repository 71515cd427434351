#include "tests/crash/history_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/json/json.hpp"
#include "host/objects/parts.hpp"
#include "tests/crash/objects.hpp"

namespace sluice::host::test {
namespace {

namespace json = boost::json;

WatchedState state_of(const SeenObject& object, const json::object& body, bool exists) {
  return {object.version, exists, std::string(api::find_text(part(body, "metadata"), "uid")),
          object.mark.value_or("torn")};
}

Operation read_of(const Operation& list, const WatchedState* state) {
  Operation out = list;
  out.status = state == nullptr ? 404 : 200;
  if (state == nullptr) return out;
  out.version = state->version;
  out.uid = state->uid;
  out.mark = state->mark;
  return out;
}

/// Where both have a gap.
std::vector<Gap> common(const std::vector<Gap>& one, const std::vector<Gap>& other) {
  std::vector<Gap> out;
  for (const Gap& a : one)
    for (const Gap& b : other)
      if (const Gap both{std::max(a.after, b.after), std::min(a.upto, b.upto)};
          both.after < both.upto)
        out.push_back(both);
  return out;
}

}  // namespace

void HistoryWatch::follow(Findings& findings) {
  while (!ended_) {
    const auto run = host_.run();
    if (!run) return;
    new_run_ = run->number != std::exchange(run_, run->number);
    AdminClient client(run->port, run->token);
    Outcome outcome = connect(client, findings);
    if (outcome == Outcome::kExpired) {
      if (!new_run_) return findings.add("a watch was told to list again, and nobody crashed");
      AdminClient lister(run->port, run->token);
      outcome = list(lister, findings) ? Outcome::kCut : Outcome::kBroken;
    }
    if (outcome == Outcome::kBroken && !host_.end_of(run->number))
      return findings.add("a watch ended, and nobody killed the host");
  }
}

HistoryWatch::Outcome HistoryWatch::connect(AdminClient& client, Findings& findings) {
  client.raw().send(
      fmt::format("GET {}?watch=1&allowWatchBookmarks=true&resourceVersion={} "
                  "HTTP/1.1\r\nHost: localhost\r\n{}\r\n",
                  collection(Kind::kConfigMap), version_, client.headers()));
  const Answer head = client.raw().read_head();
  if (head.status == 410) return Outcome::kExpired;
  if (head.status == 0) return Outcome::kBroken;
  if (head.status != 200) findings.add(fmt::format("a watch was answered {}", head.status));
  return take(client, findings);
}

HistoryWatch::Outcome HistoryWatch::take(AdminClient& client, Findings& findings) {
  std::string text;
  const std::size_t until = events_.size() + 1 + random_() % most_;
  while (true) {
    const std::string chunk = client.raw().read_chunk();
    if (chunk.empty()) return Outcome::kBroken;
    text += chunk;
    for (std::size_t end = 0; (end = text.find('\n')) != std::string::npos;) {
      const Outcome outcome = take(text.substr(0, end), findings);
      if (outcome != Outcome::kCut) return outcome;
      if (std::exchange(new_run_, false)) ++resumed_;
      if (ended_ || events_.size() == until) return Outcome::kCut;
      text.erase(0, end + 1);
    }
  }
}

HistoryWatch::Outcome HistoryWatch::take(const std::string& line, Findings& findings) {
  const json::object event = parse_object(line);
  const std::string type(api::find_text(event, "type"));
  const json::object& object = part(event, "object");
  if (type == "ERROR") {
    if (api::find_int(object, "code").value_or(0) == 410) return Outcome::kExpired;
    findings.add("a watch was told " + line);
    return Outcome::kBroken;
  }
  const SeenObject found = seen(Kind::kConfigMap, object);
  const bool is_event = type != "BOOKMARK";
  if (found.version < version_ || (is_event && found.version == version_))
    findings.add(
        fmt::format("{} of version {} was watched after {}", type, found.version, version_));
  version_ = found.version;
  if (is_event) change(type, found.name, state_of(found, object, type != "DELETED"), findings);
  return Outcome::kCut;
}

void HistoryWatch::change(const std::string& type, const std::string& name, WatchedState state,
                          Findings& findings) {
  const char* expected = !state.exists ? "DELETED" : objects_.contains(name) ? "MODIFIED" : "ADDED";
  if (type != expected || (!state.exists && !objects_.contains(name)))
    findings.add(fmt::format("{} of version {} was watched as {}", name, state.version, type));
  if (state.exists)
    objects_[name] = state;
  else
    objects_.erase(name);
  ended_ = name == kEnd;
  events_[state.version] = {name, std::move(state)};
}

/// False: the connection broke.
bool HistoryWatch::list(AdminClient& client, Findings& findings) {
  Operation list;
  list.called = now();
  const Answer answer = client.get(collection(Kind::kConfigMap));
  list.answered = now();
  const json::object body = parse_object(answer.body);
  if (answer.status == 0 || body.empty()) return false;
  const std::uint64_t version = version_of(body);
  if (version <= version_)
    findings.add(fmt::format("a list of version {}, though {} was watched", version, version_));
  std::map<std::string, WatchedState> objects;
  for_each_object(body, "items", [&](const json::object& item) {
    const SeenObject object = seen(Kind::kConfigMap, item);
    objects[object.name] = state_of(object, item, true);
  });
  for (const auto& [name, state] : objects_)
    if (!objects.contains(name)) reads_[name].push_back(read_of(list, nullptr));
  for (const auto& [name, state] : objects) reads_[name].push_back(read_of(list, &state));
  ended_ = objects.contains(kEnd);
  objects_ = std::move(objects);
  gaps_.push_back({std::exchange(version_, version), version});
  return true;
}

Watched unite(const std::vector<HistoryWatch>& watches, Findings& findings) {
  Watched out;
  std::map<std::uint64_t, HistoryEvent> all;
  for (const HistoryWatch& watch : watches) {
    all.insert(watch.events().begin(), watch.events().end());
    out.gaps = &watch == &watches.front() ? watch.gaps() : common(out.gaps, watch.gaps());
  }
  for (const HistoryWatch& watch : watches) {
    for (const auto& [version, event] : all) {
      const auto found = watch.events().find(version);
      const bool there = found != watch.events().end();
      if (there ? found->second != event : !is_in(watch.gaps(), version))
        findings.add(fmt::format("version {} of {} was watched by one watch, and {} by another",
                                 version, event.name, there ? "otherwise" : "not"));
    }
  }
  for (auto& [version, event] : all) out.states[event.name].push_back(std::move(event.state));
  return out;
}

}  // namespace sluice::host::test
