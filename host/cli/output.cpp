#include "host/cli/output.hpp"

#include <cstddef>
#include <utility>

#include "api/json/json.hpp"
#include "core/base/utf8.hpp"
#include "host/cli/arguments.hpp"
#include "host/manifests/yaml_text.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr std::size_t kIndent = 4;

void append_line(std::string& out, std::size_t depth) {
  out += '\n';
  out.append(depth * kIndent, ' ');
}

void append_indented(const json::value& value, std::size_t depth, std::string& out) {
  if (const json::object* object = value.if_object(); object != nullptr && !object->empty()) {
    char before = '{';
    for (const auto& [name, member] : *object) {
      out += std::exchange(before, ',');
      append_line(out, depth + 1);
      api::append_json_text(api::view(name), out);
      out += ": ";
      append_indented(member, depth + 1, out);
    }
    append_line(out, depth);
    out += '}';
  } else if (const json::array* array = value.if_array(); array != nullptr && !array->empty()) {
    char before = '[';
    for (const json::value& each : *array) {
      out += std::exchange(before, ',');
      append_line(out, depth + 1);
      append_indented(each, depth + 1, out);
    }
    append_line(out, depth);
    out += ']';
  } else {
    api::append_json(value, out);
  }
}

/// Names and messages are what users wrote: none of them may steer the terminal.
std::string without_controls(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    const std::size_t size = (end == std::string::npos ? text.size() : end) - at;
    out += one_line(std::string_view(text).substr(at, size), std::string::npos);
    if (end != std::string::npos) out += '\n';
    at += size + 1;
  }
  return out;
}

}  // namespace

std::string indented_json(const json::value& document) {
  std::string out;
  append_indented(document, 0, out);
  return out;
}

CLI::Option* add_output_option(CLI::App& command, OutputFormat& format, const std::string& about,
                               bool with_csv) {
  std::vector<std::string> words{"table", "text", "json", "yaml"};
  if (with_csv) words.emplace_back("csv");
  return command
      .add_option_function<std::string>(
          "--output,-o",
          [&format](const std::string& text) {
            format = text == "json"   ? OutputFormat::kJson
                     : text == "yaml" ? OutputFormat::kYaml
                     : text == "csv"  ? OutputFormat::kCsv
                                      : OutputFormat::kTable;
          },
          about)
      ->check(one_of(words));
}

std::string printed(const boost::json::value& document, OutputFormat format,
                    const std::function<std::string()>& table) {
  std::string out;
  switch (format) {
    case OutputFormat::kTable:
      return without_controls(table());
    case OutputFormat::kYaml:
      append_yaml(document, out);
      return out;
    case OutputFormat::kCsv:
    case OutputFormat::kJson:
      break;
  }
  return indented_json(document) + "\n";
}

}  // namespace sluice::host
