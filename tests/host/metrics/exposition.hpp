// Exposition: the text format of Prometheus, read back: what a test asks about /metrics.
//
// Strict: each sample belongs to a family that has HELP and TYPE before it, names and labels are
// well formed, no family comes twice, no sample comes twice. What breaks that is in `problems`.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

namespace sluice::host::test {

struct Exposition {
  struct Family {
    std::string type;
    std::set<std::string> labels;  ///< names, without `le`
    std::vector<std::string> samples;
  };
  std::map<std::string, Family> families;
  std::map<std::string, double> values;  ///< by `name{label="value",…}`, labels in order of name
  std::vector<std::string> problems;

  explicit Exposition(const std::string& text);
  /// Of a sample without the label replica_role; -1 when there is none.
  double value(const std::string& sample) const;
};

}  // namespace sluice::host::test
