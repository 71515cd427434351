// TimelineReader: the documents `Timeline` of the input, read into events. What they apply is
// handed out as it stands there: to prepare objects is the caller's business.
//
// Each mistake names its field, what was found and what is allowed, and the event is left out.
// Belongs to one thread.
#pragma once

#include <boost/json/object.hpp>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/scheme/scheme.hpp"
#include "host/simulate/input.hpp"

namespace sluice::host {

/// Who is told what was read, in the order of the documents.
class TimelineTaker {
 public:
  virtual ~TimelineTaker() = default;
  virtual void fail(PlaceRef place, std::string_view field, const std::string& text) = 0;
  virtual void warn(PlaceRef place, std::string_view field, const std::string& text) = 0;
  /// `object` is the event's, and may be taken.
  virtual void take_apply(TimelineEvent event, boost::json::object& object) = 0;
  virtual void take_event(TimelineEvent event) = 0;
  /// So much is wrong that nobody wants to know more.
  virtual bool full() const = 0;
};

class TimelineReader {
 public:
  /// Both must outlive it.
  TimelineReader(const api::Scheme& scheme, TimelineTaker& taker)
      : scheme_(scheme), taker_(taker) {}

  /// Whether a document is one, of any version.
  static bool is_timeline(const boost::json::object& document);
  void read(PlaceRef place, boost::json::object& timeline);

  /// What all Timelines say, or nothing.
  std::optional<Time> start() const { return start_; }
  std::optional<Duration> from() const { return from_; }

 private:
  void read_start(PlaceRef place, const boost::json::object& timeline);
  void read_from(PlaceRef place, const boost::json::object& timeline);
  void read_event(PlaceRef place, boost::json::object& event);
  void read_action(TimelineEvent event, std::string_view key, boost::json::value& value);
  void read_delete(TimelineEvent event, const boost::json::object& named);
  void read_patch(TimelineEvent event, const boost::json::object& named);
  void read_finish(TimelineEvent event, const boost::json::object& named);
  bool expect_keys(PlaceRef place, std::string_view field, const boost::json::object& object,
                   std::initializer_list<std::string_view> allowed);
  std::unique_ptr<EventTarget> target_of(PlaceRef place, std::string_view field,
                                         const boost::json::object& named, bool kind_needed);

  const api::Scheme& scheme_;
  TimelineTaker& taker_;
  std::optional<Time> start_;
  std::optional<Duration> from_;
};

/// Where a simulation starts when no Timeline says so.
inline constexpr std::string_view kDefaultStart = "2026-01-01T00:00:00Z";

}  // namespace sluice::host
