#include "host/simulate/report/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <vector>

#include "core/base/check.hpp"
#include "host/access/secrets.hpp"
#include "host/base/digest.hpp"

namespace sluice::host {
namespace {

std::string_view text_of(std::span<const EmbeddedText> files, std::string_view path) {
  const auto file =
      std::find_if(files.begin(), files.end(), [&](const auto& each) { return each.path == path; });
  SLUICE_CHECK(file != files.end(), "no such file of the page: ", path);
  return file->text;
}

class Bundle {
 public:
  explicit Bundle(std::span<const EmbeddedText> files) : files_(files) {}

  /// The number of the module, which stands in the text from now on.
  std::size_t add(const std::string& path) {
    if (const auto known = numbers_.find(path); known != numbers_.end()) return known->second;
    std::string body;
    std::vector<std::string_view> exports;
    std::string_view rest = text_of(files_, path);
    while (!rest.empty()) {
      if (rest.starts_with("import ")) {
        body += import(path, take(rest, ";\n"));
        continue;
      }
      std::string_view line = take(rest, "\n");
      if (line.starts_with("export ")) {
        line.remove_prefix(7);
        exports.push_back(exported(line));
      }
      body += line;
    }
    const std::size_t number = numbers_.size();
    numbers_.emplace(path, number);
    text_ += fmt::format("// {}\nconst $m{} = (() => {{\n{}return {{ {} }};\n}})();\n", path,
                         number, body, fmt::join(exports, ", "));
    return number;
  }

  std::string text() && { return std::move(text_); }

 private:
  static std::string_view take(std::string_view& rest, std::string_view until) {
    const std::size_t end = std::min(rest.find(until), rest.size() - until.size()) + until.size();
    const std::string_view taken = rest.substr(0, end);
    rest.remove_prefix(end);
    return taken;
  }

  static std::string_view exported(std::string_view line) {
    for (const std::string_view word : {"async ", "const ", "function ", "class "})
      if (line.starts_with(word)) line.remove_prefix(word.size());
    return line.substr(0, line.find_first_of(" (={"));
  }

  /// `import { a, b as c } from './x.js';` → `const { a, b: c } = $m7;`
  std::string import(const std::string& from, std::string_view statement) {
    const std::size_t quote = statement.find('\'');
    const std::size_t end = statement.find('\'', quote + 1);
    SLUICE_CHECK(end != std::string_view::npos, from, " imports in another way: ", statement);
    const auto path =
        std::filesystem::path(from).parent_path() / statement.substr(quote + 1, end - quote - 1);
    const std::size_t number = add(path.lexically_normal().generic_string());
    const std::size_t open = statement.find('{');
    if (open == std::string_view::npos) return "";  // for what it does alone
    std::string names(statement.substr(open, statement.find('}') + 1 - open));
    for (std::size_t as; (as = names.find(" as ")) != std::string::npos;)
      names.replace(as, 4, ": ");
    return fmt::format("const {} = $m{};\n", names, number);
  }

  const std::span<const EmbeddedText> files_;
  std::map<std::string, std::size_t> numbers_;  // of modules that stand in the text
  std::string text_;
};

std::string hash_of(std::string_view text) {
  const Digest digest = sha256(text);
  return "'sha256-" + to_base64({reinterpret_cast<const char*>(digest.data()), digest.size()}) +
         "'";
}

}  // namespace

std::string bundle_modules(std::span<const EmbeddedText> files, std::string_view entry) {
  Bundle bundle(files);
  bundle.add(std::string(entry));
  return std::move(bundle).text();
}

ReportPage report_page() {
  const auto files = report_files();
  const std::string code = "\n" + bundle_modules(files, "report/main.js");
  std::string style = "\n";
  for (const std::string_view path : {"style.css", "lists.css", "report/report.css", "narrow.css"})
    style += text_of(files, path);
  const std::string policy = fmt::format(
      "default-src 'none'; script-src {}; style-src {}; img-src data:; base-uri 'none'; "
      "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
      hash_of(code), hash_of(style));
  ReportPage page;
  page.before = fmt::format(
      R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8" />
<meta http-equiv="Content-Security-Policy" content="{}" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<meta name="color-scheme" content="light dark" />
<title>Sluice: report of a simulation</title>
<link rel="icon" href="data:image/svg+xml;base64,{}" />
<style>{}</style>
</head>
<body>
<noscript><p>This report draws with JavaScript. Without: sluice simulate --log -</p></noscript>
<script type="application/json" id="data">)",
      policy, to_base64(text_of(files, "icon.svg")), style);
  page.after =
      fmt::format("</script>\n<script type=\"module\">{}</script>\n</body>\n</html>\n", code);
  return page;
}

}  // namespace sluice::host
