// EventWriter: notes about objects become Event objects (v1) that kubectl describe and kubectl
// events show.
//
// The same note about the same object is counted in one Event, where Events are kept; for a
// cluster, to which they are only sent, it is told again after a while only. How many are written
// is bounded: per object and reason 25 at once and one more every 10 s, so that what is said often
// hides nothing else of the object; per object four times that, since reasons may be invented; and
// a rate for all objects together. What is over is dropped and counted, since Events inform and
// decide nothing. Belongs to the kernel's thread.
#pragma once

#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>

#include "host/base/token_bucket.hpp"
#include "host/writes/object_writer.hpp"

namespace sluice::host {

struct EventLimits {
  double per_reason_burst = 25;
  double per_reason_per_second = 0.1;
  double per_object_burst = 100;
  double per_object_per_second = 0.4;
  double burst = 10'000;
  double per_second = 1'000;
  std::size_t remembered = 4'096;  ///< objects, reasons of objects, and notes
};

class EventWriter final : public EventSink {
 public:
  EventWriter(ObjectWriter& objects, IdSource& ids, EventLimits limits = {})
      : objects_(objects), ids_(ids), limits_(limits), all_{limits.burst, 0} {}

  void emit(const EventNote& event) override;
  std::uint64_t dropped() const { return dropped_; }

 private:
  struct Note {
    std::string key;     // of the Event
    Time told = kNever;  // of an Event that was only sent
    std::list<std::string>::iterator age;
  };
  /// What is left of the shares of those that were told of last.
  struct Shares {
    struct Share {
      TokenBucket bucket;
      std::list<std::string>::iterator age;
    };
    std::unordered_map<std::string, Share> by_key;
    std::list<std::string> ages;  // oldest first
    bool take(const std::string& key, Time now, double burst, double per_second,
              std::size_t remembered);
  };
  bool allowed(const std::string& uid, const std::string& reason);
  bool count_up(const std::string& key);
  bool in_namespace_that_goes(const ObjectRef& about) const;
  void write(const EventNote& event, std::string_view about, const std::string& id);

  ObjectWriter& objects_;
  IdSource& ids_;
  EventLimits limits_;
  TokenBucket all_;
  std::unordered_map<std::string, Note> notes_;
  std::list<std::string> note_ages_;  // oldest first
  Shares of_objects_, of_reasons_;
  std::uint64_t dropped_ = 0;
};

}  // namespace sluice::host
