// Writing the folder from which an author starts: `sluice plugin new`.
//
// The templates are files of sdk/templates/, embedded into the program, so that nothing has to be
// found when it runs. Any thread.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "host/base/embedded_text.hpp"

namespace sluice::host {

/// The files of sdk/templates/, by path: KIND/plugin.cpp.in, KIND-LANGUAGE/src/lib.rs.in,
/// common/README.md.in, …
std::span<const EmbeddedText> plugin_templates();

struct NewPlugin {
  std::string name;
  std::string kind;
  std::string language;             ///< of plugin_languages()
  std::filesystem::path directory;  ///< empty: NAME in the working directory
};

/// What --kind may be, the default first.
std::vector<std::string> plugin_kinds();

/// What --lang may be, the default first.
std::vector<std::string> plugin_languages();

/// What the author does next with the folder that was written, as lines for a terminal.
std::string next_steps(const NewPlugin& wanted, const std::string& folder);

/// Writes the files and returns their paths. The folder must not exist, or be empty; an error
/// leaves nothing behind that was not there before.
Result<std::vector<std::filesystem::path>> write_new_plugin(const NewPlugin& wanted);

}  // namespace sluice::host
