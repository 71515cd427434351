// Which extension points a plugin class provides: those whose member functions it has.
//
// A member of the right name and the wrong signature is a compile error that shows the right one.
// Hooks that are tagged [cycle] run on many threads at once and must therefore be const.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "sluice/cpp/checks.hpp"
#include "sluice/cpp/job.hpp"
#include "sluice/cpp/objects.hpp"
#include "sluice/cpp/questions.hpp"

namespace sluice::detail {

template <typename T>
concept HasFilter = requires {
  &T::filter;
};
template <typename T>
concept HasFilterShape = requires {
  &T::filter_shape_key;
};
template <typename T>
concept HasAfterFlavor = requires {
  &T::after_flavor;
};
template <typename T>
concept HasBetter = requires {
  &T::better;
};
template <typename T>
concept HasKeepPosition = requires {
  &T::keep_position;
};
template <typename T>
concept HasSearch = HasAfterFlavor<T> || HasBetter<T> || HasKeepPosition<T>;
template <typename T>
concept HasVeto = requires {
  &T::veto;
};
template <typename T>
concept HasTraits = requires {
  &T::traits;
};
template <typename T>
concept HasOrderLocalQueue = requires {
  &T::order_local_queue;
};
template <typename T>
concept HasOrderWorkload = requires {
  &T::order_workload;
};
template <typename T>
concept HasOrder = HasOrderLocalQueue<T> || HasOrderWorkload<T>;
template <typename T>
concept HasNotify = requires {
  &T::notify;
};
template <typename T>
concept HasToldEvents = requires {
  &T::told_events;
};
template <typename T>
concept HasQueueChanged = requires {
  &T::queue_changed;
};
template <typename T>
concept HasTimer = requires {
  &T::timer;
};
template <typename T>
concept HasSchema = requires {
  &T::schema;
};
template <typename T>
concept HasValidate = requires {
  &T::validate;
};
template <typename T>
concept HasSetDefaults = requires {
  &T::set_defaults;
};
template <typename T>
concept HasPlan = requires {
  &T::plan;
};
template <typename T>
concept HasPodGates = requires {
  &T::pod_gates;
};
template <typename T>
concept HasPodGrants = requires {
  &T::pod_grants;
};
template <typename T>
concept HasCheckControllers = requires {
  &T::check_controllers;
};
template <typename T>
concept HasCheckChanged = requires {
  &T::check_changed;
};
template <typename T>
concept HasBeginCheck = requires {
  &T::begin_check;
};
template <typename T>
concept HasCancelCheck = requires {
  &T::cancel_check;
};
template <typename T>
concept HasExplainCheck = requires {
  &T::explain_check;
};
template <typename T>
concept HasChecks = HasCheckControllers<T> || HasCheckChanged<T> || HasBeginCheck<T> ||
    HasCancelCheck<T> || HasExplainCheck<T>;
template <typename T>
concept HasWatchedKinds = requires {
  &T::watched_kinds;
};
template <typename T>
concept HasReconcile = requires {
  &T::reconcile;
};
template <typename T>
concept HasController = HasWatchedKinds<T> || HasReconcile<T>;
template <typename T>
concept HasActivate = requires {
  &T::activate;
};
template <typename T>
concept HasDeactivate = requires {
  &T::deactivate;
};

/// `kHidden_filter<T>`: T has something of that name that is not one public member: the host would
/// never call it. Looked up beside a member of that name, any other makes the name ambiguous.
#define SLUICE_DETAIL_HIDDEN(name)                           \
  struct Beside_##name {                                     \
    int name;                                                \
  };                                                         \
  template <typename T>                                      \
  struct Both_##name : T, Beside_##name {};                  \
  template <typename T>                                      \
  constexpr bool hidden_##name() {                           \
    if constexpr (std::is_final_v<T>)                        \
      return false; /* refused by check_visible()         */ \
    else                                                     \
      return !requires { &Both_##name<T>::name; }            \
    &&!requires { &T::name; };                               \
  }
