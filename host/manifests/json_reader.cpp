// JSON into values. The library's own parser is driven by hand, so that several values may follow
// each other, positions of errors are known, and repeated keys are noticed.
#include "api/json/json_builder.hpp"
#include "host/base/text.hpp"
#include "host/manifests/reader.hpp"

namespace sluice::host {

namespace json = boost::json;
using api::JsonBuilder;

Result<void> read_json(std::string_view text, const std::string& name, const ManifestLimits& limits,
                       const json::storage_ptr& storage, const ValueSink& sink) {
  json::parse_options options;
  options.max_depth = limits.max_depth;
  std::size_t at = 0;
  const auto skip_blanks = [&] {
    while (at < text.size() && is_blank(text[at])) ++at;
  };
  skip_blanks();
  if (at == text.size()) return Error{name + ": the file is empty"};
  json::basic_parser<JsonBuilder> parser(options);
  for (std::size_t index = 0; at < text.size(); ++index) {
    parser.reset();
    parser.handler().stack.reset(storage);
    parser.handler().members = 0;
    json::error_code error;
    const std::size_t used = parser.write_some(false, text.data() + at, text.size() - at, error);
    if (error) {
      std::string what = error.message();
      if (error == json::error::too_deep) {
        what = "nested deeper than " + std::to_string(limits.max_depth) + " levels";
      } else if (error == json::error::incomplete) {
        what = "the text ends inside a value";
      }
      return Error{place_text(name, position_at(text, at + used)) + ": not valid JSON: " + what};
    }
    at += used;
    json::value value = parser.handler().stack.release();
    if (parser.handler().members != api::count_members(value)) {
      const auto found = find_duplicate_key(text);
      if (!found) return Error{name + ": an object has the same key twice"};
      return Error{place_text(name, found->first) + ": duplicate key \"" + found->second + "\""};
    }
    if (auto taken = sink(std::move(value), index); !taken) return taken;
    skip_blanks();
  }
  return {};
}

}  // namespace sluice::host
