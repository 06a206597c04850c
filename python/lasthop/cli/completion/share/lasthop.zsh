#compdef lasthop
# lasthop in zsh: completes at Tab. For every new shell, into a folder of $fpath:
#   lasthop completion zsh > ~/.zfunc/_lasthop
# with `fpath+=~/.zfunc` before `compinit` in ~/.zshrc; or behind it:  eval "$(lasthop completion zsh)"
_lasthop() {
    local -a lines spaced joined
    local line word said
    lines=("${(@f)"$(
        ${(Q)words[1]} completion answer zsh "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null
    )"}")
    for line in "${(@)lines[5,-1]}"; do
        [[ -n $line ]] || continue
        word=${line%%$'\t'*} said=
        [[ $line == *$'\t'* ]] && said=${line#*$'\t'}
        word=${word//:/\\:}${said:+:$said}
        if [[ ${line%%$'\t'*} == *[=.] ]]; then joined+=("$word"); else spaced+=("$word"); fi
    done
    (( $#spaced )) && _describe 'word' spaced
    (( $#joined )) && _describe 'key' joined -S ''
    [[ -n $lines[2] ]] && compset -P '*='
    case $lines[1] in
        (scenarios) _files -g '*.(toml|json)' ;;
        (files) _files ;;
        (directories) _files -/ ;;
    esac
}
if [[ $funcstack[1] == _lasthop ]]; then _lasthop "$@"; else compdef _lasthop lasthop; fi
