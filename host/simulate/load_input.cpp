#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "api/json/json.hpp"
#include "host/base/progress.hpp"
#include "host/objects/kinds.hpp"
#include "host/simulate/checks.hpp"
#include "host/simulate/input.hpp"
#include "host/simulate/preparing.hpp"
#include "host/simulate/story.hpp"
#include "host/simulate/timeline_reader.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr std::string_view kUidPrefix = "00000000-0000-4000-8000-";

// A workload whose priority is that of a class must wait until all classes were read.
bool needs_class(const api::KindInfo& kind, const json::object& object) {
  if (!is_workload(kind)) return false;
  const auto* spec = api::find_object(object, "spec");
  if (!spec) return false;
  if (const auto* priority = api::find(*spec, "priority"); priority && !priority->is_null())
    return false;
  return api::find_object(*spec, "priorityClassRef") ||
         !api::find_text(*spec, "priorityClassName").empty();
}

// Takes documents one after the other. Objects are prepared in batches, by all workers; so mistakes
// are told when it is known what came before them.
class InputLoader final : private TimelineTaker {
 public:
  InputLoader(Intake& intake, Workers& workers)
      : intake_(intake), preparing_(intake, workers), timelines_(intake.scheme(), *this) {}

  Result<void> take(Document&& document);
  /// Prepares what was taken; whether there are more mistakes than are told.
  bool settle();
  Result<SimulationInput> finish();

 private:
  /// Where an object goes when it is prepared.
  struct Slot {
    bool event;  ///< into input_.events, else into input_.objects
    std::size_t index;
    const api::KindInfo* kind;
  };
  struct Waiting {
    json::object object;
    Slot slot;
  };
  /// Not told yet; `after` so many objects of the batch.
  struct Mistake {
    std::size_t after;
    PlaceRef place;
    std::string field, text;
  };

  void fail(PlaceRef ref, std::string_view field, const std::string& text) override;
  void warn(PlaceRef ref, std::string_view field, const std::string& text) override;
  void take_apply(TimelineEvent event, json::object& object) override;
  void take_event(TimelineEvent event) override;
  bool full() const override { return errors_.size() + mistakes_.size() >= kMaxMistakes; }

  void tell(PlaceRef ref, std::string_view field, const std::string& text);
  bool told_enough() const { return errors_.size() >= kMaxMistakes; }
  const api::KindInfo* kind_of(PlaceRef ref, std::string_view field, const json::object& object);
  void take_object(PlaceRef ref, json::object& object);
  void prepare_in_turn(const Slot& slot, json::object& object);
  void prepare(const Slot& slot, json::object& object);
  void prepared(const Slot& slot, const json::object& given,
                const std::vector<api::Problem>& problems, PreparedObject&& out);
  void note_uid(const PreparedObject& object);
  void note_times(const PreparedObject& object);
  void warn_of_all();
  void give_name(const api::KindInfo& kind, json::object& object, std::optional<Duration> at);

  Intake& intake_;
  Preparing preparing_;
  TimelineReader timelines_;
  std::vector<Slot> slots_;        // of the batch
  std::vector<Mistake> mistakes_;  // among the batch
  SimulationInput input_;
  Time newest_ = 0;  // of the conditions of workloads in the manifests
  std::uint32_t order_ = 0;
  std::vector<Waiting> waiting_;
  std::map<std::string, std::size_t> unknown_kinds_;
  std::map<std::string, std::size_t> generated_names_;  // of the same beginning
  std::vector<std::string> errors_;
};

void InputLoader::fail(PlaceRef ref, std::string_view field, const std::string& text) {
  mistakes_.push_back({slots_.size(), ref, std::string(field), text});
}

void InputLoader::tell(PlaceRef ref, std::string_view field, const std::string& text) {
  if (told_enough()) return;
  errors_.push_back(input_.places.text(ref, field) + ": " + text);
}

const api::KindInfo* InputLoader::kind_of(PlaceRef ref, std::string_view field,
                                          const json::object& object) {
  const std::string_view version = api::find_text(object, "apiVersion");
  const std::string_view kind = api::find_text(object, "kind");
  if (version.empty() || kind.empty()) {
    fail(ref, field,
         fmt::format("the object has no {}; every object names its apiVersion and kind",
                     version.empty() ? "apiVersion" : "kind"));
    return nullptr;
  }
  const auto* info = intake_.scheme().find(version, kind);
  if (info && !info->is_followed_only()) return info;
  ++unknown_kinds_[fmt::format("{} {}", version, kind)];
  return nullptr;
}

