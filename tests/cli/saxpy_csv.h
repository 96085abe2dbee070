// SPDX-License-Identifier: MIT
// What nvprof counts of a kernel saxpy, as it prints it (--csv).
#pragma once

namespace occupipe {

inline constexpr const char* saxpy_csv =
    "==1== NVPROF is profiling process 1, command: ./saxpy\n==1== Metric result:\n"
    "\"Device\",\"Kernel\",\"Invocations\",\"Metric Name\",\"Metric "
    "Description\",\"Min\",\"Max\",\"Avg\"\n"
    "\"K40\",\"saxpy(int)\",1,\"flop_count_sp_fma\",\"\",1000000,1000000,1000000\n"
    "\"K40\",\"saxpy(int)\",1,\"flop_count_dp_fma\",\"\",0,0,0\n"
    "\"K40\",\"saxpy(int)\",1,\"inst_compute_ld_st\",\"\",3000000,3000000,3000000\n"
    "\"K40\",\"saxpy(int)\",1,\"inst_executed\",\"\",500000,500000,500000\n"
    "\"K40\",\"saxpy(int)\",1,\"inst_fp_32\",\"\",1000000,1000000,1000000\n"
    "\"K40\",\"saxpy(int)\",1,\"inst_fp_64\",\"\",0,0,0\n"
    "\"K40\",\"saxpy(int)\",1,\"inst_integer\",\"\",5000000,5000000,5000000\n"
    "\"K40\",\"saxpy(int)\",1,\"dram_read_transactions\",\"\",250000,250000,250000\n"
    "\"K40\",\"saxpy(int)\",1,\"dram_write_transactions\",\"\",125000,125000,125000\n";

}  // namespace occupipe
