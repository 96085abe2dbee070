# SPDX-License-Identifier: MIT
# fmt compiled once, in Debian's library, saves 2.5 s in every file that formats; Debian has no archive
# of it, so the portable program takes the headers.
add_library(occupipe_fmt INTERFACE)
add_library(occupipe::fmt ALIAS occupipe_fmt)
set_target_properties(occupipe_fmt PROPERTIES EXPORT_NAME fmt)
target_link_libraries(occupipe_fmt INTERFACE $<IF:$<BOOL:${OCCUPIPE_PORTABLE}>,fmt::fmt-header-only,fmt::fmt>)

# Debian has no package config of it, but an archive, which the portable program takes.
find_path(ZSTD_INCLUDE_DIR zstd.h REQUIRED)
if(OCCUPIPE_PORTABLE)
    find_library(ZSTD_LIBRARY libzstd.a REQUIRED)
else()
    find_library(ZSTD_LIBRARY zstd REQUIRED)
endif()
add_library(occupipe_zstd INTERFACE)
add_library(occupipe::zstd ALIAS occupipe_zstd)
target_link_libraries(occupipe_zstd INTERFACE ${ZSTD_LIBRARY})

# Who may link whom. A component that asks for anything else stops the configuration.
set(OCCUPIPE_MAY_LINK_core   yaml-cpp nlohmann_json::nlohmann_json occupipe::fmt Threads::Threads)
set(OCCUPIPE_MAY_LINK_isa    occupipe::core occupipe::fmt occupipe::zstd Threads::Threads)
set(OCCUPIPE_MAY_LINK_extract occupipe::core occupipe::isa occupipe::fmt)
set(OCCUPIPE_MAY_LINK_bench  occupipe::core occupipe::isa benchmark::benchmark OpenCL::OpenCL occupipe::fmt nlohmann_json::nlohmann_json ${CMAKE_DL_LIBS} Threads::Threads)
set(OCCUPIPE_MAY_LINK_fit    occupipe::core Ceres::ceres occupipe::fmt)
set(OCCUPIPE_MAY_LINK_sim    occupipe::core occupipe::fmt Threads::Threads)
set(OCCUPIPE_MAY_LINK_plot   occupipe::core occupipe::fmt)
set(OCCUPIPE_MAY_LINK_published occupipe::core occupipe::fmt)
set(OCCUPIPE_MAY_LINK_ask    occupipe::core occupipe::isa occupipe::extract occupipe::bench occupipe::sim occupipe::published occupipe::fmt)
set(OCCUPIPE_MAY_LINK_program occupipe::ask occupipe::core occupipe::isa occupipe::extract occupipe::sim occupipe::published occupipe::fmt nlohmann_json::nlohmann_json)
set(OCCUPIPE_MAY_LINK_analysis occupipe::ask occupipe::published occupipe::core occupipe::isa occupipe::extract occupipe::bench occupipe::fit occupipe::sim occupipe::plot occupipe::fmt nlohmann_json::nlohmann_json)
set(OCCUPIPE_MAY_LINK_report occupipe::program occupipe::ask occupipe::published occupipe::analysis occupipe::core occupipe::isa occupipe::extract occupipe::bench occupipe::fit occupipe::sim occupipe::plot occupipe::fmt nlohmann_json::nlohmann_json)
set(OCCUPIPE_MAY_LINK_cli    occupipe::program occupipe::ask occupipe::published occupipe::report occupipe::analysis occupipe::core occupipe::isa occupipe::extract occupipe::bench occupipe::fit occupipe::sim occupipe::plot CLI11::CLI11 occupipe::fmt nlohmann_json::nlohmann_json Threads::Threads)

set(OCCUPIPE_MAY_LINK_automatch occupipe::cli occupipe::report occupipe::ask occupipe::core occupipe::bench occupipe::fit occupipe::plot occupipe::fmt nlohmann_json::nlohmann_json Threads::Threads)
set(OCCUPIPE_MAY_LINK_python occupipe::ask occupipe::analysis occupipe::core occupipe::isa occupipe::extract occupipe::fit occupipe::sim occupipe::fmt)