void InputLoader::prepare_in_turn(const Slot& slot, json::object& object) {
  if (needs_class(*slot.kind, object))
    waiting_.push_back({json::object(object, json::storage_ptr()), slot});
  else
    prepare(slot, object);
}

/// Later, with others.
void InputLoader::prepare(const Slot& slot, json::object& object) {
  slots_.push_back(slot);
  preparing_.add(*slot.kind, std::move(object));
  if (preparing_.full()) settle();
}

void InputLoader::prepared(const Slot& slot, const json::object& given,
                           const std::vector<api::Problem>& problems, PreparedObject&& out) {
  const PlaceRef ref =
      slot.event ? input_.events[slot.index].place : input_.objects[slot.index].place;
  const std::string_view field = slot.event ? "apply" : "";
  const auto* metadata = api::find_object(given, "metadata");
  for (const auto& problem : problems) {
    const std::string path = field.empty() || problem.field.empty()
                                 ? std::string(field) + problem.field
                                 : fmt::format("{}.{}", field, problem.field);
    tell(ref, path,
         fmt::format("{} {}: {}", slot.kind->kind,
                     metadata ? api::find_text(*metadata, "name") : "", problem.text()));
  }
  if (!problems.empty()) return;
  note_uid(out);
  if (!slot.event) note_times(out);
  (slot.event ? input_.events[slot.index].object : input_.objects[slot.index].object) =
      std::move(out);
}

bool InputLoader::settle() {
  auto mistake = mistakes_.begin();
  const auto tell_those_before = [&](std::size_t number) {
    for (; mistake != mistakes_.end() && mistake->after <= number; ++mistake)
      tell(mistake->place, mistake->field, mistake->text);
  };
  preparing_.run([&](std::size_t number, const json::object& given,
                     const std::vector<api::Problem>& problems, PreparedObject&& out) {
    tell_those_before(number);
    prepared(slots_[number], given, problems, std::move(out));
  });
  tell_those_before(slots_.size());
  slots_.clear();
  mistakes_.clear();
  return told_enough();
}

// Dumps of our own carry UIDs of our own; new ones come after them.
void InputLoader::note_uid(const PreparedObject& object) {
  if (!object.has_uid) return;
  const std::string_view uid = object.stored.metadata.uid();
  if (!uid.starts_with(kUidPrefix)) return;
  std::uint64_t number = 0;
  const auto digits = uid.substr(kUidPrefix.size());
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  input_.uid_base = std::max(input_.uid_base, number);
}

void InputLoader::note_times(const PreparedObject& object) {
  const auto* workload = std::get_if<std::shared_ptr<api::Workload>>(&object.typed);
  if (!workload) return;
  for (const auto& condition : (*workload)->status.conditions)
    newest_ = std::max(newest_, condition.last_transition_time);
}

// metadata.generateName: a running host draws lots; here the same input has the same names, and a
// dump with the Timelines of its run, too: train-1, train-2, and of the events at 90 s
// train-1m30s-1.
void InputLoader::give_name(const api::KindInfo& kind, json::object& object,
                            std::optional<Duration> at) {
  constexpr std::size_t kLongest = 63;
  auto* metadata = object.if_contains("metadata");
  if (!metadata || !metadata->is_object()) return;
  const std::string base(api::find_text(metadata->get_object(), "generateName"));
  if (base.empty() || !api::find_text(metadata->get_object(), "name").empty()) return;
  std::string when = at ? offset_text(*at) + "-" : "";
  std::replace(when.begin(), when.end(), '.', '-');
  const std::string_view ns = api::find_text(metadata->get_object(), "namespace");
  const std::size_t nth = ++generated_names_[fmt::format("{} {} {}{}", kind.kind, ns, base, when)];
  const std::string end = fmt::format("{}{}", when, nth);
  metadata->get_object()["name"] = base.substr(0, kLongest - end.size()) + end;
}

Result<void> InputLoader::take(Document&& document) {
  const PlaceRef ref{input_.places.add(document), PlaceRef::kWhole};
  if (TimelineReader::is_timeline(document.object))
    timelines_.read(ref, document.object);
  else
    take_object(ref, document.object);
  if (full()) return Error{"too many mistakes"};
  return {};
}

