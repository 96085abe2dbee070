# SPDX-License-Identifier: MIT
# Tests of the source tree itself.

function(occupipe_source_test name script root)
    add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} -D ROOT=${root} -P ${PROJECT_SOURCE_DIR}/cmake/${script})
    set_tests_properties(${name} PROPERTIES LABELS project TIMEOUT 60 ${ARGN})
endfunction()

occupipe_source_test(Project.IncludesKeepToTheDependencyRule CheckIncludes.cmake ${PROJECT_SOURCE_DIR})
occupipe_source_test(Project.SourceFilesNameTheirLicenceAndKeepToTheirSize CheckSources.cmake ${PROJECT_SOURCE_DIR})
occupipe_source_test(Project.TestsThatTouchCudaRunWithoutNvrtcToo CheckNvrtcTests.cmake ${PROJECT_SOURCE_DIR})

add_test(NAME Project.NoTwoTestsShareAName COMMAND ${CMAKE_COMMAND} -D CTEST=${CMAKE_CTEST_COMMAND}
    -D BUILD=${PROJECT_BINARY_DIR} -P ${PROJECT_SOURCE_DIR}/cmake/CheckTestNames.cmake)
set_tests_properties(Project.NoTwoTestsShareAName PROPERTIES LABELS project TIMEOUT 60)

# The checks themselves have to find what they are for, and say where it is.
set(planted ${CMAKE_CURRENT_BINARY_DIR}/planted)
file(WRITE ${planted}/CMakeLists.txt "# SPDX-License-Identifier: MIT\n")
file(WRITE ${planted}/sim/licence_missing.cpp "int x = 0;\n")
foreach(case
        "sim/uses_bench.cpp|#include \"bench/backend.h\"|sim may not include from bench"
        "core/uses_sim.h|#  include \"sim/engine/simulate.h\"|core may not include from sim"
        "extract/uses_bench.cpp|#include \"bench/backend.h\"|extract may not include from bench"
        "bench/sweep_uses_opencl.cpp|#include <CL/cl.h>|only files matching"
        "fit/laws_use_ceres.h|#include <ceres/ceres.h>|only files matching"
        "analysis/uses_cli.cpp|#include \"cli/console.h\"|analysis may not include from cli"
        "program/uses_analysis.cpp|#include \"analysis/sweep/sweep.h\"|program may not include from analysis"
        "analysis/uses_program.cpp|#include \"program/journal.h\"|analysis may not include from program"
        "ask/uses_analysis.cpp|#include \"analysis/sweep/sweep.h\"|ask may not include from analysis"
        "cli/second_road.cpp|#include \"ask/memory/memory_pricing.h\"|only files matching"
        "ask/measures.cpp|#include \"bench/harness/harness.h\"|only files matching"
        "report/uses_cli.cpp|#include \"cli/console.h\"|report may not include from cli"
        "analysis/uses_report.cpp|#include \"report/text/wrap.h\"|analysis may not include from report"
        "python/uses_cli.cpp|#include \"cli/console.h\"|python may not include from cli"
        "python/uses_report.cpp|#include \"report/text/wrap.h\"|python may not include from report"
        "fit/uses_automatch.cpp|#include \"automatch/workload.h\"|fit may not include from automatch"
        "cli/uses_automatch.cpp|#include \"automatch/workload.h\"|cli may not include from automatch"
        "automatch/uses_sim.cpp|#include \"sim/engine/simulate.h\"|automatch may not include from sim"
        "automatch/uses_the_page.cpp|#include \"report/page/page.h\"|automatch may include only"
        "sim/uses_nanobind.cpp|#include <nanobind/nanobind.h>|only files matching"
        "cli/goes_up.cpp|#include \"../core/kernel.h\"|start at the root"
        "sim/uses_a_model.cpp|#include \"sim/models/registry.h\"|only files matching")
    string(REPLACE "|" ";" case "${case}")
    list(GET case 0 file)
    list(GET case 1 line)
    list(GET case 2 message)
    string(REPLACE " " "[ \n]+" message "${message}")  # CMake breaks its messages into lines
    string(REGEX REPLACE "[/.]" "_" tree "${file}")
    file(WRITE ${planted}/${tree}/${file} "// SPDX-License-Identifier: MIT\n\n${line}\n")
    occupipe_source_test(Project.IncludeCheckRefuses.${tree} CheckIncludes.cmake ${planted}/${tree}
        PASS_REGULAR_EXPRESSION "${file}:3: .*${message}")
