# Run as a script: writes OUTPUT, a C++ file that holds the JSON file INPUT as a text.
file(READ ${INPUT} content)
file(WRITE ${OUTPUT} "#include <string_view>\n\nnamespace sluice::host {\n\n\
extern const std::string_view kBootstrapText;\n\
const std::string_view kBootstrapText = R\"~~(${content})~~\";\n\n}  // namespace sluice::host\n")
