// The objects of the crash test: each carries a mark, a short text that stands in several places,
// so that an object of which a part is missing, or older than another, shows.
//
// Pure functions, any thread.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sluice::host::test {

enum class Kind : std::uint8_t { kConfigMap, kFlavor, kLocalQueue, kWorkload, kJob };

/// The collection's path.
const char* collection(Kind kind);

struct NewObject {
  Kind kind = Kind::kConfigMap;
  std::string name, mark;
  int priority = 0;           ///< kWorkload
  int pods = 1;               ///< kJob: completions, all at once
  std::string runs;           ///< kJob: each pod adds a line here when it starts and when it ends
  std::string seconds = "0";  ///< kJob: how long a pod runs
};

std::string to_json(const NewObject& object);
/// A merge patch that writes the mark everywhere.
std::string patch_of(Kind kind, const std::string& mark);
/// The same in place.
void set_mark(Kind kind, const std::string& mark, boost::json::object& object);

struct SeenObject {
  std::string name;
  std::uint64_t version = 0;
  std::optional<std::string> mark;  ///< nullopt: its places do not agree
  bool deleting = false;
};
/// `object`: as the server gave it.
SeenObject seen(Kind kind, const boost::json::object& object);

/// An empty object when the text is not one.
boost::json::object parse_object(const std::string& text);
std::uint64_t version_of(const boost::json::object& object);

}  // namespace sluice::host::test
