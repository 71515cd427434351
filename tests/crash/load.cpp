#include "tests/crash/load.hpp"

#include <fmt/format.h>

#include <boost/json/serialize.hpp>

namespace sluice::host::test {
namespace {

constexpr std::size_t kObjectsPerKind = 6;
constexpr const char* kMergePatch = "application/merge-patch+json";

}  // namespace

std::string Load::next_mark() { return fmt::format("c{}-{}", number_, ++marks_); }

bool Load::is_deleted(const std::string& job) const {
  const auto kind = objects_.find(Kind::kJob);
  if (kind == objects_.end()) return true;
  const auto found = kind->second.find(job);
  return found == kind->second.end() || !found->second.told;
}

void Load::run(const HostProcess& host, Findings& findings) {
  AdminClient client(host);
  jobs_left_ = 1;
  while (step(client, findings)) {
  }
}

Kind Load::pick_kind() {
  const auto draw = random_() % 100;
  if (draw < 50) return Kind::kConfigMap;
  if (draw < 60) return Kind::kFlavor;
  if (draw < 70) return Kind::kLocalQueue;
  return draw < 90 ? Kind::kWorkload : Kind::kJob;
}

bool Load::step(AdminClient& client, Findings& findings) {
  const Kind kind = pick_kind();
  std::vector<std::string> present;
  for (const auto& [name, expected] : objects_[kind])
    if (expected.told) present.push_back(name);
  const bool may_create = kind == Kind::kJob ? jobs_left_ > 0 : present.size() < kObjectsPerKind;
  if (present.empty() || (may_create && one_in(3)))
    return may_create ? create(client, kind, findings) : true;
  const std::string name = present[random_() % present.size()];
  // Most jobs are left to run; deleting one is the rare case.
  if (one_in(kind == Kind::kJob ? 30 : 5)) return remove(client, kind, name, findings);
  if (one_in(2)) return replace(client, kind, name, findings);
  return patch(client, kind, name, findings);
}

/// Notes what was acknowledged. False: there was no answer.
bool Load::answered(const Answer& answer, Kind kind, const std::string& name, Findings& findings) {
  Expected& expected = objects_[kind][name];
  const boost::json::object body = parse_object(answer.body);
  if (answer.status == 0 || body.empty()) {
    ++counts_.unanswered;
    return false;
  }
  const Mark written = *std::exchange(expected.unknown, std::nullopt);
  if (answer.status < 200 || answer.status > 299) {
    ++counts_.refused;
    if (answer.status != 409 && answer.status != 404)
      findings.add(fmt::format("{} was answered {} {}", name, answer.status, answer.body));
    return true;
  }
  ++counts_.acknowledged;
  expected.told = written;
  expected.version = 0;
  if (!written) return true;
  const SeenObject object = seen(kind, body);
  if (object.mark != written)
    findings.add(fmt::format("the answer for {} does not hold {}", name, *written));
  if (object.version <= last_version_)
    findings.add(fmt::format("{} got version {} after {}", name, object.version, last_version_));
  expected.version = last_version_ = object.version;
  acknowledged_.push_back({kind, object.name, object.version});
  return true;
}

bool Load::create(AdminClient& client, Kind kind, Findings& findings) {
  NewObject object;
  object.kind = kind;
  // Names of what has no finalizers come back, those of the others are new each time.
  const bool again = kind == Kind::kConfigMap;
  object.name = again ? fmt::format("cm-{}-{}", number_, random_() % kObjectsPerKind)
                      : fmt::format("o-{}-{}", number_, ++names_);
  if (objects_[kind][object.name].told) return true;
  object.mark = next_mark();
  object.priority = static_cast<int>(random_() % 4);
  object.pods = one_in(4) ? 2 : 1;
  object.runs = runs_;
  object.seconds = fmt::format("0.{}", random_() % 4);
  if (kind == Kind::kJob) {
    --jobs_left_;
    jobs_[object.name] = object.pods;
  }
  objects_[kind][object.name].unknown = Mark(object.mark);
  return answered(client.send("POST", collection(kind), to_json(object)), kind, object.name,
                  findings);
}

bool Load::patch(AdminClient& client, Kind kind, const std::string& name, Findings& findings) {
  const std::string mark = next_mark();
  objects_[kind][name].unknown = Mark(mark);
  return answered(client.send("PATCH", fmt::format("{}/{}", collection(kind), name),
                              patch_of(kind, mark), kMergePatch),
                  kind, name, findings);
}

bool Load::replace(AdminClient& client, Kind kind, const std::string& name, Findings& findings) {
  const std::string path = fmt::format("{}/{}", collection(kind), name);
  const Answer found = client.get(path);
  boost::json::object object = parse_object(found.body);
  if (found.status == 0 || object.empty()) return false;
  if (found.status != 200 || seen(kind, object).mark != objects_[kind][name].told) {
    findings.add(fmt::format("{} is {} {}, not {}", name, found.status, found.body,
                             *objects_[kind][name].told));
    return true;
  }
  const std::string mark = next_mark();
  set_mark(kind, mark, object);
  objects_[kind][name].unknown = Mark(mark);
  return answered(client.send("PUT", path, boost::json::serialize(object)), kind, name, findings);
}

bool Load::remove(AdminClient& client, Kind kind, const std::string& name, Findings& findings) {
  objects_[kind][name].unknown = Mark();
  const char* const background = R"({"propagationPolicy":"Background"})";
  return answered(client.send("DELETE", fmt::format("{}/{}", collection(kind), name), background),
                  kind, name, findings);
}

void Load::check(Kind kind, const std::map<std::string, SeenObject>& objects, Findings& findings) {
  const std::string mine = fmt::format("{}-{}-", kind == Kind::kConfigMap ? "cm" : "o", number_);
  for (const auto& [name, object] : objects)
    if (name.starts_with(mine) && !objects_[kind].contains(name))
      findings.add(fmt::format("{} exists and was never written", name));
  for (auto& [name, expected] : objects_[kind]) {
    const auto at = objects.find(name);
    const bool there = at != objects.end() && !at->second.deleting;
    const Mark found = there ? at->second.mark : Mark();
    if (there && !found) {
      findings.add(fmt::format("{} is partly of one write and partly of another", name));
      continue;
    }
    if (found == expected.told && (!expected.unknown || *expected.unknown != found)) {
      if (there && at->second.version < expected.version)
        findings.add(
            fmt::format("{} has version {} after {}", name, at->second.version, expected.version));
      if (there && kind == Kind::kConfigMap && expected.version != 0 &&
          at->second.version != expected.version)
        findings.add(fmt::format("{} has version {}, and nobody wrote it after {}", name,
                                 at->second.version, expected.version));
    } else if (expected.unknown && found == *expected.unknown) {
      ++counts_.unanswered_and_done;
      if (there && at->second.version <= last_version_)
        findings.add(
            fmt::format("{} got version {} after {}", name, at->second.version, last_version_));
    } else {
      findings.add(
          fmt::format("{} is {}, acknowledged was {}, without an answer was {}", name,
                      found.value_or("absent"), expected.told.value_or("absent"),
                      expected.unknown ? expected.unknown->value_or("absent") : "nothing"));
    }
    expected.told = found;
    expected.version = there ? at->second.version : 0;
    expected.unknown.reset();
  }
}

}  // namespace sluice::host::test
