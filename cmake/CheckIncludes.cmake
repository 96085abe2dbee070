# SPDX-License-Identifier: MIT
# cmake -D ROOT=… -P CheckIncludes.cmake: refuses an #include that crosses the dependency rule
# core ← isa ← {bench, extract}, core ← {bench, extract, fit, sim, plot, published}, {isa, extract, bench, sim, published} ← ask ← analysis ← {report ← cli, python}; nobody includes automatch. Link rules (Components.cmake) cannot see these, since all
# components share one include root.
cmake_minimum_required(VERSION 3.25)
get_filename_component(ROOT "${ROOT}" ABSOLUTE)

# Which of the project's folders each component may include from.
set(may_use_core  core)
set(may_use_isa   core isa)
set(may_use_bench core isa bench)
set(may_use_extract core isa extract)
set(may_use_fit   core fit)
set(may_use_sim   core sim)
set(may_use_plot  core plot)
set(may_use_published core published)
set(may_use_ask   core isa extract bench sim published ask)
set(may_use_analysis core isa extract bench fit sim plot published ask analysis)
set(may_use_python core isa extract fit sim ask analysis python)
set(may_use_report core isa extract bench fit sim plot published ask analysis report)
set(may_use_cli   core isa extract bench fit sim plot published ask analysis report cli)
set(may_use_automatch core bench fit plot ask report cli automatch)

# Of the folders above the stages, automatch takes the frame of a program's command line, tables, pictures and names of
# shipped files, no more.
set(automatch_takes "^((core|bench|fit|plot|automatch)/|ask/shipped_files|report/(figures/plot_file|text/(seconds_text|text_table))|cli/(commands|console|exit_codes|option|options|reported)\\.h$)")

# confine(HEADERS FILES): headers matching the first regular expression stand only in files whose
# path from the root matches the second.
macro(confine headers files)
    list(APPEND confined_headers "${headers}")
    list(APPEND confined_files "${files}")
endmacro()
confine("^CL/"                                    "^bench/opencl/")
confine("^(cuda|nvrtc|nvml|cupti)[A-Za-z0-9_]*\\.h$" "^bench/cuda/")
confine("^dlfcn\\.h$"                             "^bench/cuda/")
confine("^benchmark/"                             "^bench/harness/[^/]*\\.cpp$")
confine("^(ceres|glog|Eigen)/"                    "^fit/(solver|structure)/[^/]*\\.cpp$")
confine("^yaml-cpp/"                              "^core/files/[^/]*\\.cpp$")
confine("^nlohmann/"                              "^((core/files|bench/harness|bench/offline|analysis/(exchange|sweep|tuning))/[^/]*\\.cpp$|(report|cli|automatch/(report|cli))/)")
confine("^CLI/"                                   "^cli/option\\.cpp$")
confine("^(nanobind/|Python\\.h$)"                "^python/bindings/")
confine("^zstd"                                   "^isa/containers/")
confine("^llvm/"                                  "^automatch/instrument/")
# Nobody walks a second road from a question to a prediction (ask/answer.h).
confine("^ask/(memory/|substitutes\\.h|weak_values\\.h)" "^ask/")
# Of bench, ask takes compilers and names of instructions; it measures nothing.
confine("^bench/((harness|model|kernel|offline|opencl)/|[^/]*$)" "^(bench|analysis|report|cli|automatch)/")
confine("^(gtest|gmock)/"                         "^tests/")
confine("^sim/(models|reference)/"                "^(sim/(models|reference)|ask|analysis|report|cli|python)/")

set(offences "")
set(checked 0)

# check_include(FILE COMPONENT LINE-NUMBER HEADER)
function(check_include file component number header)
    string(REGEX REPLACE "/.*" "" folder "${header}")
    if(header MATCHES "/" AND DEFINED may_use_${folder} AND NOT folder IN_LIST may_use_${component})
        set(reason "${component} may not include from ${folder} (it may from: ${may_use_${component}})")
    elseif(component STREQUAL "automatch" AND DEFINED may_use_${folder} AND NOT header MATCHES "${automatch_takes}")
        set(reason "automatch may include only ${automatch_takes}")
    elseif(header MATCHES "^\\.\\.?/")
        set(reason "paths of includes start at the root of the repository")
    else()
        foreach(headers files IN ZIP_LISTS confined_headers confined_files)
            if(header MATCHES "${headers}" AND NOT file MATCHES "${files}")
                set(reason "only files matching ${files} may include this")
            endif()
        endforeach()
    endif()
    if(reason)
        set(offences "${offences}\n  ${file}:${number}: ${header}: ${reason}" PARENT_SCOPE)
    endif()
endfunction()

foreach(component core isa extract bench fit sim plot published ask analysis report cli python automatch)
    file(GLOB_RECURSE files RELATIVE "${ROOT}" "${ROOT}/${component}/*.h" "${ROOT}/${component}/*.cpp")
    foreach(file IN LISTS files)
        math(EXPR checked "${checked} + 1")
        file(READ "${ROOT}/${file}" text)
        string(REGEX REPLACE "[][;\\]" "_" text "${text}")  # these would break CMake's lists
        string(REPLACE "\n" ";" lines "${text}")
        set(number 0)
        foreach(line IN LISTS lines)
            math(EXPR number "${number} + 1")
            if(line MATCHES "^[ \t]*#[ \t]*include[ \t]*[<\"]([^>\"]+)[>\"]")
                check_include("${file}" ${component} ${number} "${CMAKE_MATCH_1}")
            endif()
        endforeach()
    endforeach()
endforeach()

if(checked EQUAL 0)
    message(FATAL_ERROR "no source files under ${ROOT}")
endif()
if(offences)
    message(FATAL_ERROR "includes that cross the dependency rule:${offences}")
endif()
message(STATUS "${checked} files keep to the dependency rule")
