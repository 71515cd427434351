// The report as one HTML file: the data, and what of web/ its page is made of, inside it. It asks
// for nothing from anywhere, and its Content-Security-Policy lets no other code run in it.
// Pure functions, any thread.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "host/base/embedded_text.hpp"

namespace sluice::host {

/// The modules and styles of web/ that a report is made of, by path below it.
std::span<const EmbeddedText> report_files();

/// The modules that `entry` imports, directly or through others, and itself, as one module: each
/// becomes a function that gives what it exports. Imports and exports must have the forms that
/// web/ has: `import { a, b as c } from './x.js';` and `export const|function|class NAME`.
std::string bundle_modules(std::span<const EmbeddedText> files, std::string_view entry);

/// What stands before the data and after it.
struct ReportPage {
  std::string before, after;
};
ReportPage report_page();

}  // namespace sluice::host
