// Section: one map of a configuration file, read key by key.
//
// Every key that is asked for becomes an allowed key; when the Section goes out of scope, what is
// left over is an unknown key. Mistakes are collected in ConfigErrors, so that one run shows all of
// them. Used by one thread, while the file is loaded.
#pragma once

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.hpp"
#include "core/base/time.hpp"

namespace sluice::host {

/// The mistakes of one file, in the order of its lines.
class ConfigErrors {
 public:
  explicit ConfigErrors(std::string file) : file_(std::move(file)) {}

  void add(const YAML::Mark& mark, const std::string& path, const std::string& text);
  bool empty() const { return errors_.empty(); }
  /// One line per mistake. REQUIRES: !empty().
  Error error() const;

 private:
  std::string file_;
  std::vector<std::pair<int, std::string>> errors_;  // line, text
};

/// "the number 3", "a list": what stands in the file, for a person.
std::string describe(const YAML::Node& node);

/// The node as compact JSON; plain scalars become numbers and booleans as in YAML 1.2.
std::string to_json(const YAML::Node& node);

/// The durations that a key takes; `text` follows "allowed: a duration " in a message.
struct DurationRange {
  Duration least = 1;
  Duration most = std::numeric_limits<Duration>::max();
  std::string_view text = "such as 1500ms, 90s, 2m30s or 1h";
};

class Section {
 public:
  using Pairs = std::vector<std::pair<std::string, std::string>>;

  /// An undefined or empty node is a section without keys.
  Section(ConfigErrors& errors, const YAML::Node& node, std::string path);
  ~Section();  ///< reports the keys that were not read
  Section(const Section&) = delete;
  Section& operator=(const Section&) = delete;

  // Each leaves `out` alone when the key is absent, and reports a value that does not fit.
  void text(const std::string& key, std::string& out);
  /// A text that `fits`; `allowed` says which do.
  void name(const std::string& key, std::string& out, bool (*fits)(std::string_view),
            std::string_view allowed);
  void boolean(const std::string& key, bool& out);
  void integer(const std::string& key, std::int64_t& out, std::int64_t min, std::int64_t max);
  void duration(const std::string& key, Duration& out, const DurationRange& range = {});
  void pairs(const std::string& key, Pairs& out);  ///< a map of texts
  void json(const std::string& key, std::string& out);
  void texts(const std::string& key, std::vector<std::string>& out);
  /// Index of the value among `allowed`; -1 when absent or refused.
  int choice(const std::string& key, std::initializer_list<std::string_view> allowed);
  /// A list of maps. Whether the key is there with a list as its value.
  bool each(const std::string& key, const std::function<void(Section&)>& read);

  bool has(const std::string& key);
  YAML::Node child(const std::string& key);
  std::string path_of(const std::string& key) const;
  ConfigErrors& errors() { return errors_; }
  /// Reports a mistake at the key, or at the section when the key is absent.
  void fail(const std::string& key, const std::string& text);
  void require(const std::string& key);
  /// Reports the value of the key, of an item of a list, that another item has: `seen` are theirs.
  void once(const std::string& key, const std::string& value, std::set<std::string>& seen);

 private:
  bool scalar(const std::string& key, YAML::Node& out, const char* allowed);

  ConfigErrors& errors_;
  YAML::Node node_;
  std::string path_;
  std::vector<std::string> known_;
};

}  // namespace sluice::host
