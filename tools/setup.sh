#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs what building and running Occupipe needs on Debian 12, and nothing when it is all there;
# then NVIDIA's run-time compiler into the build tree, where the machine has none.
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: tools/setup.sh [--tests] [--developer] [--opencl-c] [--match] [--python] [--wheels | --no-wheels] [--list]

Installs missing packages that Occupipe needs, with apt, as root or through sudo.
Does nothing, and needs no rights, if all are installed.

Without a CUDA toolkit (no libnvrtc.so), it then fetches NVRTC, ptxas and nvdisasm into
build/cuda-wheels from NVIDIA's wheels on the Python package index: versions and hashes are those of
tools/cuda-wheels.txt, 132 MB are downloaded and 150 MB stay on the disk. With them CUDA kernels are
compiled and checked without a GPU; everything else works without them, so a missing network
is not an error.

  --tests      also install what tools/test.sh needs: GoogleTest, LLVM 19 (as --match does), gnuplot, with
               which figures are drawn, and chromium, in which tests look at pages
  --developer  also install what tools/check.sh needs: clang-format, clang-tidy, shellcheck, git
  --opencl-c   also install clang and libclc, which compile OpenCL C kernels (docs/how-to/opencl-c.md)
  --match      also install LLVM 19 with its headers, with which AutoMatch counts what a program does
               (docs/background/automatch.md)
  --python     also install python3-venv and python3-dev, with which the Python package is built and
               tested (docs/how-to/python.md); if that fails, go on without
  --wheels     fetch NVIDIA's wheels even if there is a toolkit, and retry after an earlier failure;
               a failure is then an error
  --no-wheels  do not fetch them (as does OCCUPIPE_WHEELS=no in the environment)
  --list       print the names of the packages and stop

  OCCUPIPE_WHEELS_SECONDS=N  in the environment: give up on the wheels after N seconds (default 600)
TEXT
}

packages=(
    # compiler and build tools; binutils holds objdump, which reads what a CPU's OpenCL compiler made
    g++ cmake ninja-build ccache binutils
    # libraries
    libyaml-cpp-dev libcli11-dev libfmt-dev nlohmann-json3-dev libxxhash-dev libzstd-dev libceres-dev libeigen3-dev
    # harness
    libbenchmark-dev
    # OpenCL: headers, the loader, and a driver that makes a device of this machine's CPU
    opencl-headers opencl-clhpp-headers ocl-icd-opencl-dev pocl-opencl-icd
)
test_packages=(libgtest-dev libgmock-dev gnuplot-nox fonts-dejavu-core chromium)
developer_packages=(clang-format clang-tidy-19 shellcheck git)
match_packages=(clang-19 llvm-19 llvm-19-dev)
opencl_c_packages=(clang-19 libclc-19 libclc-19-dev)
wheel_packages=(python3-pip)
python_packages=(python3-venv python3-dev)

cd "$(dirname "${BASH_SOURCE[0]}")/.."
list_only=no
wheels=${OCCUPIPE_WHEELS:-auto}
python_wanted=no
for argument in "$@"; do
    case $argument in
        --tests) packages+=("${test_packages[@]}" "${match_packages[@]}") ;;
        --developer) packages+=("${developer_packages[@]}") ;;
        --opencl-c) packages+=("${opencl_c_packages[@]}") ;;
        --match) packages+=("${match_packages[@]}") ;;
        --python) python_wanted=yes ;;
        --wheels) wheels=yes ;;
        --no-wheels) wheels=no ;;
        --list) list_only=yes ;;
        -h | --help) usage; exit 0 ;;
        *) usage >&2; exit 2 ;;
    esac
done
if [[ $list_only == yes ]]; then
    printf '%s\n' "${packages[@]}" "${wheel_packages[@]}" "${python_packages[@]}"
    exit 0
fi

say() { printf 'setup: %s\n' "$*" >&2; }

if ! command -v apt-get > /dev/null || ! command -v dpkg-query > /dev/null; then
    say "this system has no apt, so nothing was installed. Install the equivalents of these Debian 12 packages:"
    say "  ${packages[*]}"
    say "then build with: cmake --preset release && cmake --build --preset release"
    exit 1
fi

# NVIDIA's wheels: wanted where NVRTC is in none of a toolkit's places, and not there already.
wheel_folder=build/cuda-wheels
wheel_list=tools/cuda-wheels.txt
wheel_failure=build/cuda-wheels.failed
wheel_megabytes=600 # while it works: the download, what is in it, and what stays

toolkit_nvrtc() {
    local prefix library nvcc
    library=$(ldconfig -p 2> /dev/null | awk '$1 ~ /^libnvrtc\.so\.1[23]$/ { print $NF; exit }')
    if [[ -e $library ]]; then echo "$library"; return; fi
    nvcc=$(command -v nvcc || true)
    for prefix in "${CUDA_HOME:-}" "${CUDA_PATH:-}" ${nvcc:+"$(dirname "$(dirname "$(realpath "$nvcc")")")"} \
        /usr/local/cuda /usr/local/cuda-* /opt/cuda; do
        for library in "$prefix"/{lib64,lib,targets/x86_64-linux/lib}/libnvrtc.so.1[23]; do
            if [[ -n $prefix && -e $library ]]; then echo "$library"; return; fi
        done
    done
}

pip_python() {
    local python
    for python in python3 /usr/bin/python3; do
        if "$python" -m pip --version > /dev/null 2>&1; then echo "$python"; return; fi
    done
}

