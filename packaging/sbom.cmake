# Run by CPack once the files of all packages lie where they are packed from: puts a bill of
# materials (sbom.py) among those of the host.
set(files ${CPACK_TEMPORARY_DIRECTORY}/sluice)
if(NOT IS_DIRECTORY ${files})
  message(FATAL_ERROR "${files}: the files of the package are not there")
endif()
execute_process(
  COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/sbom.py --version ${CPACK_PACKAGE_VERSION}
          --notices ${CMAKE_CURRENT_LIST_DIR}/../THIRD_PARTY_NOTICES.md --folder ${files}
          --output ${files}/usr/share/doc/sluice/sbom.spdx.json
  COMMAND_ERROR_IS_FATAL ANY)
