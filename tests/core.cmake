# SPDX-License-Identifier: MIT
# The table and lint texts of the command line are tested here too, without the rest of it.
occupipe_test(core_test KIND unit
    SOURCES core/profile_yaml_test.cpp core/kernel_test.cpp core/kernel_yaml_test.cpp core/measurement_test.cpp
            core/measurement_json_test.cpp core/bad_files_test.cpp core/mutated_files_test.cpp core/text_file_test.cpp
            core/literature_profiles_test.cpp core/timing_table_test.cpp core/backend_agreement_test.cpp core/oddities_test.cpp core/documentation_test.cpp
            ${PROJECT_SOURCE_DIR}/cli/timing_table.cpp ${PROJECT_SOURCE_DIR}/cli/text_table.cpp
            ${PROJECT_SOURCE_DIR}/cli/oddities.cpp ${PROJECT_SOURCE_DIR}/cli/backend_agreement.cpp ${PROJECT_SOURCE_DIR}/cli/wrap.cpp
    LINK occupipe::core)
