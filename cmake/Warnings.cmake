# SPDX-License-Identifier: MIT
add_library(occupipe_warnings INTERFACE)
add_library(occupipe::warnings ALIAS occupipe_warnings)
target_compile_options(occupipe_warnings INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor -Wold-style-cast
    -Wno-missing-field-initializers)  # designated initialisers leave the rest at its default on purpose
# What GCC 12 sees in strings and variants of the standard library and is not there (bugs 105329, 105562). Precompiled
# headers forget where the library itself has switched these off.
target_compile_options(occupipe_warnings INTERFACE
    "$<$<CXX_COMPILER_ID:GNU>:-Wno-restrict;-Wno-array-bounds;-Wno-stringop-overflow;-Wno-maybe-uninitialized>")
if(OCCUPIPE_WERROR)
    target_compile_options(occupipe_warnings INTERFACE -Werror)
endif()