endforeach()
occupipe_source_test(Project.SourceCheckRefusesAFileWithoutLicence CheckSources.cmake ${planted}
    PASS_REGULAR_EXPRESSION "sim/licence_missing.cpp:1: the first line has to be the licence")

occupipe_source_test(Project.SourceCheckRefusesAFolderWithoutReadme CheckSources.cmake ${planted}
    PASS_REGULAR_EXPRESSION "sim/README.md: missing")
file(WRITE ${planted}/nvrtc/tests/a.cmake "occupipe_test(some_test KIND unit\n    SOURCES bench/some_test.cpp)\n")
file(WRITE ${planted}/nvrtc/tests/bench/some_test.cpp "#include \"bench/cuda/prelude.h\"\n")
occupipe_source_test(Project.NvrtcCheckRefusesATestWithoutIt CheckNvrtcTests.cmake ${planted}/nvrtc
    PASS_REGULAR_EXPRESSION "tests/a.cmake: some_test: bench/some_test.cpp touches CUDA")

file(WRITE ${planted}/names/CTestTestfile.cmake "add_test(Same.Name true)\nadd_test(Same.Name false)\nadd_test(Other true)\n")
add_test(NAME Project.NameCheckRefusesANameOfTwoTests COMMAND ${CMAKE_COMMAND} -D CTEST=${CMAKE_CTEST_COMMAND}
    -D BUILD=${planted}/names -P ${PROJECT_SOURCE_DIR}/cmake/CheckTestNames.cmake)
set_tests_properties(Project.NameCheckRefusesANameOfTwoTests PROPERTIES LABELS project TIMEOUT 60
    PASS_REGULAR_EXPRESSION "for[ \n]+example[ \n]+Same.Name")

file(WRITE ${planted}/own_header/CMakeLists.txt "# SPDX-License-Identifier: MIT\n")
file(WRITE ${planted}/own_header/core/a.h "// SPDX-License-Identifier: MIT\n#pragma once\n")
file(WRITE ${planted}/own_header/core/a.cpp "// SPDX-License-Identifier: MIT\n#include <vector>\n#include \"core/a.h\"\n")
file(WRITE ${planted}/own_header/core/b.h "// SPDX-License-Identifier: MIT\n")
occupipe_source_test(Project.SourceCheckWantsTheOwnHeaderFirst CheckSources.cmake ${planted}/own_header
    PASS_REGULAR_EXPRESSION "core/a.cpp: the first include has to be core/a.h")
occupipe_source_test(Project.SourceCheckWantsPragmaOnce CheckSources.cmake ${planted}/own_header
    PASS_REGULAR_EXPRESSION "core/b.h: pragma once is missing")

file(WRITE ${planted}/second_road/CMakeLists.txt "# SPDX-License-Identifier: MIT\n")
file(WRITE ${planted}/second_road/cli/a.cpp "// SPDX-License-Identifier: MIT\n\nvoid a() { price_memory(kernel, profile); }\n")
occupipe_source_test(Project.SourceCheckRefusesASecondRoad CheckSources.cmake ${planted}/second_road
    PASS_REGULAR_EXPRESSION "cli/a.cpp: calls price_memory")
file(WRITE ${planted}/sentence/CMakeLists.txt "# SPDX-License-Identifier: MIT\n")
file(WRITE ${planted}/sentence/fit/a.cpp
    "// SPDX-License-Identifier: MIT\n\nbool doubtful(const Estimate& e) { return e.note.find(\"runs disagree\") != npos; }\n")
occupipe_source_test(Project.SourceCheckRefusesASearchedSentence CheckSources.cmake ${planted}/sentence
    PASS_REGULAR_EXPRESSION "fit/a.cpp: searches a sentence [(]note[)]")

string(REPEAT "line of another language\n" 11 lines)
file(WRITE ${planted}/long_string/CMakeLists.txt "# SPDX-License-Identifier: MIT\n")
file(WRITE ${planted}/long_string/plot/page.cpp
    "// SPDX-License-Identifier: MIT\n\nconst char* short_one = R\"(a; [b]\n)\";\nconst char* text = R\"js(\n${lines})js\";\n")
