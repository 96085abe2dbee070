#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# usage: completion_test.sh PROGRAM: what shells complete, by the program's answers, by bash, and by
# fish and zsh where they are installed.
set -euo pipefail

program=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
PATH=$(dirname "$program"):$PATH
cd "$folder"
touch own-profile.yaml
faults=0

fault() {
    printf 'fault: %s\n' "$*" >&2
    faults=$((faults + 1))
}

answers() { "$program" completion words -- "$@" | cut -f 1; }

# has WORD WORDS…: the answers to WORDS have the line WORD.
has() {
    local wanted=$1
    shift
    answers "$@" | grep -qxF -e "$wanted" || fault "no '$wanted' behind: $*"
}

lacks() {
    local unwanted=$1
    shift
    ! answers "$@" | grep -qxF -e "$unwanted" || fault "'$unwanted' behind: $*"
}

# Everything that --help lists is offered.
commands=$("$program" --help | sed -n '/^Subcommands:/,/^$/s/^  \([a-z]*\)  *.*/\1/p')
(($(wc -w <<< "$commands") == 17)) || fault "commands: $commands"
[[ $(answers '' | sort) == "$(sort <<< "$commands")" ]] || fault "commands are $(answers '' | tr '\n' ' ')"
count=0
for command in $commands; do
    help=--help
    ! "$program" "$command" --help | grep -q -e '--help-all$' || help=--help-all
    offered=$(answers "$command" --)
    while read -r option; do
        count=$((count + 1))
        grep -qxF -e "$option" <<< "$offered" || fault "$command: no $option"
    done < <("$program" "$command" "$help" | grep -oE '^  (-[a-z],)?--[a-z][a-z0-9-]*' | sed 's/.*--/--/')
done
((count > 200)) || fault "only $count options"

has predict pre
lacks list pre
lacks smoke ''
lacks completion ''
has --smoke measure --
has --device measure --smoke --
lacks --quick measure --smoke --
has instructions list ''
has --arch list instructions --
has rtx-2070 predict saxpy --profile rtx
has nvidia-rtx-2070 table ''
has :files table ''
has saxpy predict ''
has fma.f32 explain fma
has fma.f32,ld.global.f32 measure --instructions fma.f32,ld.global
has add.f16=fma.f16 predict saxpy --use add.f16=fma
has l1= predict saxpy --cache ''
has --cache=l2= predict saxpy --cache=l2
has --policy=gto predict saxpy --policy=g
has gto predict saxpy --policy ''
has volkov,mwp-cwp predict saxpy --model volkov,mwp-c
has accelsim convert --to ''
"$program" completion words -- predict saxpy --prof | grep -q $'^--profile\tG' || fault "no text of --profile"

code=0
"$program" completion tcsh 2> message || code=$?
{ ((code == 2)) && grep -q 'tcsh' message; } || fault "completion tcsh: exit code $code, $(cat message)"

# in_bash WORDS…: what bash would insert for the last word.
in_bash() {
    bash -c 'set -e; source <(occupipe completion bash); [[ $(complete -p occupipe) == *_occupipe* ]]
        compopt() { :; }
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _occupipe; printf "%s\n" "${COMPREPLY[@]}"' bash "$@"
}
[[ $(in_bash occupipe charact) == characterize ]] || fault "bash: $(in_bash occupipe charact)"
[[ $(in_bash occupipe predict saxpy --profile own) == own-profile.yaml ]] || fault "bash: no file"
[[ $(in_bash occupipe predict saxpy --cache = l2) == l2= ]] || fault "bash: $(in_bash occupipe predict saxpy --cache = l2)"
in_bash occupipe list '' | grep -qx profiles || fault "bash: list"

if command -v fish > seen; then
    occupipe completion fish > occupipe.fish
    in_fish() { HOME=$folder fish --no-config -c "source occupipe.fish; complete --do-complete '$1'" | cut -f 1; }
    [[ $(in_fish 'occupipe charact') == characterize ]] || fault "fish: $(in_fish 'occupipe charact')"
    in_fish 'occupipe predict saxpy --profile own' | grep -qx own-profile.yaml || fault "fish: no file"
    in_fish 'occupipe predict saxpy --pol' | grep -qx -e --policy || fault "fish: no option"
fi
if command -v zsh > seen; then
    occupipe completion zsh > _occupipe
    zsh -n _occupipe || fault "zsh"
    cat > drive.zsh <<'ZSH'
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PS1=; fpath=($PWD \$fpath); autoload -Uz compinit; compinit -u -d $PWD/dump; print READY"
zpty -r shell seen '*READY*READY*'
zpty -w -n shell $'occupipe charact\t'
zpty -r shell seen '*characterize*' && print characterize
ZSH
    [[ $(timeout 60 zsh -f drive.zsh) == characterize ]] || fault "zsh does not complete"
fi

((faults == 0)) || exit 1
