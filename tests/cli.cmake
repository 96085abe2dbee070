# SPDX-License-Identifier: MIT
occupipe_test(cli_test KIND cli TIMEOUT 600 WITHOUT_NVRTC Carry.*:Explain.SaysMeaning*:Explain.WithNvrtc*:Version.* FULL Compare.MeasuresAnOpenCl*:Loop.Characterize* LINK occupipe::core GTest::gmock
    SOURCES cli/bad_command_line_test.cpp cli/loop_test.cpp cli/compare_test.cpp cli/carry_test.cpp cli/explain_test.cpp cli/published_test.cpp cli/roofline_test.cpp cli/selfcheck_test.cpp support/run_program.cpp)
target_compile_definitions(cli_test PRIVATE OCCUPIPE_PROGRAM="$<TARGET_FILE:occupipe>"
    OCCUPIPE_FIT=$<BOOL:${OCCUPIPE_FIT}> OCCUPIPE_OPENCL=$<BOOL:${OCCUPIPE_OPENCL}>)
add_dependencies(cli_test occupipe)
occupipe_test(shelf_cli_test KIND cli ONE_PROCESS LINK occupipe::core GTest::gmock nlohmann_json::nlohmann_json SOURCES cli/shelf_cli_test.cpp support/run_program.cpp)
target_compile_definitions(shelf_cli_test PRIVATE OCCUPIPE_PROGRAM="$<TARGET_FILE:occupipe>")
add_dependencies(shelf_cli_test occupipe)
occupipe_test(spellings_test KIND cli TIMEOUT 600 FULL Documented.Long* LINK occupipe::core SOURCES cli/spellings_test.cpp support/run_program.cpp)
target_compile_definitions(spellings_test PRIVATE OCCUPIPE_PROGRAM="$<TARGET_FILE:occupipe>" OCCUPIPE_FIT=$<BOOL:${OCCUPIPE_FIT}>)
add_dependencies(spellings_test occupipe)
if(OCCUPIPE_OPENCL)
    occupipe_test(carry_opencl_test KIND cli TIMEOUT 600 FULL * LINK occupipe::core OpenCL::OpenCL
        SOURCES cli/carry_opencl_test.cpp support/carried.cpp support/run_program.cpp)
    target_compile_definitions(carry_opencl_test PRIVATE OCCUPIPE_PROGRAM="$<TARGET_FILE:occupipe>")
    add_dependencies(carry_opencl_test occupipe)
endif()
occupipe_test(carry_ptx_test KIND codegen TIMEOUT 900 WITHOUT_NVRTC * FULL * LINK occupipe::analysis ptx_machine nlohmann_json::nlohmann_json
    SOURCES cli/carry_ptx_test.cpp support/carried.cpp support/run_program.cpp)
target_compile_definitions(carry_ptx_test PRIVATE OCCUPIPE_PROGRAM="$<TARGET_FILE:occupipe>")
add_dependencies(carry_ptx_test occupipe)
occupipe_test(plot_cli_test KIND cli ONE_PROCESS LINK occupipe::core SOURCES cli/plot_test.cpp support/run_program.cpp)
target_compile_definitions(plot_cli_test PRIVATE OCCUPIPE_PROGRAM="$<TARGET_FILE:occupipe>"
    OCCUPIPE_FIT=$<BOOL:${OCCUPIPE_FIT}>)
add_dependencies(plot_cli_test occupipe)
if(OCCUPIPE_FIT)
    occupipe_test(report_test KIND cli SHARDS 8 TIMEOUT 600 LINK occupipe::core SOURCES cli/report_test.cpp support/run_program.cpp)
    target_compile_definitions(report_test PRIVATE OCCUPIPE_PROGRAM="$<TARGET_FILE:occupipe>")
    add_dependencies(report_test occupipe)
endif()
# The program itself with a pretended driver; kill -9 at random moments.
occupipe_test(interrupted_test KIND interruption TIMEOUT 900 WITHOUT_NVRTC * FULL *KillsLose* LINK occupipe::core GTest::gmock nlohmann_json::nlohmann_json
    SOURCES cli/interrupted_test.cpp support/run_program.cpp)
