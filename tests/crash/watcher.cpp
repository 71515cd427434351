#include "tests/crash/watcher.hpp"

#include <fmt/format.h>

#include <boost/json/serialize.hpp>
#include <cstdlib>

#include "api/json/json.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host::test {

namespace json = boost::json;

bool Watcher::reached(std::uint64_t version) const {
  const std::lock_guard lock(mutex_);
  return last_ >= version;
}

std::map<std::string, std::uint64_t> Watcher::state() const {
  const std::lock_guard lock(mutex_);
  return objects_;
}

std::uint64_t Watcher::last() const {
  const std::lock_guard lock(mutex_);
  return last_;
}

std::uint64_t Watcher::events() const {
  const std::lock_guard lock(mutex_);
  return events_;
}

void Watcher::check(const std::vector<Acknowledged>& writes, Findings& findings) const {
  const std::lock_guard lock(mutex_);
  for (const Acknowledged& write : writes) {
    if (write.kind != kind_ || write.version <= since_ || write.version > last_) continue;
    const auto found = seen_.find(write.version);
    if (found == seen_.end() || found->second != write.name)
      findings.add(fmt::format("version {} of {} was acknowledged and never watched", write.version,
                               write.name));
  }
}

bool Watcher::list(AdminClient& client, Findings& findings) {
  const Answer answer = client.get(collection(kind_));
  const json::object body = parse_object(answer.body);
  if (answer.status == 0 || body.empty()) return false;
  if (answer.status != 200) {
    findings.add(fmt::format("a list was answered {} {}", answer.status, answer.body));
    return false;
  }
  const std::lock_guard lock(mutex_);
  const std::uint64_t version = version_of(body);
  if (version < last_)
    findings.add(fmt::format("a list has version {} after {} was watched", version, last_));
  since_ = last_ = version;
  listed_ = true;
  objects_.clear();
  seen_.clear();
  for_each_object(body, "items", [&](const json::object& item) {
    const SeenObject object = seen(kind_, item);
    objects_[object.name] = object.version;
    if (object.version > version)
      findings.add(fmt::format("a list of version {} holds {} of version {}", version, object.name,
                               object.version));
  });
  return true;
}

void Watcher::change(const std::string& type, const json::object& object, Findings& findings) {
  const SeenObject now = seen(kind_, object);
  const auto before = objects_.find(now.name);
  if (now.version <= last_)
    findings.add(fmt::format("watched version {} of {} after {}", now.version, now.name, last_));
  if (!now.mark) findings.add(fmt::format("a part of {} was watched", now.name));
  if ((type == "ADDED") != (before == objects_.end()))
    findings.add(fmt::format("{} of {} which {}", type, now.name,
                             before == objects_.end() ? "was not there" : "was there"));
  if (type == "DELETED") {
    if (before != objects_.end()) objects_.erase(before);
  } else {
    objects_[now.name] = now.version;
  }
  seen_[now.version] = now.name;
  last_ = now.version;
  ++events_;
}

/// False: the history is gone.
bool Watcher::take(const json::object& event, Findings& findings) {
  const std::lock_guard lock(mutex_);
  const std::string type(api::find_text(event, "type"));
  const json::object& object = part(event, "object");
  if (type == "ERROR") {
    if (api::find_int(object, "code").value_or(0) != 410)
      findings.add("a watch ended with " + json::serialize(object));
    listed_ = false;
    ++expired;
    return false;
  }
  if (type == "BOOKMARK") {
    const std::uint64_t version = version_of(object);
    if (version < last_)
      findings.add(fmt::format("a bookmark of version {} after {}", version, last_));
    last_ = version;
  } else {
    change(type, object, findings);
  }
  return true;
}

void Watcher::follow(const HostProcess& host, Findings& findings) {
  for (bool fresh = true;; fresh = false) {
    AdminClient client(host);
    const bool resumes = fresh && listed_;
    if (!listed_ && !list(client, findings)) return;
    client.raw().send(
        fmt::format("GET {}?watch=1&allowWatchBookmarks=true&resourceVersion={} "
                    "HTTP/1.1\r\nHost: localhost\r\n{}\r\n",
                    collection(kind_), last(), client.headers()));
    const Answer head = client.raw().read_head();
    if (head.status == 0) return;
    if (head.status != 200 && head.status != 410) {
      findings.add(fmt::format("a watch was answered {}", head.status));
      return;
    }
    if (head.status == 410) {
      listed_ = false;
      ++expired;
      continue;
    }
    bool any = false;
    std::string text;
    for (bool more = true; more;) {
      const std::string chunk = client.raw().read_chunk();
      if (chunk.empty()) return;
      text += chunk;
      for (std::size_t end = 0; more && (end = text.find('\n')) != std::string::npos;) {
        const std::string line = text.substr(0, end);
        text.erase(0, end + 1);
        more = take(parse_object(line), findings);
        if (more && resumes && !any) ++resumed;
        any = true;
      }
    }
  }
}

}  // namespace sluice::host::test