SLUICE_DETAIL_HIDDEN(filter)
SLUICE_DETAIL_HIDDEN(filter_shape_key)
SLUICE_DETAIL_HIDDEN(after_flavor)
SLUICE_DETAIL_HIDDEN(better)
SLUICE_DETAIL_HIDDEN(keep_position)
SLUICE_DETAIL_HIDDEN(veto)
SLUICE_DETAIL_HIDDEN(traits)
SLUICE_DETAIL_HIDDEN(order_local_queue)
SLUICE_DETAIL_HIDDEN(order_workload)
SLUICE_DETAIL_HIDDEN(notify)
SLUICE_DETAIL_HIDDEN(told_events)
SLUICE_DETAIL_HIDDEN(queue_changed)
SLUICE_DETAIL_HIDDEN(timer)
SLUICE_DETAIL_HIDDEN(schema)
SLUICE_DETAIL_HIDDEN(validate)
SLUICE_DETAIL_HIDDEN(set_defaults)
SLUICE_DETAIL_HIDDEN(plan)
SLUICE_DETAIL_HIDDEN(pod_gates)
SLUICE_DETAIL_HIDDEN(pod_grants)
SLUICE_DETAIL_HIDDEN(check_controllers)
SLUICE_DETAIL_HIDDEN(check_changed)
SLUICE_DETAIL_HIDDEN(begin_check)
SLUICE_DETAIL_HIDDEN(cancel_check)
SLUICE_DETAIL_HIDDEN(explain_check)
SLUICE_DETAIL_HIDDEN(watched_kinds)
SLUICE_DETAIL_HIDDEN(reconcile)
SLUICE_DETAIL_HIDDEN(activate)
SLUICE_DETAIL_HIDDEN(deactivate)
#undef SLUICE_DETAIL_HIDDEN

template <typename T>
concept ProvidesAnything = HasFilter<T> || HasSearch<T> || HasVeto<T> || HasTraits<T> ||
    HasOrder<T> || HasNotify<T> || HasQueueChanged<T> || HasTimer<T> || HasSchema<T> ||
    HasValidate<T> || HasPlan<T> || HasPodGates<T> || HasChecks<T> || HasController<T>;

/// `kMatches<R, decltype(&T::f), T-or-const-T&, Args...>`: can it be called so, giving an R?
template <typename R, typename Member, typename Self, typename... Args>
inline constexpr bool kMatches = std::is_invocable_r_v<R, Member, Self, Args...>;

template <typename T>
constexpr void check_checks() {
  static_assert(HasCheckControllers<T> && HasBeginCheck<T> && HasCancelCheck<T>,
                "half a check controller: check_controllers, begin_check and cancel_check go "
                "together");
  static_assert(kMatches<std::vector<std::string>, decltype(&T::check_controllers), T&>,
                "write it as: std::vector<std::string> check_controllers() const");
  static_assert(kMatches<void, decltype(&T::begin_check), T&, const CheckQuery&>,
                "write it as: void begin_check(const sluice::CheckQuery&)");
  static_assert(kMatches<void, decltype(&T::cancel_check), T&, const CheckCancel&>,
                "write it as: void cancel_check(const sluice::CheckCancel&)");
  if constexpr (HasCheckChanged<T>)
    static_assert(kMatches<void, decltype(&T::check_changed), T&, const Check&, Activity&>,
                  "write it as: void check_changed(const sluice::Check&, sluice::Activity&)");
  if constexpr (HasExplainCheck<T>)
    static_assert(
        kMatches<std::vector<std::string>, decltype(&T::explain_check), T&, const CheckQuery&> ||
            kMatches<CheckWords, decltype(&T::explain_check), T&, const CheckQuery&>,
        "write it as: std::vector<std::string> explain_check(const sluice::CheckQuery&), or with "
        "sluice::CheckWords");
}

template <typename T>
constexpr void check_controller() {
  static_assert(HasWatchedKinds<T> && HasReconcile<T>,
                "half a controller: watched_kinds and reconcile go together");
  static_assert(kMatches<std::vector<std::string>, decltype(&T::watched_kinds), T&>,
                "write it as: std::vector<std::string> watched_kinds() const");
  static_assert(kMatches<Again, decltype(&T::reconcile), T&, const ObjectRef&>,
                "write it as: sluice::Again reconcile(const sluice::ObjectRef&)");
}

