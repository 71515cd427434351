#include "host/manifests/manifests.hpp"

#include <algorithm>
#include <boost/json/monotonic_resource.hpp>
#include <filesystem>

#include "api/json/json.hpp"
#include "host/manifests/places.hpp"
#include "host/manifests/reader.hpp"

namespace sluice::host {

namespace fs = std::filesystem;
namespace json = boost::json;

namespace {

constexpr std::size_t kMaxFolderDepth = 32;

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

bool is_manifest_name(const std::string& name) {
  return ends_with(name, ".yaml") || ends_with(name, ".yml") || ends_with(name, ".json");
}

bool is_list(const json::object& object) {
  return ends_with(api::find_text(object, "kind"), "List") &&
         api::find_array(object, "items") != nullptr;
}

const char* value_kind(const json::value& value) {
  if (value.is_array()) return "a list";
  if (value.is_string()) return "a text";
  if (value.is_bool()) return "a boolean";
  if (value.is_null()) return "null";
  return "a number";
}

/// Hands out one value: itself, or the items of a list.
class Unpacker {
 public:
  Unpacker(std::string name, std::shared_ptr<const PlaceFinder> places, const DocumentSink& sink)
      : name_(std::move(name)), places_(std::move(places)), sink_(sink) {}

  Result<void> value(json::value&& value, std::size_t index, const std::string& pointer) {
    json::object* object = value.if_object();
    if (object == nullptr) {
      const Document nothing{{}, name_, pointer, index, places_};
      return Error{nothing.place() + ": must be an object with apiVersion and kind, found " +
                   value_kind(value)};
    }
    if (is_list(*object)) return items(*object, index, pointer);
    // Constructed in place: an assignment would copy it out of the memory of its file.
    return sink_({std::move(*object), name_, pointer, index, places_});
  }

 private:
  Result<void> items(json::object& list, std::size_t index, const std::string& pointer) {
    json::array& entries = *api::find_array(list, "items");
    std::string_view kind = api::find_text(list, "kind");
    kind.remove_suffix(4);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (json::object* item = entries[i].if_object(); item != nullptr && !kind.empty()) {
        const std::string_view version = api::find_text(list, "apiVersion");
        if (item->if_contains("kind") == nullptr) item->emplace("kind", api::json_view(kind));
        if (item->if_contains("apiVersion") == nullptr) {
          item->emplace("apiVersion", api::json_view(version));
        }
      }
      const std::string at =
          pointer + (pointer.empty() ? "" : ".") + "items[" + std::to_string(i) + "]";
      if (auto taken = value(std::move(entries[i]), index, at); !taken) return taken;
    }
    return {};
  }

  std::string name_;
  std::shared_ptr<const PlaceFinder> places_;
  const DocumentSink& sink_;
};

bool looks_like_json(std::string_view text, const std::string& name) {
  if (ends_with(name, ".json")) return true;
  const auto first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
}

Result<void> load(const std::shared_ptr<const std::string>& text, bool from_file,
                  const std::string& name, const ManifestLimits& limits, const DocumentSink& sink) {
  if (text->size() > limits.max_file_bytes) {
    return Error{name + ": the text has " + std::to_string(text->size()) +
                 " bytes, more than the " + std::to_string(limits.max_file_bytes) +
                 " that are allowed"};
  }
  if (const std::size_t bad = find_bad_utf8(*text); bad != std::string_view::npos) {
    const bool nul = (*text)[bad] == '\0';
    return Error{place_text(name, position_at(*text, bad)) +
                 ": not a text file: " + (nul ? "a NUL byte" : "bytes that are not UTF-8")};
  }
  const auto storage = json::make_shared_resource<json::monotonic_resource>(
      std::max<std::size_t>(text->size(), 4096));
  const auto finder = [&](bool is_json) {
    return std::make_shared<const PlaceFinder>(name, is_json, from_file ? nullptr : text);
  };
  if (looks_like_json(*text, name)) {
    // A flow-style YAML file begins with a brace, too: only a .json file must be JSON. Documents go
    // to the sink as they are read, so the fallback is open only until the first one.
    bool taken = false;
    Unpacker unpacker(name, finder(true), sink);
    auto read = read_json(*text, name, limits, storage, [&](json::value&& value, std::size_t i) {
      taken = true;
      return unpacker.value(std::move(value), i, "");
    });
    const bool too_deep =
        !read && read.error().text.find("nested deeper than") != std::string::npos;
    if (read || taken || too_deep || ends_with(name, ".json")) return read;
  }
  Unpacker unpacker(name, finder(false), sink);
  return read_yaml(*text, name, limits, storage, [&](json::value&& value, std::size_t i) {
    return unpacker.value(std::move(value), i, "");
  });
}

Result<void> load_file(const std::string& path, const ManifestLimits& limits,
                       const DocumentSink& sink) {
  std::error_code ignored;  // what cannot be read is reported by read_file()
  if (!limits.holding.empty() && !fs::is_regular_file(path, ignored)) return {};
  auto text = read_file(path, limits.max_file_bytes);
  if (!text) return text.error();
  if (text->find(limits.holding) == std::string::npos) return {};
  return load(std::make_shared<const std::string>(std::move(*text)), true, path, limits, sink);
}

Result<void> collect(const fs::path& folder, std::size_t depth, std::vector<std::string>& files) {
  if (depth > kMaxFolderDepth) {
    return Error{folder.string() + ": folders nested deeper than " +
                 std::to_string(kMaxFolderDepth) + " levels"};
  }
  std::error_code error;
  std::vector<fs::path> entries;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    entries.push_back(it->path());
  }
  if (error) return Error{folder.string() + ": " + error.message()};
  std::sort(entries.begin(), entries.end());
  for (const fs::path& each : entries) {
    if (fs::is_directory(each, error)) {
      if (auto inner = collect(each, depth + 1, files); !inner) return inner;
    } else if (is_manifest_name(each.filename().string())) {
      files.push_back(each.string());
    }
  }
  return {};
}

}  // namespace

Result<void> load_text(std::string text, const std::string& name, const ManifestLimits& limits,
                       const DocumentSink& sink) {
  return load(std::make_shared<const std::string>(std::move(text)), false, name, limits, sink);
}

Result<void> load_manifests(const std::vector<std::string>& paths, const ManifestLimits& limits,
                            const DocumentSink& sink) {
  for (const std::string& path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      if (auto loaded = load_file(path, limits, sink); !loaded) return loaded;
      continue;
    }
    std::vector<std::string> files;
    if (auto collected = collect(path, 0, files); !collected) return collected;
    if (files.empty()) return Error{path + ": no file in this folder ends in .yaml, .yml or .json"};
    for (const std::string& file : files) {
      if (auto loaded = load_file(file, limits, sink); !loaded) return loaded;
    }
  }
  return {};
}

}  // namespace sluice::host
