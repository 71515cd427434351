// Mistakes: what is wrong with something that somebody wrote, in the order in which it was found:
// whoever mends it wants to see all of it at once.
//
// A plain value; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.hpp"

namespace sluice {

class Mistakes {
 public:
  void add(Error mistake) { all_.push_back(std::move(mistake.text)); }
  bool none() const { return all_.empty(); }
  std::size_t size() const { return all_.size(); }
  /// Those added after `first` of them get `where: ` in front.
  void place(std::size_t first, const std::string& where) {
    for (std::size_t i = first; i < all_.size(); ++i) all_[i] = where + ": " + all_[i];
  }
  /// All of them, separated by "; ". REQUIRES: !none().
  Error error() const {
    std::string text;
    for (const std::string& each : all_) text += (text.empty() ? "" : "; ") + each;
    return Error{text};
  }

 private:
  std::vector<std::string> all_;
};

}  // namespace sluice
