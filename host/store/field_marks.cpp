#include "host/store/field_marks.hpp"

#include <utility>

namespace sluice::host {

FieldMarks::FieldMarks(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(line.size() < text.size() ? line.size() + 1 : line.size());
    const std::size_t blank = line.find(' ');
    if (blank == std::string_view::npos) continue;
    marks_.emplace(line.substr(0, blank), line.substr(blank + 1));
  }
}

bool FieldMarks::set(const std::string& kind, std::string mark) {
  std::string& now = marks_[kind];
  if (now == mark) return false;
  now = std::move(mark);
  return true;
}

std::string FieldMarks::text() const {
  std::string out;
  for (const auto& [kind, mark] : marks_) out.append(kind).append(" ").append(mark).append("\n");
  return out;
}

std::string FieldMarks::version_of(const std::string& kind) const {
  const auto it = marks_.find(kind);
  return it == marks_.end() ? std::string() : it->second.substr(0, it->second.find('/'));
}

}  // namespace sluice::host
