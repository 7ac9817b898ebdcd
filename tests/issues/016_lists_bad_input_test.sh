#!/usr/bin/env bash
# Every mistake in lists, tables and families has its message, its place and its remedy; nothing that is
# too large is made before it is refused; odd values arrive as they are. Speaks TAP.
weft=$WEFT
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export WEFT_HISTORY=$work/history.db TMPDIR=$work
mkdir "$work/p" && cd "$work/p" || exit 1
. "$(dirname "$0")/../support/tap.sh"
run() { "$weft" run "$@" >"$work/out" 2>"$work/err"; }
mistake() { # message, the file without its first line
    printf 'weft: 1\n%b\n' "$2" >b.yaml
    (ulimit -v 4000000; exec timeout 60 "$weft" show b.yaml) >"$work/out" 2>"$work/err"
    [ $? = 2 ] && grep -qF -- "$1" "$work/err"
    ok $? "$1"
}
if grep -qa __asan_init "$weft"; then ulimit() { :; }; fi # a sanitizer reserves more than that

# ---- too large: refused before it is made ----
mistake "b.yaml:2: list 'a' has more than 16777216 values; let one stand for several (a larger step, a file a part)" 'lists: { a: { from: 1, to: 1000000000 } }\ntasks: { x: { each: a } }'
mistake "b.yaml:2: list 'a' has more than 16777216 values" 'lists: { a: { from: 0, to: 1, step: 1e-300 } }\ntasks: { x: { each: a } }'
three='lists: { a: { from: 1, to: 10000 }, b: { from: 1, to: 10000 }, c: { from: 1, to: 10000 } }'
mistake "b.yaml:3: task 'x': each makes more than 100000000 tasks; let one take several of the values" "$three\ntasks: { x: { each: [a, b, c] } }"
mistake "b.yaml:3: task 'x': an entry of in stands for more than 16777216 names" "$three\ntasks: { x: { in: '{a}{b}{c}', run: ls } }"
mistake "b.yaml:3: task 'x': after stands for more than 16777216 names" "$three\ntasks: { x: { after: '{a}{b}{c}', run: ls } }"
mistake "after: 10000 tasks of 'x' before each of 10000" "$three\ntasks: { x: { each: a }, y: { each: b, after: x } }"
touch "$(printf '%0200d' 0)"
mistake "may match in too many ways" 'lists: { a: { files: "{a}0{b}0{c}0{d}0{e}0{f}x" } }\ntasks: { x: { each: a } }'
rm -f 0*

# ---- lists ----
mistake "b.yaml:2: list 'a': no steps of 0 lead from 1 to 5" 'lists: { a: { from: 1, to: 5, step: 0 } }\ntasks: { x: { each: a } }'
mistake "list 'a': no steps of 1 lead from 5 to 1" 'lists: { a: { from: 5, to: 1 } }\ntasks: { x: { each: a } }'
mistake "list 'a': a range has 'from' and 'to'" 'lists: { a: { from: 1 } }\ntasks: { x: { each: a } }'
mistake "b.yaml:2: list 'a' is empty" 'lists: { a: [] }\ntasks: { x: { each: a } }'
mistake "b.yaml:2: list 'a' is nothing; expected [values]" 'lists: { a: }\ntasks: { x: { each: a } }'
mistake "list 'a' has the value '1' twice" 'lists: { a: [1, 2, 1] }\ntasks: { x: { each: a } }'
mistake "a value of list 'a' is empty" 'lists: { a: [""] }\ntasks: { x: { each: a } }'
mistake "a value of list 'a' is a list" 'lists: { a: [1, [2]] }\ntasks: { x: { each: a } }'
mistake "{in} means something else in a command" 'lists: { in: [1] }\ntasks: { x: { each: in } }'
mistake "'a b' cannot be the name of a list" 'lists: { "a b": [1] }\ntasks: { x: { run: ls } }'
mistake "b.yaml:2: unknown key 'lins'; did you mean 'lines'?" 'lists: { b: { lins: x } }\ntasks: { x: { each: b } }'
mistake "has values of one kind only" 'lists: { b: { lines: x, table: y } }\ntasks: { x: { each: b } }'
mistake "'b' is a parameter and a variable of a list" 'parameters: { b: 1 }\nlists: { b: [1] }\ntasks: { x: { each: b } }'
mistake "list 'b': nofile: cannot open: No such file or directory" 'lists: { b: { lines: nofile } }\ntasks: { x: { each: b } }'
mistake "list 'b': .: is a directory" 'lists: { b: { lines: . } }\ntasks: { x: { each: b } }'
mistake "list 'b': /dev/zero is no regular file" 'lists: { b: { lines: /dev/zero } }\ntasks: { x: { each: b } }'
mkfifo pipe
mistake "list 'b': pipe is no regular file" 'lists: { b: { table: pipe } }\ntasks: { x: { each: b } }'
mistake "list 'b': no file is like no/{b} in ." 'lists: { b: { files: "no/{b}" } }\ntasks: { x: { each: b } }'
mistake 'files has no variable; write {b} where the values stand, as in "data/{b}.txt"' 'lists: { b: { files: "no/*" } }\ntasks: { x: { each: b } }'
printf 'a\xff\n' >latin.txt
mistake "list 'b': latin.txt is no text in UTF-8" 'lists: { b: { lines: latin.txt } }\ntasks: { x: { each: b } }'
printf 'a\nb\n\na\n' >twice.txt
mistake "list 'b' has the value 'a' twice, the second time in line 4" 'lists: { b: { lines: twice.txt } }\ntasks: { x: { each: b } }'

