# SPDX-License-Identifier: MIT
# fmt compiled once, in Debian's library, saves 2.5 s in every file that formats; Debian has no archive
# of it, so the portable program takes the headers.
add_library(occupipe_fmt INTERFACE)
add_library(occupipe::fmt ALIAS occupipe_fmt)
set_target_properties(occupipe_fmt PROPERTIES EXPORT_NAME fmt)
target_link_libraries(occupipe_fmt INTERFACE $<IF:$<BOOL:${OCCUPIPE_PORTABLE}>,fmt::fmt-header-only,fmt::fmt>)

# Who may link whom. A component that asks for anything else stops the configuration.
set(OCCUPIPE_MAY_LINK_core   yaml-cpp nlohmann_json::nlohmann_json occupipe::fmt Threads::Threads)
set(OCCUPIPE_MAY_LINK_isa    occupipe::core occupipe::fmt Threads::Threads)
set(OCCUPIPE_MAY_LINK_extract occupipe::core occupipe::isa occupipe::fmt)
set(OCCUPIPE_MAY_LINK_bench  occupipe::core occupipe::isa benchmark::benchmark OpenCL::OpenCL occupipe::fmt nlohmann_json::nlohmann_json ${CMAKE_DL_LIBS} Threads::Threads)
set(OCCUPIPE_MAY_LINK_fit    occupipe::core Ceres::ceres occupipe::fmt)
set(OCCUPIPE_MAY_LINK_sim    occupipe::core occupipe::fmt Threads::Threads)
set(OCCUPIPE_MAY_LINK_plot   occupipe::core occupipe::fmt)
set(OCCUPIPE_MAY_LINK_match  occupipe::core occupipe::fmt)
set(OCCUPIPE_MAY_LINK_published occupipe::core occupipe::fmt)
set(OCCUPIPE_MAY_LINK_ask    occupipe::core occupipe::isa occupipe::extract occupipe::bench occupipe::sim occupipe::published occupipe::fmt)
set(OCCUPIPE_MAY_LINK_analysis occupipe::ask occupipe::published occupipe::core occupipe::match occupipe::isa occupipe::extract occupipe::bench occupipe::fit occupipe::sim occupipe::plot occupipe::fmt nlohmann_json::nlohmann_json)
set(OCCUPIPE_MAY_LINK_report occupipe::ask occupipe::published occupipe::analysis occupipe::match occupipe::core occupipe::isa occupipe::extract occupipe::bench occupipe::fit occupipe::sim occupipe::plot occupipe::fmt nlohmann_json::nlohmann_json)
set(OCCUPIPE_MAY_LINK_cli    occupipe::ask occupipe::published occupipe::report occupipe::analysis occupipe::match occupipe::core occupipe::isa occupipe::extract occupipe::bench occupipe::fit occupipe::sim occupipe::plot CLI11::CLI11 occupipe::fmt nlohmann_json::nlohmann_json Threads::Threads)

set(OCCUPIPE_MAY_LINK_python occupipe::ask occupipe::analysis occupipe::core occupipe::isa occupipe::extract occupipe::fit occupipe::sim occupipe::fmt)

# Stops the configuration where component NAME asks for a target that it may not link.
function(occupipe_check_links name)
    foreach(target IN LISTS ARGN)
        if(NOT target IN_LIST OCCUPIPE_MAY_LINK_${name})
            message(FATAL_ERROR "${name} may not link ${target}; allowed: ${OCCUPIPE_MAY_LINK_${name}}")
        endif()
    endforeach()
endfunction()

# occupipe_component(NAME [WITHOUT REGEX…] [SOURCES file…] LINK target…): static library occupipe::NAME of
# every source below its folder whose path from there matches no REGEX, and of further, generated ones.
function(occupipe_component name)
    cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "WITHOUT;SOURCES;LINK;DEFINITIONS")
    occupipe_check_links(${name} ${ARG_LINK})
    file(GLOB_RECURSE sources RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS *.cpp)
    foreach(regex IN LISTS ARG_WITHOUT)
        list(FILTER sources EXCLUDE REGEX "${regex}")
    endforeach()
    add_library(occupipe_${name} STATIC ${sources} ${ARG_SOURCES})
    add_library(occupipe::${name} ALIAS occupipe_${name})
    target_include_directories(occupipe_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:include/occupipe>)
    target_link_libraries(occupipe_${name} PUBLIC ${ARG_LINK} PRIVATE $<BUILD_INTERFACE:occupipe::warnings>)
    target_compile_definitions(occupipe_${name} PRIVATE ${ARG_DEFINITIONS})
endfunction()
