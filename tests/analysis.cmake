# SPDX-License-Identifier: MIT
occupipe_test(analysis_test KIND unit ONE_PROCESS
    SOURCES analysis/published_test.cpp analysis/self_check_test.cpp analysis/ncu_report_test.cpp analysis/profiler_metrics_test.cpp analysis/roofline_predictions_test.cpp analysis/intensity_sweep_test.cpp analysis/lint_test.cpp ask/substitutes_test.cpp ask/shipped_files_test.cpp analysis/suite_index_test.cpp analysis/measured_graph_test.cpp analysis/issue_choice_test.cpp analysis/comparison_test.cpp
    LINK occupipe::analysis occupipe::core GTest::gmock)
occupipe_test(shelf_test KIND unit ONE_PROCESS
    SOURCES published/shelf_test.cpp ask/shelf_prices_test.cpp
    LINK occupipe::ask occupipe::published occupipe::extract occupipe::isa occupipe::core GTest::gmock)
occupipe_test(exchange_test KIND unit ONE_PROCESS
    SOURCES analysis/exchange/accelsim_test.cpp analysis/exchange/export_tables_test.cpp analysis/exchange/imported_test.cpp
    LINK occupipe::analysis occupipe::core GTest::gmock)
occupipe_test(tuning_test KIND unit ONE_PROCESS
    SOURCES analysis/tuning/expression_test.cpp analysis/tuning/space_test.cpp analysis/tuning/space_yaml_test.cpp analysis/tuning/enumeration_test.cpp analysis/tuning/ranking_test.cpp analysis/tuning/stages_test.cpp analysis/tuning/scores_test.cpp ask/code_cache_test.cpp
    LINK occupipe::analysis occupipe::core GTest::gmock)
occupipe_test(kernels_in_test KIND unit SHARDS 4 FULL *KernelsIn*
    SOURCES ask/kernels_in_test.cpp ask/memory_pricing_test.cpp ask/interval_test.cpp ask/kernel_memory_test.cpp ask/warp_latencies_test.cpp ask/group_start_test.cpp ask/issue_slots_test.cpp ask/working_set_curve_test.cpp ask/cuda_text_test.cpp ask/host_code_test.cpp ask/instruction_fetch_test.cpp
    LINK occupipe::analysis occupipe::core GTest::gmock)
# One question through all doors, in one process.
occupipe_test(six_doors_test KIND cli SHARDS 2
    SOURCES ask/six_doors_test.cpp
    LINK occupipe_sim_test_support occupipe::cli occupipe::analysis occupipe::ask occupipe::sim occupipe::core GTest::gmock nlohmann_json::nlohmann_json)
occupipe_test(report_text_test KIND unit ONE_PROCESS
    SOURCES report/timing_table_test.cpp report/literature_profiles_test.cpp report/backend_agreement_test.cpp report/hull_figure_test.cpp report/mix_figures_test.cpp report/quadrant_split_test.cpp report/memory_table_test.cpp
    LINK occupipe::report occupipe::core nlohmann_json::nlohmann_json GTest::gmock)
occupipe_test(annotation_test KIND unit ONE_PROCESS
    SOURCES analysis/annotation_test.cpp analysis/kernel_comparison_test.cpp
    LINK occupipe_sim_test_support occupipe::report occupipe::analysis occupipe::extract occupipe::sim occupipe::isa occupipe::core GTest::gmock nlohmann_json::nlohmann_json)
occupipe_test(fleet_test KIND unit ONE_PROCESS SOURCES analysis/fleet_test.cpp LINK occupipe::analysis occupipe::report occupipe::core)
