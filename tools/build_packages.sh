#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Inside an empty Debian root, in a clone: builds the Debian packages of HEAD, installs them, and tries
# what they install. tools/release.sh runs it there (tools/check.sh --bare --command …).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export DEBIAN_FRONTEND=noninteractive
say() { printf 'packages: %s\n' "$*" >&2; }

[[ ! -e debian ]] || { say "debian/ is in the way"; exit 1; }
apt-get -q update > /dev/null
apt-get -q install --yes --no-install-recommends git dpkg-dev build-essential lintian > /dev/null
cp -r packaging/debian debian # only there does apt look
trap 'rm -rf debian' EXIT
apt-get -q build-dep --yes --no-install-recommends ./ > /dev/null
say "building, DEB_BUILD_OPTIONS='${DEB_BUILD_OPTIONS:-}'"
tools/debian_source.sh --output out/packages --build
lintian --fail-on error out/packages/*.changes
version=$(tools/version.sh)
# No more than the package itself asks for.
apt-get -q install --yes --no-install-recommends ./out/packages/occupipe_"$version"-1_amd64.deb > /dev/null
cd /
[[ $(/usr/bin/occupipe --version | head -n 1) == "occupipe $version" ]]
/usr/bin/occupipe predict saxpy --profile rtx-2070
dpkg --listfiles occupipe | grep '^/usr/share/occupipe/profiles/nvidia-rtx-2070.yaml$' > /dev/null  # reads all: no broken pipe
say "built, checked, installed and tried"
