# SPDX-License-Identifier: Apache-2.0
# Completion of walkhammer for fish: this file belongs in a folder of $fish_complete_path.
# What can be chosen, the command itself says: harness/cli/completion.h.

function __walkhammer_complete
    set -l words (commandline -opc)
    set -l last (commandline -ct)
    set -l option (string match -r '^--[^=]*=' -- $last)
    set -l rest (string replace -r '^--[^=]*=' '' -- $last)
    for line in ($words[1] complete $words[2..-1] "$last" 2>/dev/null)
        switch $line
            case :files
                printf '%s\n' "$option"(__fish_complete_path $rest)
            case :folders
                printf '%s\n' "$option"(__fish_complete_directories $rest)
            case '*'
                printf '%s\n' $line
        end
    end
end
complete -c walkhammer -f -a '(__walkhammer_complete)'
