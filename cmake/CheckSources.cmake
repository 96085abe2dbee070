# SPDX-License-Identifier: MIT
# cmake -D ROOT=… -P CheckSources.cmake: every source file names its licence in its first line (second
# after #!) and stays within the size budgets, every folder of the program has its README. Functions have theirs in .clang-tidy.
cmake_minimum_required(VERSION 3.25)
get_filename_component(ROOT "${ROOT}" ABSOLUTE)

set(source_budget 1000)  # lines of one source file: a check against monsters, not a measure of ideas
set(cmake_budget 120)    # lines of the root CMakeLists.txt

set(offences "")
set(folders_without_readme "")
file(GLOB_RECURSE files RELATIVE "${ROOT}"
    "${ROOT}/core/*" "${ROOT}/bench/*" "${ROOT}/fit/*" "${ROOT}/sim/*" "${ROOT}/plot/*" "${ROOT}/analysis/*" "${ROOT}/report/*" "${ROOT}/cli/*" "${ROOT}/cmake/*"
    "${ROOT}/tests/*" "${ROOT}/tools/*")
list(FILTER files INCLUDE REGEX "(\\.(h|cpp|cmake|sh|py)|/CMakeLists\\.txt)$")
list(LENGTH files source_count)
if(source_count EQUAL 0)
    message(FATAL_ERROR "no source files under ${ROOT}")
endif()
foreach(file IN LISTS files ITEMS CMakeLists.txt)
    file(READ "${ROOT}/${file}" text)
    if(NOT text MATCHES "^(#![^\n]*\n)?(//|#) SPDX-License-Identifier: MIT\n")
        string(APPEND offences "\n${file}:1: the first line has to be the licence: SPDX-License-Identifier: MIT")
    endif()
    string(REGEX MATCHALL "\n" newlines "${text}")
    list(LENGTH newlines lines)
    set(budget ${source_budget})
    if(file STREQUAL "CMakeLists.txt")
        set(budget ${cmake_budget})
    endif()
    if(lines GREATER budget)
        string(APPEND offences "\n${file}: ${lines} lines; the budget is ${budget}: split it")
    endif()
endforeach()
# Every folder of the program says what lives in it.
foreach(file IN LISTS files)
    get_filename_component(folder "${file}" DIRECTORY)
    if(file MATCHES "^(core|bench|fit|sim|plot|analysis|report|cli)/" AND NOT EXISTS "${ROOT}/${folder}/README.md")
        list(APPEND folders_without_readme "${folder}")
    endif()
endforeach()
list(REMOVE_DUPLICATES folders_without_readme)
foreach(folder IN LISTS folders_without_readme)
    string(APPEND offences "\n${folder}/README.md: missing: say what lives here, what it may see, where to begin reading")
endforeach()
if(offences)
    message(FATAL_ERROR "source files that break the rules of CONTRIBUTING.md:${offences}")
endif()
message(STATUS "${source_count} source files name their licence and keep to their size")