void InputLoader::take_object(PlaceRef ref, json::object& object) {
  const std::uint32_t order = ++order_;
  const auto* kind = kind_of(ref, "", object);
  if (!kind) return;
  give_name(*kind, object, std::nullopt);
  const Slot slot{false, input_.objects.size(), kind};
  input_.objects.push_back({{}, order, ref});
  prepare_in_turn(slot, object);
}

void InputLoader::take_apply(TimelineEvent event, json::object& object) {
  event.order = ++order_;
  const auto* kind = kind_of(event.place, "apply", object);
  if (!kind) return;
  if (is_job_page(*kind))
    return fail(event.place, "apply",
                "apply: a JobKind declares a kind for the whole simulation; allowed: among the "
                "manifests, not in a Timeline");
  give_name(*kind, object, event.at);
  const Slot slot{true, input_.events.size(), kind};
  input_.events.push_back(std::move(event));
  prepare_in_turn(slot, object);
}

void InputLoader::take_event(TimelineEvent event) {
  event.order = ++order_;
  input_.events.push_back(std::move(event));
}

void InputLoader::warn(PlaceRef ref, std::string_view field, const std::string& text) {
  input_.warnings.push_back(input_.places.text(ref, field) + ": " + text);
}

void InputLoader::warn_of_all() {
  for (const auto& [kind, count] : unknown_kinds_)
    input_.warnings.push_back(fmt::format("{}: no such kind is known here; {} object{} left out",
                                          kind, count, count == 1 ? "" : "s"));
  for (const auto& [field, count] : intake_.warnings())
    input_.warnings.push_back(
        fmt::format("{}, left out of {} object{}", field, count, count == 1 ? "" : "s"));
  if (!timelines_.start() && newest_ > input_.start)
    input_.warnings.push_back(
        fmt::format("the manifests hold times up to {0}, and the clock starts at {1}: what counts "
                    "from them, such as maximumExecutionTimeSeconds, ends too late; a Timeline "
                    "with start: \"{0}\" starts it there",
                    format_time(newest_), format_time(input_.start)));
}

Result<SimulationInput> InputLoader::finish() {
  settle();
  for (auto& waiting : waiting_) {
    if (told_enough()) break;
    prepare(waiting.slot, waiting.object);
  }
  settle();
  input_.start = timelines_.start().value_or(*parse_time(kDefaultStart));
  input_.from = timelines_.from();
  if (errors_.empty()) check_input(input_, intake_, order_, errors_);
  if (!errors_.empty()) {
    if (told_enough()) errors_.emplace_back("more mistakes are not shown");
    return Error{fmt::format("{}", fmt::join(errors_, "\n"))};
  }
  warn_of_all();
  std::stable_sort(input_.events.begin(), input_.events.end(),
                   [](const auto& a, const auto& b) { return a.at < b.at; });
  return std::move(input_);
}

}  // namespace

std::string generated_uid(std::uint64_t n) { return fmt::format("{}{:012}", kUidPrefix, n); }

JobPages find_pages(const std::vector<std::string>& paths, ManifestLimits limits) {
  limits.holding = "JobKind";
  std::vector<json::object> found;
  const auto loaded = load_manifests(paths, limits, [&](Document&& document) -> Result<void> {
    if (api::find_text(document.object, "kind") == "JobKind" &&
        api::find_text(document.object, "apiVersion") == kJobKindVersion)
      found.emplace_back(document.object, json::storage_ptr());
    return {};
  });
  static_cast<void>(loaded);  // the same mistake comes again when everything is read
  return pages_of(found);
}

Result<SimulationInput> load_input(const std::vector<std::string>& paths,
                                   const ManifestLimits& limits, Intake& intake, int threads) {
  Workers workers(threads);
  InputLoader loader(intake, workers);
  bool stopped = false;
  Progress progress("reading the manifests", "objects");
  const auto loaded = load_manifests(paths, limits, [&](Document&& document) {
    progress.add();
    auto taken = loader.take(std::move(document));
    stopped = !taken.ok();
    return taken;
  });
  if (!loaded.ok() && !stopped && !loader.settle()) return loaded.error();
  return loader.finish();
}

}  // namespace sluice::host
