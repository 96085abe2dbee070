# SPDX-License-Identifier: MIT
occupipe_test(bench_test KIND unit SHARDS 2 WITHOUT_NVRTC Catalogue.* LINK occupipe::bench nlohmann_json::nlohmann_json
    SOURCES bench/instructions/catalogue_test.cpp bench/kernel/kernel_source_test.cpp bench/kernel/kernel_text_test.cpp bench/kernel/sweep_test.cpp bench/harness/journal_test.cpp bench/harness/harness_test.cpp bench/kernel/order_test.cpp bench/harness/statistics_test.cpp)
if(OCCUPIPE_OPENCL)
    occupipe_test(opencl_test KIND codegen SHARDS 4 TIMEOUT 900 FULL * LINK occupipe::bench
        SOURCES bench/opencl/opencl_test.cpp)
endif()
include(bench_cuda.cmake OPTIONAL)
