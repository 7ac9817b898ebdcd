#!/usr/bin/env bash
# The image filters of examples/edges against pictures whose answers are known. Speaks TAP.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$(dirname "$0")/../support/tap.sh"
cc -O1 -g -Wall -Wextra -Werror -fsanitize=address,undefined -fno-sanitize-recover=all -o "$work/edges" examples/edges/edges.c -lm
ok $? "edges.c compiles without a warning"
edges=$work/edges
cd "$work" || exit 1
# image NAME WIDTH HEIGHT 'awk expression of x and y': a PGM in text form
image() {
    awk -v w="$2" -v h="$3" "BEGIN { print \"P2 # by awk\n\" w, h, 255; for (y = 0; y < h; y++) for (x = 0; x < w; x++) print int($4) }" >"$1"
}
# pixels NAME: the values of a binary PGM, a row a line
pixels() { # the head has three lines
    local w; w=$(sed -n 2p "$1" | cut -d' ' -f1)
    tail -c +"$(($(head -n 3 "$1" | wc -c) + 1))" "$1" | od -An -v -tu1 -w"$w" | sed 's/^ *//; s/  */ /g'
}

# --- a step of 150 levels between columns 7 and 8 ---
image step.pgm 16 12 '(x < 8 ? 50 : 200)'
for filter in sobel prewitt; do
    "$edges" $filter step.pgm out.pgm
    pixels out.pgm | awk '{ for (x = 0; x < NF; x++) if ($(x + 1) != (x == 7 || x == 8 ? 150 : 0)) bad = 1 } END { exit bad || NR != 12 }'
    ok $? "$filter: the height of the step beside it, nothing elsewhere"
done
"$edges" canny 20 60 step.pgm out.pgm
pixels out.pgm | awk '{ n = 0; for (x = 0; x < NF; x++) if ($(x + 1) == 255) { n++; at = x } else if ($(x + 1)) bad = 1; if (n != 1 || at != 7) bad = 1 } END { exit bad || NR != 12 }'
ok $? "canny: a line one pixel wide, from border to border"
"$edges" canny 151 151 step.pgm out.pgm
[ -z "$(pixels out.pgm | tr -d ' 0\n')" ]
ok $? "canny: nothing above the threshold, nothing found"

# --- directions: a step along x and the same along y give the same, turned ---
image turned.pgm 12 16 '(y < 8 ? 50 : 200)'
"$edges" canny 20 60 turned.pgm out.pgm
[ "$(pixels out.pgm | grep -c 255)" = 1 ] && [ "$(pixels out.pgm | sed -n 8p)" = "$(yes 255 | head -n 12 | tr '\n' ' ' | sed 's/ $//')" ]
ok $? "canny: a horizontal step is one row"
image diagonal.pgm 20 20 '(x + y < 20 ? 40 : 240)'
"$edges" canny 20 60 diagonal.pgm out.pgm
pixels out.pgm | awk '{ n = 0; for (x = 1; x <= NF; x++) n += $x == 255; if (n > 2 || (NR > 1 && !n)) bad = 1 } END { exit bad }'
ok $? "canny: a diagonal step is a staircase without holes, at most two pixels in a row"

# --- hysteresis: a weak edge counts where it continues a strong one ---
image weak.pgm 16 24 '(x < 8 ? 50 : 200 - 5 * y)'
"$edges" canny 10 100 weak.pgm out.pgm
[ "$(pixels out.pgm | awk '$8 + $9 == 255' | wc -l)" = 24 ]
ok $? "canny: the weak end is kept, being joined to the strong one"
image apart.pgm 16 24 '(x < 8 ? 50 : 80)'
"$edges" canny 10 100 apart.pgm out.pgm
[ -z "$(pixels out.pgm | tr -d ' 0\n')" ]
ok $? "canny: alone it is not"

# --- smoothing ---
image flat.pgm 9 9 77
"$edges" gauss 2 flat.pgm out.pgm
[ "$(pixels out.pgm | tr ' ' '\n' | sort -u)" = 77 ]
ok $? "gauss: what is even stays even, also at the borders"
image dot.pgm 15 15 '(x == 7 && y == 7 ? 255 : 0)'
"$edges" gauss 1 dot.pgm out.pgm
pixels out.pgm | awk '{ for (x = 1; x <= NF; x++) v[NR, x] = $x } END { for (y = 1; y <= 15; y++) for (x = 1; x <= 15; x++) bad += v[y, x] != v[x, y] || v[y, x] != v[16 - y, x]; exit bad || v[8, 8] < 39 || v[8, 8] > 42 }'
ok $? "gauss: a point becomes a round spot of height 255 / 2 pi"

# --- comparing ---
image line.pgm 21 21 '(x == 10 ? 255 : 0)'
"$edges" compare line.pgm line.pgm | tr '\n' ' ' | grep -q 'pixels 21 true 21 precision 1.0000 recall 1.0000 f1 1.0000 merit 1.0000'
ok $? "compare: an image with itself is perfect"
image moved.pgm 21 21 '(x == 11 ? 255 : 0)'
"$edges" compare moved.pgm line.pgm | grep -q 'merit 0.9000'
ok $? "compare: one pixel off is 1 / (1 + 1/9) by Pratt"
image far.pgm 21 21 '(x == 13 ? 255 : 0)'
"$edges" compare far.pgm line.pgm | tr '\n' ' ' | grep -q 'precision 0.0000 recall 0.0000 f1 0.0000 merit 0.5000'
ok $? "compare: three pixels off is wrong, and 1/2 by Pratt"

# --- the regions of the experiment ---
for region in a b; do
    "$edges" draw $region $region.pgm $region.truth.pgm && "$edges" draw $region again.pgm again.truth.pgm
    cmp -s $region.pgm again.pgm && cmp -s $region.truth.pgm again.truth.pgm
    ok $? "region $region is drawn the same every time"
    "$edges" gauss 1.4 $region.pgm smooth.pgm
    "$edges" sobel smooth.pgm sobel.pgm
    "$edges" canny 6 14 smooth.pgm canny.pgm
    f1() { "$edges" compare "$1" $region.truth.pgm | awk '$1 == "f1" { print $2 }'; }
    awk -v s="$(f1 sobel.pgm)" -v c="$(f1 canny.pgm)" 'BEGIN { exit !(c > 0.95 && s > 0.7 && c > s) }'
    ok $? "region $region: canny finds the true edges, better than sobel"
done

# --- bad files ---
printf 'P5\n4 4\n255\nabc' >cut.pgm
printf 'P5\n99999999 99999999\n255\n' >huge.pgm
printf 'P6\n1 1\n255\nabc' >colour.pgm
for bad in cut.pgm huge.pgm colour.pgm none.pgm; do
    "$edges" sobel $bad out.pgm 2>err
    [ $? = 2 ] && grep -q "^edges: .*$bad" err
    ok $? "$bad is refused by name"
done
"$edges" gauss 0 step.pgm out.pgm 2>/dev/null
[ $? = 2 ]
ok $? "a sigma of 0 is refused"
echo "1..$count"
exit $failed
