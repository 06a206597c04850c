# lasthop in fish: completes at Tab. For every new shell:
#   lasthop completion fish > ~/.config/fish/completions/lasthop.fish
function __lasthop_complete
    set -l words (commandline -opc)
    set -l program $words[1]
    set -e words[1]
    set -l typed (commandline -ct | string trim --left --chars='\'"')
    set -l lines ($program completion answer fish $words "$typed" 2>/dev/null)
    printf '%s\n' $lines[5..-1]
    set -l found
    switch "$lines[1]"
        case scenarios
            set found (__fish_complete_path "$lines[3]" | string match --regex '.*(?:/|\.toml|\.json)(?:\t.*)?$')
        case files
            set found (__fish_complete_path "$lines[3]")
        case directories
            set found (__fish_complete_directories "$lines[3]" '')
    end
    test (count $found) -gt 0; and printf '%s\n' "$lines[2]"$found
end
complete --command lasthop --no-files --arguments '(__lasthop_complete)'
