#!/usr/bin/env bash
# `weft convert in.dag out.dag --order ic` dropped SCRIPT, CATEGORY and the like, and renamed jobs. `weft
# order` adds priorities to copies of the user's own files and changes nothing else: DAGMan's through
# SPLICE, SUBDAG and INCLUDE, Slurm's job scripts, Snakemake's rules. Speaks TAP.
weft=$WEFT
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$(dirname "$0")/../support/tap.sh"
cd "$work" || exit 1

# --- a file with everything that a translation would lose ---
cat >in.dag <<'DAG'
# mine
JOB first first.sub
  job Second { 
    executable = /bin/true
}
SPLICE s inner.dag
SPLICE s2 inner.dag
SUBDAG EXTERNAL sub sub.dag
SUBDAG EXTERNAL later later.dag
INCLUDE more.inc
FINAL last last.sub
SCRIPT PRE first pre.sh
CATEGORY first c1
MAXJOBS c1 2
ABORT-DAG-ON first 3
PRE_SKIP first 1
CONFIG my.config
PARENT first CHILD s s2 Second
PARENT s CHILD sub \
  later
PRIORITY first 3
DAG
printf 'JOB x x.sub\nJOB y y.sub\nPARENT x CHILD y' >inner.dag
printf 'JOB p p.sub\r\nJOB q q.sub\r\nPARENT p CHILD q\r\n' >sub.dag
printf 'JOB third third.sub\nSPLICE s3 inner.dag\nPARENT third CHILD s3\n' >more.inc
"$weft" order in.dag --annotate -o out.dag >out 2>err
ok $? "a DAGMan file with priorities"
sed '/^# weft order/,$d; s/\.out\.[a-z0-9+]*\././' out.dag | sed 's/more\.out\.inc/more.inc/' | cmp - in.dag
ok $? "is the user's file, byte for byte but for names of copies"
sed '/^# weft order/,$d' inner.out.s.dag >copy; printf 'JOB x x.sub\nJOB y y.sub\nPARENT x CHILD y\n' | cmp - copy
ok $? "so is a splice's"
[ "$(sed '/^# weft order/,$d' sub.out.sub.dag | od -c)" = "$(od -c <sub.dag)" ] && grep -q $'^PRIORITY p .*\r$' sub.out.sub.dag
ok $? "and a sub-dag's, whose lines end as they did"
grep -q '^SPLICE s3 inner\.out\.s3\.dag$' more.out.inc
ok $? "an included file has a copy where a splice in it has one"
[ -f in.dag ] && ! grep -q "weft order" in.dag inner.dag sub.dag more.inc
ok $? "the user's own files are as they were"
grep -q "1 PRIORITY statement" err
ok $? "what no longer counts is said"

# the same graph, and priorities whose sums along sub-dags are a permutation in the order of the edges
"$weft" convert in.dag - --read subdags=there --to dot -q 2>/dev/null | grep -- '->' | sort >before
"$weft" convert out.dag - --read subdags=there --to dot -q 2>/dev/null | grep -- '->' | sort >after
[ -s before ] && cmp before after
ok $? "the copies are the same graph"
{
    sed -n 's/^PRIORITY \([a-zA-Z0-9]*\) \(.*\)/\1 \2/p' <(sed -n '/^# weft order/,$p' out.dag) | grep -v '^sub '
    for s in s s2 s3; do sed -n "s/^PRIORITY \\([xy]\\) \\(.*\\)/$s+\\1 \\2/p" inner.out.$s.dag; done
    base=$(sed -n 's/^PRIORITY sub \(.*\)/\1/p' out.dag)
    tr -d '\r' <sub.out.sub.dag | awk -v base="$base" '/^PRIORITY/ { print "sub+" $2, $3 + base }'
} | sort -k2nr >effective
[ "$(wc -l <effective)" = 12 ] && [ -z "$(cut -d' ' -f2 effective | sort | uniq -d)" ]
ok $? "every node but FINAL has a priority of its own"
awk '{ print $1 }' effective | awk 'NR == FNR { place[$1] = NR; next } { gsub(/[";]/, ""); if (place[$1] && place[$3] && place[$1] > place[$3]) bad = 1 } END { exit bad }' - before
ok $? "parents come before children"
cp out.dag again.dag
"$weft" order again.dag --annotate -o again.dag --read subdags=task -q >out 2>err && [ "$(grep -c '^# weft order' again.dag)" = 1 ]
ok $? "annotated again, the old priorities are replaced"
cp inner.dag bare && printf 'SPLICE s inner.dag\nSPLICE t bare\nINCLUDE more.inc\n' >place.dag && "$weft" order place.dag --annotate -o place.dag -q
ls *place* >first && cat place.dag *.place*.* >text && "$weft" order place.dag --annotate -o place.dag -q && ls *place* | cmp - first && cat place.dag *.place*.* | cmp - text
ok $? "in place, copies keep their names, and nothing grows"
"$weft" order in.dag --annotate >out 2>err
[ $? = 2 ] && grep -q "Give -o" err
ok $? "without -o nothing is written"
printf 'weft: 1\ntasks:\n  a: { run: "true" }\n' >flow.yaml
"$weft" order flow.yaml --annotate -o o.yaml >out 2>err
[ $? = 2 ] && grep -q "no place for priorities" err && [ ! -e o.yaml ]
ok $? "a format without a place for them says so"
"$weft" convert in.dag translated.dag --order ic >out 2>err
[ $? = 0 ] && grep -q "not carried over:.*SCRIPT" err && grep -q "weft order IN --annotate -o OUT" err
ok $? "a translation says what it leaves out, and what does not leave it out"
"$weft" order in.dag --with heft >out 2>err
[ $? = 2 ] && grep -q "family order" err
ok $? "a planner that makes no order is refused"

