#include "host/executor/process/place.hpp"

#include <string>

#include "host/base/files.hpp"
#include "host/executor/process/linked_folder.hpp"

namespace sluice::host {
namespace {

namespace fs = std::filesystem;

fs::path note_of(const fs::path& folder) { return folder / "place"; }

/// The identity, a line end, the path, which may hold anything.
Result<std::string> text_of(const fs::path& folder) {
  Result<std::string> identity = identity_of(folder);
  if (!identity) return identity;
  return *identity + "\n" + folder.string();
}

}  // namespace

Result<bool> is_a_copy(const fs::path& folder) {
  const auto noted = read_file(note_of(folder));
  if (!noted) return false;
  const std::size_t line_end = noted->find('\n');
  if (line_end == std::string::npos) return false;
  const std::string made_for = noted->substr(0, line_end);
  const Result<std::string> own = identity_of(folder);
  if (!own) return own.error();
  if (made_for == *own) return false;
  const Result<std::string> there = identity_of(noted->substr(line_end + 1));
  return there && *there == made_for;
}

Result<void> note_place(const fs::path& folder) {
  const Result<std::string> text = text_of(folder);
  if (!text) return text.error();
  if (read_file(note_of(folder)) == *text) return {};
  return write_durably(note_of(folder), *text);
}

}  // namespace sluice::host
