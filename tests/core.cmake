# SPDX-License-Identifier: MIT
occupipe_test(core_test KIND unit SHARDS 2
    SOURCES core/running_warps_test.cpp core/profile_yaml_test.cpp core/kernel_test.cpp core/kernel_parameters_test.cpp core/kernel_yaml_test.cpp core/measurement_test.cpp
            core/measurement_json_test.cpp core/measurement_blocks_test.cpp core/bad_files_test.cpp core/mutated_files_test.cpp core/text_file_test.cpp
            core/documentation_test.cpp core/statistics_test.cpp core/chain_step_test.cpp core/buffer_fill_test.cpp core/launch_files_test.cpp core/occupancy_test.cpp core/compile_commands_test.cpp core/run_tool_test.cpp core/text_test.cpp
    LINK occupipe::core GTest::gmock)
