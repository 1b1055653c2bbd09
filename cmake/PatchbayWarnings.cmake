# The warnings that every target of ours is built with. Errors only where a preset asks for it, so that a user's newer
# compiler still builds a release.
# -Wnull-dereference only where the optimiser leaves the standard library's own code alone; g++ 12 reports that otherwise.
function(patchbay_warnings target)
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion
        -Wnon-virtual-dtor -Wold-style-cast -Wcast-align -Woverloaded-virtual $<$<CONFIG:Debug>:-Wnull-dereference> -Wimplicit-fallthrough)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        target_compile_options(${target} PRIVATE -Wduplicated-cond -Wlogical-op)
    endif()
    if(PATCHBAY_WERROR)
        target_compile_options(${target} PRIVATE -Werror)
    endif()
endfunction()
