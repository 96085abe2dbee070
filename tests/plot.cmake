# SPDX-License-Identifier: MIT
occupipe_test(plot_test KIND unit ONE_PROCESS LINK occupipe::plot SOURCES plot/gnuplot_script_test.cpp plot/svg_test.cpp)
