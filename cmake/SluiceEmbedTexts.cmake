# Run as a script: writes OUTPUT, a C++ file with the texts of FILES (below DATA_DIR, separated by
# commas) behind the function FUNCTION, which HEADER declares, as pairs of path and text.
string(REPLACE "," ";" files "${FILES}")
list(LENGTH files count)

set(text "#include \"${HEADER}\"\n\n#include <array>\n\n")
string(APPEND text "namespace sluice::host {\n\nstd::span<const EmbeddedText> ${FUNCTION}() {\n")
string(APPEND text "  static constexpr std::array<EmbeddedText, ${count}> kTexts = {{\n")
foreach(name IN LISTS files)
  file(READ ${DATA_DIR}/${name} content)
  string(APPEND text "{\"${name}\", R\"~~(${content})~~\"},\n")
endforeach()
string(APPEND text "}};\n  return kTexts;\n}\n\n}  // namespace sluice::host\n")
file(WRITE ${OUTPUT} "${text}")
