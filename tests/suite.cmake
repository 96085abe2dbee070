# SPDX-License-Identifier: MIT
# The kernels of kernels/ against plain loops.
occupipe_test(suite_test KIND unit SHARDS 2 FULL *LargeSize* TIMEOUT 600 LINK occupipe::extract $<$<BOOL:${OCCUPIPE_OPENCL}>:occupipe::bench>
    SOURCES suite/suite_test.cpp suite/paper_references.cpp suite/other_references.cpp)
# Sums are rounded as the kernels say.
set_source_files_properties(suite/paper_references.cpp suite/other_references.cpp PROPERTIES COMPILE_OPTIONS "-ffp-contract=off")
target_compile_definitions(suite_test PRIVATE OCCUPIPE_OPENCL=$<BOOL:${OCCUPIPE_OPENCL}>)
occupipe_test(validation_test KIND unit SHARDS 4 WITHOUT_NVRTC ValidateOnCuda.* LINK occupipe::cli nlohmann_json::nlohmann_json GTest::gmock
    SOURCES analysis/validation_test.cpp cli/validate_test.cpp cli/time_launches_test.cpp bench/cuda/executing_driver.cpp
        ../kernels/time_launches.cpp)
# The runner of dumps as a function of the test, whose CUDA driver it calls.
set_source_files_properties(../kernels/time_launches.cpp PROPERTIES COMPILE_DEFINITIONS "main=time_launches_main"
    SKIP_PRECOMPILE_HEADERS ON)  # GCC refuses them where `main` is another word
# What this test takes for CUDA's driver calls functions of the test itself.
add_library(forwarding_libcuda MODULE bench/cuda/forwarding_libcuda.cpp)
set_target_properties(validation_test PROPERTIES ENABLE_EXPORTS ON)
add_dependencies(validation_test forwarding_libcuda)
target_compile_definitions(validation_test PRIVATE OCCUPIPE_OPENCL=$<BOOL:${OCCUPIPE_OPENCL}>
    OCCUPIPE_FIT=$<BOOL:${OCCUPIPE_FIT}> OCCUPIPE_FORWARDING_LIBCUDA="$<TARGET_FILE:forwarding_libcuda>")
