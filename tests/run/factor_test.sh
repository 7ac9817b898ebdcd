#!/usr/bin/env bash
# The sparse factorisation (examples/factor) in its three ways, its answers to bad input, and the peaks that it promises. Speaks TAP.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$(dirname "$0")/../support/tap.sh"
factor=$WEFT_BUILD/examples/factor/weft-factor
if [ ! -x "$factor" ]; then
    echo "1..0 # SKIP without OpenBLAS or CHOLMOD there is no weft-factor"
    exit 0
fi
export OPENBLAS_NUM_THREADS=2
# run STATUS TEXT ARGUMENT...
run() {
    local status=$1 text=$2; shift 2
    "$factor" "$@" --folder "$work" >"$work/out" 2>"$work/err" </dev/null
    [ $? = "$status" ] && ! grep -qE 'Sanitizer|runtime error' "$work/err"
    ok $? "$text"
}
says() { grep -qF -- "$1" "$work/out" "$work/err"; ok $? "says: $1"; }
field() { sed -n "s/$1/\\1/p" "$work/out"; }
# the peak that was measured is within the limit
within() { [ "$(field '^peak \([0-9]*\) bytes.*')" -le "$1" ]; ok $? "the peak is at most $1 bytes"; }

# 4 x = 1 1 1 ... on a grid whose answer is known: compared with a dense solution by python
cat >"$work/small.mtx" <<'M'
%%MatrixMarket matrix coordinate real symmetric
4 4 7
1 1 4
2 1 -1
2 2 4
3 2 -1
3 3 4
4 3 -1
4 4 4
M
printf '1\n2\n3\n4\n' >"$work/b"
run 0 "a small matrix from a file" "$work/small.mtx" -b "$work/b" -o "$work/x"
python3 - "$work/x" <<'P'
import sys
x = [float(line) for line in open(sys.argv[1])]
rows = [4 * x[i] - (x[i - 1] if i else 0) - (x[i + 1] if i < 3 else 0) for i in range(4)]
sys.exit(max(abs(r - b) for r, b in zip(rows, [1, 2, 3, 4])) > 1e-12)
P
ok $? "and its solution is right"

run 0 "a grid in space, all in memory" --grid 3d:12 -t 2
says "plan: all in memory, no limit"
run 0 "what it takes, without computing" --grid 3d:12 --plan
factor_bytes=$(field '^L takes \([0-9]*\) .*') least=$(field '.*at least \([0-9]*\) .*')
says "-m $((factor_bytes + least)) is enough for all in memory"
in_file=$(field '.*memory, \([0-9]*\) with L in a file.*')
run 0 "exactly enough for all in memory" --grid 3d:12 -t 2 -m $((factor_bytes + least))
says "plan: all in memory, at most"
within $((factor_bytes + least))
run 0 "a byte less: L goes to a file" --grid 3d:12 -t 2 -m $((factor_bytes + least - 1))
says "plan: L in a file, at most"
within $((factor_bytes + least - 1))

run 0 "what it is told to be enough with L in a file" --grid 3d:12 -t 2 -m "$in_file"
says "plan: L in a file, at most"
within "$in_file"

run 0 "a grid in the plane" --grid 2d:60 --disk --plan
least=$(field '.*at least \([0-9]*\) .*')
run 0 "as much as MinMemory" --grid 2d:60 -t 2 -m "$least"
within "$least"

# Five dense blocks that meet in few rows: while one is factored what the others left waits, which takes more than any front. (On
# regular grids the largest front, with what it reads, is all that is ever needed.)
python3 - >"$work/blocks.mtx" <<'P'
blocks, width, shared, touched = 5, 60, 40, 20
n = blocks * width + shared
rows = [(i, i, n) for i in range(n)]
for b in range(blocks):
    own = list(range(b * width, (b + 1) * width))
    own += [blocks * width + (5 * b + k) % shared for k in range(touched)]
    rows += [(i, j, -0.5) for j in own for i in own if i > j and j < blocks * width]
rows += [(i, j, -0.5) for j in range(blocks * width, n) for i in range(j + 1, n)]
print("%%MatrixMarket matrix coordinate real symmetric")
print(n, n, len(rows))
for i, j, v in rows:
    print(i + 1, j + 1, v)
P
run 0 "blocks that meet" "$work/blocks.mtx" --disk --plan
least=$(field '.*at least \([0-9]*\) .*') front=$(field '.*(one front \([0-9]*\))')
[ "$front" -lt "$least" ]; ok $? "take more than their largest front"
run 0 "as much as MinMemory" "$work/blocks.mtx" -t 2 -m "$least"
says "plan: L in a file, at most"
within "$least"
run 0 "less: contributions make room" "$work/blocks.mtx" -t 2 -m "$front"
says "contributions make room"
within "$front"
run 3 "less than the largest front cannot be" "$work/blocks.mtx" -m $((front - 1))
says "the largest front takes $front bytes"
[ -z "$(find "$work" -name 'weft-*')" ]; ok $? "no file is left behind"

