# Debian packages, by CPack: `sluice` (program, plugins, service) and `sluice-sdk` (headers, and the
# CMake package that builds plugins). Only what a package has that an installation by hand has not
# stands here: the service of /usr/bin, its configuration, and what is done when it comes and goes.
set(CMAKE_INSTALL_FULL_BINDIR /usr/bin)
set(CMAKE_INSTALL_FULL_DOCDIR /usr/share/doc/sluice)
configure_file(sluice.service.in debian/sluice.service @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/debian/sluice.service
        DESTINATION lib/systemd/system COMPONENT debian EXCLUDE_FROM_ALL)
install(FILES sluice.yaml DESTINATION /etc/sluice COMPONENT debian EXCLUDE_FROM_ALL)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME sluice)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "Sluice maintainers <maintainers@sluice.dev>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_STRIP_FILES ON)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_SOURCE_DIR}/sbom.cmake)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL host debian sdk)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
foreach(component IN ITEMS HOST DEBIAN)
  set(CPACK_COMPONENT_${component}_GROUP sluice)
endforeach()
set(CPACK_COMPONENT_SDK_GROUP sdk)

set(CPACK_DEBIAN_SLUICE_PACKAGE_NAME sluice)
set(CPACK_DEBIAN_SLUICE_FILE_NAME DEB-DEFAULT)
set(CPACK_COMPONENT_GROUP_SLUICE_DESCRIPTION
    "queues, quota and preemption for batch jobs
 Decides which batch jobs start, when, and on which kind of capacity, and runs
 them on this machine. Its API is Kubernetes', its objects are Kueue's.")
set(CPACK_DEBIAN_SLUICE_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_SLUICE_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_SLUICE_PACKAGE_DEPENDS "init-system-helpers, passwd")
set(CPACK_DEBIAN_SLUICE_PACKAGE_SUGGESTS kubernetes-client)
foreach(script IN ITEMS postinst prerm postrm conffiles)
  list(APPEND CPACK_DEBIAN_SLUICE_PACKAGE_CONTROL_EXTRA
       ${CMAKE_CURRENT_SOURCE_DIR}/debian/${script})
endforeach()
set(CPACK_DEBIAN_SLUICE_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_SDK_PACKAGE_NAME sluice-sdk)
set(CPACK_DEBIAN_SDK_FILE_NAME DEB-DEFAULT)
set(CPACK_COMPONENT_GROUP_SDK_DESCRIPTION
    "headers for plugins of Sluice
 The C interface between the host and its plugins, the C++20 layer on top, a
 host for unit tests, and the CMake package that builds them.")
set(CPACK_DEBIAN_SDK_PACKAGE_SECTION libdevel)
include(CPack)
