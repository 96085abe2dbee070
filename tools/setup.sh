#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Installs what building and running Occupipe needs on Debian 12, and nothing when it is all there.
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: tools/setup.sh [--developer] [--list]

Installs the missing ones of the packages that Occupipe needs, with apt, as root or through sudo.
Does nothing, and needs no rights, when all are installed.

  --developer  also what tools/check.sh needs: clang-format, clang-tidy, shellcheck, git
  --list       print the names of the packages and stop
TEXT
}

packages=(
    # compiler and build tools; binutils holds objdump, which reads what a CPU's OpenCL compiler made
    g++ cmake ninja-build ccache binutils
    # libraries
    libyaml-cpp-dev libcli11-dev libfmt-dev nlohmann-json3-dev libxxhash-dev libceres-dev libeigen3-dev
    # harness and tests
    libbenchmark-dev libgtest-dev libgmock-dev
    # OpenCL: headers, the loader, and a driver that makes a device of this machine's CPU
    opencl-headers opencl-clhpp-headers ocl-icd-opencl-dev pocl-opencl-icd
    # pictures; chromium only looks at them in a test
    gnuplot-nox fonts-dejavu-core chromium
)
developer_packages=(clang-format clang-tidy shellcheck git)

list_only=no
for argument in "$@"; do
    case $argument in
        --developer) packages+=("${developer_packages[@]}") ;;
        --list) list_only=yes ;;
        -h | --help) usage; exit 0 ;;
        *) usage >&2; exit 2 ;;
    esac
done
if [[ $list_only == yes ]]; then
    printf '%s\n' "${packages[@]}"
    exit 0
fi

say() { printf 'setup: %s\n' "$*" >&2; }

if ! command -v apt-get > /dev/null || ! command -v dpkg-query > /dev/null; then
    say "this system has no apt, so nothing was installed. Install the equivalents of these Debian 12 packages:"
    say "  ${packages[*]}"
    say "then build with: cmake --preset release && cmake --build --preset release"
    exit 1
fi

missing=()
for package in "${packages[@]}"; do
    if [[ $(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2> /dev/null || true) != installed ]]; then
        missing+=("$package")
    fi
done
if ((${#missing[@]} == 0)); then
    say "all ${#packages[@]} packages are installed"
    exit 0
fi

as_root=()
if ((EUID != 0)); then
    if ! command -v sudo > /dev/null; then
        say "missing: ${missing[*]}"
        say "this needs root and there is no sudo; as root run: apt-get update && apt-get install --no-install-recommends ${missing[*]}"
        exit 1
    fi
    as_root=(sudo)
fi

say "installing ${#missing[@]} of ${#packages[@]} packages with ${as_root[*]:+sudo }apt-get: ${missing[*]}"
"${as_root[@]}" apt-get -q update >&2
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -q install --yes --no-install-recommends "${missing[@]}" >&2
say "done"
