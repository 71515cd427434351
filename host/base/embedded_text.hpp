// EmbeddedText: a file of the source tree that the build put into the program, so that nothing has
// to be found when it runs. Made by cmake/SluiceEmbedTexts.cmake; constant, any thread.
#pragma once

#include <string_view>

namespace sluice::host {

struct EmbeddedText {
  std::string_view path;  ///< relative, with /
  std::string_view text;
};

}  // namespace sluice::host
