# bash completion for weft; commands, options and planners are asked from the program itself.
_weft() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "$(weft help 2>/dev/null | sed -nE 's/^  ([a-z]+) .*/\1/p')" -- "$word"))
        return
    fi
    case $before in
    --with) COMPREPLY=($(compgen -W "$(weft planners --names 2>/dev/null)" -- "$word")); return ;;
    --policy) # "schedulers: flds, ..., auto, or all to compare them"
        COMPREPLY=($(compgen -W "$(weft help sim 2>/dev/null | tr -s '\n ' ' ' | sed -nE 's/.*--policy NAME schedulers: ([a-z, ]*), or all .*/\1/p' | tr -d ,)$([ "$command" = sim ] && echo " all")" -- "$word")); return ;;
    --from | --to) COMPREPLY=($(compgen -W "$(weft formats --json 2>/dev/null | sed -nE 's/.*"name": "([^"]+)".*/\1/p')" -- "$word")); return ;;
    generate | planners)
        local names
        names=$([ "$before" = planners ] && weft planners --names || weft generate | sed -nE 's/^  ([a-z0-9-]+) .*/\1/p')
        COMPREPLY=($(compgen -W "$names" -- "$word")); return ;;
    esac
    case $word in
    -*) COMPREPLY=($(compgen -W "$(weft help "$command" 2>/dev/null | grep -oE -- '--[a-z-]+' | sort -u)" -- "$word")) ;;
    *) COMPREPLY=($(compgen -f -- "$word")) ;;
    esac
}
complete -o filenames -F _weft weft
