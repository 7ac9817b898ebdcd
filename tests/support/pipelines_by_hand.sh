#!/usr/bin/env bash
# The six pipelines of examples/pipelines as loops of bash, one command after the other: what weft's results are compared with, and
# what the commands cost by themselves (bench/pipelines.py).   pipelines_by_hand.sh NAME, in the pipeline's folder.
set -euo pipefail
do_task() { bash -e -o pipefail -c "$1"; }
each_name() { for f in "$1"/*; do f=${f##*/}; echo "${f%.*}"; done; }
case $1 in
words)
    mkdir -p counts
    for doc in $(each_name texts); do do_task "tr ' ' '\n' < texts/$doc.txt | sort | uniq -c > counts/$doc.txt"; done
    do_task "cat counts/*.txt | awk '{n[\$2]+=\$1} END {for (w in n) print n[w], w}' | sort -rn > total.txt"
    ;;
images)
    mkdir -p soft mask clean score
    for img in $(each_name images); do
        for s in 1 2 3; do
            do_task "convert images/$img.png -blur 0x$s soft/${img}_$s.png"
            for l in 30 50; do
                do_task "convert soft/${img}_$s.png -threshold $l% mask/${img}_${s}_$l.png"
                for r in 1 2; do
                    name=${img}_${s}_${l}_$r
                    do_task "convert mask/${img}_${s}_$l.png -morphology open disk:$r clean/$name.png"
                    do_task "convert clean/$name.png -format 'area %[fx:mean]\ndeviation %[fx:standard_deviation]\n' info:- > score/$name.txt"
                done
            done
        done
    done
    for f in score/*.txt; do
        name=${f##*/}
        printf '%s\t%s\n' "$(echo "${name%.txt}" | tr _ '\t')" "$(awk '{ printf "%s%s", (NR > 1 ? "\t" : ""), $2 }' "$f")"
    done >table.tsv
    ;;
ridge)
    mkdir -p cv
    do_task "python3 make.py > data.txt"
    fits=""
    for d in ${DEGREES:-1 2 3 4}; do
        for a in ${ALPHAS:-0.01 0.1 1 10}; do
            for f in 0 1 2 3 4; do
                do_task "python3 fit.py data.txt $d $a $f > cv/${d}_${a}_$f.txt"
                fits="$fits cv/${d}_${a}_$f.txt"
            done
        done
    done
    do_task "awk -f best.awk $fits > best.txt"
    do_task "read d a m < best.txt; python3 fit.py data.txt \$d \$a -1 > model.txt"
    ;;
variants)
    mkdir -p hits sorted merged vcf
    tail -n +2 samples.tsv | while read -r sample lane file; do
        do_task "awk -v genome=genome.txt -f scripts/align.awk $file > hits/${sample}_$lane.txt"
        do_task "LC_ALL=C sort -k1,1n -k2 hits/${sample}_$lane.txt > sorted/${sample}_$lane.txt"
    done
    for sample in $(tail -n +2 samples.tsv | cut -f1 | sort -u); do
        do_task "LC_ALL=C sort -m -k1,1n -k2 sorted/${sample}_*.txt > merged/$sample.txt"
        do_task "awk -v genome=genome.txt -f scripts/call.awk merged/$sample.txt > vcf/$sample.txt"
    done
    do_task "sort vcf/*.txt | uniq -c | sort -rn > cohort.txt"
    ;;
matrix)
    for std in c99 c11 c17; do
        for opt in O0 O1 O2 O3; do
            at=build/$std-$opt
            mkdir -p "$at" "results/$std-$opt"
            for unit in dot norm; do do_task "cc -std=$std -$opt -c src/$unit.c -o $at/$unit.o"; done
            for test in long sum unit zero; do
                do_task "cc -std=$std -$opt tests/$test.c $at/dot.o $at/norm.o -lm -o $at/test_$test"
                do_task "./$at/test_$test > results/$std-$opt/$test.txt"
            done
        done
    done
    do_task "cat results/*/*.txt | sort | uniq -c > summary.txt"
    ;;
chunks)
    mkdir -p models
    do_task "mkdir -p parts; seq 1000 | split -l 77 - parts/chunk_"
    for chunk in $(each_name parts); do do_task "awk '{s+=\$1} END {print s}' parts/$chunk > models/$chunk"; done
    do_task "sort -n models/* | tail -1 > best.txt"
    ;;
*)
    echo "pipelines_by_hand.sh: there is no pipeline '$1'" >&2
    exit 2
    ;;
esac
