#include "host/cli/output.hpp"
#include "host/cli/arguments.hpp"

#include "api/json/json.hpp"
#include "host/manifests/yaml_text.hpp"

namespace sluice::host {

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
      return table();
    case OutputFormat::kYaml:
      append_yaml(document, out);
      return out;
    case OutputFormat::kCsv:
    case OutputFormat::kJson:
      break;
  }
  return api::to_json(document) + "\n";
}

}  // namespace sluice::host
