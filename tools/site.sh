#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Builds the manual as a site, and checks it.
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: tools/site.sh [--run] [--screenshots FOLDER]

Makes build/site-venv with the packages of tools/site-packages.txt, builds docs/ with MkDocs into
build/site (strictly: a dead link ends it), and checks links, pictures, code blocks and the pipeline
explorer; the explorer in Chromium, where that is there. The site works offline: open
build/site/index.html.

  --run                 also run every command of the manual, with the program of build/release
                        (OCCUPIPE_PROGRAMS=FOLDER: with those in FOLDER)
  --screenshots FOLDER  pages at desktop and phone width, as PNG
TEXT
}

run=no
screenshots=
while (($#)); do
    case $1 in
        --run) run=yes ;;
        --screenshots) screenshots=${2:?$(usage)}; shift ;;
        -h | --help) usage; exit 0 ;;
        *) usage >&2; exit 2 ;;
    esac
    shift
done
[[ -z $screenshots ]] || screenshots=$(mkdir -p "$screenshots" && cd "$screenshots" && pwd)

cd "$(dirname "${BASH_SOURCE[0]}")/.."
venv=build/site-venv
list=tools/site-packages.txt
if ! cmp -s "$list" "$venv/versions.txt"; then
    rm -rf "$venv"
    mkdir -p build
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$list"
    cp "$list" "$venv/versions.txt"
fi

if [[ -x build/release/cli/occupipe ]]; then
    tools/reference.sh --profiles docs/reference/profiles
else
    printf 'site: no build/release/cli/occupipe: no pages of profiles\n' >&2
fi
NO_MKDOCS_2_WARNING=1 "$venv/bin/mkdocs" build --strict --clean
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)
[[ -n $browser ]] || printf 'site: no Chromium: the explorer is not tried\n' >&2
python3 tools/site/check.py --pages --site build/site ${browser:+--browser "$browser"}
if [[ $run == yes ]]; then
    programs=${OCCUPIPE_PROGRAMS:-}
    if [[ -z $programs ]]; then
        programs=build/site-programs
        mkdir -p "$programs"
        ln -sf "$PWD/build/release/cli/occupipe" "$PWD/build/release/automatch/automatch" "$programs/"
    fi
    python3 tools/site/check.py --run "$programs"
fi

if [[ -n $screenshots ]]; then
    for page in index start/index start/kernel how-to/tune background/real-gpus background/pipeline-explorer; do
        for size in 1280,900 390,844; do
            "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size="$size" \
                --screenshot="$screenshots/${page//\//-}-${size%,*}.png" "file://$PWD/build/site/$page.html" 2> /dev/null
        done
    done
fi
printf 'site: build/site/index.html\n'
