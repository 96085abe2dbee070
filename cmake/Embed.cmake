# SPDX-License-Identifier: MIT
# occupipe_embed(VARIABLE HEADER FUNCTION FILE…): a C++ source, whose path goes to VARIABLE, with the texts of
# files (paths from the root) as FUNCTION(), which HEADER declares as returning a span of EmbeddedFile
# (core/files/embedded.h). Of code, the comment at the top, with the licence, is left out up to the first empty line.
function(occupipe_embed variable header function)
    get_filename_component(component ${header} DIRECTORY)
    set(embedded_files "")
    foreach(file IN LISTS ARGN)
        set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${file})
        file(READ ${PROJECT_SOURCE_DIR}/${file} text)
        if(file MATCHES "\\.(cuh|cl|html|css|js)$")
            if(NOT text MATCHES "^((//|/\\*|<!--)[^\n]*\n)+\n")
                message(FATAL_ERROR "${file}: begins with no comment and empty line: // SPDX-License-Identifier: MIT")
            endif()
            string(LENGTH "${CMAKE_MATCH_0}" top)
            math(EXPR top "${top} - 1")  # the empty line stays: a text begins with the end of a line
            string(SUBSTRING "${text}" ${top} -1 text)
        endif()
        string(APPEND embedded_files "        EmbeddedFile{\"${file}\", R\"embedded(${text})embedded\"},\n")
    endforeach()
    set(source ${CMAKE_CURRENT_BINARY_DIR}/${function}.cpp)
    configure_file(${PROJECT_SOURCE_DIR}/cmake/embedded.cpp.in ${source} @ONLY)
    set(${variable} ${source} PARENT_SCOPE)
endfunction()
