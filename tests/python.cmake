# SPDX-License-Identifier: MIT
# The Python package, by pytest in build/python-venv (tools/python.sh). Without it: one test that is skipped and says why.

if(NOT TARGET occupipe_python)
    add_test(NAME Python.Package COMMAND ${CMAKE_COMMAND} -E echo "SKIPPED: no Python package: ${OCCUPIPE_PYTHON_WHY_NOT}")
    set_tests_properties(Python.Package PROPERTIES LABELS python TIMEOUT 60 SKIP_REGULAR_EXPRESSION "SKIPPED: ")
    return()
endif()

# occupipe_python_test(NAME FILE…): pytest on files of tests/python, with the package of this build tree.
function(occupipe_python_test name)
    list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/python/)
    add_test(NAME Python.${name} COMMAND ${OCCUPIPE_PYTHON_EXECUTABLE} -m pytest -c ${PROJECT_SOURCE_DIR}/pyproject.toml ${ARGN}
        WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
    set_tests_properties(Python.${name} PROPERTIES LABELS python TIMEOUT 600
        ENVIRONMENT "PYTHONPATH=${PROJECT_BINARY_DIR}/python;PYTHONDONTWRITEBYTECODE=1;MPLBACKEND=Agg;OCCUPIPE_PROGRAM=$<TARGET_FILE:occupipe>;OCCUPIPE_BUILD=${PROJECT_BINARY_DIR};MPLCONFIGDIR=${CMAKE_CURRENT_BINARY_DIR}/matplotlib")
endfunction()

occupipe_python_test(Package objects_test.py sweep_test.py predict_test.py doors_test.py fit_test.py machine_code_test.py tune_test.py plots_test.py)
occupipe_python_test(Types types_test.py)
occupipe_python_test(Documents documents_test.py)
occupipe_python_test(Schemas schemas_test.py)

# Skipped where the environment has no Kernel Tuner.
occupipe_python_test(KernelTuner kernel_tuner_test.py)
set_tests_properties(Python.KernelTuner PROPERTIES LABELS full)

# The wheel, built and installed as a user does it.
occupipe_python_test(Wheel wheel_test.py)
set_tests_properties(Python.Wheel PROPERTIES LABELS full TIMEOUT 3600)
