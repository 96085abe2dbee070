# SPDX-License-Identifier: MIT
# cmake --install build/release --prefix DIR: the programs, their data, and the libraries core, fit and sim as
# find_package(Occupipe) with the targets Occupipe::core, Occupipe::sim and, where it was built, Occupipe::fit.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS occupipe automatch RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
# A library of its own place: what `occupipe run` puts before the real one must not be found by anybody else.
install(FILES $<TARGET_FILE:occupipe_cudart_13> $<TARGET_FILE:occupipe_cudart_12> $<TARGET_FILE:occupipe_host_clock> DESTINATION lib/occupipe/cuda)
install(DIRECTORY profiles/ DESTINATION ${CMAKE_INSTALL_DATADIR}/occupipe/profiles FILES_MATCHING PATTERN "*.yaml")
install(DIRECTORY automatch/devices/ DESTINATION ${CMAKE_INSTALL_DATADIR}/occupipe/match-devices FILES_MATCHING PATTERN "*.yaml")
install(DIRECTORY sim/kernels/ DESTINATION ${CMAKE_INSTALL_DATADIR}/occupipe/kernels FILES_MATCHING PATTERN "*.yaml")
install(DIRECTORY kernels/ DESTINATION ${CMAKE_INSTALL_DATADIR}/occupipe/suite FILES_MATCHING PATTERN "*.yaml" PATTERN "*.cu" PATTERN "*.h" PATTERN "*.cpp" PATTERN "README.md")
install(DIRECTORY schemas/ DESTINATION ${CMAKE_INSTALL_DATADIR}/occupipe/schemas FILES_MATCHING PATTERN "*.json")
install(FILES packaging/occupipe.1 packaging/automatch.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES cli/completion/occupipe.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME occupipe)
install(FILES cli/completion/_occupipe DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES cli/completion/occupipe.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(FILES README.md LICENSE CHANGELOG.md CITATION.cff DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN "*.png" PATTERN "*.cu" PATTERN "*.yaml")

set(installed_components core sim)
if(OCCUPIPE_FIT)
    list(APPEND installed_components fit)
endif()
foreach(component IN LISTS installed_components)
    set_target_properties(occupipe_${component} PROPERTIES EXPORT_NAME ${component})
    install(TARGETS occupipe_${component} EXPORT OccupipeTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
    install(DIRECTORY ${component} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/occupipe FILES_MATCHING PATTERN "*.h")
endforeach()
install(TARGETS occupipe_fmt EXPORT OccupipeTargets)
install(EXPORT OccupipeTargets NAMESPACE Occupipe:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Occupipe)
configure_package_config_file(cmake/OccupipeConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/OccupipeConfig.cmake
    INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Occupipe)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/OccupipeConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/OccupipeConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/OccupipeConfigVersion.cmake
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Occupipe)
