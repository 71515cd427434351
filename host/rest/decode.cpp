#include "host/rest/decode.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "api/json/json.hpp"
#include "api/json/json_builder.hpp"
#include "core/base/text.hpp"
#include "host/base/text.hpp"
#include "host/manifests/reader.hpp"

namespace sluice::host {

namespace json = boost::json;
using api::JsonBuilder;

namespace {

constexpr std::size_t kMaxProblems = 100;

/// Follows a text that parsed well and notes each key that its object has had already.
class DuplicateFinder {
 public:
  static constexpr std::size_t max_object_size = JsonBuilder::max_object_size;
  static constexpr std::size_t max_array_size = JsonBuilder::max_array_size;
  static constexpr std::size_t max_key_size = JsonBuilder::max_key_size;
  static constexpr std::size_t max_string_size = JsonBuilder::max_string_size;

  std::vector<std::string> take() { return std::move(found_); }

  bool on_document_begin(json::error_code&) { return true; }
  bool on_document_end(json::error_code&) { return true; }
  bool on_object_begin(json::error_code&) { return open(true); }
  bool on_object_end(std::size_t, json::error_code&) { return close(); }
  bool on_array_begin(json::error_code&) { return open(false); }
  bool on_array_end(std::size_t, json::error_code&) { return close(); }
  bool on_key_part(json::string_view part, std::size_t, json::error_code&) {
    key_.append(part.data(), part.size());
    return true;
  }
  bool on_key(json::string_view part, std::size_t, json::error_code&) {
    key_.append(part.data(), part.size());
    Frame& frame = frames_.back();
    frame.key = std::move(key_);
    key_.clear();
    if (!frame.keys.insert(frame.key).second && found_.size() < kMaxProblems) {
      std::string problem = "duplicate field \"" + path() + "\"";
      if (std::find(found_.begin(), found_.end(), problem) == found_.end())
        found_.push_back(std::move(problem));
    }
    return true;
  }
  bool on_string_part(json::string_view, std::size_t, json::error_code&) { return true; }
  bool on_string(json::string_view, std::size_t, json::error_code&) { return value(); }
  bool on_number_part(json::string_view, json::error_code&) { return true; }
  bool on_int64(std::int64_t, json::string_view, json::error_code&) { return value(); }
  bool on_uint64(std::uint64_t, json::string_view, json::error_code&) { return value(); }
  bool on_double(double, json::string_view, json::error_code&) { return value(); }
  bool on_bool(bool, json::error_code&) { return value(); }
  bool on_null(json::error_code&) { return value(); }
  bool on_comment_part(json::string_view, json::error_code&) { return true; }
  bool on_comment(json::string_view, json::error_code&) { return true; }

 private:
  struct Frame {
    bool object = false;
    std::size_t index = 0;
    std::string key;
    std::set<std::string, std::less<>> keys;
  };

  bool open(bool object) {
    frames_.emplace_back().object = object;
    return true;
  }
  bool close() {
    frames_.pop_back();
    return value();
  }
  bool value() {
    if (!frames_.empty() && !frames_.back().object) ++frames_.back().index;
    return true;
  }
  std::string path() const {
    std::string out;
    for (const Frame& frame : frames_) {
      if (!frame.object) {
        out += "[" + std::to_string(frame.index) + "]";
      } else {
        if (!out.empty()) out += '.';
        out += frame.key;
      }
    }
    return out;
  }

