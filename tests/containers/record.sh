#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Makes the files of this folder from sums.cu with nvcc (13.0 made those that are stored), so that
# tests read what a compiler wrote where there is none.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
nvcc=${NVCC:-nvcc}
two=(-gencode 'arch=compute_75,code=sm_75' -gencode 'arch=compute_90,code=[sm_90,compute_90]')
# zstd, LZ4
"$nvcc" -fatbin -compress-mode=size "${two[@]}" -o zstd.fatbin sums.cu
"$nvcc" -fatbin -compress-mode=speed "${two[@]}" -o lz4.fatbin sums.cu
"$nvcc" -fatbin -compress-mode=size -arch=compute_75 -code=compute_75 -o ptx.fatbin sums.cu
"$nvcc" -c -arch=sm_75 -compress-mode=size -o host.o sums.cu
strip --strip-unneeded host.o
for number in 75 90 120; do
    "$nvcc" -cubin -rdc=true -arch=sm_$number -o relocatable.sm_$number.cubin sums.cu
done
for number in 75 90 120; do
    "$nvcc" -cubin -rdc=true -arch=sm_$number -o constants.sm_$number.cubin constants.cu
    "$nvcc" -cubin -rdc=true -arch=sm_$number -o variables.sm_$number.cubin variables.cu
done
for number in 87 103; do
    "$nvcc" -cubin -arch=sm_$number -o linked.sm_$number.cubin sums.cu
done
# As cuobjdump prints it.
"$nvcc" -ptx -arch=compute_75 -o sums.ptx sums.cu
{
    printf '\nFatbin elf code:\n================\narch = sm_90\ncode version = [1,8]\nhost = linux\ncompile_size = 64bit\n'
    printf '\nFatbin ptx code:\n================\narch = sm_75\ncode version = [9,0]\nhost = linux\ncompile_size = 64bit\ncompressed\n'
    cat sums.ptx
    printf '\nFatbin ptx code:\n================\narch = sm_90\ncode version = [9,0]\nhost = linux\ncompile_size = 64bit\n\n'
    sed 's/^\.target sm_75/.target sm_90/' sums.ptx
} > dump.ptx
rm sums.ptx
"$nvcc" -cubin -lineinfo -arch=sm_75 -o race.sm_75.cubin race.cu
"$nvcc" -cubin -lineinfo -arch=sm_80 -include assert.h -o checks.sm_80.cubin checks.cu
for number in 75 120; do
    "$nvcc" -cubin -lineinfo -arch=sm_$number -o texture.sm_$number.cubin texture.cu
done
