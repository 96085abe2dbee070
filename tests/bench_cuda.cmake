# SPDX-License-Identifier: MIT
add_library(fake_libcuda MODULE bench/cuda/fake_libcuda.cpp)
target_include_directories(fake_libcuda PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(fake_libcuda PRIVATE occupipe::warnings)

occupipe_test(cuda_test KIND unit SHARDS 2 WITHOUT_NVRTC * LINK occupipe::bench GTest::gmock
    SOURCES bench/cuda/backend_test.cpp bench/cuda/cubin_test.cpp bench/cuda/placement_test.cpp bench/cuda/fault_test.cpp
            bench/offline/import_test.cpp bench/cuda/find_cuda_test.cpp)
target_compile_definitions(cuda_test PRIVATE OCCUPIPE_FAKE_LIBCUDA="$<TARGET_FILE:fake_libcuda>")
add_dependencies(cuda_test fake_libcuda)

occupipe_test(cuda_codegen_test KIND codegen TIMEOUT 600 WITHOUT_NVRTC * FULL * LINK occupipe::bench GTest::gmock
    SOURCES bench/cuda/codegen_test.cpp bench/offline/dump_codegen_test.cpp bench/cuda/nvdisasm_test.cpp)
occupipe_test(cuda_run_test KIND codegen SHARDS 2 WITHOUT_NVRTC * LINK occupipe::bench ptx_machine GTest::gmock
    SOURCES bench/cuda/run_test.cpp)
occupipe_test(cuda_cluster_run_test KIND codegen ONE_PROCESS WITHOUT_NVRTC * LINK occupipe::bench ptx_machine GTest::gmock
    SOURCES bench/cuda/cluster_run_test.cpp)
occupipe_test(offline_test KIND codegen SHARDS 2 WITHOUT_NVRTC * LINK occupipe::bench GTest::gmock
    SOURCES bench/offline/kernel_archive_test.cpp bench/offline/compile_ahead_test.cpp)

add_library(fake_libnvml MODULE bench/cuda/fake_libnvml.cpp)
target_link_libraries(fake_libnvml PRIVATE occupipe::warnings)
occupipe_test(nvml_test KIND unit ONE_PROCESS WITHOUT_NVRTC * LINK occupipe::bench ${CMAKE_DL_LIBS} SOURCES bench/cuda/nvml_test.cpp)
target_compile_definitions(nvml_test PRIVATE OCCUPIPE_FAKE_LIBNVML="$<TARGET_FILE:fake_libnvml>")
add_dependencies(nvml_test fake_libnvml)
