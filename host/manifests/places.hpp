// PlaceFinder: finds the line of a field by reading the text once more.
//
// For this folder only. Immutable, any thread.
#pragma once

#include <memory>
#include <string>

#include "host/manifests/reader.hpp"

namespace sluice::host {

/// Immutable; any thread. Holds a file's path, not its text, so that it costs nothing to keep.
class PlaceFinder {
 public:
  /// `text` only when there is no file to read again.
  PlaceFinder(std::string name, bool json, std::shared_ptr<const std::string> text)
      : name_(std::move(name)), json_(json), text_(std::move(text)) {}

  /// nullopt when the text can no longer be read.
  std::optional<Position> find(std::size_t index, const std::string& path) const;

 private:
  std::string name_;
  bool json_;
  std::shared_ptr<const std::string> text_;
};

/// The whole file, refused when it is larger than `max_bytes`.
Result<std::string> read_file(const std::string& path, std::size_t max_bytes);

}  // namespace sluice::host
