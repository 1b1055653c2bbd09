# What a program needs that uses the client library: find_package(Patchbay COMPONENTS client), or pkg-config patchbay-client.

include(GNUInstallDirs)

set_target_properties(patchbay_net PROPERTIES EXPORT_NAME net)
set_target_properties(patchbay_client PROPERTIES EXPORT_NAME client)
install(TARGETS patchbay_net patchbay_client EXPORT PatchbayClientTargets ARCHIVE FILE_SET HEADERS)
install(EXPORT PatchbayClientTargets NAMESPACE patchbay:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Patchbay)
file(RELATIVE_PATH PATCHBAY_PREFIX_FROM_PC ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(${CMAKE_SOURCE_DIR}/cmake/patchbay-client.pc.in ${CMAKE_BINARY_DIR}/patchbay-client.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/patchbay-client.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
