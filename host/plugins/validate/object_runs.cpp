#include "host/plugins/validate/hook_runs.hpp"
#include "host/plugins/validate/own_kinds.hpp"
#include "sluice/cpp/json.hpp"

namespace sluice::host {

namespace {

const sluice_validator_t* validator_of(const TestInstance& instance) {
  return instance.table<sluice_validator_t>(SLUICE_EXT_VALIDATOR);
}

sluice_write_t write_of(std::int32_t operation, const OwnObject& object, std::string_view now,
                        std::string_view before) {
  return {sizeof(sluice_write_t), operation,   abi_of(object.api_version),
          abi_of(object.kind),    abi_of(now), abi_of(before),
          abi_of("somebody")};
}

struct Answered {
  std::int32_t code = SLUICE_OK;
  std::string object;  ///< what set_defaults gave back
};

Answered set_defaults(TestInstance& instance, const sluice_write_t& write) {
  const sluice_validator_t* validator = validator_of(instance);
  if (!SLUICE_HAS(validator, set_defaults) || validator->set_defaults == nullptr) return {};
  Answered out;
  const sluice_sink_t sink = sink_of(out.object);
  const Asking asking("validator.set_defaults", shown_bytes(view_of(write.object)));
  out.code =
      instance.writing([&] { return validator->set_defaults(instance.self, &write, &sink); });
  if (document_problem(out.object) != nullptr) text_of(abi_of(out.object));
  return out;
}

std::int32_t validate(TestInstance& instance, const sluice_write_t& write) {
  const sluice_field_error_sink_t errors{
      sizeof(sluice_field_error_sink_t), 0, nullptr,
      [](void*, std::int32_t, sluice_str_t path, sluice_str_t value, sluice_str_t detail) {
        for (const sluice_str_t text : {path, value, detail}) text_of(text);
      }};
  const Asking asking("validator.validate",
                      shown_bytes(view_of(write.object.len > 0 ? write.object : write.old)));
  return instance.writing(
      [&] { return validator_of(instance)->validate(instance.self, &write, &errors); });
}

void expect_answer(const TestInstance& instance, const std::string& hook, std::int32_t code,
                   const std::string& of) {
  expect(code == SLUICE_OK, hook + " answered " + std::to_string(code) + " to the " + of +
                                ", which its schema takes: " + instance.side.take_fault_text());
}

/// The object with its defaults. They may be set again, and then change nothing.
std::string defaulted(TestInstance& instance, const OwnKinds& kinds, const OwnObject& object) {
  std::string now = object.text;
  for (const bool again : {false, true}) {
    const sluice_write_t write = write_of(SLUICE_WRITE_CREATE, object, now, "");
    const Answered answer = set_defaults(instance, write);
    expect_answer(instance, "set_defaults", answer.code, "creation of a " + object.kind);
    if (answer.object.empty()) break;
    const std::string mistakes = kinds.mistakes(answer.object);
    expect(mistakes.empty(), "the defaults of a " + object.kind + " break its schema: " + mistakes);
    expect(!again || Json::parse(answer.object) == Json::parse(now),
           "set_defaults changes a " + object.kind + " that has its defaults");
    now = answer.object;
  }
  return now;
}

}  // namespace

void feed_validator_garbage(TestInstance& instance, std::string_view object) {
  if (validator_of(instance) == nullptr) return;
  const OwnObject workload{"kueue.x-k8s.io/v1beta2", "Workload", "", "", ""};
  const sluice_write_t write = write_of(SLUICE_WRITE_UPDATE, workload, object, object);
  set_defaults(instance, write);
  validate(instance, write);
}

void drive_validator(TestInstance& instance) {
  const OwnKinds kinds(instance);
  for (const JudgedKind& kind : validated_kinds(instance)) {
    kinds.expect_possible(kind);
    for (const OwnObject& object : kinds.objects_of(kind.group_kind)) {
      const std::string now = defaulted(instance, kinds, object);
      for (const auto& [operation, after, before, of] :
           {std::tuple{SLUICE_WRITE_CREATE, std::string_view(now), std::string_view(), "creation"},
            std::tuple{SLUICE_WRITE_UPDATE, std::string_view(now), std::string_view(now), "update"},
            std::tuple{SLUICE_WRITE_DELETE, std::string_view(), std::string_view(now),
                       "deletion"}}) {
        const std::int32_t code = validate(instance, write_of(operation, object, after, before));
        expect_answer(instance, "validate", code, std::string(of) + " of a " + object.kind);
      }
    }
  }
}

bool drive_controller(TestInstance& instance, HostAge age) {
  const OwnKinds kinds(instance);
  std::string text;
  std::vector<OwnObject> objects;
  for (const PluginObjectRef& kind : watched_kinds(instance, text))
    for (OwnObject& each : kinds.objects(kind.api_version, kind.kind))
      objects.push_back(std::move(each));
  testing::FakeObjects& stored = instance.memory.objects();
  for (const OwnObject& each : objects)
    if (stored.find(each.kind, each.ns, each.name) == nullptr) stored.put(each.text);
  const std::int64_t before = stored.writes();
  // One that refers to others may fail for want of them; what counts is that it comes to rest.
  for (const OwnObject& each : objects) reconcile(instance, each.ref(), age);
  return stored.writes() != before;
}

}  // namespace sluice::host
