# SPDX-License-Identifier: MIT
# A host program whose fat binary is a stored one, linked as nvcc -cudart shared of CUDA 13 and 12 links.
foreach(version 13 12)
    add_executable(program_host_${version} program/host_program.cpp)
    target_compile_definitions(program_host_${version} PRIVATE OCCUPIPE_CUDA_VERSION=${version})
    target_link_libraries(program_host_${version} PRIVATE occupipe_cudart_${version} Threads::Threads)
endforeach()
occupipe_test(program_parts_test KIND unit ONE_PROCESS TIMEOUT 600 LINK occupipe::program GTest::gmock SOURCES program/parts_test.cpp program/device_history_test.cpp program/effects_test.cpp)
target_compile_definitions(program_parts_test PRIVATE OCCUPIPE_HOST_PROGRAM="$<TARGET_FILE:program_host_13>")
add_dependencies(program_parts_test program_host_13)
occupipe_test(program_report_test KIND unit ONE_PROCESS LINK occupipe::report nlohmann_json::nlohmann_json GTest::gmock SOURCES report/program_launches_test.cpp)
occupipe_test(program_run_test KIND cli ONE_PROCESS TIMEOUT 600 LINK occupipe::core nlohmann_json::nlohmann_json GTest::gmock
    SOURCES program/run_test.cpp support/run_program.cpp)
target_compile_definitions(program_run_test PRIVATE OCCUPIPE_PROGRAM="$<TARGET_FILE:occupipe>"
    OCCUPIPE_HOST_PROGRAM="$<TARGET_FILE:program_host_13>" OCCUPIPE_HOST_PROGRAM_12="$<TARGET_FILE:program_host_12>"
    OCCUPIPE_CUDART_FOLDER="$<TARGET_FILE_DIR:occupipe_cudart_13>")
add_dependencies(program_run_test occupipe program_host_13 program_host_12 occupipe_host_clock)
occupipe_test(program_compiled_test KIND cli SHARDS 2 TIMEOUT 1800 LINK occupipe::core GTest::gmock
    SOURCES program/compiled_test.cpp support/run_program.cpp)
target_compile_definitions(program_compiled_test PRIVATE OCCUPIPE_PROGRAM="$<TARGET_FILE:occupipe>")
add_dependencies(program_compiled_test occupipe occupipe_cudart_13)
