# SPDX-License-Identifier: MIT
# The kernels of tests/kernels, compiled for the host: per .cu a C++ file that includes it and calls
# the kernels that its launch files name.
set(folder ${CMAKE_CURRENT_SOURCE_DIR}/kernels)
file(GLOB launch_files CONFIGURE_DEPENDS ${folder}/*.yaml)
set(sources "")
foreach(launch_file IN LISTS launch_files)
    file(STRINGS ${launch_file} source REGEX "^source:")
    string(REGEX REPLACE "^source: *" "" source "${source}")
    list(APPEND sources ${source})
    file(STRINGS ${launch_file} lines REGEX "kernel: *[A-Za-z0-9_]+")
    foreach(line IN LISTS lines)
        string(REGEX REPLACE ".*kernel: *([A-Za-z0-9_]+).*" "\\1" kernel "${line}")
        list(APPEND kernels_of_${source} ${kernel})
    endforeach()
    file(READ ${launch_file} text)
    string(REGEX REPLACE "[][;]" " " text "${text}")
    if(text MATCHES "\nsymbols:\n((  [^\n]*\n)+)")
        string(REGEX MATCHALL "  [A-Za-z0-9_]+: *{" symbols "${CMAKE_MATCH_1}")
        string(REGEX REPLACE "[ :{]" "" symbols "${symbols}")
        list(APPEND symbols_of_${source} ${symbols})
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${launch_file})
endforeach()
list(REMOVE_DUPLICATES sources)

set(generated "")
set(declarations "")
set(entries "")
set(symbol_entries "")
foreach(source IN LISTS sources)
    list(REMOVE_DUPLICATES kernels_of_${source})
    string(MAKE_C_IDENTIFIER ${source} tag)
    set(text "#include \"tests/kernels/host/kernel.h\"\n#include \"tests/kernels/host/cuda.h\"\n")
    foreach(kernel IN LISTS kernels_of_${source})
        string(APPEND text "#define ${kernel} ${tag}_${kernel}\n")  # extern "C" names are the program's
        string(APPEND entries "    {\"${source}\", \"${kernel}\", &run_${tag}_${kernel}},\n")
        string(APPEND declarations "void run_${tag}_${kernel}(dim3, dim3, std::span<const Argument>, host::Order);\n")
    endforeach()
    string(APPEND text "namespace {\n#include \"tests/kernels/${source}\"\n")
    # What "extern __shared__ T name[];" declares.
    file(READ ${folder}/${source} cuda)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${folder}/${source})
    string(REGEX REPLACE "//[^\n]*" "" cuda "${cuda}")
    string(REPLACE "[" "<" cuda "${cuda}")
    string(REPLACE "]" ">" cuda "${cuda}")
    string(REGEX MATCHALL "extern +__shared__ +[^;<]*<" dynamic "${cuda}")
    list(REMOVE_DUPLICATES dynamic)
    foreach(one IN LISTS dynamic)
        string(REGEX REPLACE "extern +__shared__ +(__align__\\([0-9]+\\) +)?(.*[^ ]) *<" "\\2" one "${one}")
        string(REGEX REPLACE "^(.*[ *])([A-Za-z0-9_]+)$" "\\1" type "${one}")
        string(REGEX REPLACE "^(.*[ *])([A-Za-z0-9_]+)$" "\\2" name "${one}")
        string(APPEND text "thread_local __attribute__((aligned(1024))) ${type} ${name}[occupipe::test::host::dynamic_shared_bytes / sizeof(${type})];\n")
    endforeach()
    string(APPEND text "}\nnamespace occupipe::test {\n")
    foreach(kernel IN LISTS kernels_of_${source})
        string(APPEND text "void run_${tag}_${kernel}(dim3 grid, dim3 block, std::span<const Argument> arguments, host::Order order) {\n"
            "    host::KernelCall<&::${tag}_${kernel}>::run(grid, block, arguments, order);\n}\n")
    endforeach()
    list(REMOVE_DUPLICATES symbols_of_${source})
    foreach(symbol IN LISTS symbols_of_${source})
        string(APPEND text "std::span<std::byte> symbol_${tag}_${symbol}() { return std::as_writable_bytes(std::span(&::${symbol}, 1)); }\n")
        string(APPEND declarations "std::span<std::byte> symbol_${tag}_${symbol}();\n")
        string(APPEND symbol_entries "    {\"${source}\", \"${symbol}\", &symbol_${tag}_${symbol}},\n")
    endforeach()
    string(APPEND text "}\n")
    file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/kernels/${tag}.cpp CONTENT "${text}" @ONLY)
    list(APPEND generated ${CMAKE_CURRENT_BINARY_DIR}/kernels/${tag}.cpp)
endforeach()
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/kernels/table.cpp @ONLY CONTENT
"#include \"tests/kernels/run_on_cpu.h\"\nnamespace occupipe::test {\n${declarations}
std::span<const HostKernel> host_kernels() {\n    static constexpr HostKernel all[] = {\n${entries}    };\n    return all;\n}
std::span<const HostSymbol> host_symbols() {\n    static constexpr HostSymbol all[] = {\n${symbol_entries}    };\n    return all;\n}\n}\n")

add_library(occupipe_kernels_on_cpu STATIC kernels/run_on_cpu.cpp kernels/plan_target.cpp kernels/host/fibers.cpp
    ${CMAKE_CURRENT_BINARY_DIR}/kernels/table.cpp ${generated})
target_link_libraries(occupipe_kernels_on_cpu PUBLIC occupipe::core)
target_compile_definitions(occupipe_kernels_on_cpu PRIVATE OCCUPIPE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
# As the kernels are compiled for the GPU: no contraction, signed overflow wraps. Names of the headers
# that stand for CUDA's are found in kernels/host.
set_source_files_properties(${generated} PROPERTIES INCLUDE_DIRECTORIES ${folder}/host COMPILE_OPTIONS
    "-ffp-contract=off;-fwrapv;-fno-strict-aliasing;-Wno-unknown-pragmas;$<$<CXX_COMPILER_ID:GNU>:-fno-extern-tls-init>")

occupipe_test(kernels_test KIND unit SHARDS 2 LINK occupipe_kernels_on_cpu occupipe::isa GTest::gmock
    SOURCES kernels/on_cpu_test.cpp kernels/recorded_test.cpp kernels/second_hand_test.cpp
        kernels/second_hand_numbers_test.cpp kernels/second_hand_control_test.cpp)
occupipe_test(execute_kernels_test KIND unit SHARDS 2 FULL ExecuteNotices.*:ExecuteTurns.* LINK occupipe_kernels_on_cpu occupipe::isa GTest::gmock
    SOURCES kernels/execute_test.cpp)
if(OCCUPIPE_OPENCL)
    occupipe_test(opencl_c_test KIND cli SHARDS 3 WITHOUT_NVRTC OpenClCompiler.IsNamed* LINK occupipe::core occupipe::extract occupipe::isa occupipe::bench OpenCL::OpenCL GTest::gmock nlohmann_json::nlohmann_json
        SOURCES opencl_c/opencl_c_test.cpp opencl_c/run_on_opencl.cpp kernels/plan_target.cpp support/run_program.cpp)
    target_compile_definitions(opencl_c_test PRIVATE OCCUPIPE_PROGRAM="$<TARGET_FILE:occupipe>")
    add_dependencies(opencl_c_test occupipe)
endif()
occupipe_test(ptx_kernels_test KIND unit SHARDS 2 FULL *PtxOracle* LINK occupipe_kernels_on_cpu occupipe::isa ptx_machine GTest::gmock
    SOURCES kernels/ptx_test.cpp)