# Sets why_no_wheels where they are not to be fetched.
decide_on_wheels() {
    local nvrtc
    why_no_wheels=
    if [[ $wheels == no ]]; then
        why_no_wheels="NVIDIA's wheels are not wanted"
    elif [[ -n ${OCCUPIPE_NVRTC:-} && $wheels != yes ]]; then
        why_no_wheels="NVRTC is chosen by OCCUPIPE_NVRTC=$OCCUPIPE_NVRTC"
    elif cmp -s "$wheel_list" "$wheel_folder/versions.txt"; then
        why_no_wheels="NVIDIA's wheels are in $wheel_folder"
    elif nvrtc=$(toolkit_nvrtc) && [[ -n $nvrtc && $wheels != yes ]]; then
        why_no_wheels="NVRTC is $nvrtc; --wheels fetches NVIDIA's ptxas and nvdisasm, too"
    elif [[ $(uname -m) != x86_64 ]]; then
        why_no_wheels="NVIDIA's wheels are pinned for x86-64 only: going on without"
    elif [[ $wheels != yes && -n $(find "$wheel_failure" -mmin -60 2> /dev/null) ]]; then
        why_no_wheels="NVIDIA's wheels could not be fetched within the last hour, see $wheel_failure: going on without"
    fi
}

# Returns 1, having said why, where they could not be had.
fetch_wheels() {
    local python work log available seconds=${OCCUPIPE_WHEELS_SECONDS:-600} code=0
    fail_wheels() {
        say "NVIDIA's wheels: $*"
        say "continuing without NVRTC: CUDA kernels are not compiled, and their tests are skipped (tools/setup.sh --wheels tries again)"
        return 1
    }
    mkdir -p build 2> /dev/null || true
    [[ -w build ]] || { fail_wheels "build/ may not be written"; return; }
    python=$(pip_python)
    [[ -n $python ]] || { fail_wheels "there is no pip (Debian: python3-pip)"; return; }
    available=$(df --output=avail --block-size=1M build | tail -n 1)
    ((available > wheel_megabytes)) || { fail_wheels "$available MB are free, $wheel_megabytes are needed"; return; }
    work=$(mktemp -d build/cuda-wheels.XXXXXX)
    log=$work.log
    say "fetching NVIDIA's NVRTC, ptxas and nvdisasm: 132 MB to download, 150 MB in $wheel_folder, $seconds s at most"
    # stays below the limits of a slow index: one short connection and one more
    timeout --kill-after=10 "$seconds" "$python" -m pip install --no-input --disable-pip-version-check \
        --root-user-action=ignore --no-cache-dir --progress-bar off --timeout 10 --retries 1 \
        --require-hashes --no-deps --only-binary :all: --no-compile --target "$work" -r "$wheel_list" \
        > "$log" 2>&1 || code=$?
    if ((code != 0)); then
        tail -n 3 "$log" >&2
        mv "$log" "$wheel_failure"
        rm -rf "$work"
        case $code in
            124 | 137) fail_wheels "not complete after $seconds s" ;;
            *) fail_wheels "pip ended with $code; all it said is in $wheel_failure" ;;
        esac
        return
    fi
    # Of 334 MB what is used here stays.
    find "$work"/nvidia \( -name 'libnvrtc*.alt.*' -o -path '*/include/*' -o -path '*/bin/*' \
        ! -name ptxas ! -name nvdisasm \) \( -type f -o -type l \) -delete
    find "$work"/nvidia -type d -empty -delete
    local tool
    for tool in "$work"/nvidia/*/bin/{ptxas,nvdisasm}; do
        "$tool" --version > /dev/null || code=$?
    done
    if ((code != 0)); then
        mv "$log" "$wheel_failure"
        rm -rf "$work"
        fail_wheels "ptxas or nvdisasm does not run here"
        return
    fi
    cp "$wheel_list" "$work/versions.txt"
    chmod 755 "$work"
    rm -rf "$wheel_folder" "$wheel_failure" "$log"
    mv "$work" "$wheel_folder"
    say "$(du -sm "$wheel_folder" | cut -f1) MB in $wheel_folder; NVIDIA's licence is in its *.dist-info/licenses"
}

decide_on_wheels
as_root=()
may_install=yes
if ((EUID != 0)); then
    as_root=(sudo)
    command -v sudo > /dev/null || may_install=no
fi
# Without rights a missing pip is no reason to stop.
if [[ -z $why_no_wheels && $may_install == yes && -z $(pip_python) ]]; then packages+=("${wheel_packages[@]}"); fi

is_installed() {
    [[ $(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2> /dev/null || true) == installed ]]
}

missing=()
for package in "${packages[@]}"; do
    is_installed "$package" || missing+=("$package")
done
if ((${#missing[@]} == 0)); then
    say "all ${#packages[@]} packages are installed"
elif [[ $may_install == no ]]; then
    say "missing: ${missing[*]}"
    say "this needs root, and there is no sudo; run as root: apt-get update && apt-get install --no-install-recommends ${missing[*]}"
    exit 1
else
    say "installing ${#missing[@]} of ${#packages[@]} packages with ${as_root[*]:+sudo }apt-get: ${missing[*]}"
    "${as_root[@]}" apt-get -q update >&2
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get -q install --yes --no-install-recommends "${missing[@]}" >&2
    say "done"
fi

if [[ $python_wanted == yes ]] && ! { is_installed python3-venv && is_installed python3-dev; }; then
    say "installing ${python_packages[*]} for the Python package"
    if [[ $may_install == no ]] || ! { "${as_root[@]}" apt-get -q update &&
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
            apt-get -q install --yes --no-install-recommends "${python_packages[@]}"; } >&2; then
        say "${python_packages[*]} could not be installed: going on without"
    fi
fi

if [[ -n $why_no_wheels ]]; then
    say "$why_no_wheels"
elif ! fetch_wheels && [[ $wheels == yes ]]; then
    exit 1
fi
