# SPDX-License-Identifier: MIT
# cmake -D BUILD=… -D SOURCE=… -D WORK=… -D COMPILER=… -D FLAGS=… -D GENERATOR=… -D MAKE=… -P try_package.cmake
cmake_minimum_required(VERSION 3.25)

function(run expected)
    execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${WORK} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE out)
    if(NOT code EQUAL 0 OR NOT out MATCHES "${expected}")
        message(FATAL_ERROR "${ARGN}: exit code ${code}, output:\n${out}")
    endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
run("" ${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
run("" ${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/user -G ${GENERATOR} -D CMAKE_MAKE_PROGRAM=${MAKE}
    -D CMAKE_PREFIX_PATH=${WORK}/prefix -D CMAKE_CXX_COMPILER=${COMPILER} -D "CMAKE_CXX_FLAGS=${FLAGS}")
run("" ${CMAKE_COMMAND} --build ${WORK}/user)
set(data ${WORK}/prefix/share/occupipe)
run("^[1-9][0-9]* cycles, [1-9][0-9]* quantities compared" ${WORK}/user/user ${data}/profiles/nvidia-gtx-1060.yaml ${data}/kernels/saxpy.yaml)
run("saxpy on NVIDIA GeForce RTX 2070" ${WORK}/prefix/bin/occupipe predict saxpy --profile rtx-2070)
run("best: NVIDIA Tesla K20X" ${WORK}/prefix/bin/occupipe match --workload ${SOURCE}/../../automatch/workloads/counted/stencil.yaml
    --profile i5-2400 --profile tesla-k20x)
foreach(file occupipe/schemas/profile.schema.json bash-completion/completions/occupipe zsh/site-functions/_occupipe
        fish/vendor_completions.d/occupipe.fish)
    if(NOT EXISTS ${WORK}/prefix/share/${file})
        message(FATAL_ERROR "share/${file} was not installed")
    endif()
endforeach()
