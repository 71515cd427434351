#include "host/cli/plugin_new.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <system_error>
#include <utility>

namespace sluice::host {

namespace fs = std::filesystem;

namespace {

/// What differs between the kinds beside their sources.
struct Kind {
  std::string_view name, summary, page;
  std::string_view config;  ///< what `config:` may say, for the README
  bool in_c = false;
};

/// A language; `words` are what it is called in sentences. Those with templates of their own have
/// them for some kinds: KIND-NAME, beside what is in common-NAME; C and C++ have common/.
struct Language {
  std::string_view name, words;
  bool own_templates = false;
  std::string_view next;  ///< what the author does with @folder@
};

constexpr std::array<Language, 4> kLanguages = {{
    {"c++", "C++", false,
     "  cmake -S @folder@ -B @folder@/build -DCMAKE_PREFIX_PATH=/path/to/sluice-sdk\n"
     "  cmake --build @folder@/build\n"
     "  ctest --test-dir @folder@/build --output-on-failure\n"
     "  sluice plugin validate @folder@/build/@name@.so\n"},
    {"python", "Python", true,
     "  pip install /path/to/sluice/sdk/python\n"
     "  python3 -m unittest discover -s @folder@ -p '*_test.py'\n"
     "  and in the configuration of a host what @folder@/README.md shows\n"},
    {"go", "Go", true,
     "  cd @folder@\n"
     "  go mod edit -replace sluice.dev/sdk=/path/to/sluice/sdk/go\n"
     "  go test && go build -o @name@\n"
     "  and in the configuration of a host what README.md shows\n"},
    {"rust", "Rust", true,
     "  cd @folder@\n"
     "  cargo add sluice-plugin --path /path/to/sluice/sdk/rust\n"
     "  cargo test && cargo build --release\n"
     "  cp target/release/lib@file@.so @name@.so\n"
     "  sluice plugin validate @name@.so\n"},
}};

constexpr std::array<Kind, 6> kKinds = {{
    {"check", "decides, as an admission check, when a workload may start", "check-controller",
     "config: {fromHour: 8, toHour: 18}"},
    {"controller", "keeps objects in line with other objects", "controller", ""},
    {"flavor-filter", "says which flavors are not for a pod set", "flavor-filter",
     "config: {prefix: spot}"},
    {"flavor-filter-c", "says which flavors are not for a pod set, in plain C", "flavor-filter",
     "config: {maxPods: 4}", true},
    {"preemption-veto", "says who may not be preempted", "preemption-veto", ""},
    {"validator", "accepts or refuses objects when they are written", "validator",
     "config: {maxPriority: 1000}"},
}};

constexpr std::size_t kMaxName = 63;  // what the metadata of a plugin holds

Result<void> check_name(const std::string& name) {
  const auto is_fine = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  };
  if (!name.empty() && name.size() <= kMaxName && name.front() >= 'a' && name.front() <= 'z' &&
      name.back() != '-' && std::all_of(name.begin(), name.end(), is_fine))
    return {};
  return Error{"a plugin cannot be called \"" + name +
               "\"; allowed are a-z, 0-9 and -, at most 63 of them, a letter first, no - at the "
               "end, for example budget-check"};
}

/// `my-check` → `MyCheck`.
std::string class_name(std::string_view name) {
  std::string out;
  bool upper = true;
  for (const char c : name) {
    if (c != '-') out += upper && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    upper = c == '-';
  }
  return out;
}

std::string file_name(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

/// What names its sources and its class. A word by itself may be a module, a keyword or a name of
/// Python, which would hide it, or be hidden by it: there the kind stands behind it.
std::string name_in_sources(const NewPlugin& wanted) {
  constexpr std::string_view kTaken[] = {"sluice-plugin", "fake-host",  // of the SDK
                                         "sre-compile", "sre-constants", "sre-parse"};
  const bool taken =
      wanted.name.find('-') == std::string::npos ||
      std::find(std::begin(kTaken), std::end(kTaken), wanted.name) != std::end(kTaken);
  return wanted.language == "python" && taken ? wanted.name + "-" + wanted.kind : wanted.name;
}

std::string filled_in(std::string_view text, const std::map<std::string, std::string>& values) {
  std::string out(text);
  for (const auto& [key, value] : values)
    for (std::size_t at = 0; (at = out.find(key, at)) != out.npos; at += value.size())
      out.replace(at, key.size(), value);
  return out;
}

/// REQUIRES: it is one of plugin_languages().
const Language& language_of(const NewPlugin& wanted) {
  return *std::find_if(kLanguages.begin(), kLanguages.end(),
                       [&](const Language& known) { return known.name == wanted.language; });
}

/// The folder of the templates of a kind in a language that has its own.
std::string own_folder(std::string_view kind, const Language& language) {
  return std::string(kind) + "-" + std::string(language.name);
}

/// Whether there is a template of the kind in the language. C++ has all of them.
bool has_template(const Kind& kind, const Language& language) {
  if (!language.own_templates) return true;
  const std::string folder = own_folder(kind.name, language) + "/";
  const auto templates = plugin_templates();
  return std::any_of(templates.begin(), templates.end(),
                     [&](const EmbeddedText& text) { return text.path.starts_with(folder); });
}

/// Says which templates there are instead.
Error no_template(std::string_view kind, const Language& language) {
  std::string there;
  bool several = false;
  for (const Kind& known : kKinds) {
    if (!has_template(known, language)) continue;
    several = !there.empty();
    there += (several ? ", " : "") + std::string(known.name);
  }
  return Error{"there is no template " + std::string(kind) + " in " + std::string(language.words) +
               "; there " + (several ? "are those of " : "is one of ") + there};
}

/// What a template becomes in the folder; empty: it is another kind's.
std::string target_of(std::string_view path, const Kind& kind, const Language& language,
                      const std::string& file) {
  const std::size_t slash = path.find('/');
  const std::string_view folder = path.substr(0, slash), name = path.substr(slash + 1);
  const bool own = language.own_templates;
  if (folder != (own ? own_folder(kind.name, language) : kind.name) &&
      folder != (own ? own_folder("common", language) : "common"))
    return {};
  if (name == "gitignore.in") return ".gitignore";
  const std::string_view plain = name.substr(0, name.size() - std::string_view(".in").size());
  if (plain.starts_with("plugin.")) return file + std::string(plain.substr(plain.find('.')));
  if (plain.starts_with("test."))
    return file + "_test" + std::string(plain.substr(plain.find('.')));
  return std::string(plain);
}

Result<void> write_file(const fs::path& path, const std::string& text) {
  std::error_code ignored;  // a folder that is not there is told of below
  fs::create_directories(path.parent_path(), ignored);
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();
  if (!out) return Error{path.string() + ": cannot be written"};
  return {};
}

/// Empty or not there yet; `made` says whether it was made.
Result<void> make_folder(const fs::path& folder, bool& made) {
  std::error_code error;
  if (fs::exists(folder, error) && !fs::is_directory(folder, error))
    return Error{folder.string() + ": there is a file of that name"};
  if (fs::is_directory(folder, error) && !fs::is_empty(folder, error))
    return Error{folder.string() +
                 ": the folder is there and not empty; choose another with --directory"};
  made = fs::create_directories(folder, error);
  if (error) return Error{folder.string() + ": cannot be made: " + error.message()};
  return {};
}

}  // namespace

std::vector<std::string> plugin_kinds() {
  std::vector<std::string> names;
  for (const Kind& kind : kKinds) names.emplace_back(kind.name);
  return names;
}

std::vector<std::string> plugin_languages() {
  std::vector<std::string> names;
  for (const Language& language : kLanguages) names.emplace_back(language.name);
  return names;
}

std::string next_steps(const NewPlugin& wanted, const std::string& folder) {
  return filled_in(language_of(wanted).next, {{"@folder@", folder},
                                              {"@name@", wanted.name},
                                              {"@file@", file_name(name_in_sources(wanted))}});
}

Result<std::vector<fs::path>> write_new_plugin(const NewPlugin& wanted) {
  if (auto fine = check_name(wanted.name); !fine.ok()) return fine.error();
  const auto kind = std::find_if(kKinds.begin(), kKinds.end(),
                                 [&](const Kind& known) { return known.name == wanted.kind; });
  if (kind == kKinds.end()) return Error{"there is no template " + wanted.kind};
  const Language& language = language_of(wanted);
  if (!has_template(*kind, language)) return no_template(kind->name, language);
  const fs::path folder = wanted.directory.empty() ? fs::path(wanted.name) : wanted.directory;
  const std::string in_sources = name_in_sources(wanted);
  const std::string file = file_name(in_sources);
  const std::string config = kind->config.empty() ? "" : "\n        " + std::string(kind->config);
  const std::map<std::string, std::string> values = {
      {"@name@", wanted.name},
      {"@Class@", class_name(in_sources)},
      {"@file@", file},
      {"@source@", file + (kind->in_c ? ".c" : ".cpp")},
      {"@summary@", std::string(kind->summary)},
      {"@page@", std::string(kind->page)},
      {"@config@", config},
  };
  bool made = false;
  if (auto there = make_folder(folder, made); !there.ok()) return there.error();
  std::vector<fs::path> written;
  for (const EmbeddedText& source : plugin_templates()) {
    const std::string name = target_of(source.path, *kind, language, file);
    if (name.empty()) continue;
    written.push_back(folder / name);
    if (auto done = write_file(written.back(), filled_in(source.text, values)); !done.ok()) {
      std::error_code ignored;
      for (const fs::path& path : written) {
        fs::remove(path, ignored);
        if (path.parent_path() != folder) fs::remove(path.parent_path(), ignored);
      }
      if (made) fs::remove(folder, ignored);
      return done.error();
    }
  }
  std::sort(written.begin(), written.end());
  return written;
}

}  // namespace sluice::host
