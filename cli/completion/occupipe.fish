# SPDX-License-Identifier: MIT
# fish completion for occupipe
function __occupipe_complete
    set -l words (commandline --tokenize --cut-at-cursor --current-process)
    set -l word (commandline --current-token --cut-at-cursor)
    for line in ($words[1] completion words -- $words[2..-1] "$word" 2>/dev/null)
        if test "$line" = :files
            __fish_complete_path "$word"
        else
            printf '%s\n' $line
        end
    end
end
complete --command occupipe --no-files --arguments '(__occupipe_complete)'
