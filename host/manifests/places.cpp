#include "host/manifests/places.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <limits>

namespace sluice::host {

Result<std::string> read_file(const std::string& path, std::size_t max_bytes) {
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  const std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "rb"));
  if (!file) return Error{path + ": " + std::strerror(errno)};
  std::string text;
  if (std::fseek(file.get(), 0, SEEK_END) == 0) {
    const long size = std::ftell(file.get());
    std::rewind(file.get());
    if (size > 0 && static_cast<std::size_t>(size) > max_bytes) {
      return Error{path + ": the file has " + std::to_string(size) + " bytes, more than the " +
                   std::to_string(max_bytes) + " that are allowed"};
    }
    if (size > 0) text.reserve(static_cast<std::size_t>(size));
  }
  constexpr std::size_t kChunk = 1 << 20;
  for (;;) {
    const std::size_t before = text.size();
    text.resize(before + kChunk);
    const std::size_t got = std::fread(text.data() + before, 1, kChunk, file.get());
    text.resize(before + got);
    if (text.size() > max_bytes) {
      return Error{path + ": more than the " + std::to_string(max_bytes) +
                   " bytes that are allowed"};
    }
    if (got < kChunk) break;
  }
  if (std::ferror(file.get()) != 0) return Error{path + ": " + std::strerror(errno)};
  return text;
}

std::optional<Position> PlaceFinder::find(std::size_t index, const std::string& path) const {
  const auto steps = parse_field_path(path);
  if (text_ != nullptr) {
    return json_ ? find_in_json(*text_, index, steps) : find_in_yaml(*text_, index, steps);
  }
  const auto text = read_file(name_, std::numeric_limits<std::size_t>::max());
  if (!text) return std::nullopt;
  return json_ ? find_in_json(*text, index, steps) : find_in_yaml(*text, index, steps);
}

std::string Document::place(std::string_view field_path) const {
  std::string path = pointer;
  if (!path.empty() && !field_path.empty() && field_path[0] != '[') path += ".";
  path += field_path;
  const auto position = places != nullptr ? places->find(index, path) : std::nullopt;
  return place_text(file, {position ? position->line : 0, 0});
}

Position position_at(std::string_view text, std::size_t offset) {
  offset = std::min(offset, text.size());
  const std::string_view before = text.substr(0, offset);
  const auto line = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')) + 1;
  const auto newline = before.rfind('\n');
  const std::size_t start = newline == std::string_view::npos ? 0 : newline + 1;
  return {line, offset - start + 1};
}

std::string place_text(const std::string& name, Position position) {
  std::string out = name;
  if (position.line != 0) out += ":" + std::to_string(position.line);
  if (position.column != 0) out += ":" + std::to_string(position.column);
  return out;
}

}  // namespace sluice::host
