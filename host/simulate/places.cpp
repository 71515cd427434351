#include "host/simulate/places.hpp"

#include <fmt/format.h>

namespace sluice::host {

std::uint32_t Places::add(const Document& document) {
  const bool known = !files_.empty() && files_.back().finder == document.places &&
                     files_.back().name == document.file;
  if (!known) files_.push_back({document.file, document.places});
  entries_.push_back({static_cast<std::uint32_t>(files_.size() - 1),
                      static_cast<std::uint32_t>(document.index), document.pointer});
  return static_cast<std::uint32_t>(entries_.size() - 1);
}

std::string Places::text(PlaceRef ref, std::string_view field) const {
  const Entry& entry = entries_[ref.document];
  Document document;
  document.file = files_[entry.file].name;
  document.places = files_[entry.file].finder;
  document.pointer = entry.pointer;
  document.index = entry.index;
  if (ref.event == PlaceRef::kWhole) return document.place(field);
  return document.place(fmt::format("events[{}]{}{}", ref.event, field.empty() ? "" : ".", field));
}

}  // namespace sluice::host
