# SPDX-License-Identifier: MIT
# The manual: its pages' links and blocks; in full, every command of it that needs no GPU (tools/site.sh builds the site).
find_program(OCCUPIPE_PYTHON3 python3)
if(NOT OCCUPIPE_PYTHON3)
    return()
endif()

add_test(NAME Manual.LinksAndBlocksAreSound COMMAND ${OCCUPIPE_PYTHON3} ${PROJECT_SOURCE_DIR}/tools/site/check.py --pages)
set_tests_properties(Manual.LinksAndBlocksAreSound PROPERTIES LABELS project TIMEOUT 60)

set(programs ${CMAKE_CURRENT_BINARY_DIR}/manual)
file(MAKE_DIRECTORY ${programs})
file(CREATE_LINK ${PROJECT_BINARY_DIR}/cli/occupipe ${programs}/occupipe SYMBOLIC)
file(CREATE_LINK ${PROJECT_BINARY_DIR}/automatch/automatch ${programs}/automatch SYMBOLIC)
add_test(NAME Manual.CommandsWork COMMAND ${OCCUPIPE_PYTHON3} ${PROJECT_SOURCE_DIR}/tools/site/check.py --run ${programs})
set_tests_properties(Manual.CommandsWork PROPERTIES LABELS full TIMEOUT 1800)
