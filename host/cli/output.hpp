// How a command says what it found: as a table (or a text) for people, or as JSON or YAML for other
// programs: the option --output, the same everywhere.
//
// Pure, but for what the option writes into when the command line is read. Main thread.
#pragma once

#include <CLI/CLI.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <functional>
#include <string>

namespace sluice::host {

enum class OutputFormat : std::uint8_t { kTable, kJson, kYaml, kCsv };

/// --output,-o: `table` (also said `text`), `json` or `yaml`, and `csv` where a command has that.
/// `format` must outlive the reading of the command line.
CLI::Option* add_output_option(
    CLI::App& command, OutputFormat& format,
    const std::string& about = "table (default; the same as text), json or yaml",
    bool with_csv = false);

/// As `kubectl -o json` prints it: by four spaces, an entry a line; no line break at the end.
std::string indented_json(const boost::json::value& document);

/// `document` in that form; a table is what `table` makes, with its line breaks. REQUIRES: not
/// kCsv.
std::string printed(const boost::json::value& document, OutputFormat format,
                    const std::function<std::string()>& table);

}  // namespace sluice::host
