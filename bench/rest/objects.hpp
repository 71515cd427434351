// The objects of rest_bench: what the queues are that it writes to, and requests that make,
// change and read objects. Texts are made once; a request changes the digits of its name.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bench/rest/client.hpp"

namespace sluice::bench {

enum class Kind : std::uint8_t { kConfigMap, kPending, kAdmitted, kJob };

/// `namespaces` of them, named n0, n1 …; in each the LocalQueues `full` (of a queue that admits one
/// workload) and `wide` (of one that admits all).
void make_queues(const Target& target, std::size_t namespaces);

std::string collection(Kind kind, std::size_t ns);

/// Creates object after object, over all namespaces in turn.
class Creator {
 public:
  Creator(const Target& target, Kind kind, std::size_t namespaces, std::size_t most = SIZE_MAX);
  bool operator()(std::string& text);
  std::size_t made() const { return made_; }

 private:
  std::vector<std::string> texts_;   // by namespace
  std::vector<std::size_t> places_;  // of the name's digits
  std::size_t most_, made_ = 0;
};

std::string name_of(Kind kind, std::size_t number);

/// Replaces objects, each as its last answer had it; never two requests for one object.
class Updater {
 public:
  Updater(const Target& target, std::size_t objects);
  bool operator()(std::string& text);
  void answered(std::string_view body);

 private:
  Target target_;
  std::map<std::string, std::string> versions_;
  std::vector<std::string> ready_;
  std::size_t count_ = 0;
};

}  // namespace sluice::bench
