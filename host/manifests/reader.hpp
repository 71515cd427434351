// The two parsers behind load_text(), and what they share. For this folder only.
//
// Pure functions of their input, any thread. Positions count lines and columns from 1.
#pragma once

#include <boost/json/storage_ptr.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/base/utf8.hpp"
#include "host/manifests/manifests.hpp"

namespace sluice::host {

struct Position {
  std::size_t line = 0;
  std::size_t column = 0;
};

/// A value that a document began with; the number counts documents of the text from 0.
using ValueSink = std::function<Result<void>(boost::json::value&& value, std::size_t index)>;

/// One or more JSON values, one after the other. Errors name `name:line:column`.
Result<void> read_json(std::string_view text, const std::string& name, const ManifestLimits& limits,
                       const boost::json::storage_ptr& storage, const ValueSink& sink);

/// The documents of a YAML stream, without the empty ones (which count in the index).
Result<void> read_yaml(const std::string& text, const std::string& name,
                       const ManifestLimits& limits, const boost::json::storage_ptr& storage,
                       const ValueSink& sink);

/// One step of a field path: a key, or an index.
struct PathStep {
  std::string key;
  std::optional<std::size_t> index;
};

/// `items[3].spec.labels[a/b]` → items, 3, spec, labels, a/b.
std::vector<PathStep> parse_field_path(std::string_view path);

/// Where the deepest part of the path that exists stands, in document `index`; nullopt when the
/// text cannot be read that far.
std::optional<Position> find_in_json(std::string_view text, std::size_t index,
                                     const std::vector<PathStep>& path);
std::optional<Position> find_in_yaml(const std::string& text, std::size_t index,
                                     const std::vector<PathStep>& path);

/// Where in a JSON text the first key stands that its object has already, with the key.
std::optional<std::pair<Position, std::string>> find_duplicate_key(std::string_view text);

Position position_at(std::string_view text, std::size_t offset);
std::string place_text(const std::string& name, Position position);

/// What a plain (unquoted) YAML scalar means to Kubernetes: null, a boolean, a number or a text.
/// An error for what JSON cannot say (infinity).
Result<boost::json::value> plain_scalar(const std::string& text,
                                        const boost::json::storage_ptr& storage);

}  // namespace sluice::host
