# What `cmake --install` puts where. The executable finds all of it from its own place, so a prefix may be moved as a whole.
#   bin/patchbay  lib/patchbay/plugins/*.so  etc/patchbay/*        the broker
#   include/  lib/libpatchbay_*  lib/cmake/Patchbay/               what a plugin is built with: find_package(Patchbay)
# The test kit is among it where GoogleTest was found.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(plugins ${CMAKE_INSTALL_LIBDIR}/patchbay/plugins)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/Patchbay)

# Debian's library folder has the architecture in its name; the executable looks for plugins in lib/patchbay/plugins.
if(NOT CMAKE_INSTALL_LIBDIR STREQUAL "lib")
    set(plugins lib/patchbay/plugins)
endif()

# --- the broker
install(TARGETS patchbay RUNTIME)
file(RELATIVE_PATH to_libraries ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
set_target_properties(patchbay patchctl PROPERTIES INSTALL_RPATH "$ORIGIN/${to_libraries}")
get_property(modules GLOBAL PROPERTY PATCHBAY_PLUGINS)
install(TARGETS ${modules} LIBRARY DESTINATION ${plugins})
# Plugins find the API library in the process that loads them.
set_target_properties(${modules} PROPERTIES INSTALL_RPATH "")
install(DIRECTORY ${CMAKE_SOURCE_DIR}/etc/ DESTINATION etc/patchbay)
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE ${CMAKE_SOURCE_DIR}/NOTICE DESTINATION ${CMAKE_INSTALL_DOCDIR})
# Pages lie to each other as in the tree, so that their links lead somewhere.
file(GLOB_RECURSE pages CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/docs/*.md ${CMAKE_SOURCE_DIR}/plugins/*/README.md)
foreach(page README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md ${pages})
    cmake_path(GET page PARENT_PATH folder)
    install(FILES ${CMAKE_SOURCE_DIR}/${page} DESTINATION ${CMAKE_INSTALL_DOCDIR}/${folder})
endforeach()
install(FILES ${CMAKE_SOURCE_DIR}/docs/patchbay.1 DESTINATION share/man/man1)
install(FILES ${CMAKE_SOURCE_DIR}/tools/completion/patchbay.bash DESTINATION share/bash-completion/completions RENAME patchbay)

# --- the SDK, and plugins to start from
set(sdk patchbay_protocol patchbay_plugin_api)
set_target_properties(patchbay_protocol PROPERTIES EXPORT_NAME protocol)
set_target_properties(patchbay_plugin_api PROPERTIES EXPORT_NAME plugin_api)
if(TARGET patchbay_testkit)
    set_target_properties(patchbay_testkit PROPERTIES EXPORT_NAME testkit)
    install(TARGETS patchbay_testkit EXPORT PatchbayTestkitTargets ARCHIVE FILE_SET HEADERS)
    install(EXPORT PatchbayTestkitTargets NAMESPACE patchbay:: DESTINATION ${package})
endif()
install(TARGETS ${sdk} EXPORT PatchbayTargets LIBRARY ARCHIVE FILE_SET HEADERS)
install(EXPORT PatchbayTargets NAMESPACE patchbay:: DESTINATION ${package})
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/PatchbayConfig.cmake.in ${CMAKE_BINARY_DIR}/PatchbayConfig.cmake
    INSTALL_DESTINATION ${package})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/PatchbayConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/PatchbayConfig.cmake ${CMAKE_BINARY_DIR}/PatchbayConfigVersion.cmake
    ${CMAKE_SOURCE_DIR}/cmake/PatchbayPlugin.cmake ${CMAKE_SOURCE_DIR}/cmake/plugin.map DESTINATION ${package})
foreach(example plugin-template audit-log rate-limit schema-check mirror store-template client)
    install(DIRECTORY ${CMAKE_SOURCE_DIR}/sdk/examples/${example} DESTINATION share/patchbay/examples)
endforeach()
install(FILES ${CMAKE_SOURCE_DIR}/sdk/examples/README.md DESTINATION share/patchbay/examples)