# ---- except ----
mistake "b.yaml:3: task 'x': except names {s} 'c98', which it never is; did you mean 'c99'?" 'lists: { s: [c99, c11] }\ntasks: { x: { each: s, except: [{ s: c98 }], run: "echo {s}" } }'

# ---- tables ----
table='lists: { b: { table: t.csv } }'
printf 'k,c\n1,2\n' >t.csv
mistake "task 'x@k=1': its command names {missing}, which is neither a parameter nor built in" "$table\ntasks: { x: { each: b, run: 'echo {missing}' } }"
mistake "an entry of in: {missing} is no variable and no parameter" "$table\ntasks: { x: { each: b, in: '{missing}' } }"
mistake "each names 'sample', which is no list and no variable of one" "$table\ntasks: { x: { each: sample } }"
mistake "list 'b': none.csv: cannot open: No such file or directory; if a task makes it, say which: \`after: TASK\`" 'lists: { b: { table: none.csv } }\ntasks: { x: { each: b } }'
printf 'k,c\n1\n' >t.csv
mistake "list 'b': t.csv:2 has 1 cell, its header has 2; an empty cell keeps what separates it" "$table\ntasks: { x: { each: b } }"
printf 'k,c\n1,2,3\n' >t.csv
mistake "list 'b': t.csv:2 has 3 cells, its header has 2; one that has such a sign in it stands in quotes" "$table\ntasks: { x: { each: b } }"
printf 'k,k\n1,2\n' >t.csv
mistake "list 'b' has the column 'k' twice" "$table\ntasks: { x: { each: b } }"
printf 'k,\n1,2\n' >t.csv
mistake "list 'b': '' cannot be the name of a variable" "$table\ntasks: { x: { each: b } }"
printf 'k,c\n' >t.csv
mistake "list 'b' is empty" "$table\ntasks: { x: { each: b } }"
: >t.csv
mistake "list 'b' is empty" "$table\ntasks: { x: { each: b } }"
printf 'k,c\n1,a"b\n' >t.csv
mistake "t.csv:2: a quote in the middle of a cell" "$table\ntasks: { x: { each: b } }"
printf 'k,c\n1,"ab\n2,3\n' >t.csv
mistake "t.csv:2: a quote in the middle of a cell, or one that does not end" "$table\ntasks: { x: { each: b } }"
printf 'k,c\n1,2\n1,2\n' >t.csv
mistake "has the row that begins with '1' twice, the second time in line 3" "$table\ntasks: { x: { each: b } }"
{ printf 'c0'; for i in $(seq 70); do printf ',c%d' "$i"; done; echo; printf '0'; for i in $(seq 70); do printf ',%d' "$i"; done; echo; } >t.csv
mistake "list 'b' has 71 columns; at most 64 are possible" "$table\ntasks: { x: { each: b } }"

