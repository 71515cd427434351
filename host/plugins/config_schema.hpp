// ConfigSchema: checks a plugin's configuration against the JSON Schema that the plugin publishes.
//
// Understood keywords: type, properties, required, additionalProperties (true or false; false when
// absent beside properties), items, enum, minimum, maximum, minLength, maxLength, minItems,
// maxItems, default, defaultFrom, title, description. Any other keyword is refused when the schema
// is read, so that no rule is silently left out. Immutable; safe on any thread.
//
// `defaultFrom` names a member of the host's own configuration that is the default where nothing is
// given: a feature that a plugin brings follows a setting which is of the host, and the host knows
// no plugin by name.
#pragma once

#include <boost/json/value.hpp>
#include <string_view>

#include "core/base/result.hpp"

namespace sluice::host {

class ConfigSchema {
 public:
  /// An empty text: the plugin takes no configuration. An error names every mistake.
  static Result<ConfigSchema> parse(std::string_view text);

  /// The configuration with defaults filled in, or all mistakes at once: path, what was found and
  /// what is allowed. `config` is JSON text; empty means {}. `host`: what `defaultFrom` may name,
  /// an object; empty: nothing is there, and `default` holds.
  Result<boost::json::value> check(std::string_view config, std::string_view host = {}) const;

 private:
  explicit ConfigSchema(boost::json::value schema) : schema_(std::move(schema)) {}
  boost::json::value schema_;
};

}  // namespace sluice::host
