#!/usr/bin/env bash
# A misspelt input was "not there", with no word of the file that was meant; a `*` in a name was no
# pattern, and nobody said so. Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db TMPDIR=$work
. "$(dirname "$0")/../support/tap.sh"
cd "$work" || exit 1
mkdir -p data && touch data/region_a.pgm x.txt
says() { # name text
    printf 'weft: 1\ntasks:\n  first: { run: "touch {out}", out: results/table.csv }\n  t: { run: "cat {in} > {out}", in: "%s", out: z }\n' "$1" >f.yaml
    "$weft" run f.yaml >out 2>err
    [ $? = 2 ] && grep -qF "f.yaml:4: task 't' reads '$1', which no task makes and which is not there; looked in .$2" err && [ ! -e results ]
    ok $? "$1"
}
says data/regoin_a.pgm "; did you mean 'data/region_a.pgm'?"
says results/tabel.csv "; did you mean 'results/table.csv', which 'first' makes?"
says x.tx "; did you mean 'x.txt'?"
says 'data/*.pgm' '; names are literal: a `*` stands for itself'
says none/such.thing ""
printf 'weft: 1\ntasks:\n  t: { run: "touch a.txt", out: "*.txt" }\n' >f.yaml
"$weft" show f.yaml >out 2>err && grep -q "f.yaml:3: task 't': names are literal, and the \`\*\` of '\*.txt' stands for itself" err
ok $? "a remark when it is read"
printf 'weft: 1\ntasks:\n  t: { run: "cat {in} > {out}", in: "{x}.txt", out: z }\n' >f.yaml
"$weft" show f.yaml >out 2>err
[ $? = 2 ] && grep -q "f.yaml:3: task 't': .*{x}" err
ok $? "an unknown word in a name"
echo "1..$count"
exit $failed