# ---- families ----
mistake "b.yaml:3: tasks is a list; expected a mapping" 'parameters: { a: 1 }\ntasks: [{ run: ls }, x]'
mistake "task 'x': except names {b} '7', which it never is" 'lists: { b: [1] }\ntasks: { x: { each: b, except: [{ b: 7 }] } }'
mistake "b.yaml:3: task 'x': its except leaves nothing of its each" 'lists: { b: [1] }\ntasks: { x: { each: b, except: [{ b: 1 }] } }'
mistake "task 'x': each is an empty list" 'lists: { b: [1] }\ntasks: { x: { each: [] } }'
mistake "task 'x': each names 'b' twice" 'lists: { b: [1] }\ntasks: { x: { each: [b, b] } }'
mistake "except goes with each" 'lists: { b: [1] }\ntasks: { x: { except: [{ b: 1 }] } }'
mistake "object 'o' is made by two tasks, 'x@b=1' and 'x@b=2'" 'lists: { b: [1, 2] }\ntasks: { x: { each: b, out: o } }'
mistake "an entry of out: which {b}?" 'lists: { b: [1, 2] }\ntasks: { x: { out: "o{b}" } }'
mistake "run: which {b}?" 'lists: { b: [1, 2] }\ntasks: { x: { run: "echo {b}" } }'
mistake "lies above the workflow's folder" 'lists: { b: [a/../../x] }\ntasks: { x: { each: b, run: ls, out: "{b}" } }'

# ---- what is odd and right ----
printf '\xef\xbb\xbfk,c\r\n1,"x ""q"", y"\r\n\r\n2,z\r\n' >t.csv
printf 'weft: 1\n%s\ntasks: { x: { each: b, run: "echo {c} > {out}", out: "o{k}" } }\n' "$table" >b.yaml
run b.yaml && [ "$(cat o1)" = 'x "q", y' ] && [ "$(cat o2)" = z ]
ok $? "a byte order mark, CRLF, quotes, separators in cells, empty lines"
printf '\xef\xbb\xbfone\r\ntwo' >l.txt
printf 'weft: 1\nlists: { b: { lines: l.txt } }\ntasks: { x: { each: b, run: "echo {b} > {out}", out: "o{b}" } }\n' >b.yaml
run b.yaml && [ "$(cat oone otwo | tr '\n' ' ')" = "one two " ]
ok $? "lines with a byte order mark, CRLF and no end"
printf 'k\n"a\nb"\n"c  d"\n"e/f"\n..\n"$(touch oops)"\n"-n"\n"*"\n' >t.csv
printf 'weft: 1\n%s\ntasks: { x: { each: b, run: "printf %%s {k} > {out}", out: "out/{k}.x" } }\n' "$table" >b.yaml
run b.yaml && [ "$(cat "out/a
b.x")" = "a
b" ] && [ "$(cat "out/c  d.x")" = "c  d" ] && [ "$(cat out/e/f.x)" = e/f ] && [ "$(cat out/...x)" = .. ] && [ ! -e oops ] && [ "$(cat 'out/*.x')" = '*' ] && [ "$(cat out/-n.x)" = -n ]
ok $? "values with newlines, blanks, slashes, dots, dollars"
"$weft" convert b.yaml c.yaml 2>"$work/err" && rm -rf out && run c.yaml --force && [ -f out/e/f.x ] && [ -f "out/a
b.x" ]
ok $? "and they survive being written out"
: >l.txt && for i in $(seq 3); do echo "$i" >>l.txt; done
printf 'weft: 1\nlists: { b: { lines: l.txt } }\ntasks: { x: { each: b, out: { log: "{b}.log", dat: ["{b}.a", "{b}.b"] }, temporary: true, run: "touch {out}" }, y: { in: "{b}.a", run: "ls {in} > {out}", out: y } }\n' >b.yaml
run b.yaml && [ -f y ] && [ ! -e 1.a ]
ok $? "named outputs may all be temporary"
mkdir many && (cd many && seq -f 'f%06g' 20000 | xargs touch)
printf 'weft: 1\nlists: { f: { files: "many/{f}" } }\ntasks: { x: { each: f, run: "cat {in}", in: "many/{f}" } }\n' >b.yaml
"$weft" show b.yaml >"$work/out" 2>"$work/err" && grep -q 'tasks *20,000' "$work/out"
ok $? "a folder of 20,000 files"

echo "1..$count"
exit $failed
