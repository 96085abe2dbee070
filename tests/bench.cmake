# SPDX-License-Identifier: MIT
occupipe_test(bench_test KIND unit LINK occupipe::bench nlohmann_json::nlohmann_json
    SOURCES bench/kernel_source_test.cpp bench/kernel_text_test.cpp bench/sweep_test.cpp bench/journal_test.cpp bench/harness_test.cpp bench/order_test.cpp bench/statistics_test.cpp)
if(OCCUPIPE_OPENCL)
    occupipe_test(opencl_test KIND codegen SHARDS 4 TIMEOUT 900 LINK occupipe::bench
        SOURCES bench/opencl_test.cpp)
endif()
include(bench_cuda.cmake OPTIONAL)
