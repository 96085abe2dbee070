# SPDX-License-Identifier: MIT
add_library(occupipe_warnings INTERFACE)
add_library(occupipe::warnings ALIAS occupipe_warnings)
target_compile_options(occupipe_warnings INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor -Wold-style-cast
    -Wno-missing-field-initializers  # designated initialisers leave the rest at its default on purpose
    -Wno-restrict)  # GCC 12 sees overlaps in std::string that are not there (bug 105329)
if(OCCUPIPE_WERROR)
    target_compile_options(occupipe_warnings INTERFACE -Werror)
endif()
