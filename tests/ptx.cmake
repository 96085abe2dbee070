# SPDX-License-Identifier: MIT
add_library(ptx_machine STATIC ptx/program.cpp ptx/operations.cpp ptx/state.cpp ptx/matrix.cpp ptx/machine.cpp ptx/executed_graph.cpp)
target_include_directories(ptx_machine PUBLIC ${PROJECT_SOURCE_DIR})
target_link_libraries(ptx_machine PUBLIC occupipe::core PRIVATE occupipe::warnings)
occupipe_test(ptx_machine_test KIND unit ONE_PROCESS LINK ptx_machine GTest::gmock SOURCES ptx/ptx_machine_test.cpp)
occupipe_test(ptx_matrix_test KIND unit ONE_PROCESS LINK ptx_machine GTest::gmock SOURCES ptx/ptx_matrix_test.cpp)
