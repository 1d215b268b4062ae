# fish completion of octavo. The program says what is allowed at a place; fish completes files and folders.
function __octavo_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    # Not evaluated: a folder in the program's path can have any name.
    set -l program (string replace -r -- '^~/' "$HOME/" $words[1])
    set -e words[1]
    set -l lines ($program __complete $words $current 2>/dev/null)
    set -q lines[1]; or return
    set -l more $lines[-1]
    set -e lines[-1]
    test (count $lines) -gt 0; and printf '%s\n' $lines
    set -l flag (string match -r -- '^--[^=]*=' $current)
    set -l path (string replace -r -- '^--[^=]*=' '' $current)
    switch $more
        case :files
            for file in (__fish_complete_path $path)
                printf '%s\n' "$flag$file"
            end
        case :dirs
            for folder in (__fish_complete_directories $path '')
                printf '%s\n' "$flag$folder"
            end
    end
end
complete -c octavo -f -a '(__octavo_complete)'
