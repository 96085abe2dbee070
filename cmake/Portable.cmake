# SPDX-License-Identifier: MIT
# One program for any x86-64 Linux with a glibc as new as the one it was built with: everything but
# libc and the OpenCL loader goes in, and the loader is looked for in lib/ beside the program first.
# tools/portable.sh builds the static libraries that this needs and packs the result.

# Debian's package config knows the shared library alone; the archive lies beside it.
find_library(YAML_CPP_ARCHIVE libyaml-cpp.a REQUIRED)
find_path(YAML_CPP_INCLUDE_DIR yaml-cpp/yaml.h REQUIRED)
add_library(yaml-cpp STATIC IMPORTED)
set_target_properties(yaml-cpp PROPERTIES
    IMPORTED_LOCATION "${YAML_CPP_ARCHIVE}" INTERFACE_INCLUDE_DIRECTORIES "${YAML_CPP_INCLUDE_DIR}")

find_package(benchmark REQUIRED)
get_target_property(benchmark_type benchmark::benchmark TYPE)
if(NOT benchmark_type STREQUAL "STATIC_LIBRARY")
    message(FATAL_ERROR "The portable program needs Google Benchmark as a static library, which Debian does not have; "
                        "tools/portable.sh builds one from Debian's source package.")
endif()

# Ceres with its own small logger and with Eigen alone; Debian's is linked with twenty libraries.
if(OCCUPIPE_FIT)
    find_package(Ceres REQUIRED)
    get_target_property(ceres_links Ceres::ceres INTERFACE_LINK_LIBRARIES)
    if(ceres_links MATCHES "glog|lapack|cholmod")
        message(FATAL_ERROR "The portable program needs Ceres without glog, LAPACK and SuiteSparse; "
                            "tools/portable.sh builds one from Debian's source package.")
    endif()
    add_compile_definitions(OCCUPIPE_MINIGLOG)
endif()

# An older C library than this machine's: a folder with its names and versions to link with, and how
# its programs begin. What the C++ library needs of a newer one comes from packaging/wheel/.
set(OCCUPIPE_OLD_GLIBC "" CACHE PATH "Link with the C library of this folder (tools/wheel.sh makes it)")
if(OCCUPIPE_OLD_GLIBC)
    enable_language(C)
    add_library(occupipe_old_glibc OBJECT ${PROJECT_SOURCE_DIR}/packaging/wheel/old_glibc.c)
    set_target_properties(occupipe_old_glibc PROPERTIES POSITION_INDEPENDENT_CODE ON)
    link_libraries(occupipe_old_glibc pthread dl rt)  # which newer ones have in libc
    add_link_options(-L${OCCUPIPE_OLD_GLIBC} -B${OCCUPIPE_OLD_GLIBC} -Wl,--allow-shlib-undefined)
endif()

# GCC's own library finds what an exception passes through by a function of glibc 2.35: of an older
# system, it has to be the system's.
set(gcc_library -static-libgcc)
if(OCCUPIPE_OLD_GLIBC)
    set(gcc_library -shared-libgcc)
endif()
add_link_options(-static-libstdc++ ${gcc_library} -Wl,--gc-sections -Wl,-s)
add_compile_options(-ffunction-sections -fdata-sections)
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
set(CMAKE_INSTALL_RPATH "$ORIGIN/lib")
