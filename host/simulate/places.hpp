// Places: where each object and event of the input stands, kept small.
//
// The line itself is looked up only when an error needs it. Belongs to one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "host/manifests/manifests.hpp"

namespace sluice::host {

/// A document, or one event of a Timeline document.
struct PlaceRef {
  static constexpr std::uint32_t kWhole = 0xFFFFFFFF;
  std::uint32_t document = 0;
  std::uint32_t event = kWhole;
};

class Places {
 public:
  /// Remembers where `document` stands; its number goes into PlaceRef::document.
  std::uint32_t add(const Document& document);

  /// `file:line` of a field below the place. O(size of the file).
  std::string text(PlaceRef ref, std::string_view field = {}) const;

 private:
  struct File {
    std::string name;
    std::shared_ptr<const PlaceFinder> finder;
  };
  struct Entry {
    std::uint32_t file;
    std::uint32_t index;
    std::string pointer;
  };
  std::vector<File> files_;
  std::vector<Entry> entries_;
};

}  // namespace sluice::host