template <typename T>
constexpr void check_controllers() {
  if constexpr (HasChecks<T>) check_checks<T>();
  if constexpr (HasController<T>) check_controller<T>();
}

template <typename T>
constexpr void check_validator() {
  if constexpr (HasValidate<T>) {
    static_assert(kMatches<void, decltype(&T::validate), T&, const Write&, FieldErrors&>,
                  "write it as: void validate(const sluice::Write&, sluice::FieldErrors&)");
    static_assert(
        requires(T & t) {
          { t.kinds() } -> std::convertible_to<std::vector<std::string>>;
        },
        "beside validate(), write: std::vector<std::string> kinds() const");
  }
  if constexpr (HasSetDefaults<T>)
    static_assert(
        HasValidate<T> &&
            kMatches<std::optional<std::string>, decltype(&T::set_defaults), T&, const Write&>,
        "beside validate(), write it as: std::optional<std::string> set_defaults(const "
        "sluice::Write&)");
}

/// A hook is one public member function: overloads, and what is private, would silently be no hook.
/// In a final class they cannot be told from what is not there.
template <typename T>
constexpr void check_visible() {
  static_assert(!std::is_final_v<T>,
                "the class of a plugin must not be final: a hook in it that is overloaded or not "
                "public would not be found, and never be called");
#define SLUICE_DETAIL_VISIBLE(name)                                                              \
  static_assert(!hidden_##name<T>(),                                                             \
                "`" #name                                                                        \
                "` is the name of a hook, and here it is overloaded or not public: make it one " \
                "public member function, or call it otherwise")
  SLUICE_DETAIL_VISIBLE(filter);
  SLUICE_DETAIL_VISIBLE(filter_shape_key);
  SLUICE_DETAIL_VISIBLE(after_flavor);
  SLUICE_DETAIL_VISIBLE(better);
  SLUICE_DETAIL_VISIBLE(keep_position);
  SLUICE_DETAIL_VISIBLE(veto);
  SLUICE_DETAIL_VISIBLE(traits);
  SLUICE_DETAIL_VISIBLE(order_local_queue);
  SLUICE_DETAIL_VISIBLE(order_workload);
  SLUICE_DETAIL_VISIBLE(notify);
  SLUICE_DETAIL_VISIBLE(told_events);
  SLUICE_DETAIL_VISIBLE(queue_changed);
  SLUICE_DETAIL_VISIBLE(timer);
  SLUICE_DETAIL_VISIBLE(schema);
  SLUICE_DETAIL_VISIBLE(validate);
  SLUICE_DETAIL_VISIBLE(set_defaults);
  SLUICE_DETAIL_VISIBLE(plan);
  SLUICE_DETAIL_VISIBLE(pod_gates);
  SLUICE_DETAIL_VISIBLE(pod_grants);
  SLUICE_DETAIL_VISIBLE(check_controllers);
  SLUICE_DETAIL_VISIBLE(check_changed);
  SLUICE_DETAIL_VISIBLE(begin_check);
  SLUICE_DETAIL_VISIBLE(cancel_check);
  SLUICE_DETAIL_VISIBLE(explain_check);
  SLUICE_DETAIL_VISIBLE(watched_kinds);
  SLUICE_DETAIL_VISIBLE(reconcile);
  SLUICE_DETAIL_VISIBLE(activate);
  SLUICE_DETAIL_VISIBLE(deactivate);
#undef SLUICE_DETAIL_VISIBLE
}

