# SPDX-License-Identifier: MIT
occupipe_test(isa_test KIND unit ONE_PROCESS LINK occupipe::isa GTest::gmock
    SOURCES isa/decode_test.cpp isa/cubin_test.cpp isa/debug_lines_test.cpp isa/random_test.cpp isa/machine/splits_test.cpp
            isa/machine/prepare_test.cpp isa/containers_test.cpp)
occupipe_test(arithmetic_test KIND unit ONE_PROCESS LINK occupipe::isa SOURCES isa/machine/arithmetic_test.cpp)
occupipe_test(semantics_test KIND unit SHARDS 2 LINK occupipe::isa GTest::gmock
    SOURCES isa/machine/semantics_test.cpp isa/machine/single_step.cpp isa/machine/operands.cpp isa/machine/addresses.cpp
            isa/machine/faults.cpp isa/machine/formulas.cpp isa/machine/formulas_integer.cpp isa/machine/formulas_real.cpp
            isa/machine/formulas_half.cpp isa/machine/formulas_warp.cpp isa/machine/formulas_memory.cpp)
occupipe_test(disassemble_test KIND cli ONE_PROCESS WITHOUT_NVRTC * LINK occupipe::isa GTest::gmock
    SOURCES cli/disassemble_test.cpp support/run_program.cpp)
target_compile_definitions(disassemble_test PRIVATE OCCUPIPE_PROGRAM="$<TARGET_FILE:occupipe>")
add_dependencies(disassemble_test occupipe)
