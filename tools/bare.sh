#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The README's two commands on a machine that has nothing: an empty Debian 12 root in a folder.
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: tools/check.sh --bare [--no-wheels] [--root DIR] [--keep] [--log FILE] [--command TEXT]

Makes an empty Debian 12 root with debootstrap (installed if missing; all of this needs root), clones
HEAD into it and runs there, one after the other, tools/run.sh and tools/test.sh, which install what
they need themselves. Says how each ended; exit code 0 when both did with 0. Takes half an hour and
6 GB. Mounts are private to it and gone when it ends, however it ends.

  --no-wheels     inside, the Python package index cannot be reached: what a machine without it sees
  --root DIR      where the root is made (default: a new folder in TMPDIR); it must not exist
  --keep          leave the root there afterwards
  --log FILE      everything that was said (default: out/bare-DATE-TIME.log)
  --command TEXT  run this in the clone instead of the two commands

  OCCUPIPE_BARE_CCACHE=DIR   in the environment: a ccache folder to use inside, for repeated runs
  OCCUPIPE_BARE_SECONDS=N    in the environment: give a command up after N seconds (default 7200)
TEXT
}

root=
keep=no
wheels=yes
log=
commands=(tools/run.sh tools/test.sh)
while (($# > 0)); do
    case $1 in
        --no-wheels) wheels=no ;;
        --keep) keep=yes ;;
        --root | --log | --command)
            [[ -n ${2:-} ]] || { usage >&2; exit 2; }
            case $1 in
                --root) root=$(realpath --canonicalize-missing "$2") ;;
                --log) log=$(realpath --canonicalize-missing "$2") ;;
                --command) commands=("$2") ;;
            esac
            shift ;;
        -h | --help) usage; exit 0 ;;
        *) usage >&2; exit 2 ;;
    esac
    shift
done

