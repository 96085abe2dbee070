# SPDX-License-Identifier: MIT
# Who may link whom. A component that asks for anything else stops the configuration.
set(OCCUPIPE_MAY_LINK_core   yaml-cpp nlohmann_json::nlohmann_json fmt::fmt-header-only)
set(OCCUPIPE_MAY_LINK_bench  occupipe::core benchmark::benchmark OpenCL::OpenCL fmt::fmt-header-only nlohmann_json::nlohmann_json ${CMAKE_DL_LIBS} Threads::Threads)
set(OCCUPIPE_MAY_LINK_fit    occupipe::core Ceres::ceres fmt::fmt-header-only)
set(OCCUPIPE_MAY_LINK_sim    occupipe::core fmt::fmt-header-only Threads::Threads)
set(OCCUPIPE_MAY_LINK_plot   occupipe::core fmt::fmt-header-only)
set(OCCUPIPE_MAY_LINK_cli    occupipe::core occupipe::bench occupipe::fit occupipe::sim occupipe::plot CLI11::CLI11 fmt::fmt-header-only nlohmann_json::nlohmann_json Threads::Threads)

# occupipe_component(NAME SOURCES file… LINK target…): static library occupipe::NAME.
function(occupipe_component name)
    cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "SOURCES;LINK;DEFINITIONS")
    foreach(target IN LISTS ARG_LINK)
        if(NOT target IN_LIST OCCUPIPE_MAY_LINK_${name})
            message(FATAL_ERROR "${name} may not link ${target}; allowed: ${OCCUPIPE_MAY_LINK_${name}}")
        endif()
    endforeach()
    add_library(occupipe_${name} STATIC ${ARG_SOURCES})
    add_library(occupipe::${name} ALIAS occupipe_${name})
    target_include_directories(occupipe_${name} PUBLIC ${PROJECT_SOURCE_DIR})
    target_link_libraries(occupipe_${name} PUBLIC ${ARG_LINK} PRIVATE occupipe::warnings)
    target_compile_definitions(occupipe_${name} PRIVATE ${ARG_DEFINITIONS})
endfunction()
