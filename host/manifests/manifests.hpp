// Manifests: files and folders of YAML or JSON, as one stream of JSON objects with their places.
//
// A document is one object: a YAML document, the object of a JSON file, or an item of a `List`
// (typed lists like WorkloadList too; their items inherit apiVersion and kind where they name
// none). All functions may be called from any thread; a Document is owned by its receiver.
#pragma once

#include <boost/json/object.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace sluice::host {

struct ManifestLimits {
  std::size_t max_file_bytes = 64u << 20;
  std::size_t max_depth = 100;
  /// Values that one YAML document may expand to through its aliases.
  std::size_t max_yaml_nodes = 4'000'000;
  std::size_t max_yaml_copies_bytes = 64U << 20U;  ///< of texts, through anchors and aliases
  /// Unless empty: only ordinary files whose text holds this are read.
  std::string_view holding = {};
};

class PlaceFinder;

/// One object and where it stands.
struct Document {
  /// Lives in the memory of its file, which is released with the last document of the file:
  /// `boost::json::object(document.object, storage)` copies it into another memory.
  boost::json::object object;
  std::string file;
  std::string pointer;    ///< inside the file, as a field path: `items[3]`, empty for the whole
  std::size_t index = 0;  ///< of the document in its file (multi-document YAML)
  std::shared_ptr<const PlaceFinder> places;

  /// `file:line` of a field of the object, of the nearest enclosing value that can be found when
  /// the field does not exist, e.g. for `spec.podSets[0].count`. Re-reads the text: O(file), meant
  /// for error messages.
  std::string place(std::string_view field_path = {}) const;
};

/// Takes documents one after the other; an error ends the loading and is returned as it is.
using DocumentSink = std::function<Result<void>(Document&&)>;

/// Reads `paths` in the order given; a folder stands for its files ending in .yaml, .yml or .json,
/// by name, folders inside it included. An error names `file:line`. Errors of later files come
/// after documents of earlier ones went to the sink.
Result<void> load_manifests(const std::vector<std::string>& paths, const ManifestLimits& limits,
                            const DocumentSink& sink);

/// The documents of one text; `name` stands for the file in places. JSON when the first character
/// that is no blank is `{` or `[` and the text parses as JSON up to its end, or when the name ends
/// in .json; YAML else.
Result<void> load_text(std::string text, const std::string& name, const ManifestLimits& limits,
                       const DocumentSink& sink);

}  // namespace sluice::host
