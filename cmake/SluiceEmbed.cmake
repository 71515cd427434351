# Run as a script: writes OUTPUT, a C++ file that holds the data files of DATA_DIR as texts.
# TYPES is the file of the named types, ATTRIBUTES what built-in kinds say of their fields, KINDS
# the others, separated by commas.
string(REPLACE "," ";" kinds "${KINDS}")

set(text "#include \"api/schema/embedded.hpp\"\n\n#include <array>\n\n")
string(APPEND text "namespace sluice::api {\n")
string(APPEND text "namespace {\n\n")
file(READ ${DATA_DIR}/${TYPES} types)
string(APPEND text "constexpr std::string_view kTypes = R\"~~(${types})~~\";\n\n")
file(READ ${DATA_DIR}/${ATTRIBUTES} attributes)
string(APPEND text "constexpr std::string_view kAttributes = R\"~~(${attributes})~~\";\n\n")
list(LENGTH kinds count)
string(APPEND text "constexpr std::array<std::string_view, ${count}> kKinds = {{\n")
foreach(name IN LISTS kinds)
  file(READ ${DATA_DIR}/${name} content)
  string(APPEND text "R\"~~(${content})~~\",\n")
endforeach()
string(APPEND text "}};\n\n}  // namespace\n\n")
string(APPEND text "std::string_view embedded_types() { return kTypes; }\n")
string(APPEND text "std::string_view embedded_attributes() { return kAttributes; }\n")
string(APPEND text "std::span<const std::string_view> embedded_kinds() { return kKinds; }\n\n")
string(APPEND text "}  // namespace sluice::api\n")
file(WRITE ${OUTPUT} "${text}")