# The benchmark runs the program by its options: it went without half of its figures when one of them was refused.
if [ -x "$WEFT_BUILD/bench/bench_factor" ]; then
    "$WEFT_BUILD/bench/bench_factor" 2d:20 >"$work/out" 2>"$work/err"
    [ $? = 0 ] && grep -q "largest front .*weft .*peak [01]\.[0-9]* of it" "$work/out"
    ok $? "its benchmark has every figure of a small grid"
    "$WEFT_BUILD/bench/bench_factor" "$work/nothing.mtx" >"$work/out" 2>"$work/err"
    [ $? = 1 ]; ok $? "and fails where weft does"
    "$WEFT_BUILD/bench/bench_factor" --fast 2d:20 >"$work/out" 2>"$work/err"
    [ $? = 2 ]; ok $? "and knows its options"
fi

sed 's/^3 3 4/3 3 -4/' "$work/small.mtx" >"$work/bad.mtx"
run 1 "a matrix that is not positive definite" "$work/bad.mtx"
says "not positive definite"
sed 's/symmetric/general/' "$work/small.mtx" >"$work/general.mtx"
run 2 "one that is not symmetric" "$work/general.mtx"
run 2 "none at all" "$work/nothing.mtx"
printf '1\n2\n' >"$work/short"
run 2 "a right-hand side that is too short" "$work/small.mtx" -b "$work/short"
says "expected 4 numbers, found 2"
run 2 "an option that does not exist" "$work/small.mtx" --fast yes
says "--fast: there is no such option"
run 2 "a size that is none" "$work/small.mtx" -m 10Q
says "-m: expected a number above 0"
run 2 "two matrices" "$work/small.mtx" "$work/b"
says "one matrix is named already"
"$factor" "$work/small.mtx" >/dev/full 2>"$work/err"
[ $? = 1 ] && grep -q "cannot be written: No space" "$work/err"
ok $? "figures that cannot be written are told, status 1"

# --- what was silent, or not said ---
run 0 "a right-hand side of zeros" "$work/small.mtx" -b <(printf '0\n0\n0\n0\n') -o "$work/x"
[ "$(sort -u "$work/x")" = 0 ]; ok $? "has the solution 0"
sed 's/real/pattern/; 3,$s/ [-0-9]*$//' "$work/small.mtx" >"$work/pattern.mtx"
run 2 "a pattern, whose numbers CHOLMOD would make up" "$work/pattern.mtx"
says "is a pattern: it has no numbers"
sed 's/real/complex/' "$work/small.mtx" >"$work/complex.mtx"
run 2 "numbers that are not real" "$work/complex.mtx"
sed 1d "$work/small.mtx" >"$work/bare.mtx"
run 2 "no Matrix Market file" "$work/bare.mtx"
says "is no Matrix Market file"
head -n 5 "$work/small.mtx" >"$work/cut.mtx"
run 2 "a file that was cut off" "$work/cut.mtx"
says "cut.mtx: cannot be read"
: >"$work/empty.mtx"
run 2 "an empty file" "$work/empty.mtx"
says "is empty"
run 2 "a file that is not there" "$work/nothing.mtx"
says "nothing.mtx: No such file"
run 2 "nor its right-hand side" "$work/small.mtx" -b "$work/nothing"
says "nothing: No such file"
printf '1\n2\n3\n4\nfive\n' >"$work/text"
run 2 "a text behind the numbers" "$work/small.mtx" -b "$work/text"
printf '1\nnan\n3\n4\n' >"$work/nan"
run 2 "no number among them" "$work/small.mtx" -b "$work/nan"
says "expected 4 numbers, found 1"
sed 's/^\([0-9] [0-9]\) \([-0-9]*\)$/\1 \2e-300/; 2s/.*/4 4 7/' "$work/small.mtx" | sed '2s/e-300//' >"$work/tiny.mtx"
printf '1e300\n1e300\n1e300\n1e300\n' >"$work/large"
run 1 "a solution that is out of range" "$work/tiny.mtx" -b "$work/large"
says "its numbers are out of range"
run 1 "a file that cannot be written" "$work/small.mtx" -o /dev/full
says "/dev/full: cannot be written: No space"
run 2 "a grid of 4e2" --grid 2d:4e2 --plan
says "expected 2d:N"
for wrong in "-t abc" "-t 0" "-t -1" "-m 0" "-m 2x" "--plan -o x" "--plan -b x" "--parts p -o x" "--parts p -m 1G" "--part-work 5" "--plan --parts p"; do
    # shellcheck disable=SC2086 # words
    run 2 "$wrong" "$work/small.mtx" $wrong
done
run 2 "--gather with a limit that it does not keep" --gather "$work" -m 1G
run 0 "--help" --help
says "--part-work N"

# parts by a program whose path has everything that shells and YAML read
mkdir "$work/it's {a} \$HOME"
cp "$factor" "$work/it's {a} \$HOME/copy" && "$work/it's {a} \$HOME/copy" --grid 2d:20 --parts "$work/parts" >"$work/out" 2>"$work/err" &&
    (cd "$work/parts" && WEFT_HISTORY=none "$WEFT" run flow.yaml -q) >>"$work/out" 2>>"$work/err" &&
    "$factor" --gather "$work/parts" >>"$work/out" 2>>"$work/err"
ok $? "parts made by a program in a folder with an odd name"
part=$(cd "$work/parts" && ls l* | head -n 1)
truncate -s -8 "$work/parts/$part" && run 2 "columns that were cut off" --gather "$work/parts"
says "$part' has another size than the analysis says"
rm "$work/parts/$part" && run 1 "columns that are missing" --gather "$work/parts"
says "$part': No such file"
echo "1..$count"
exit "$failed"
