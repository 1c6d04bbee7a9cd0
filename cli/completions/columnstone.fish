# Completions of columnstone for fish. The program says what may stand for a word: see
# cli/help/complete.c.
function __columnstone_complete
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    set -l lines ($words[1] __complete (math (count $words) - 1) $words[2..-1] $word 2>/dev/null)
    set -q lines[2]; and printf '%s\n' $lines[2..-1]
    switch "$lines[1]"
        case 'files*'
            __fish_complete_path $word
        case 'folders*'
            __fish_complete_directories $word
    end
end
complete -c columnstone -f -a '(__columnstone_complete)'
