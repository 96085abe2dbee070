#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The whole gate: everything that a change has to pass.
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: tools/check.sh [--fresh | --bare [OPTION…] | STEP…]

Runs every step, or the named ones, and stops at the first that fails:

  format   clang-format changes nothing
  shell    shellcheck finds nothing in the scripts
  release  the tests, as README and CI run them
  full     the exhaustive ones: those of which the ordinary run takes a part
  dev      the tests with the address and undefined-behaviour sanitizers
  lint     occupipe accepts every profile, kernel and result file in the repository
  tidy     clang-tidy finds nothing

  --fresh  instead: a clean clone of HEAD runs the README's two commands, the first one twice
  --bare   instead: an empty Debian 12 root runs the README's two commands (tools/check.sh --bare --help)
TEXT
}

if [[ ${1:-} == --bare ]]; then
    exec "$(dirname "${BASH_SOURCE[0]}")/bare.sh" "${@:2}"
fi

all=(format shell release full dev lint tidy)
steps=()
for argument in "$@"; do
    case $argument in
        format | shell | release | full | dev | lint | tidy | --fresh) steps+=("${argument#--}") ;;
        -h | --help) usage; exit 0 ;;
        *) usage >&2; exit 2 ;;
    esac
done
((${#steps[@]} > 0)) || steps=("${all[@]}")

cd "$(dirname "${BASH_SOURCE[0]}")/.."
say() { printf 'check: %s\n' "$*" >&2; }

step_format() { git ls-files -z '*.h' '*.cpp' | xargs -0 clang-format --dry-run --Werror; }

step_shell() { shellcheck tools/*.sh tools/cluster/* tests/cluster/*.sh tests/cli/*.sh cli/completion/*.bash .ci/run; }

step_release() { tools/test.sh release; }

step_full() { tools/test.sh release -L full; }

step_dev() { tools/test.sh dev; }

step_tidy() { tools/build.sh tidy; }

step_lint() {
    local files
    mapfile -d '' files < <(git ls-files -z 'profiles/*.yaml' 'sim/kernels/*.yaml' 'results/*.json')
    tools/build.sh release occupipe
    if ((${#files[@]} > 0)); then build/release/cli/occupipe check "${files[@]}"; fi
}

step_fresh() {
    local clone; clone=$(mktemp -d)
    git clone --quiet . "$clone"
    "$clone/tools/run.sh"
    "$clone/tools/run.sh"
    "$clone/tools/test.sh"
    rm -rf "$clone"
}

tools/setup.sh --tests --developer
for step in "${steps[@]}"; do
    say "$step"
    began=$SECONDS
    "step_$step"
    say "$step passed in $((SECONDS - began)) s"
done
say "all steps passed: ${steps[*]}"
