# SPDX-License-Identifier: MIT
# The papers' tables and figures (docs/background/reproductions.md).
add_library(occupipe_papers STATIC papers/blocks.cpp papers/experiments.cpp papers/drawings.cpp papers/pipeline_paper.cpp
    papers/analysis_models.cpp papers/analysis_devices.cpp papers/analysis_suite.cpp papers/gpu_table.cpp)
target_link_libraries(occupipe_papers PUBLIC occupipe::report occupipe::analysis occupipe::sim occupipe::plot occupipe::core
    PRIVATE occupipe::warnings)
occupipe_precompiled(occupipe_papers light)
target_compile_definitions(occupipe_papers PRIVATE OCCUPIPE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
# No test: tools/reproduce.sh runs it.
add_executable(occupipe_reproduce papers/reproduce.cpp)
target_link_libraries(occupipe_reproduce PRIVATE occupipe_papers occupipe::warnings)
target_compile_definitions(occupipe_reproduce PRIVATE OCCUPIPE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
occupipe_test(papers_golden_test KIND golden ONE_PROCESS SOURCES papers/papers_test.cpp papers/page_test.cpp LINK occupipe_papers)
# A profile with its raw files, as somebody else sends it.
if(OCCUPIPE_FIT)
    occupipe_test(submission_test KIND unit ONE_PROCESS TIMEOUT 600 LINK occupipe::analysis occupipe::core GTest::gmock nlohmann_json::nlohmann_json
        SOURCES analysis/submission_test.cpp support/run_program.cpp)
    target_compile_definitions(submission_test PRIVATE OCCUPIPE_PROGRAM="$<TARGET_FILE:occupipe>")
    add_dependencies(submission_test occupipe)
endif()
