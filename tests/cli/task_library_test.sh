#!/usr/bin/env bash
# Every task of the library (tasks/*.yaml) is run as it is shipped, and its result is compared. Speaks TAP.
set -u
source=$PWD
weft=$(realpath "$WEFT")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
count=0 bad=0
ok() { # status text
    count=$((count + 1))
    [ "$1" = 0 ] && echo "ok $count - $2" || { echo "not ok $count - $2"; bad=1; cat err 2>/dev/null | sed 's/^/# /'; }
}
tab() { tr ' ' '\t'; }

# NAME PROGRAM: a folder with the description in it; false: the program is not there, which is said
begin() {
    mkdir "$work/$1" && cd "$work/$1" && cp "$source/tasks/$1.yaml" . || exit 1
    command -v "$2" >/dev/null && return 0
    count=$((count + 1))
    echo "ok $count - $1 # SKIP no $2 here"
    return 1
}
# NAME FILE TEXT [-p ...]: the result is this text; with "-" as FILE only that it runs
gives() {
    local name=$1 file=$2 text=$3
    shift 3
    "$weft" run "$name.yaml" -q "$@" >out 2>err && { [ "$file" = - ] || [ "$(cat "$file")" = "$text" ]; }
    ok $? "$name${*:+ $*}"
}
says() { identify -format '%[fx:w] %[fx:h] %[fx:mean]' "$1"; } # width, height, mean

# ---- files ----
begin concatenate cat && { echo a >first.txt; echo b >second.txt; gives concatenate all.txt $'a\nb'; }
begin copy cp && { echo a >original.txt; gives copy copy.txt a; }
begin compress gzip && { echo a >data.txt; gives compress - -; gzip -dc data.txt.gz | cmp -s - data.txt; ok $? "compress, and back"; }
begin decompress gzip && { echo a | gzip >data.txt.gz; gives decompress data.txt a; }
begin archive tar && { echo a >first.txt; echo b >second.txt; gives archive - -; [ "$(tar tf files.tar.gz | tr '\n' ' ')" = "first.txt second.txt " ]; ok $? "archive has both"; }
begin extract tar && { echo a >x; tar czf files.tar.gz x; rm x; gives extract unpacked/x a; }
begin checksum sha256sum && { echo a >data.txt; gives checksum checksums.txt "$(sha256sum data.txt)"; }
begin difference diff && { printf 'a\nb\n' >before.txt; printf 'a\nc\n' >after.txt; gives difference - -; [ "$(grep -c '^[-+][bc]$' difference.txt)" = 2 ]; ok $? "difference names both lines"; }
begin list-folder find && { mkdir folder; printf 12345 >folder/x; gives list-folder files.tsv $'x\t5'; }
begin split split && { seq 5 >data.txt; gives split parts/part01 $'3\n4' -p lines=2; }
# ---- text ----
begin sort-lines sort && { printf 'b\na\nb\n' >lines.txt; gives sort-lines sorted.txt $'a\nb'; }
begin count-lines wc && { echo "a b" >text.txt; gives count-lines - -; [ "$(awk '{print $1, $2, $3}' counts.txt)" = "1 2 4" ]; ok $? "count-lines counts"; }
begin word-frequencies grep && { echo "To be, or not to be" >text.txt; gives word-frequencies words.tsv "$(printf 'be 2\nto 2\nnot 1\nor 1' | tab)"; }
begin search grep && { printf 'an error\nfine\n' >text.txt; gives search found.txt "an error"; gives search found.txt "" -p pattern=nothing; }
begin replace sed && { echo "a1 b22" >text.txt; gives replace replaced.txt "aN bN"; }
begin first-lines head && { seq 20 >text.txt; gives first-lines first.txt $'1\n2' -p lines=2; }
begin last-lines tail && { seq 20 >text.txt; gives last-lines last.txt $'19\n20' -p lines=2; }
begin number-lines awk && { printf 'a\nb\n' >text.txt; gives number-lines numbered.txt "$(printf '1 a\n2 b' | tab)"; }
begin lower-case tr && { echo "AbC" >text.txt; gives lower-case lower.txt abc; }
begin encoding iconv && { printf '\344\n' >latin.txt; gives encoding text.txt ä; }
begin random-lines awk && { seq 50 >text.txt; gives random-lines - - -p lines=5; [ "$(sort -u sample.txt | wc -l)" = 5 ]; ok $? "random-lines picks five different ones"; }
# ---- tables ----
table() { printf 'key\tn\nb\t3\na\t-1\nb\t14\n' >table.tsv; }
begin select-columns cut && { table; gives select-columns columns.tsv $'n\n3\n-1\n14' -p columns=2; }
begin filter-rows awk && { table; gives filter-rows rows.tsv "$(printf 'key n\nb 3\nb 14' | tab)"; }
begin sort-table sort && { table; gives sort-table sorted.tsv "$(printf 'key n\na -1\nb 3\nb 14' | tab)" -p column=2 -p options=n; }
begin join-tables join && { printf 'k\tx\nb\t2\na\t1\n' >left.tsv; printf 'k\ty\na\t7\nc\t8\n' >right.tsv; gives join-tables joined.tsv "$(printf 'k x y\na 1 7' | tab)"; }
begin append-tables awk && {
    printf 'k\nx\n' >first.tsv; printf 'k\ny\n' >second.tsv; gives append-tables all.tsv $'k\nx\ny'
    printf 'j\ny\n' >second.tsv; ! "$weft" run append-tables.yaml -q >out 2>err; ok $? "append-tables refuses another header"
}
begin statistics awk && { table; gives statistics statistics.txt "$(printf 'count=3\nmean=5.333333333\nsd=6.342099197\nmin=-1\nmax=14')"; }
begin group-sum awk && { table; gives group-sum sums.tsv "$(printf 'key n\na -1\nb 17' | tab)"; }
begin histogram awk && { table; gives histogram histogram.tsv "$(printf -- '-10 1\n0 1\n10 1' | tab)"; }
begin transpose awk && { table; gives transpose transposed.tsv "$(printf 'key b a b\nn 3 -1 14' | tab)"; }
begin csv-to-tsv python3 && { printf 'a,"b, c"\r\n1,"x\ny"\r\n' >table.csv; gives csv-to-tsv table.tsv "$(printf 'a\tb, c\n1\tx y')"; }
begin table-to-json python3 && { printf 'k\tn\na\t1\n' >table.tsv; gives table-to-json - -; [ "$(tr -d ' \n' <table.json)" = '[{"k":"a","n":"1"}]' ]; ok $? "table-to-json names cells by the header"; }
begin sql sqlite3 && { table; gives sql answer.tsv "$(printf 'key s\nb 17' | tab)" -p "query=select key, sum(n) as s from t where key='b' group by key"; }
# ---- images ----
picture() { convert -size 40x20 xc:black -fill white -draw 'rectangle 20,0 39,19' -depth 8 "$1"; } # half black, half white
image() { # NAME RESULT: begins, draws, runs
    begin "$1" convert || return 1
    picture picture.png
    gives "$1" - - "${@:3}"
    [ -s "$2" ]
}
image resize resized.png && { [ "$(says resized.png | cut -d ' ' -f 1,2)" = "20 10" ]; ok $? "resize halves"; }
image crop part.png -p part=10x10+0+0 && { [ "$(says part.png)" = "10 10 0" ]; ok $? "crop takes the black corner"; }
image rotate rotated.png && { [ "$(says rotated.png | cut -d ' ' -f 1,2)" = "20 40" ]; ok $? "rotate turns"; }
image grey grey.png && { [ "$(says grey.png)" = "40 20 0.5" ]; ok $? "grey keeps black and white"; }
image blur blurred.png && { [ "$(identify -format %k blurred.png)" -gt 2 ]; ok $? "blur has more greys"; }
image sharpen sharp.png && { [ "$(says sharp.png | cut -d ' ' -f 1,2)" = "40 20" ]; ok $? "sharpen keeps the size"; }
image threshold mask.png && { [ "$(says mask.png)" = "40 20 0.5" ]; ok $? "threshold splits"; }
for filter in sobel prewitt canny; do # edges in the middle, none in the corner
    image $filter $filter.png && {
        convert $filter.png -crop 8x20+16+0 +repage middle.png && convert $filter.png -crop 8x20+0+0 +repage corner.png
        [ "$(identify -format '%[fx:mean>0.05]' middle.png) $(identify -format '%[fx:mean<0.01]' corner.png)" = "1 1" ]
        ok $? "$filter finds the edge, and only it"
    }