# --- corners in which a copy said something else than the user's file, or than the order ---
mkdir corners && cd corners || exit 1
printf 'JOB x x.sub\nJOB y y.sub\nPARENT x CHILD y\n' >inner.dag
printf 'JOB a a.sub\nSPLICE s inner.dag\nPRIORITY s+x 1\nPRIORITY s+y 99\nPARENT a CHILD s\n' >outer.dag
"$weft" order outer.dag --annotate -o outer2.dag >out 2>err && grep -qx 'PRIORITY s+x 2' outer2.dag && grep -qx 'PRIORITY s+y 1' outer2.dag && grep -q "^weft: 2 PRIORITY" err
ok $? "a priority that a file states for a splice's node is overridden where it stands"
for end in '\\' '\\\n' '\\  \n' '\\\r\n'; do
    printf "JOB a a.sub\nJOB b b.sub\nPARENT a CHILD b $end" >end.dag
    "$weft" order end.dag --annotate -o end2.dag -q 2>err && "$weft" convert end2.dag - --to dot -q 2>>err | grep -q '"\?a"\? -> "\?b' || echo "$end" >>ends
    "$weft" order end2.dag --annotate -o end3.dag -q 2>err && cmp -s end2.dag end3.dag || echo "again $end" >>ends
done
[ ! -e ends ]
ok $? "a file that ends in a backslash has no line of ours joined to it"
printf '# see C:\\jobs\\\nJOB a a.sub\nJOB b \\\n  # the second \\\n  b.sub \\ \n  DONE\nPARENT a CHILD b\n' >comment.dag
"$weft" order comment.dag -q >out 2>err && [ "$(tr '\n' ' ' <out)" = "a b " ]
ok $? "a comment that ends in a backslash swallows no node, and one between joined lines is passed over"
printf 'JOB a @=end\n executable = /bin/true\n}\n@end\nJOB b "my file.sub" DIR "my dir"\nSPLICE s "in ner.dag"\nPARENT a CHILD b s\n' >quoted.dag
cp inner.dag 'in ner.dag'
"$weft" order quoted.dag --annotate -o quoted2.dag >out 2>err && grep -qx 'SPLICE s "in ner.quoted2.s.dag"' quoted2.dag && "$weft" order quoted2.dag -q >out 2>err && [ "$(wc -l <out)" = 4 ]
ok $? "names of files in quotes, and a description between tags with a brace in it"
printf 'JOB a a.sub\nSPLICE s/1 inner.dag\nPARENT a CHILD s/1\n' >slash.dag
"$weft" order slash.dag --annotate -o slash2.dag >out 2>err && "$weft" order slash2.dag -q >out 2>err && [ "$(tr '\n' ' ' <out)" = "a s/1+x s/1+y " ]
ok $? "a splice whose name no file can have"
printf 'mine\n' >inner.mine.s.dag
"$weft" order outer.dag --annotate -o mine.dag >out 2>err
[ $? = 2 ] && [ "$(cat inner.mine.s.dag)" = mine ] && [ ! -e mine.dag ] && grep -q "inner.mine.s.dag.*-o" err
ok $? "no file of the user's is replaced by a copy"
cp inner.dag theirs.dag && printf 'SPLICE s theirs.dag\n' >splices.dag && "$weft" order splices.dag --annotate -o ours.dag -q
for yours in theirs.dag theirs.ours.s.dag slash.dag; do
    [ $yours = theirs.ours.s.dag ] && input=ours.dag || input=splices.dag
    cp $yours kept && "$weft" order $input --annotate -o $yours >out 2>err
    [ $? = 2 ] && cmp -s $yours kept && grep -q -e '-o another name' err || echo "# $yours" | tee replaced
