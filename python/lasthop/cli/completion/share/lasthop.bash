# lasthop in bash: completes at Tab. For every new shell:
#   lasthop completion bash > ~/.local/share/bash-completion/completions/lasthop
# or, where that folder is not read, in ~/.bashrc:  eval "$(lasthop completion bash)"
_lasthop() {
    local line lines=()
    while IFS= read -r line; do lines+=("$line"); done < <(
        "${1/#\~/$HOME}" completion answer bash \
            "${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" 2>/dev/null
    )
    local files=${lines[0]} before=${lines[1]} typed=${lines[2]} cut=${lines[3]}
    COMPREPLY=()
    for line in "${lines[@]:4}"; do COMPREPLY+=("${line#"$cut"}"); done
    if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *[=.] ]]; then
        compopt -o nospace
    fi
    if [[ $files == scenarios || $files == files || $files == directories ]]; then
        compopt -o filenames
        while IFS= read -r line; do
            line=$before$line
            COMPREPLY+=("${line#"$cut"}")
        done < <(
            compgen -d -- "$typed"
            case $files in
                scenarios) compgen -f -X '!*.toml' -- "$typed"; compgen -f -X '!*.json' -- "$typed" ;;
                files) compgen -f -- "$typed" ;;
            esac
        )
    fi
}
complete -F _lasthop lasthop
