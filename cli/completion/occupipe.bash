# SPDX-License-Identifier: MIT
# bash completion for occupipe
_occupipe() {
    local word kept line files=no words=() i
    COMPREPLY=()
    # bash splits words at = and :, which the program does not.
    for ((i = 1; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if ((${#words[@]} > 0)) && [[ $word == [=:]* || ${COMP_WORDS[i - 1]} == *[=:] ]]; then
            words[-1]+=$word
        else
            words+=("$word")
        fi
    done
    word=${words[-1]}
    kept=${word%"${word##*[=:]}"}
    while IFS= read -r line; do
        line=${line%%$'\t'*}
        if [[ $line == :files ]]; then
            files=yes
        elif [[ $line == "$word"* ]]; then
            [[ $line == *= ]] && compopt -o nospace
            COMPREPLY+=("${line#"$kept"}")
        fi
    done < <("${COMP_WORDS[0]}" completion words -- "${words[@]}" 2> /dev/null)
    if [[ $files == yes ]]; then
        while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "${word#"$kept"}")
        compopt -o filenames
    fi
}
complete -F _occupipe occupipe