done
image convert-picture picture.pgm && { [ "$(head -c 2 picture.pgm)" = P5 ]; ok $? "convert-picture writes another format"; }
begin compare-pictures compare && {
    picture picture.png; picture other.png; gives compare-pictures difference.txt rmse=0
    convert -size 40x20 xc:white other.png; gives compare-pictures - -; grep -q '^rmse=0\.7' difference.txt; ok $? "compare-pictures measures"
}
begin contact-sheet montage && { picture first.png; picture second.png; gives contact-sheet - - -p size=40x20 -p columns=2; [ "$(says sheet.png | cut -d ' ' -f 1)" -ge 80 ]; ok $? "contact-sheet has two columns"; }
begin draw-test-picture convert && { gives draw-test-picture - -; [ "$(says picture.png | cut -d ' ' -f 1,2)" = "200 200" ]; ok $? "draw-test-picture draws"; }
# ---- programs ----
begin compile-program cc && { echo 'int main(void) { return 7; }' >program.c; gives compile-program - -; ./program; [ $? = 7 ]; ok $? "compile-program makes one that runs"; }
begin run-program sh && { printf '#!/bin/sh\ncat; echo "$1"\n' >program; chmod +x program; echo a >data.txt; gives run-program result.txt $'a\nb' -p arguments=b; }
begin run-python python3 && { echo 'import sys; open(sys.argv[2], "w").write(open(sys.argv[1]).read() * 2)' >script.py; echo a >data.txt; gives run-python result.txt $'a\na'; }
begin call-function cc && {
    mkdir weft && cp "$source/include/weft/task.h" weft/
    cat >functions.c <<'C'
#include "weft/task.h"
#include <stdio.h>
int work(const struct weft_task *task)
{
    FILE *in = fopen(task->in[0], "r"), *out = fopen(task->out[0], "w");
    int n = in ? fgetc(in) : EOF;
    return !in || !out || fputc(n + 1, out) == EOF || fclose(out) || fclose(in);
}
C
    sed -i "s|cc -O2|CPATH=$PWD cc -O2|" call-function.yaml # where the header is, in a checkout
    printf a >data.txt
    gives call-function result.bin b
}

# ---- all of them ----
cd "$source" || exit 1
for file in tasks/*.yaml; do
    name=$(basename "$file" .yaml)
    [ -d "$work/$name" ] && grep -q "^name: $name$" "$file" && head -n 2 "$file" | grep -c '^# ' | grep -qx 2 &&
        sed -n 2p "$file" | grep -q '^# group: [a-z]*' || { echo "# $file is not tested, or does not say what it is"; bad=1; }
done
[ "$(ls tasks/*.yaml | wc -l)" -ge 30 ] && [ $bad = 0 ]
ok $? "each of the $(ls tasks/*.yaml | wc -l) tasks is tested, has its file's name and says what it does"
echo "1..$count"
exit $bad