target_compile_definitions(interrupted_test PRIVATE OCCUPIPE_PROGRAM="$<TARGET_FILE:occupipe>"
    OCCUPIPE_FAKE_LIBCUDA="$<TARGET_FILE:fake_libcuda>")
add_dependencies(interrupted_test occupipe fake_libcuda)
# CUDA through the whole program, with a driver that only pretends.
occupipe_test(cuda_cli_test KIND cli TIMEOUT 1200 WITHOUT_NVRTC *-GpuRun.Measures* LINK occupipe::core GTest::gmock
    SOURCES cli/kernels_ahead_test.cpp cli/gpu_run_test.cpp support/run_program.cpp)
target_compile_definitions(cuda_cli_test PRIVATE OCCUPIPE_PROGRAM="$<TARGET_FILE:occupipe>"
    OCCUPIPE_FAKE_LIBCUDA="$<TARGET_FILE:fake_libcuda>" OCCUPIPE_FAKE_LIBNVML="$<TARGET_FILE:fake_libnvml>"
    OCCUPIPE_FIT=$<BOOL:${OCCUPIPE_FIT}>)
add_dependencies(cuda_cli_test occupipe fake_libcuda fake_libnvml)
occupipe_test(smoke_test KIND cli TIMEOUT 600 WITHOUT_NVRTC *-*ACpuIs* FULL *ACpuIs* LINK occupipe::cli GTest::gmock
    SOURCES cli/smoke_test.cpp support/run_program.cpp)
target_compile_definitions(smoke_test PRIVATE OCCUPIPE_PROGRAM="$<TARGET_FILE:occupipe>"
    OCCUPIPE_FAKE_LIBCUDA="$<TARGET_FILE:fake_libcuda>" OCCUPIPE_OPENCL=$<BOOL:${OCCUPIPE_OPENCL}>)
add_dependencies(smoke_test occupipe fake_libcuda)
if(OCCUPIPE_FIT)
    occupipe_test(watch_test KIND cli FULL *FalseAlarms*:*APortableDevice* LINK occupipe::core GTest::gmock nlohmann_json::nlohmann_json
        SOURCES cli/watch_test.cpp cli/exchange_test.cpp support/run_program.cpp)
    target_compile_definitions(watch_test PRIVATE OCCUPIPE_PROGRAM="$<TARGET_FILE:occupipe>" OCCUPIPE_OPENCL=$<BOOL:${OCCUPIPE_OPENCL}>)
    add_dependencies(watch_test occupipe)
    occupipe_test(measure_for_test KIND cli ONE_PROCESS LINK occupipe::core GTest::gmock nlohmann_json::nlohmann_json
        SOURCES cli/measure_for_test.cpp support/run_program.cpp)
    target_compile_definitions(measure_for_test PRIVATE OCCUPIPE_PROGRAM="$<TARGET_FILE:occupipe>")
    add_dependencies(measure_for_test occupipe)
endif()
# Rows against predictions, in one process; the program itself where it is killed.
occupipe_test(sweep_test KIND cli SHARDS 2 WITHOUT_NVRTC SweepCode.SourceIs* LINK occupipe::cli GTest::gmock nlohmann_json::nlohmann_json
    SOURCES cli/sweep_test.cpp cli/sweep_code_test.cpp support/run_program.cpp)
target_compile_definitions(sweep_test PRIVATE OCCUPIPE_PROGRAM="$<TARGET_FILE:occupipe>")
add_dependencies(sweep_test occupipe)
# tools/cluster with a Slurm that the test starts itself: with the exhaustive tests, as starting it takes a while.
if(OCCUPIPE_FIT)
    add_test(NAME Cluster.SweepsAndCharacterisesThroughSlurm
        COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/cluster/slurm_test.sh $<TARGET_FILE:occupipe>)
    set_tests_properties(Cluster.SweepsAndCharacterisesThroughSlurm PROPERTIES LABELS full TIMEOUT 1800 SKIP_RETURN_CODE 77)
endif()
add_test(NAME Completion.OffersWhatHelpLists COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/cli/completion_test.sh $<TARGET_FILE:occupipe>)
set_tests_properties(Completion.OffersWhatHelpLists PROPERTIES LABELS cli TIMEOUT 120)
