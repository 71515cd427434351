// Reflector: what to ask an API server next in order to follow one kind, given what it answered so
// far: a list in pages, then a watch from the list's version, and after whatever goes wrong the
// least that loses nothing.
//
//   Reflector reflector({"v1beta2", "v1beta1"}, {}, seed);
//   for (;;) {
//     Ask ask = reflector.next();               // wait until ask.from, then send it
//     … reflector.page(token, version);         // each page of a list
//     … reflector.event(version);               // each event of a watch, bookmarks included
//     … reflector.ended(now, {Ending::kClosed});   // when the request is over
//   }
//
// A server that was away may come back with the state of an earlier moment, and versions that have
// grown since beyond those that it gave out before: nothing that it answers to a watch tells. So
// after a connection that was lost everything is listed once more, but never so often that listing
// takes more than a small part of the time.
//
// Pure: no I/O, no clock of its own; times are of any clock that only goes forward. Invariant: a
// watch is asked for only from a version up to which everything was handed on. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/time.hpp"

namespace sluice::host {

struct ReflectorLimits {
  std::size_t page = 500;                    ///< objects of a page
  Duration first_wait = 800 * kMillisecond;  ///< after a failure; doubled with each that follows
  Duration longest_wait = 30 * kSecond;
  Duration watch_for = 300 * kSecond;  ///< what a watch is asked to last, and up to twice as long
  /// Between the end of a list and one that is only read because a connection was lost; at least
  /// twenty times as long as the list took.
  Duration list_rest = 30 * kSecond;
};

/// A request, below the path of the kind.
struct Ask {
  enum class What : std::uint8_t { kList, kWatch };
  What what = What::kList;
  bool first_page = false;  ///< kList: what was handed on before may be gone
  std::string api_version;  ///< one of those that the reflector was made with
  std::string query;        ///< after the `?`
  Duration lasts = 0;       ///< kWatch: without a byte for longer than that it is dead
  Duration from = 0;        ///< not before
};

/// How a request ended.
enum class Ending : std::uint8_t {
  kClosed,       ///< in order: a page was read, a watch came to its end
  kGone,         ///< 410: the version, or the rest of the list, is no longer known
  kMissing,      ///< 404: the kind is not served in this version
  kRefused,      ///< 401, 403 and what else is no use to repeat soon
  kBusy,         ///< 429
  kAway,         ///< 5xx
  kUnreachable,  ///< no answer, or one that broke off
  kTooLarge,     ///< the answer exceeds what is taken
  kMalformed,    ///< the answer is none of an API server
};

struct Ended {
  Ending how = Ending::kClosed;
  Duration retry_after = 0;  ///< as the server says; 0: it says nothing
};

class Reflector {
 public:
  /// `api_versions`: those in which objects are understood, the preferred one first; not empty.
  Reflector(std::vector<std::string> api_versions, ReflectorLimits limits, std::uint32_t seed);

  Ask next();

  /// A page of the list was handed on; whether it was the last. `version` is the list's.
  bool page(std::string_view continue_token, std::string_view version);
  /// An event of the watch was handed on.
  void event(std::string_view version);
  void ended(Duration now, const Ended& ended);

  /// A whole list was handed on at least once, or there is nothing to list.
  bool synced() const { return synced_; }
  /// The server has the kind in none of the versions.
  bool absent() const { return absent_; }
  /// In a row, without anything handed on between.
  std::uint32_t failures() const { return failures_; }

 private:
  void list_anew();
  void doubt(Duration now);
  void listed(Duration now);
  void wait(Duration now, Duration at_least);
  void missing(Duration now);

  std::vector<std::string> api_versions_;
  ReflectorLimits limits_;
  std::minstd_rand random_;
  bool watching_ = false;
  bool synced_ = false;
  bool absent_ = false;
  bool progress_ = false;  // with the request that runs
  std::size_t candidate_ = 0;
  std::size_t page_;
  std::string token_, version_;
  std::uint32_t failures_ = 0;
  std::uint32_t gone_ = 0;  // 410s since the last event
  Duration from_ = 0;
  bool doubted_ = false;      // since the list began a connection was lost
  bool whole_ = false;        // the request that runs read the last page of a list
  Duration list_began_ = 0;   // the present one, or the last; 0: the first, nobody knows when
  Duration rests_until_ = 0;  // then it is listed anew, if it is doubted
  Duration watch_ends_ = 0;   // as it was asked to
};

}  // namespace sluice::host