occupipe_source_test(Project.SourceCheckRefusesALongStringOfAnotherLanguage CheckSources.cmake ${planted}/long_string
    PASS_REGULAR_EXPRESSION "plot/page.cpp:5: a string of 12 lines")

# Every header has to compile alone. One that has a source file of its name is the first that it includes (CheckSources.cmake
# sees to it); the others have a generated file each, compiled with everything else.
foreach(component core isa extract bench fit sim plot published ask program analysis report cli)
    if(NOT TARGET occupipe::${component})
        continue()
    endif()
    file(GLOB_RECURSE headers RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${component}/*.h)
    set(sources "")
    foreach(header IN LISTS headers)
        string(REGEX REPLACE "h$" "cpp" own ${PROJECT_SOURCE_DIR}/${header})
        if(EXISTS ${own})
            continue()
        endif()
        set(source ${CMAKE_CURRENT_BINARY_DIR}/headers/${header}.cpp)
        file(CONFIGURE OUTPUT ${source} CONTENT "#include \"${header}\"\n")
        list(APPEND sources ${source})
    endforeach()
    if(NOT sources)
        continue()
    endif()
    add_library(${component}_headers_alone OBJECT ${sources})
    target_link_libraries(${component}_headers_alone PRIVATE occupipe::${component} occupipe::warnings)
    target_compile_options(${component}_headers_alone PRIVATE -O0)
endforeach()

# What `cmake --install` leaves is enough for somebody else's program, and for the program itself far from its
# source tree.
add_test(NAME Project.AnInstalledPackageBuildsAProgram
    COMMAND ${CMAKE_COMMAND} -D BUILD=${PROJECT_BINARY_DIR} -D SOURCE=${CMAKE_CURRENT_SOURCE_DIR}/package
            -D WORK=${CMAKE_CURRENT_BINARY_DIR}/package -D COMPILER=${CMAKE_CXX_COMPILER}
            -D GENERATOR=${CMAKE_GENERATOR} -D MAKE=${CMAKE_MAKE_PROGRAM}
            "-DFLAGS=${CMAKE_CXX_FLAGS}" -P ${CMAKE_CURRENT_SOURCE_DIR}/package/try_package.cmake)
set_tests_properties(Project.AnInstalledPackageBuildsAProgram PROPERTIES LABELS project TIMEOUT 300)
if(NOT OCCUPIPE_FIT OR OCCUPIPE_PORTABLE)
    set_tests_properties(Project.AnInstalledPackageBuildsAProgram PROPERTIES DISABLED ON)
endif()

# One version, wherever it is named.
add_test(NAME Project.OneVersionEverywhere COMMAND ${CMAKE_COMMAND} -D ROOT=${PROJECT_SOURCE_DIR}
    -D PROGRAM=$<TARGET_FILE:occupipe> -P ${PROJECT_SOURCE_DIR}/cmake/CheckVersions.cmake)
file(WRITE ${planted}/version/CMakeLists.txt "project(occupipe VERSION 1.2.3 LANGUAGES CXX)\n")
file(WRITE ${planted}/version/CITATION.cff "message: x\nversion: 1.2.2\n")
add_test(NAME Project.VersionCheckFindsAnother COMMAND ${CMAKE_COMMAND} -D ROOT=${planted}/version
    -P ${PROJECT_SOURCE_DIR}/cmake/CheckVersions.cmake)
set_tests_properties(Project.OneVersionEverywhere PROPERTIES LABELS project TIMEOUT 60)
set_tests_properties(Project.VersionCheckFindsAnother PROPERTIES LABELS project TIMEOUT 60
    PASS_REGULAR_EXPRESSION "CITATION.cff: version '1.2.2', not[ \n]+1.2.3")

# The pages of the reference that the program itself writes.
add_test(NAME Project.ReferencePagesAreWhatTheProgramPrints
    COMMAND ${PROJECT_SOURCE_DIR}/tools/reference.sh --check $<TARGET_FILE:occupipe>)
set_tests_properties(Project.ReferencePagesAreWhatTheProgramPrints PROPERTIES LABELS project TIMEOUT 300)
find_program(OCCUPIPE_PYTHON3 python3)
if(NOT OCCUPIPE_PYTHON3 OR NOT OCCUPIPE_FIT)
    set_tests_properties(Project.ReferencePagesAreWhatTheProgramPrints PROPERTIES DISABLED ON)
endif()
