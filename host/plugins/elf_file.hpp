// ElfFile: what a shared library says about itself, read without running any of it.
//
// A bounds-checked reader of 64-bit little-endian ELF: sections, exported symbols, load segments.
// Any bytes may go in; what is not a whole shared library for this machine is an error that says
// why (the caller puts the file's name in front). Names are fit to be shown: one line each,
// bounded, U+FFFD in place of what is none. A plain value; safe on any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace sluice::host {

class ElfFile {
 public:
  struct Section {
    std::string name;
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    bool in_file = true;  ///< false: it takes no room in the file (.bss)
  };

  /// O(size of the tables). Copies nothing of `bytes` but names.
  static Result<ElfFile> parse(std::string_view bytes);

  const std::vector<Section>& sections() const { return sections_; }
  /// nullptr when there is none of that name.
  const Section* section(std::string_view name) const;
  /// Names of the symbols that it defines for others, sorted.
  const std::vector<std::string>& exports() const { return exports_; }
  /// Libraries that it needs.
  const std::vector<std::string>& needed() const { return needed_; }
  /// Does it look for them in folders that are named after its own?
  bool searches_beside_itself() const { return origin_; }

 private:
  friend class ElfReader;
  std::vector<Section> sections_;
  std::vector<std::string> exports_;
  std::vector<std::string> needed_;
  bool origin_ = false;
};

}  // namespace sluice::host