# Stops the configuration where component NAME asks for a target that it may not link.
function(occupipe_check_links name)
    foreach(target IN LISTS ARGN)
        if(NOT target IN_LIST OCCUPIPE_MAY_LINK_${name})
            message(FATAL_ERROR "${name} may not link ${target}; allowed: ${OCCUPIPE_MAY_LINK_${name}}")
        endif()
    endforeach()
endfunction()

# What the headers of the standard library and of fmt cost to read, paid once for each level of optimisation: GCC wants
# the flags of what includes a precompiled header to be those that made it. Sources name what they use all the same, and
# compile without it (-DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON).
# ccache is told in CMakeLists.txt that none of them depends on the time or on macros that are defined for some files.
function(occupipe_make_precompiled level header)
    set(source ${PROJECT_BINARY_DIR}/precompiled/${level}.cpp)
    file(CONFIGURE OUTPUT ${source} CONTENT "// What is precompiled for others.\n")
    add_library(occupipe_precompiled_${level} OBJECT EXCLUDE_FROM_ALL ${source})
    target_include_directories(occupipe_precompiled_${level} PRIVATE ${PROJECT_SOURCE_DIR})
    target_link_libraries(occupipe_precompiled_${level} PRIVATE occupipe::fmt occupipe::warnings)
    target_precompile_headers(occupipe_precompiled_${level} PRIVATE ${header})
    occupipe_level(occupipe_precompiled_${level} ${level})
endfunction()

function(occupipe_level target level)
    if(NOT level STREQUAL hot)
        target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
    endif()
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
endfunction()

# occupipe_precompiled(TARGET LEVEL): optimises as the level says (light: -O1, compiling with everything that -O3 knows
# takes longer than it would save; hot: -O3, a benchmark shows it) and takes its precompiled headers.
function(occupipe_precompiled target level)
    occupipe_level(${target} ${level})
    target_precompile_headers(${target} REUSE_FROM occupipe_precompiled_${level})
endfunction()

occupipe_make_precompiled(light ${CMAKE_CURRENT_LIST_DIR}/precompiled.h)
occupipe_make_precompiled(hot ${CMAKE_CURRENT_LIST_DIR}/precompiled.h)

# occupipe_component(NAME [WITHOUT REGEX…] [HOT REGEX…] [SOURCES file…] LINK target… [DEFINITIONS …] [OPTIONS …] [INCLUDE folder…]): static library
# occupipe::NAME of every source below its folder whose path from there matches no REGEX of WITHOUT, and of further,
# generated ones. Those that match one of HOT are optimised in full.
function(occupipe_component name)
    cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "WITHOUT;HOT;SOURCES;LINK;DEFINITIONS;OPTIONS;INCLUDE")
    occupipe_check_links(${name} ${ARG_LINK})
    file(GLOB_RECURSE sources RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS *.cpp)
    foreach(regex IN LISTS ARG_WITHOUT)
        list(FILTER sources EXCLUDE REGEX "${regex}")
    endforeach()
    set(hot_sources "")
    foreach(regex IN LISTS ARG_HOT)
        set(matching ${sources})
        list(FILTER matching INCLUDE REGEX "${regex}")
        list(FILTER sources EXCLUDE REGEX "${regex}")
        list(APPEND hot_sources ${matching})
    endforeach()
    set(hot_objects "")
    if(hot_sources)
        add_library(occupipe_${name}_hot OBJECT ${hot_sources})
        occupipe_compile(occupipe_${name}_hot hot)
        set(hot_objects $<TARGET_OBJECTS:occupipe_${name}_hot>)
    endif()
    add_library(occupipe_${name} STATIC ${sources} ${ARG_SOURCES} ${hot_objects})
    add_library(occupipe::${name} ALIAS occupipe_${name})
    occupipe_compile(occupipe_${name} light)
endfunction()

# The part of occupipe_component that its two targets share; reads its arguments.
macro(occupipe_compile target level)
    target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:include/occupipe>)
    target_link_libraries(${target} PUBLIC ${ARG_LINK} PRIVATE $<BUILD_INTERFACE:occupipe::warnings>)
    target_compile_definitions(${target} PRIVATE ${ARG_DEFINITIONS})
    target_include_directories(${target} SYSTEM PRIVATE ${ARG_INCLUDE})
    target_compile_options(${target} PRIVATE ${ARG_OPTIONS})
    occupipe_precompiled(${target} ${level})
endmacro()
