// EventWriter: notes about objects become Event objects (v1) that kubectl describe and kubectl
// events show.
//
// The same note about the same object is counted in one Event, where Events are kept; for a
// cluster, to which they are only sent, it is told again after a while only. How many are written
// is bounded: 25 at once per object and one more every 10 s, and a rate for all objects together;
// what is over is dropped and counted, since Events inform and decide nothing. Belongs to the
// kernel's thread.
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
  double per_object_burst = 25;
  double per_object_per_second = 0.1;
  double burst = 10'000;
  double per_second = 1'000;
  std::size_t remembered = 4'096;  ///< objects and notes whose counts are kept
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
  struct Object {
    TokenBucket bucket;
    std::list<std::string>::iterator age;
  };
  bool allowed(const std::string& uid);
  bool count_up(const std::string& key);
  bool in_namespace_that_goes(const ObjectRef& about) const;
  void write(const EventNote& event, std::string_view about, const std::string& id);

  ObjectWriter& objects_;
  IdSource& ids_;
  EventLimits limits_;
  TokenBucket all_;
  std::unordered_map<std::string, Note> notes_;
  std::unordered_map<std::string, Object> by_object_;
  std::list<std::string> note_ages_, object_ages_;  // oldest first
  std::uint64_t dropped_ = 0;
};

}  // namespace sluice::host
