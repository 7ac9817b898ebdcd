# bash completion for weft; commands, options, planners and formats are asked from the program itself, names of a workflow are looked up in
# its text, and of a large one the first megabyte counts. Only for members of families (count@doc=...) and the files that they make the workflow
# is expanded, for a second at most: the shell never waits.

# Names of a native workflow, a line each: _weft_names FILE parameters (with lists) | targets (tasks, families, files that are made) | members
_weft_names() {
    [ -f "$1" ] && if [ "$2" = members ]; then timeout 1 weft show "$1" --expanded 2>/dev/null; else cat -- "$1" 2>/dev/null; fi | head -c 1000000 | awk -v what="${2/members/targets}" '
        # the keys of a flow mapping in `text`, at its first level
        function flow(text,   i, c, depth, quote, word) {
            for (i = 1; i <= length(text); i++) {
                c = substr(text, i, 1)
                if (quote != "") { if (c == quote) quote = ""; continue }
                if (c == "\"" || c == "\047") { quote = c; continue }
                if (c == "{" || c == "[") { depth++; word = ""; continue }
                if (c == "}" || c == "]") { depth--; word = ""; continue }
                if (c == "," && depth == 1) { word = ""; continue }
                if (c == ":" && depth == 1 && word != "") { print word; word = "-"; continue }
                if (depth == 1 && c != " ") word = word c
            }
        }
        # what is made: out: NAME, out: [NAME, NAME], without variables
        function made(text,   n, i, part) {
            if (!match(text, /(^|[ ,{])out: */)) return
            text = substr(text, RSTART + RLENGTH)
            if (text ~ /^\[/) { text = substr(text, 2); sub(/\].*/, "", text) } else if (text ~ /^\{/) return
            else sub(/[,}].*/, "", text)
            n = split(text, part, ",")
            for (i = 1; i <= n; i++) {
                gsub(/^[ "\047]+|[ "\047]+$/, "", part[i])
                if (part[i] != "" && part[i] !~ /[{}: ]/) print part[i]
            }
        }
        /^[^ #\t]/ {
            part = $1; level = 0
            wanted = what == "targets" ? part == "tasks:" : part == "parameters:" || part == "lists:"
            if (wanted && NF > 1) { text = $0; sub(/^[^:]*:/, "", text); flow(text) }
            next
        }
        wanted && /^ +[^ #-]/ {
            match($0, /^ +/)
            if (!level) level = RLENGTH
            if (RLENGTH == level) { name = $0; sub(/^ +/, "", name); sub(/:( .*)?$/, "", name); if (name !~ /[ "{}]/) print name }
            if (what == "targets") made($0)
        }'
}

# The first operand: words that are no options and no values of options are, most likely, the workflow.
_weft_flow() {
    local i
    for ((i = 2; i < at; i++)); do
        case ${words[i]} in -*) continue ;; *) [ -f "${words[i]}" ] && echo "${words[i]}" && return ;; esac
    done
}

# Replies for a target: what stands in the text, or else what its families make.
_weft_targets() {
    local flow found
    flow=$(_weft_flow)
    [ -n "$flow" ] || return
    found=$(compgen -W "$(_weft_names "$flow" targets)" -- "$word")
    [ -n "$found" ] || [ -z "$word" ] || found=$(compgen -W "$(_weft_names "$flow" members)" -- "$word")
    COMPREPLY+=($found)
}

# bash takes a word apart at = and @, which names of members have: it is put together again, and of a reply it gets what stands behind the last of them.
_weft() {
    local words=("${COMP_WORDS[@]}") at=$COMP_CWORD line=${COMP_LINE:0:${COMP_POINT:-0}} word behind
    case $line in
    "" | *[\"\'\\]*) line= ;;
    *)
        read -ra words <<<"$line"
        case $line in *[[:blank:]]) words+=("") ;; esac
        at=$((${#words[@]} - 1)) ;;
    esac
    word=${words[at]}
    _weft_reply "${words[at - 1]}" "${words[1]}"
    behind=${word##*[@=:]}
    [ -z "$line" ] || COMPREPLY=("${COMPREPLY[@]#"${word%"$behind"}"}")
}

_weft_reply() { # the word before, the command
    local before=$1 command=$2
    if [ "$at" -eq 1 ]; then
        COMPREPLY=($(compgen -W "$(weft help 2>/dev/null | sed -nE 's/^  ([a-z]+) .*/\1/p')" -- "$word"))
        return
    fi
    case $before in
    -p | --param)
        COMPREPLY=($(compgen -S = -W "$(_weft_names "$(_weft_flow)" parameters)" -- "$word"))
        compopt -o nospace 2>/dev/null
        return ;;
    --until | --since | --why) _weft_targets; return ;;
    --with | --order) COMPREPLY=($(compgen -W "$(weft planners --names 2>/dev/null)" -- "$word")); return ;;
    --by) COMPREPLY=($(compgen -W kind -- "$word")); return ;;
    --policy) # "schedulers: flds, ..., auto, or all to compare them"
        COMPREPLY=($(compgen -W "$(weft help sim 2>/dev/null | tr -s '\n ' ' ' | sed -nE 's/.*--policy NAME schedulers: ([a-z, ]*), or all .*/\1/p' | tr -d ,)$([ "$command" = sim ] && echo " all")" -- "$word")); return ;;
    --from | --to) COMPREPLY=($(compgen -W "$(weft formats --json 2>/dev/null | sed -nE 's/.*"name": "([^"]+)".*/\1/p')" -- "$word")); return ;;
    generate | planners)
        local names
        names=$([ "$before" = planners ] && weft planners --names || weft generate | sed -nE 's/^  ([a-z0-9-]+) .*/\1/p')
        COMPREPLY=($(compgen -W "$names" -- "$word")); return ;;
    help | profile) COMPREPLY=($(compgen -W "$(weft help 2>/dev/null | sed -nE 's/^  ([a-z]+) .*/\1/p')" -- "$word")); return ;;
    esac
    case $word in
    -*) COMPREPLY=($(compgen -W "--profile $(weft help "$command" 2>/dev/null | grep -oE -- '--[a-z-]+' | sort -u)" -- "$word")) ;;
    *)
        COMPREPLY=($(compgen -f -- "$word"))
        [ ${#COMPREPLY[@]} -eq 0 ] || compopt -o filenames 2>/dev/null # only then: it escapes the = of sigma=2
        # behind the workflow stand its targets
        case $command in run | submit | plan | compare | show | order | lint | clean | stream | sim | bound | predict) _weft_targets ;; esac ;;
    esac
}
complete -F _weft weft
