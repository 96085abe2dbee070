#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Prints the version, which stands in project() of CMakeLists.txt and nowhere else.
set -euo pipefail
sed -n 's/^project(occupipe VERSION \([0-9][0-9.]*\) .*/\1/p' "$(dirname "${BASH_SOURCE[0]}")/../CMakeLists.txt"