done
[ ! -e replaced ]
ok $? "nor by the file itself, be it one that it splices or any other"
printf 'SPLICE deep inner.dag\n' >only.dag && printf 'SPLICE s only.dag\nINCLUDE inc\n' >nested.dag && printf 'SPLICE i inner.dag\n' >inc
"$weft" order nested.dag --annotate -o nested2.dag -q >out 2>err && "$weft" order nested.dag --annotate -o nested2.dag >out 2>err && "$weft" order nested2.dag -q >out 2>err && [ "$(wc -l <out)" = 4 ]
ok $? "but by one of an earlier time, also where it has no priorities"
"$weft" order outer.dag --annotate -o 'my "out".dag' -q >out 2>err && grep -qx 'SPLICE s inner.my%20%22out%22.s.dag' 'my "out".dag' && "$weft" order 'my "out".dag' -q >out 2>err && [ "$(wc -l <out)" = 3 ]
ok $? "a copy's name is one word, whatever that of the output is"
"$weft" order outer.dag --annotate -o there/o.dag >out 2>err
[ $? = 2 ] && ! ls | grep -q '^inner\.o\.'
ok $? "where the file itself cannot be written, no copies are left"
mkdir away && "$weft" order outer.dag --annotate -o away/o.dag >out 2>err && grep -q "away/o.dag names files as outer.dag does" err
ok $? "a file that is written into another folder is to be submitted from the first"
"$weft" order outer.dag --annotate -o o2.dag >out 2>err && ! grep -q "names files as" err
ok $? "else nothing is said"
cd .. || exit 1

# --- the files of HTCondor's own tests and others ---
data=${WEFT_SHARED:-$root/../shared}/data/dagman
if [ -d "$data" ]; then
    mkdir wild && cp -r "$data" wild/ && n=0 bad=0
    for f in $(find wild -name '*.dag' | sort); do
        "$weft" convert "$f" - --read subdags=there --to dot -q >g1 2>/dev/null || continue
        n=$((n + 1))
        if ! "$weft" order "$f" --annotate -o "${f%.dag}.ordered-here.dag" -q >out 2>err ||
            ! "$weft" convert "${f%.dag}.ordered-here.dag" - --read subdags=there --to dot -q 2>/dev/null | grep -- '->' | sort | cmp -s - <(grep -- '->' g1 | sort); then
            bad=$((bad + 1)); echo "# $f"; sed 's/^/# /' err
        fi
    done
    [ "$n" -gt 20 ] && [ "$bad" = 0 ]
    ok $? "$n files of others, annotated, are the same graphs"
else
    ok 0 "files of others # SKIP no shared data"
fi

# --- Slurm ---
mkdir jobs
printf '#!/bin/bash\n#SBATCH -n 1\n# about it\n\n#SBATCH --nice=7\necho one\n#SBATCH --no\n' >jobs/one.sh
printf '#!/bin/bash\necho two' >jobs/two.sh
chmod 755 jobs/one.sh
printf 'digraph g { one -> two }\n' >two.dot
"$weft" order two.dot --scripts 'jobs/{task}.sh' -o ordered >out 2>err && grep -q "1 of them had a --nice" err
ok $? "job scripts with --nice"
printf '#!/bin/bash\n#SBATCH -n 1\n# about it\n\n#SBATCH --nice=7\n#SBATCH --nice=0\necho one\n#SBATCH --no\n' | cmp - ordered/one.sh && [ -x ordered/one.sh ] &&
    printf '#!/bin/bash\n#SBATCH --nice=1\necho two' | cmp - ordered/two.sh
