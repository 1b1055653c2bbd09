# patchbay_add_test(name LABEL unit|contract|plugin|integration|e2e|style [THREADED] SOURCES … LIBS … [TIMEOUT s])
# One GoogleTest executable, registered with ctest as one test per executable.
# THREADED: it runs threads against each other, so it is also run under TSan.

add_custom_target(threaded_tests)

function(patchbay_add_test name)
    cmake_parse_arguments(arg "THREADED" "LABEL;TIMEOUT" "SOURCES;LIBS" ${ARGN})
    if(NOT arg_TIMEOUT)
        set(arg_TIMEOUT 120)
    endif()
    add_executable(${name} ${arg_SOURCES})
    patchbay_warnings(${name})
    patchbay_layer(${name} test)
    # Tests follow pointers that they have just asserted; g++ 12 also sees strings overflow where a literal is appended.
    target_compile_options(${name} PRIVATE -Wno-null-dereference -Wno-array-bounds -Wno-stringop-overflow)
    target_link_libraries(${name} PRIVATE ${arg_LIBS} GTest::gtest GTest::gtest_main)
    target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
    target_compile_definitions(${name} PRIVATE PATCHBAY_TEST_DATA="${CMAKE_SOURCE_DIR}/tests/data"
        PATCHBAY_BUILD_DIR="${CMAKE_BINARY_DIR}" PATCHBAY_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    if(TARGET patchbay_test_pch)
        target_precompile_headers(${name} REUSE_FROM patchbay_test_pch)
    endif()
    add_test(NAME ${name} COMMAND ${name})
    set(labels ${arg_LABEL})
    if(arg_THREADED)
        list(APPEND labels threaded)
        add_dependencies(threaded_tests ${name})
    endif()
    set_tests_properties(${name} PROPERTIES LABELS "${labels}" TIMEOUT ${arg_TIMEOUT})
endfunction()
