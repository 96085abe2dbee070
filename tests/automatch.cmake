# SPDX-License-Identifier: MIT
occupipe_test(automatch_test KIND unit ONE_PROCESS
    SOURCES automatch/execution_cost_test.cpp automatch/table_1_test.cpp automatch/workload_test.cpp
    LINK occupipe::automatch occupipe::core)
# Each of its tests is a clang, an opt and a link or more, and shares nothing with the others: a process each.
occupipe_test(automatch_program_test KIND unit FULL RandomPrograms.*:Program.* SOURCES automatch/program_test.cpp automatch/program_reductions_test.cpp automatch/random_programs_test.cpp
    LINK occupipe::automatch occupipe::core GTest::gmock)
target_compile_definitions(automatch_program_test PRIVATE OCCUPIPE_MATCH_INSTRUMENTS=$<BOOL:${OCCUPIPE_MATCH_INSTRUMENTS}>)
if(OCCUPIPE_MATCH_INSTRUMENTS)
    add_dependencies(automatch_program_test occupipe_match_passes occupipe_match_runtime)
endif()
occupipe_test(automatch_cli_test KIND cli ONE_PROCESS LINK occupipe::core GTest::gmock nlohmann_json::nlohmann_json
    SOURCES automatch/automatch_test.cpp support/run_program.cpp)
target_compile_definitions(automatch_cli_test PRIVATE OCCUPIPE_PROGRAM="$<TARGET_FILE:automatch>"
    OCCUPIPE_MATCH_INSTRUMENTS=$<BOOL:${OCCUPIPE_MATCH_INSTRUMENTS}>)
add_dependencies(automatch_cli_test automatch)
if(OCCUPIPE_MATCH_INSTRUMENTS)
    add_dependencies(automatch_cli_test occupipe_match_passes occupipe_match_runtime)
endif()
occupipe_test(moved_program_test KIND cli ONE_PROCESS LINK occupipe::core GTest::gmock nlohmann_json::nlohmann_json
    SOURCES cli/moved_program_test.cpp support/run_program.cpp)
target_compile_definitions(moved_program_test PRIVATE OCCUPIPE_PROGRAM="$<TARGET_FILE:occupipe>"
    OCCUPIPE_AUTOMATCH="$<TARGET_FILE:automatch>")
add_dependencies(moved_program_test occupipe automatch)

# automatch/workloads: sequential, with OpenMP, and in single precision for the texts of kernels/.
enable_language(C)
find_package(OpenMP COMPONENTS C QUIET)
set(workload_programs ${CMAKE_CURRENT_BINARY_DIR}/workloads)
set(workload_targets "")
function(occupipe_workload name variant)
    set(target workload_${name}${variant})
    add_executable(${target} ${PROJECT_SOURCE_DIR}/automatch/workloads/${name}.c)
    set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${workload_programs} OUTPUT_NAME ${name}${variant})
    target_compile_options(${target} PRIVATE -O2 -ffp-contract=off -Wall -Wextra)  # the same bits in all
    target_link_libraries(${target} PRIVATE m)
    set(workload_targets ${workload_targets} ${target} PARENT_SCOPE)
endfunction()
foreach(name cutcp stencil spmv lbm lud lavamd hotspot srad)
    occupipe_workload(${name} "")
    target_compile_options(workload_${name} PRIVATE -Wno-unknown-pragmas)
    if(OpenMP_C_FOUND)
        occupipe_workload(${name} -openmp)
        target_link_libraries(workload_${name}-openmp PRIVATE OpenMP::OpenMP_C)
    endif()
endforeach()
foreach(name stencil spmv lud lavamd srad)
    occupipe_workload(${name} -f32)
    target_compile_options(workload_${name}-f32 PRIVATE -Wno-unknown-pragmas)
    target_compile_definitions(workload_${name}-f32 PRIVATE REAL=float)
endforeach()
occupipe_workload(minighost "")
target_link_libraries(workload_minighost PRIVATE Threads::Threads)
occupipe_test(automatch_workloads_test KIND unit SHARDS 2 SOURCES automatch/workloads_test.cpp
    LINK occupipe::automatch occupipe::extract $<$<BOOL:${OCCUPIPE_OPENCL}>:occupipe::bench>)
add_dependencies(automatch_workloads_test ${workload_targets})
target_compile_definitions(automatch_workloads_test PRIVATE OCCUPIPE_WORKLOADS="${workload_programs}"
    OCCUPIPE_OPENMP=$<BOOL:${OpenMP_C_FOUND}> OCCUPIPE_OPENCL=$<BOOL:${OCCUPIPE_OPENCL}>
    OCCUPIPE_MATCH_INSTRUMENTS=$<BOOL:${OCCUPIPE_MATCH_INSTRUMENTS}>)
if(OCCUPIPE_MATCH_INSTRUMENTS)
    add_dependencies(automatch_workloads_test occupipe_match_passes occupipe_match_runtime)
endif()
if(OCCUPIPE_FIT)
    occupipe_test(automatch_device_numbers_test KIND unit ONE_PROCESS SOURCES automatch/device_numbers_test.cpp
        LINK occupipe::bench occupipe::fit occupipe::automatch GTest::gmock)
    occupipe_test(automatch_probed_test KIND unit WITHOUT_NVRTC ProbedCuda.*:ProbedDevices.WrongWordsAndMissingDevices LINK occupipe::bench occupipe::fit occupipe::automatch GTest::gmock
        SOURCES automatch/probed_device_test.cpp bench/cuda/executing_driver.cpp)
    # Its CUDA driver calls functions of the test itself.
    set_target_properties(automatch_probed_test PROPERTIES ENABLE_EXPORTS ON)
    add_dependencies(automatch_probed_test forwarding_libcuda)
    target_compile_definitions(automatch_probed_test PRIVATE OCCUPIPE_FORWARDING_LIBCUDA="$<TARGET_FILE:forwarding_libcuda>")
endif()
