#include "tests/crash/history_actor.hpp"

#include <fmt/format.h>

#include <boost/json/serialize.hpp>

#include "api/json/json.hpp"
#include "host/objects/parts.hpp"
#include "tests/crash/objects.hpp"

namespace sluice::host::test {
namespace {

namespace json = boost::json;
using Type = Operation::Type;

constexpr int kObjects = 3;

std::string path_of(const std::string& name) {
  return std::string(collection(Kind::kConfigMap)) + "/" + name;
}

/// What an answer says; of one that broke off nothing is known.
void take(const Answer& answer, Operation& operation) {
  operation.status = answer.status;
  if (!is_done(operation)) return;
  const json::object body = parse_object(answer.body);
  if (body.empty()) {
    operation.status = 0;
    return;
  }
  operation.uid = api::find_text(part(body, "metadata"), "uid");
  if (operation.type == Type::kDelete) {
    if (operation.uid.empty()) operation.uid = api::find_text(part(body, "details"), "uid");
    return;
  }
  const SeenObject object = seen(Kind::kConfigMap, body);
  operation.version = object.version;
  if (operation.type == Type::kRead) operation.mark = object.mark.value_or("torn");
}

}  // namespace

void Actor::act(int operations, Findings& findings) {
  for (int i = 0; i < operations && connect(); ++i) {
    const std::string name = fmt::format("o-{}", random_() % kObjects);
    Operation operation = draw(name, i);
    host_.step();
    operation.called = now();
    const Answer answer = send(name, operation);
    operation.answered = now();
    host_.step();
    take(answer, operation);
    if (operation.status == 0) {
      client_.reset();
      const auto end = host_.end_of(run_.number);
      if (!end) {
        findings.add(fmt::format("{} was not answered, and nobody killed the host", name));
        break;
      }
      operation.answered = *end;
    }
    if (is_done(operation) && operation.version != 0) known_[name] = operation.version;
    done_[name].push_back(std::move(operation));
  }
  host_.leave();
}

/// False: there is no host any more.
bool Actor::connect() {
  if (client_) return true;
  const auto run = host_.run();
  if (!run) return false;
  run_ = *run;
  client_.emplace(run_.port, run_.token);
  return true;
}

Operation Actor::draw(const std::string& name, int number) {
  Operation out;
  out.mark = fmt::format("{}-{}", number_, number);
  const auto draw = random_() % 100;
  out.type = draw < 20   ? Type::kCreate
             : draw < 50 ? Type::kRead
             : draw < 90 ? Type::kUpdate
                         : Type::kDelete;
  if (out.type == Type::kUpdate && known_.contains(name) && random_() % 3 != 0)
    out.expected = known_[name];
  return out;
}

Answer Actor::send(const std::string& name, const Operation& operation) {
  NewObject object;
  object.name = name;
  object.mark = operation.mark;
  switch (operation.type) {
    case Type::kCreate:
      return client_->send("POST", collection(Kind::kConfigMap), to_json(object));
    case Type::kRead:
      return client_->get(path_of(name));
    case Type::kDelete:
      return client_->send("DELETE", path_of(name), "{}");
    case Type::kUpdate:
      break;
  }
  if (operation.expected == 0)
    return client_->send("PATCH", path_of(name), patch_of(Kind::kConfigMap, operation.mark),
                         "application/merge-patch+json");
  json::object body = parse_object(to_json(object));
  body["metadata"].as_object()["resourceVersion"] = std::to_string(operation.expected);
  return client_->send("PUT", path_of(name), json::serialize(body));
}

}  // namespace sluice::host::test
