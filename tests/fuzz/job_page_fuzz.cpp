// Three lines: a page of a kind of job, an object of the kind, an expression. A page is refused or
// answers for any object; what is written into an object is read from it again, and counts that
// were set can be put back.
#include <boost/json.hpp>

#include "api/jobs/count_expression.hpp"
#include "api/jobs/job_page.hpp"
#include "core/base/check.hpp"
#include "tests/fuzz/json_input.hpp"
#include "tests/fuzz/lines.hpp"

namespace {

std::optional<boost::json::object> object_in(const std::string& line) {
  return json_input(reinterpret_cast<const std::uint8_t*>(line.data()), line.size());
}

void ask(const sluice::api::JobKind& kind, const boost::json::object& original) {
  using namespace sluice::api;
  boost::json::object job = original;
  const auto sets = kind.pod_sets(job);
  SLUICE_CHECK(sets.size() <= 19 || !kind.unfit(job).empty(), "pod sets: ", sets.size());
  boost::json::object replaced;
  for (std::size_t i = 0; i <= sets.size(); ++i) {
    boost::json::object made;
    const auto* own = kind.described(job, i, made);
    const bool fits = i < sets.size() && kind.unfit(job).empty();
    SLUICE_CHECK(own || !fits, "no template ", i);
    if (fits) {
      boost::json::object started = job;
      SLUICE_CHECK(kind.start_place(started, i), "no place for a start ", i);
      kind.tidy_start(started, i);
    }
    for (auto& [place, before] : kind.set_count(job, i, 5)) replaced.emplace(place, before);
  }
  restore_counts(job, replaced);
  for (const bool held : {true, false}) {
    kind.set_suspended(job, held);
    SLUICE_CHECK(kind.suspended(job) == held, "held back: ", held);
  }
  for (const JobStage stage : {JobStage::kStarted, JobStage::kReady, JobStage::kStopped,
                               JobStage::kFailed, JobStage::kSucceeded}) {
    boost::json::object told = original;
    told["status"] = kind.status_with(told, {stage, {{"a", 1, 2, 1, 0, 0, 0}}, "m"}, 0);
    SLUICE_CHECK(kind.active(told), "an active pod is not read");
    const bool is_end = stage == JobStage::kFailed || stage == JobStage::kSucceeded;
    SLUICE_CHECK(!kind.ends() || !is_end || kind.end(told), "an end is not read");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sluice::api;
  if (size > (1U << 14)) return 0;
  const auto lines = fuzz_lines(data, size);
  const auto job = object_in(lines[1]);
  if (!job) return 0;
  if (const auto expression = CountExpression::parse(lines[2])) {
    const auto once = expression->value({*job, *job, {}});
    const auto again = expression->value({*job, *job, {}});
    SLUICE_CHECK(once.ok() == again.ok() && (!once || *once == *again), lines[2]);
  }
  const auto page = object_in(lines[0]);
  if (!page) return 0;
  const auto kind = declared_job_kind(*page, "example.com", "Training");
  if (kind) ask(**kind, *job);
  return 0;
}
