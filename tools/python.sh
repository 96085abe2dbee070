#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Makes build/python-venv, the Python environment in which the Python package is built and tested.
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: tools/python.sh [--retry]

Makes build/python-venv with the packages of tools/python-packages.txt (pinned versions; about 90 MB
from the Python package index, 350 MB on the disk). Does nothing if it is there.
Where that cannot be done (no Python 3.9 with venv and headers, no network) it says why, exits with
code 1, and does not try again within the hour; the Python package is then not built by
tools/test.sh, and its tests are skipped.

  --retry  try again after an earlier failure

  OCCUPIPE_VENV=no         in the environment: do nothing, exit with code 1
  OCCUPIPE_VENV_PYTHON=P   make it with this Python (default: the first of python3, /usr/bin/python3
                           that can)
  OCCUPIPE_VENV_SECONDS=N  give up after N seconds (default 600)
TEXT
}

retry=no
case ${1:-} in
    '') ;;
    --retry) retry=yes ;;
    -h | --help) usage; exit 0 ;;
    *) usage >&2; exit 2 ;;
esac

cd "$(dirname "${BASH_SOURCE[0]}")/.."
venv=build/python-venv
list=tools/python-packages.txt
failure=build/python-venv.failed
seconds=${OCCUPIPE_VENV_SECONDS:-600}
megabytes=600 # while it works: the download, and what is in it

say() { printf 'python: %s\n' "$*" >&2; }
fail() {
    say "$*"
    exit 1
}

[[ ${OCCUPIPE_VENV:-} != no ]] || fail "no environment is wanted (OCCUPIPE_VENV=no)"
if cmp -s "$list" "$venv/versions.txt" && "$venv/bin/python" -c '' 2> /dev/null; then exit 0; fi
if [[ $retry == no && -n $(find "$failure" -mmin -60 2> /dev/null) ]]; then
    fail "$venv could not be made within the last hour, see $failure (tools/python.sh --retry tries again)"
fi
mkdir -p build 2> /dev/null || true
[[ -w build ]] || fail "build/ may not be written"

record() {
    printf '%s\n' "$*" > "$failure"
    fail "$*"
}

# One that has what an environment and an extension need.
python=
for candidate in ${OCCUPIPE_VENV_PYTHON:-python3 /usr/bin/python3}; do
    if "$candidate" -c 'if True:
        import ensurepip, os, sys, sysconfig, venv
        assert sys.version_info >= (3, 9)
        assert os.path.exists(os.path.join(sysconfig.get_paths()["include"], "Python.h"))' 2> /dev/null; then
        python=$candidate
        break
    fi
done
[[ -n $python ]] || record "there is no Python 3.9 with venv and headers (Debian: python3-venv python3-dev)"
available=$(df --output=avail --block-size=1M build | tail -n 1)
((available > megabytes)) || record "$available MB are free, $megabytes are needed"

say "making $venv with $("$python" --version) and the packages of $list, $seconds s at most"
log=$(mktemp build/python-venv.XXXXXX)
rm -rf "$venv"
code=0
{
    "$python" -m venv "$venv" &&
        timeout --kill-after=10 "$seconds" "$venv/bin/python" -m pip install --no-input --disable-pip-version-check \
            --progress-bar off --timeout 10 --retries 1 --only-binary :all: --no-compile -r "$list"
} > "$log" 2>&1 || code=$?
if ((code != 0)); then
    tail -n 3 "$log" >&2
    mv "$log" "$failure"
    rm -rf "$venv"
    if ((code == 124 || code == 137)); then
        fail "not complete after $seconds s"
    fi
    fail "pip ended with $code; all it said is in $failure"
fi
cp "$list" "$venv/versions.txt"
rm -f "$failure" "$log"
say "$(du -sm "$venv" | cut -f1) MB in $venv"