ok $? "behind the last of the directives, else behind the first line"
"$weft" order two.dot --scripts 'jobs/{task}.sh' -o ./jobs >out 2>err
[ $? = 2 ] && grep -q "another folder" err && ! grep -q 'nice=[01]' jobs/*.sh
ok $? "the user's own scripts are not replaced"
printf 'digraph g { one -> two -> three }\n' >three.dot
"$weft" order three.dot --scripts 'jobs/{task}.sh' -o half >out 2>err
[ $? = 2 ] && [ ! -e half ] && grep -q "jobs/three.sh: cannot open.*nothing was written" err
ok $? "where one script is missing, none is written"
for t in one two; do mkdir -p steps/$t && echo "#!/bin/sh" >steps/$t/$t.sh; done
"$weft" order two.dot --scripts 'steps/{task}/{task}.sh' -o ordered2 >out 2>err && grep -q 'nice=0' ordered2/one/one.sh && grep -q 'nice=1' ordered2/two/two.sh
ok $? "scripts in folders of their own have copies in such"
"$weft" order two.dot --scripts 'jobs/{task}.job' -o ordered >out 2>err
[ $? = 2 ] && grep -q "one.job" err
ok $? "a script that is not there is named"
"$weft" order two.dot --scripts jobs -o ordered >out 2>err
[ $? = 2 ] && grep -q "{task}" err
ok $? "a pattern without {task} is refused"

# --- Snakemake ---
printf 'digraph snakemake_dag {\n 0[label = "all"];\n 1[label = "b"];\n 2[label = "a\\nx: 1"];\n 3[label = "a\\nx: 2"];\n 2 -> 1\n 3 -> 1\n 1 -> 0\n}\n' >dag.dot
"$weft" order dag.dot --snakemake Snakefile -o ordered.smk >out 2>err
[ $? = 2 ] && grep -q "Snakefile: cannot open" err && [ ! -e ordered.smk ]
ok $? "a Snakefile that is not there is named"
printf 'configfile: "config.yaml"\nconfigfile:\n    "more.yaml" # and this\nconfigfile: HERE\nrule all:\n    input: "b"\nrule a:\ncheckpoint b :\n' >Snakefile
"$weft" order dag.dot --snakemake Snakefile -o Snakefile >out 2>err
[ $? = 2 ] && grep -q "another file" err
ok $? "nor is the user's own replaced"
printf 'rule x:\n    input: "rule a:"\n' >other.smk
"$weft" order dag.dot --snakemake other.smk -o wrong.smk >out 2>err
[ $? = 2 ] && [ ! -e wrong.smk ] && grep -q "other.smk has no rule '.*whose dag is it?" err
ok $? "the dag of another Snakefile is refused"
printf 'include: "rest.smk"\n' >>other.smk
printf 'rule mine:\n' >rest.smk && "$weft" order dag.dot --snakemake Snakefile -o rest.smk >out 2>err
[ $? = 2 ] && [ "$(cat rest.smk)" = "rule mine:" ] && grep -q "rest.smk: this file of yours" err
ok $? "a file of the user's is not replaced, one of ours is"
"$weft" order dag.dot --snakemake other.smk -o ordered.smk >out 2>err && grep -q "3 rules of the workflow ('all' and others) are not in other.smk itself" err && "$weft" order dag.dot --snakemake Snakefile -o ordered.smk >out 2>err && ! grep -q "rules\? of the workflow" err
ok $? "rules that may stand in included files are told"
printf 'rule a:\n    output: "x"\n    priority: 7\nrule b:\n    params: "priority: 3"\n\tpriority : 2\n# priority: 9\n' >own.smk
"$weft" order dag.dot --snakemake own.smk -o ordered.smk >out 2>err && grep -q "2 rules of own.smk state a priority, which no longer counts where ordered.smk gives one" err
ok $? "priorities that rules have already are counted"
"$weft" order dag.dot --snakemake Snakefile -o ordered.smk >out 2>err && grep -qx 'configfile: "config.yaml"' ordered.smk && grep -qx 'configfile: "more.yaml" # and this' ordered.smk && grep -q 'Snakefile:4: .*--configfile' err
ok $? "its configfiles are repeated, as a module's own do not count"
mkdir sub && "$weft" order dag.dot --snakemake Snakefile -o sub/ordered.smk >out 2>err && grep -q "snakefile: \"$(pwd -P)/Snakefile\"" sub/ordered.smk
ok $? "it is found from another folder"
"$weft" order dag.dot --snakemake Snakefile -o ordered.smk >out 2>err && tr '\n' ' ' <ordered.smk | grep -q 'use rule all .* priority: 1 use rule b .* priority: 2 use rule a .* priority: 3 '
ok $? "rules with priorities, the first with the largest"
if command -v snakemake >/dev/null; then
    printf 'word: hello\n' >config.yaml
    cat >Snakefile <<'SMK'
configfile: "config.yaml"
rule all:
    input: "b.txt"
rule a:
    output: "a.{x}.txt"
    shell: "echo {config[word]} {wildcards.x} > {output}"
rule b:
    input: expand("a.{x}.txt", x=[1, 2])
    output: "b.txt"
    shell: "cat {input} > {output}"
SMK
    "$weft" order dag.dot --snakemake Snakefile -o ordered.smk >out 2>err
    ok $? "a Snakefile with its configuration is ordered"
    # Its caches are in this test's own folder: Snakemake does not begin where it cannot write to those of its user.
    HOME=$work XDG_CACHE_HOME=$work/cache snakemake -s ordered.smk -c 1 --verbose >out 2>err
    ok $? "Snakemake runs it"
    [ "$(cat b.txt)" = "$(printf 'hello 1\nhello 2')" ]
    ok $? "with its configuration"
    grep -q "priority: 3" err
    ok $? "and the priorities"
else
    ok 0 "Snakemake runs it # SKIP no snakemake"
fi

echo "1..$count"
exit $failed