template <typename T>
constexpr bool check_signatures() {
  static_assert(ProvidesAnything<T>,
                "this class has no hook: write a member function such as "
                "void filter(const sluice::FilterQuery&, sluice::FilterAnswer&) const");
  if constexpr (HasFilter<T>)
    static_assert(
        kMatches<void, decltype(&T::filter), const T&, const FilterQuery&, FilterAnswer&>,
        "write it as: void filter(const sluice::FilterQuery&, sluice::FilterAnswer&) const");
  if constexpr (HasFilterShape<T>)
    static_assert(
        HasFilter<T> && kMatches<std::string, decltype(&T::filter_shape_key), T&, const Workload&>,
        "beside filter(), write it as: std::string filter_shape_key(const sluice::Workload&)");
  if constexpr (HasSearch<T>) {
    static_assert(HasAfterFlavor<T> && HasBetter<T> && HasKeepPosition<T>,
                  "half a flavor search: after_flavor, better and keep_position go together");
    static_assert(kMatches<Search, decltype(&T::after_flavor), const T&, const SearchStep&>,
                  "write it as: sluice::Search after_flavor(const sluice::SearchStep&) const");
    static_assert(kMatches<bool, decltype(&T::better), const T&, std::uint32_t, Outcome, Outcome>,
                  "write it as: bool better(std::uint32_t queue, sluice::Outcome a, "
                  "sluice::Outcome b) const");
    static_assert(kMatches<bool, decltype(&T::keep_position), const T&, const PositionAge&>,
                  "write it as: bool keep_position(const sluice::PositionAge&) const");
  }
  if constexpr (HasVeto<T>)
    static_assert(kMatches<void, decltype(&T::veto), const T&, const VetoQuery&, VetoAnswer&>,
                  "write it as: void veto(const sluice::VetoQuery&, sluice::VetoAnswer&) const");
  if constexpr (HasTraits<T>)
    static_assert(kMatches<void, decltype(&T::traits), T&, const Workload&, Traits&>,
                  "write it as: void traits(const sluice::Workload&, sluice::Traits&)");
  if constexpr (HasOrderLocalQueue<T>)
    static_assert(
        kMatches<void, decltype(&T::order_local_queue), T&, const OrderQuery&, OrderAnswer&>,
        "write it as: void order_local_queue(const sluice::OrderQuery&, sluice::OrderAnswer&)");
  if constexpr (HasOrderWorkload<T>)
    static_assert(
        kMatches<void, decltype(&T::order_workload), T&, const Workload&, OrderAnswer&>,
        "write it as: void order_workload(const sluice::Workload&, sluice::OrderAnswer&)");
  if constexpr (HasNotify<T>)
    static_assert(kMatches<Told, decltype(&T::notify), T&, const Notification&>,
                  "write it as: sluice::Told notify(const sluice::Notification&)");
  if constexpr (HasToldEvents<T>) {
    static_assert(HasNotify<T>, "told_events without notify, which it is about");
    static_assert(kMatches<std::vector<std::string>, decltype(&T::told_events), T&>,
                  "write it as: std::vector<std::string> told_events() const");
  }
  if constexpr (HasQueueChanged<T>)
    static_assert(kMatches<void, decltype(&T::queue_changed), T&, const Queue&>,
                  "write it as: void queue_changed(const sluice::Queue&)");
  if constexpr (HasTimer<T>)
    static_assert(kMatches<void, decltype(&T::timer), T&, std::uint64_t, std::int64_t>,
                  "write it as: void timer(std::uint64_t number, std::int64_t now)");
  if constexpr (HasSchema<T>)
    static_assert(kMatches<std::string, decltype(&T::schema), T&>,
                  "write it as: std::string schema() const");
  check_validator<T>();
  if constexpr (HasPlan<T>)
    static_assert(kMatches<void, decltype(&T::plan), T&, const Job&, JobPlan&>,
                  "write it as: void plan(const sluice::Job&, sluice::JobPlan&)");
  if constexpr (HasPodGates<T> || HasPodGrants<T>) {
    static_assert(HasPodGates<T> && HasPodGrants<T>,
                  "half a pod gate: pod_gates and pod_grants go together");
    static_assert(kMatches<std::vector<std::string>, decltype(&T::pod_gates), T&, const Job&>,
                  "write it as: std::vector<std::string> pod_gates(const sluice::Job&)");
    static_assert(kMatches<void, decltype(&T::pod_grants), T&, const Job&, Grants&>,
                  "write it as: void pod_grants(const sluice::Job&, sluice::Grants&)");
  }
  check_controllers<T>();
  check_visible<T>();
  return true;
}

}  // namespace sluice::detail