  std::vector<Frame> frames_;
  std::string key_;
  std::vector<std::string> found_;
};

std::string place(std::string_view text, std::size_t offset) {
  const Position position = position_at(text, offset);
  return "line " + std::to_string(position.line) + ", column " + std::to_string(position.column);
}

ApiError too_long(const DecodeLimits& limits) {
  ApiError out;
  out.code = 413;
  out.reason = "RequestEntityTooLarge";
  out.text = "Request entity too large: limit is " + std::to_string(limits.bytes) + " bytes";
  return out;
}

ApiError too_many_values(const DecodeLimits& limits) {
  ApiError out = too_long(limits);
  out.text = "Request entity too large: it has more than the limit of " +
             std::to_string(limits.values) + " values";
  return out;
}

ApiError unsupported(std::string_view accepted) {
  ApiError out;
  out.code = 415;
  out.reason = "UnsupportedMediaType";
  out.text = "the body of the request was in an unknown format - accepted media types include: ";
  out.text += accepted;
  return out;
}

/// `application/json; charset=utf-8` → application/json, in lower case.
std::string media_type(std::string_view content_type) {
  return lower_ascii(trim(content_type.substr(0, content_type.find(';')), " \t\r\n"));
}

std::vector<std::string> duplicates(std::string_view text, const json::parse_options& options) {
  json::basic_parser<DuplicateFinder> parser(options);
  json::error_code error;
  parser.write_some(false, text.data(), text.size(), error);
  return error ? std::vector<std::string>{"duplicate field"} : parser.handler().take();
}

}  // namespace

ApiResult<DecodedBody> decode_json(std::string_view text, const DecodeLimits& limits,
                                   json::storage_ptr storage) {
  if (text.size() > limits.bytes) return too_long(limits);
  std::size_t start = 0;
  while (start < text.size() && is_blank(text[start])) ++start;
  if (start == text.size()) return bad_request("the body is empty where JSON is expected");
  json::parse_options options;
  options.max_depth = limits.depth;
  json::basic_parser<JsonBuilder> parser(options);
  parser.handler().stack.reset(storage);
  parser.handler().most_values = limits.values;
  json::error_code error;
  std::size_t used = start;
  used += parser.write_some(false, text.data() + start, text.size() - start, error);
  if (error && parser.handler().values > limits.values) return too_many_values(limits);
  if (error) {
    std::string what = error.message();
    if (error == json::error::too_deep) {
      what = "nested deeper than " + std::to_string(limits.depth) + " levels";
    } else if (error == json::error::incomplete) {
      what = "the text ends inside a value";
    }
    return bad_request("the body is not valid JSON: " + place(text, used) + ": " + what);
  }
  const std::size_t end = text.find_first_not_of(" \t\r\n", used);
  if (end != std::string_view::npos) {
    return bad_request("the body is not valid JSON: " + place(text, end) +
                       ": something stands behind the value");
  }
  // Not assigned to one that is there: that would copy it out of its storage.
  DecodedBody out{parser.handler().stack.release(), {}};
  if (parser.handler().members != api::count_members(out.value))
    out.problems = duplicates(text.substr(start), options);
  return out;
}

ApiResult<DecodedBody> decode_yaml(std::string_view text, const DecodeLimits& limits) {
  if (text.size() > limits.bytes) return too_long(limits);
  const std::size_t bad = find_bad_utf8(text);
  if (bad != std::string_view::npos)
    return bad_request("the body is not valid UTF-8: " + place(text, bad));
  ManifestLimits bounds;
  bounds.max_depth = limits.depth;
  bounds.max_yaml_nodes = limits.values;
  bounds.max_yaml_copies_bytes = limits.bytes;
  DecodedBody out;
  std::size_t documents = 0;
  const auto read = read_yaml(std::string(text), "body", bounds, {},
                              [&](json::value&& value, std::size_t) -> Result<void> {
                                if (++documents > 1) return Error{"more than one YAML document"};
                                out.value = std::move(value);
                                return {};
                              });
  if (!read) return bad_request("the body is not valid YAML: " + read.error().text);
  if (documents == 0) return bad_request("the body is empty where YAML is expected");
  return out;
}

ApiResult<BodyFormat> body_format(std::string_view content_type) {
  const std::string type = media_type(content_type);
  if (type.empty() || type == "application/json") return BodyFormat::kJson;
  if (type == "application/yaml") return BodyFormat::kYaml;
  if (type == "application/vnd.kubernetes.protobuf") return BodyFormat::kProtobuf;
  return unsupported("application/json, application/yaml, application/vnd.kubernetes.protobuf");
}

ApiResult<PatchType> patch_type(std::string_view content_type, bool strategic) {
  const std::string type = media_type(content_type);
  if (type == "application/json-patch+json") return PatchType::kJson;
  if (type == "application/merge-patch+json") return PatchType::kMerge;
  if (type == "application/apply-patch+yaml") return PatchType::kApply;
  if (type == "application/strategic-merge-patch+json" && strategic) return PatchType::kStrategic;
  return unsupported(strategic ? "application/json-patch+json, application/merge-patch+json, "
                                 "application/apply-patch+yaml, "
                                 "application/strategic-merge-patch+json"
                               : "application/json-patch+json, application/merge-patch+json, "
                                 "application/apply-patch+yaml");
}

ApiResult<DecodedBody> decode_patch(std::string_view text, PatchType type,
                                    const DecodeLimits& limits) {
  if (type != PatchType::kApply) return decode_json(text, limits);
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && text[first] == '{') {
    auto decoded = decode_json(text, limits);
    if (decoded || decoded.error().code != 400) return decoded;
    auto flow = decode_yaml(text, limits);  // `{a: b}` is YAML
    return flow ? flow : decoded;
  }
  return decode_yaml(text, limits);
}

ApiError strict_decoding_error(const std::vector<std::string>& problems) {
  std::string list;
  for (const auto& problem : problems) list += (list.empty() ? "" : ", ") + problem;
  return bad_request("strict decoding error: " + list);
}

}  // namespace sluice::host
