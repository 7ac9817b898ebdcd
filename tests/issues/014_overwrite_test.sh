#!/usr/bin/env bash
# `weft run` replaced files that it had not made without a word, and `weft clean --all` removed them: a file that the user wrote
# at an output's name, a result that he edited by hand. Now such a file is kept beside as NAME.before-weft, or stays. Speaks TAP.
. "$(dirname "$0")/../cluster/cluster_common.sh"
run() { "$weft" run "$@" >"$work/out" 2>"$work/err"; }
clean() { "$weft" clean "$@" >"$work/out" 2>"$work/err"; }
said() { cat "$work/out" "$work/err" | tr '\n' ' ' | tr -s ' ' | grep -q "$1"; } # in whichever lines it stands
no_copies() { [ -z "$(find "$1" -name '*before-weft*')" ]; }
flow() { # folder text
    mkdir -p "$1"
    cat >"$1/flow.yaml" <<END2
weft: 1
name: results
tasks:
  a: { run: 'echo $2 > {out}', out: [a.txt] }
  b: { run: 'cat {in} > {out}', in: [a.txt], out: [res/b.txt] }
  d: { run: 'mkdir {out} && echo $2 > {out}/x', out: [dir] }
  p: { run: 'echo $2 > {out}', out: [p.txt], sandbox: false }
END2
}

