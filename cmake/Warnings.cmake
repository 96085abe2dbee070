# SPDX-License-Identifier: MIT
add_library(occupipe_warnings INTERFACE)
add_library(occupipe::warnings ALIAS occupipe_warnings)
target_compile_options(occupipe_warnings INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor -Wold-style-cast)
if(OCCUPIPE_WERROR)
    target_compile_options(occupipe_warnings INTERFACE -Werror)
endif()
