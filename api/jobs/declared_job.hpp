// DeclaredJob: the JobKind that a page declares, ready to be asked.
//
// The parts are filled in by job_page.cpp, which checks the page, and then only read: any thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/jobs/count_expression.hpp"
#include "api/jobs/job_kind.hpp"

namespace sluice::api {

/// Whether an object says something: that a condition has a status, that a text at a path is one of
/// several, or that a comparison holds.
struct JobTest {
  std::string condition, status;    ///< status: True, unless the page says otherwise
  std::optional<JsonPath> path;     ///< instead of a condition
  std::vector<std::string> values;  ///< of the path, as texts
  std::string says;                 ///< of `unfit`: why
  std::vector<std::pair<JsonPlace, std::string>> also;  ///< what set() writes beside it
  std::optional<CountExpression> holds;

  bool passes(const boost::json::object& job) const;
  /// What else the object tells of it: the condition's message.
  std::string message(const boost::json::object& job) const;
  /// Whether set() can write it: a condition, or names below status.
  bool can_be_set() const;
  void set(boost::json::object& status, bool on, std::string_view reason, std::string_view text,
           Time now) const;
};

/// What a pod asks of one resource, worked out: `cpu: milli(.cores) m`.
struct DeclaredRequest {
  std::string resource;
  std::optional<JsonPath> resource_path;  ///< instead; where nothing is there, nothing is asked
  CountExpression amount;
  std::string suffix;  ///< of the quantity, such as Mi
};

/// One entry of podSets: a pod set, or one for each value that a path leads to. Paths start at that
/// value; with `each` there are two: `unless`, `start` and what `template_at` says start at the
/// outer one, the others at the inner one.
struct DeclaredPodSet {
  std::optional<JsonPath> for_each;  ///< absent: one, of the object itself
  std::optional<JsonPath> each;      ///< for each value of for_each, one for each value there
  std::optional<JsonPath> unless;    ///< no pod set where something is there
  std::string name;                  ///< unless a path says it; # is the number of the pod set
  std::optional<JsonPath> name_path;
  bool name_is_key = false;             ///< of the map in which the value stands
  JsonPlace pod_template;               ///< empty: there is none
  std::optional<JsonPath> template_at;  ///< to a text that says where it is
  bool optional = false;                ///< without a template there is no such pod set
  /// Where a start puts what an admission wants; empty: into the template. # numbers the pod sets
  /// of one value.
  std::vector<JsonPath::One> start;
  bool flat = false;  ///< what a pod template has deeper stands there side by side
  std::optional<JsonPath> requests_from;  ///< of a map of quantities
  std::vector<DeclaredRequest> requests;
  std::optional<CountExpression> count, min_count, total;
  /// Of the object: a list of what is reported of pod sets, each by its `name`. And so many of its
  /// pods have ended for good, as that says.
  std::optional<JsonPath> reports;
  std::optional<CountExpression> finished;

  bool has_requests() const { return requests_from || !requests.empty(); }
};

class DeclaredJob final : public JobKind {
 public:
  std::string_view group_kind() const override { return group_kind_; }
  std::vector<JobPodSet> pod_sets(const boost::json::object& job) const override;
  boost::json::object* pod_template(boost::json::object& job, std::size_t i) const override;
  const boost::json::object* described(boost::json::object& job, std::size_t i,
                                       boost::json::object& made) const override;
  std::optional<StartPlace> start_place(boost::json::object& job, std::size_t i) const override;
  void tidy_start(boost::json::object& job, std::size_t i) const override;
  std::string template_path(const boost::json::object& job, std::size_t i) const override;
  boost::json::object set_count(boost::json::object& job, std::size_t i,
                                std::int32_t count) const override;
  std::string priority_class(const boost::json::object& job) const override;
  bool suspended(const boost::json::object& job) const override;
  void set_suspended(boost::json::object& job, bool suspended) const override;
  bool active(const boost::json::object& job) const override;
  bool pods_ready(const boost::json::object& job, std::int64_t granted) const override;
  std::vector<FinishedPods> finished_pods(const boost::json::object& job) const override;
  std::optional<JobEnd> end(const boost::json::object& job) const override;
  std::string unfit(const boost::json::object& job) const override;
  std::string unfit_on_host(const boost::json::object& job) const override;
  bool ends() const override { return !succeeded_.empty(); }
  boost::json::object status_with(const boost::json::object& job, const JobReport& report,
                                  Time now) const override;
  const PodsByHost* pods_by_host() const override { return made_elsewhere_ ? nullptr : &by_host_; }

 private:
  friend class PageReader;
  friend Result<std::shared_ptr<const JobKind>> declared_job_kind(const boost::json::object&,
                                                                  std::string_view,
                                                                  std::string_view);
  struct Found {
    JobPodSet set;
    JsonPlace pod_template;  ///< empty: none
    JsonPlace of;            ///< the value of forEach
    JsonPlace start;         ///< empty: a start goes into the template
    bool flat = false;       ///< side by side, not as in a template
    std::vector<std::pair<JsonPlace, JsonPath::One>> named;  ///< entries of lists on the way there
    bool described = false;     ///< by requests: the template may be missing
    JsonPlace count;            ///< where it can be set; empty: nowhere
    std::int32_t finished = 0;  ///< of its pods, where others make them
    std::vector<std::pair<std::string, std::string>> requests;  ///< resource, quantity
  };
  /// The pod sets of an object, and the first thing that cannot be read in it.
  struct Reading {
    std::vector<Found> sets;
    std::string problem;

    void tell(std::string text) {
      if (problem.empty()) problem = std::move(text);
    }
  };
  Reading read(const boost::json::object& job) const;
  void read_one(const DeclaredPodSet& declared, const CountScope& outer, const CountScope& scope,
                Reading& out) const;
  static JsonPlace template_of(const DeclaredPodSet& declared, const CountScope& outer,
                               const CountScope& scope, const std::string& who, Reading& out);
  static void read_start(const DeclaredPodSet& declared, const CountScope& outer,
                         const std::string& who, Found& into, Reading& out);
  static void read_requests(const DeclaredPodSet& declared, const CountScope& scope,
                            const std::string& who, Found& into, Reading& out);
  static std::int32_t finished(const DeclaredPodSet& declared, const CountScope& scope,
                               const JobPodSet& set);

  std::string group_kind_;
  std::vector<DeclaredPodSet> pod_sets_;
  JsonPlace suspend_;
  std::vector<JobTest> succeeded_, failed_, ready_, active_, unfit_, unfit_on_host_;
  std::optional<JsonPath> message_, priority_class_;
  PodsByHost by_host_;
  bool made_elsewhere_ = false;
};

}  // namespace sluice::api