cd "$(dirname "${BASH_SOURCE[0]}")/.."
say() { printf 'bare: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

((EUID == 0)) || die "making a Debian root needs root"
if ! command -v debootstrap > /dev/null; then
    say "installing debootstrap"
    apt-get -q update > /dev/null
    DEBIAN_FRONTEND=noninteractive apt-get -q install --yes --no-install-recommends debootstrap > /dev/null
fi

own_folder=
if [[ -z $root ]]; then
    own_folder=$(mktemp -d)
    root=$own_folder/debian-12
elif [[ -e $root ]]; then
    die "$root exists already"
fi
log=${log:-$PWD/out/bare-$(date +%Y-%m-%d-%H%M%S).log}
mkdir -p "$(dirname "$log")" "$root"
: > "$log"

# Whatever happens: the mounts belong to the namespaces of the commands below and die with them, and
# a folder in which something is still mounted is not touched.
# shellcheck disable=SC2317  # called by the trap
clean_up() {
    if [[ $keep == yes ]]; then
        say "the root is left in $root"
    elif awk -v root="$root/" 'index($2 "/", root) == 1 { found = 1 } END { exit !found }' /proc/mounts; then
        say "something is mounted below $root: it is left there"
    else
        rm -rf --one-file-system "$root"
        if [[ -n $own_folder ]]; then rmdir "$own_folder"; fi
    fi
}
child=
trap clean_up EXIT
trap 'kill ${child:+"$child"} 2> /dev/null; wait; exit 130' INT TERM
# Namespaces of their own for mounts and processes, so that both end with a command.
apart=(--mount --propagation private --pid --fork --kill-child)
# A signal takes effect at once, not when the command has ended; unshare ends with SIGKILL only.
run_guarded() {
    "$@" &
    child=$!
    wait "$child"
}

# Archives of this machine's own apt configuration: site, release.
archives() {
    local found
    # shellcheck disable=SC2016  # apt expands these
    found=$(apt-get indextargets --format '$(SITE) $(RELEASE)' 'Created-By: Packages' |
        awk '$2 ~ /^bookworm/ && !seen[$0]++')
    if ! grep -q ' bookworm$' <<< "$found"; then
        found=$'http://deb.debian.org/debian bookworm\nhttp://deb.debian.org/debian-security bookworm-security'
    fi
    printf '%s\n' "$found"
}

mirror=$(archives | awk '$2 == "bookworm" { print $1; exit }')
say "making an empty Debian 12 in $root; all that is said goes to $log"
run_guarded timeout --kill-after=3 1800 unshare "${apart[@]}" --mount-proc \
    debootstrap --variant=minbase bookworm "$root" "$mirror" >> "$log" 2>&1 || die "debootstrap failed, see $log"
archives | awk '{ print "deb", $1, $2, "main" }' > "$root/etc/apt/sources.list"
cp --dereference /etc/hosts "$root/etc/hosts"
for file in /etc/apt/apt.conf.d/* /etc/apt/apt.conf; do
    if grep -q -s -i 'Acquire::.*::Proxy' "$file"; then cp "$file" "$root/etc/apt/apt.conf.d/"; fi
done
git clone --quiet --no-hardlinks . "$root/root/occupipe"
git -C "$root/root/occupipe" remote remove origin
commit=$(git -C "$root/root/occupipe" rev-parse --short HEAD)

# How this machine reaches the package index, if in an unusual way; a certificate by its content.
inside=(HOME=/root USER=root LANG=C.UTF-8 TERM=dumb PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin)
for name in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY OCCUPIPE_JOBS; do
    if [[ -n ${!name:-} ]]; then inside+=("$name=${!name}"); fi
done
if [[ $wheels == yes ]]; then
    for file in /etc/pip.conf "$HOME/.config/pip/pip.conf" "$HOME/.pip/pip.conf"; do
        if [[ -f $file ]]; then cat "$file" >> "$root/etc/pip.conf"; fi
    done
    for name in PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_TRUSTED_HOST; do
        if [[ -n ${!name:-} ]]; then inside+=("$name=${!name}"); fi
    done
    certificate=${PIP_CERT:-$(sed -n 's/^ *cert *= *//p' "$root/etc/pip.conf" 2> /dev/null || true)}
    if [[ -f $certificate ]]; then
        cp --dereference "$certificate" "$root/etc/pip-certificates.crt"
        inside+=(PIP_CERT=/etc/pip-certificates.crt)
    fi
else
    inside+=(PIP_INDEX_URL=http://127.0.0.1:9/)  # nobody listens there
fi
if [[ -n ${OCCUPIPE_BARE_CCACHE:-} ]]; then
    mkdir -p "$root/ccache"
    inside+=(CCACHE_DIR=/ccache CCACHE_BASEDIR=/root CCACHE_NOHASHDIR=1 CCACHE_COMPILERCHECK=content)
fi

run_inside() {
    # shellcheck disable=SC2016  # expanded inside
    run_guarded timeout --kill-after=3 "${OCCUPIPE_BARE_SECONDS:-7200}" \
        unshare "${apart[@]}" bash -c '
            root=$1 ccache=$2 command=$3
            shift 3
            mount -t proc proc "$root/proc" && mount --rbind /dev "$root/dev" && mount --rbind /sys "$root/sys" || exit 125
            if [[ -n $ccache ]]; then mount --bind "$ccache" "$root/ccache" || exit 125; fi
            exec chroot "$root" env -i "$@" bash -c "cd /root/occupipe && $command"
        ' bare "$root" "${OCCUPIPE_BARE_CCACHE:-}" "$1" "${inside[@]}" < /dev/null
}

worst=0
summary=()
for command in "${commands[@]}"; do
    say "$command"
    printf '\n== %s\n' "$command" >> "$log"
    began=$SECONDS
    code=0
    run_inside "$command" >> "$log" 2>&1 || code=$?
    summary+=("$command: exit code $code after $((SECONDS - began)) s")
    ((code == 0)) || worst=1
    tail -n 12 "$log" >&2
done
{
    printf '\n== commit %s, wheels wanted: %s\n' "$commit" "$wheels"
    grep -h -E '^setup: .*(NVRTC|wheels)|^test: |tests passed' "$log" | awk '!seen[$0]++' || true
    printf '%s\n' "${summary[@]}"
} > "$log.end"
cat "$log.end" >> "$log"
cat "$log.end" >&2
rm "$log.end"
exit "$worst"
