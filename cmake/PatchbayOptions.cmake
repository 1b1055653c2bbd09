# Build-wide settings: language, options, output places, fast linking.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Debug, Release, RelWithDebInfo" FORCE)
endif()

option(PATCHBAY_TESTS "Build the tests" ON)
option(PATCHBAY_TESTKIT "Build and install the test kit, where GoogleTest is found" ON)
option(PATCHBAY_CLIENT_TLS "Build TLS for the client library; needs OpenSSL" ON)
option(PATCHBAY_WERROR "Warnings stop the build (set by the presets)" OFF)
option(PATCHBAY_RELEASE "These sources are a released version: plugins of the same API version fit" OFF)
option(PATCHBAY_FUZZ "Build the libFuzzer targets (clang only)" OFF)
set(PATCHBAY_SANITIZE "" CACHE STRING "Sanitizers for every target: 'address,undefined', 'thread' or empty")

# Plugins and the executable in one place each, as an installed tree has them.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(PATCHBAY_PLUGIN_DIR ${CMAKE_BINARY_DIR}/plugins)

if(PATCHBAY_SANITIZE)
    add_compile_options(-fsanitize=${PATCHBAY_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
    add_link_options(-fsanitize=${PATCHBAY_SANITIZE})
endif()

find_program(PATCHBAY_CCACHE ccache)
if(PATCHBAY_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${PATCHBAY_CCACHE})
endif()
find_program(PATCHBAY_MOLD mold)
if(PATCHBAY_MOLD)
    add_link_options(-fuse-ld=mold)
endif()

find_package(Threads REQUIRED)
