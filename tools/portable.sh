#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds occupipe as one program that runs where nothing can be installed, tries it, and packs it.
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: tools/portable.sh [--output DIR] [--kernels FILE]… [--with-nvrtc]

Makes occupipe-VERSION-linux-x86_64.tar.gz in DIR (default: out/portable): occupipe, fitter included, and
automatch, statically linked except for the C library and the OpenCL loader; the loader in lib/;
profiles; tools/gpu_run.sh; licences. Before packing, the script tests it in an empty environment:
it measures a simulated GPU, fits and checks. See docs/how-to/portable-program.md.

tools/portable_libraries.sh compiles the static libraries first, once: ten minutes on two cores.

  --kernels FILE  also pack FILE, kernels compiled ahead of time, as kernels/NAME
  --with-nvrtc    also pack NVIDIA's NVRTC, for machines with only a driver: 43 MB more; the
                  archive is then named …-nvrtc.tar.gz
TEXT
}

output=out/portable
kernels=()
with_nvrtc=no
while (($# > 0)); do
    case $1 in
        --output | --kernels)
            [[ -n ${2:-} ]] || { usage >&2; exit 2; }
            if [[ $1 == --output ]]; then
                output=$(realpath --canonicalize-missing "$2")
            else
                [[ -f $2 ]] || { printf 'portable: no file %s\n' "$2" >&2; exit 2; }
                kernels+=("$(realpath "$2")")
            fi
            shift ;;
        --with-nvrtc) with_nvrtc=yes ;;
        -h | --help) usage; exit 0 ;;
        *) usage >&2; exit 2 ;;
    esac
    shift
done

cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
say() { printf 'portable: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

dependencies=$root/build/portable-deps
newest_glibc=2.36 # Debian 12's; Ubuntu 24.04 and Fedora 37 have as new a one
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Fails when a file needs any library but those that every glibc system has, and the loader, or a
# newer C library than is promised.
check_needs() {
    local file=$1 more=${2:-libOpenCL} needed glibc others
    needed=$(readelf --dynamic --wide "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort)
    glibc=$(readelf --version-info --wide "$file" | grep -o 'GLIBC_[0-9.]*' | sed 's/GLIBC_//' | sort --version-sort --unique | tail -n 1)
    say "$(basename "$file") needs: $(tr '\n' ' ' <<< "$needed")and at most glibc $glibc"
    others=$(grep -v -x -E 'lib(c|m|dl|pthread|rt)\.so\.[0-9]+|ld-linux-x86-64\.so\.2|('"$more"')\.so\.[0-9]+' <<< "$needed" || true)
    [[ -z $others ]] || die "$file needs more than libc and ${more//|/, }: $others"
    [[ $(printf '%s\n' "$glibc" "$newest_glibc" | sort --version-sort | tail -n 1) == "$newest_glibc" ]] ||
        die "$file needs glibc $glibc, but docs/how-to/portable-program.md promises $newest_glibc"
}

# In an environment with nothing in it: no path, no drivers, no compiler.
try_out() {
    local bundle=$1 work=$scratch/trial word
    mkdir "$work"
    bare() { (cd "$work" && env -i OCCUPIPE_NVRTC=none OCL_ICD_VENDORS=/nonexistent "$bundle/occupipe" "$@"); }
    for word in --version "list models" "list profiles" "list instructions"; do
        # shellcheck disable=SC2086  # words
        bare $word > "$work/out" || die "occupipe $word failed in an empty environment"
    done
    local code=0
    bare list devices > "$work/out" 2>&1 || code=$?
    ((code == 0 || code == 3)) || { cat "$work/out" >&2; die "occupipe list devices ended with $code"; }
    if ! { bare measure --device "model:$bundle/profiles/nvidia-gtx-1060.yaml?noise=0.02&seed=7" --quick \
        --instructions 'fma.f32,ld.global.s32' -o m.json && bare fit m.json -o p.yaml &&
        bare table p.yaml "$bundle/profiles/nvidia-gtx-1060.yaml" && bare check m.json p.yaml &&
        bare selfcheck p.yaml m.json -o page.md; } > "$work/out" 2>&1; then
        cat "$work/out" >&2
        die "measure, fit, table, check and selfcheck failed in an empty environment"
    fi
    if ! { bare measure --match --device cpu --dry-run && bare match --workload "$root/automatch/workloads/counted/stencil.yaml" \
        --profile i5-2400; } > "$work/out" 2>&1; then
        cat "$work/out" >&2
        die "automatch failed in an empty environment"
    fi
    say "tried: measure, fit, table, check and selfcheck of a simulated GPU, and automatch, in an empty environment"
}

[[ ${OCCUPIPE_SETUP:-yes} == no ]] || tools/setup.sh
tools/portable_libraries.sh
OCCUPIPE_SETUP=no tools/build.sh portable occupipe automatch

program=build/portable/cli/occupipe
version=$("$program" --version | sed -n '1s/[^0-9]*//p')
name=occupipe-$version-linux-$(uname -m)
say "packing $name"
bundle=$scratch/$name
mkdir -p "$bundle/lib" "$bundle/tools" "$bundle/licences" "$output"
cp "$program" build/portable/automatch/automatch LICENSE "$bundle/"
cp -r profiles "$bundle/"
cp -r automatch/devices "$bundle/match-devices"
mkdir "$bundle/kernels"
cp sim/kernels/*.yaml "$bundle/kernels/"
cp tools/gpu_run.sh "$bundle/tools/"
loader=$(ldd "$program" | awk '$1 == "libOpenCL.so.1" { print $3 }')
[[ -n $loader ]] || die "libOpenCL.so.1 was not found"
cp --dereference "$loader" "$bundle/lib/libOpenCL.so.1"
cp "$dependencies/benchmark-LICENSE" "$bundle/licences/benchmark"
cp "$dependencies/ceres-LICENSE" "$bundle/licences/ceres"
cp "$dependencies/yaml-cpp-LICENSE" "$bundle/licences/yaml-cpp"
for package in libfmt-dev nlohmann-json3-dev libcli11-dev libxxhash-dev libzstd-dev libeigen3-dev \
    ocl-icd-libopencl1 libstdc++6; do
    cp --dereference "/usr/share/doc/$package/copyright" "$bundle/licences/$package"
done
if ((${#kernels[@]} > 0)); then
    mkdir "$bundle/kernels"
    cp "${kernels[@]}" "$bundle/kernels/"
fi
check_needs "$bundle/occupipe"
check_needs "$bundle/automatch"
check_needs "$bundle/lib/libOpenCL.so.1"
try_out "$bundle"
if [[ $with_nvrtc == yes ]]; then
    tools/setup.sh --wheels
    mkdir -p "$bundle/cuda-wheels/nvidia/cu13/lib"
    cp build/cuda-wheels/nvidia/cu13/lib/libnvrtc* "$bundle/cuda-wheels/nvidia/cu13/lib/"
    cp build/cuda-wheels/nvidia_cuda_nvrtc-*.dist-info/licenses/License.txt "$bundle/licences/nvrtc"
    for library in "$bundle"/cuda-wheels/nvidia/cu13/lib/*; do check_needs "$library" 'libgcc_s|libstdc\+\+'; done
    env -i "$bundle/occupipe" --version | grep '^NVRTC ' > /dev/null || die "the packed NVRTC was not found"
    archive=$output/$name-nvrtc.tar.gz
else
    archive=$output/$name.tar.gz
fi
tar -czf "$archive" -C "$scratch" --owner=0 --group=0 "$name"
say "$(du -h "$archive" | cut -f1) in $archive, $(du -sh "$bundle" | cut -f1) unpacked"