# ---- a run ----
w=$work/a
flow "$w" one
mkdir "$w/dir"
echo mine >"$w/a.txt" && echo mine >"$w/dir/mine" && echo mine >"$w/p.txt"
run "$w/flow.yaml"
ok $? "a run over files that weft did not make"
[ "$(cat "$w/a.txt" "$w/res/b.txt" "$w/dir/x" "$w/p.txt" | tr '\n' ' ')" = "one one one one " ]
ok $? "gives its results"
[ "$(cat "$w/a.txt.before-weft" "$w/dir.before-weft/mine" "$w/p.txt.before-weft" | tr '\n' ' ')" = "mine mine mine " ]
ok $? "what was there is kept beside: a file, a folder, the output of a task in place"
said "'a.txt' was there, and weft did not make it" && said "a.txt.before-weft" && said "'dir'" && said "'p.txt'"
ok $? "each is remarked"
rm -rf "$w"/*before-weft
run "$w/flow.yaml" --force && ! said "before-weft" && no_copies "$w"
ok $? "--force over weft's own results says nothing and keeps nothing"
flow "$w" two
(cd "$w" && run flow.yaml) && [ "$(cat "$w/res/b.txt")" = two ] && no_copies "$w"
ok $? "nor does a run with another command, from another folder"
flow "$w" three
echo edited >"$w/a.txt" && echo more >"$w/dir/more"
run "$w/flow.yaml" && [ "$(cat "$w/a.txt.before-weft")" = edited ] && [ "$(cat "$w/dir.before-weft/more")" = more ] && [ "$(cat "$w/dir/x")" = three ]
ok $? "a result that was edited by hand is its editor's, and kept"
[ ! -e "$w/res/b.txt.before-weft" ]
ok $? "others are not"
flow "$w" four
echo again >"$w/a.txt"
run "$w/flow.yaml" && [ "$(cat "$w/a.txt.before-weft.2")" = again ] && [ "$(cat "$w/a.txt.before-weft")" = edited ]
ok $? "the next one has a number"
rm -rf "$w"/*before-weft*
flow "$w" five
echo mine >"$w/a.txt" && echo mine >"$w/p.txt"
run "$w/flow.yaml" --overwrite && no_copies "$w" && [ "$(cat "$w/a.txt" "$w/p.txt" | tr '\n' ' ')" = "five five " ]
ok $? "--overwrite replaces it"
rm -rf "$w/.weft"
run "$w/flow.yaml" && [ -z "$(find "$w" -name '*before-weft*' ! -name 'p.txt*')" ]
ok $? "without a record: what has the content of the result anyway is not kept twice"
rm -rf "$w"/*before-weft*
# a task in place that fails, and what it left
cat >"$work/a/flow.yaml" <<'END2'
weft: 1
name: half
tasks:
  p: { run: 'echo half > {out}; exit 3', out: [p.txt], sandbox: false, retries: 2 }
END2
echo mine >"$w/p.txt"
run "$w/flow.yaml"
[ "$(cat "$w/p.txt.before-weft")" = mine ] && [ ! -e "$w/p.txt.before-weft.2" ]
ok $? "a task in place that fails three times: what was there is kept once"
run "$w/flow.yaml"
[ ! -e "$w/p.txt.before-weft.2" ]
ok $? "and what it left itself is not kept by the next run"
# temporary files
mkdir "$work/t"
cat >"$work/t/flow.yaml" <<'END2'
weft: 1
name: temporary
tasks:
  a: { run: 'echo made > {out}', out: [a.txt], temporary: true }
  b: { run: 'cat {in} > {out}', in: [a.txt], out: [b.txt] }
END2
run "$work/t/flow.yaml" && [ ! -e "$work/t/a.txt" ]
ok $? "a temporary file goes"
echo mine >"$work/t/a.txt"
run "$work/t/flow.yaml" && [ "$(cat "$work/t/a.txt.before-weft")" = mine ] && [ ! -e "$work/t/a.txt" ]
ok $? "one of the user's by that name is kept"

# ---- clean --all ----
c=$work/c
flow "$c" one
run "$c/flow.yaml"
echo edited >"$c/a.txt"
rm "$c/p.txt" && echo other >"$c/p.txt"
echo mine >"$c/mine.txt"
clean "$c/flow.yaml" --all -n && said "would remove" && said "kept .*a.txt: it is not as a task left it" && [ -e "$c/res/b.txt" ]
ok $? "clean --all -n says what would go and what would be kept"
clean "$c/flow.yaml" --all
ok $? "clean --all"
[ ! -e "$c/res/b.txt" ] && [ ! -e "$c/dir" ]
ok $? "removes what tasks left"
[ "$(cat "$c/a.txt" "$c/p.txt" "$c/mine.txt" | tr '\n' ' ')" = "edited other mine " ] && said "kept .*a.txt" && said "kept .*p.txt"
ok $? "and keeps what was changed or made by others, by name"
clean "$c/flow.yaml" --all && [ "$(cat "$c/a.txt")" = edited ] && said "no record that a task made it"
ok $? "once more: still, though the records are gone"

# ---- from agents ----
if command -v redis-server >/dev/null; then
    for how in --no-shared --shared; do
        w=$work/on$how
        flow "$w" one
        mkdir "$w/dir"
        echo mine >"$w/a.txt" && echo mine >"$w/dir/mine" && mkdir "$w/res" && echo mine >"$w/res/b.txt"
        say run "$w/flow.yaml" --on local:2 $how
        ok $? "a run on agents, $how"
        [ "$(cat "$w/res/b.txt" "$w/dir/x" "$w/res/b.txt.before-weft" "$w/dir.before-weft/mine" | tr '\n' ' ')" = "one one mine mine " ]
        ok $? "keeps what was there when results come home"
        said "'res/b.txt' was there, and weft did not make it"
        ok $? "and remarks it"
        rm -rf "$w"/*before-weft "$w"/res/*before-weft
        flow "$w" two
        say run "$w/flow.yaml" --on local:2 $how && [ "$(cat "$w/res/b.txt")" = two ] && no_copies "$w"
        ok $? "results of weft's own are replaced without a word"
        echo mine >"$w/res/b.txt"
        flow "$w" three
        say run "$w/flow.yaml" --on local:2 $how --overwrite && [ "$(cat "$w/res/b.txt")" = three ] && no_copies "$w"
        ok $? "--overwrite replaces what is not"
    done
fi
finish
