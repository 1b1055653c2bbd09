# The standard headers that most sources include, compiled once for all libraries of the product: a third of the time of a build.
# Tests have a copy of their own with GoogleTest (tests/CMakeLists.txt). What is shipped is built without it: g++ 12 forgets which
# of the headers are the system's and warns about what it inlines from them, so those warnings are off where this is on.
option(PATCHBAY_PRECOMPILED "Precompile the standard headers (g++ only)" OFF)

function(patchbay_precompiled target)
    if(TARGET patchbay_pch)
        target_precompile_headers(${target} REUSE_FROM patchbay_pch)
        target_compile_options(${target} PRIVATE ${patchbay_precompiled_options})
    endif()
endfunction()

set(patchbay_precompiled_options -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread -Wno-null-dereference)
if(PATCHBAY_PRECOMPILED AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    file(WRITE ${CMAKE_BINARY_DIR}/patchbay_pch.cpp "")
    add_library(patchbay_pch OBJECT ${CMAKE_BINARY_DIR}/patchbay_pch.cpp)
    target_precompile_headers(patchbay_pch PRIVATE <algorithm> <array> <atomic> <charconv> <chrono> <condition_variable> <cstdint>
        <functional> <map> <memory> <mutex> <optional> <set> <span> <string> <string_view> <thread> <utility> <vector>)
    patchbay_warnings(patchbay_pch)
    target_compile_options(patchbay_pch PRIVATE ${patchbay_precompiled_options})
endif()
