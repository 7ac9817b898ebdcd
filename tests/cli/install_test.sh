#!/usr/bin/env bash
# An installed copy, used as a stranger would: the program, pkg-config, a C program, man pages, completion.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix
n=0 bad=0
: >"$work/out"
ok() { # ok CONDITION-STATUS DESCRIPTION
    n=$((n + 1))
    if [ "$1" -eq 0 ]; then echo "ok $n - $2"; else
        echo "not ok $n - $2"; bad=1
        sed 's/^/# got /' "$work/out" | head -n 20
    fi
}
skip() { n=$((n + 1)); echo "ok $n - $1 # SKIP $2"; }
# run DESCRIPTION COMMAND...: must succeed; what it prints is kept for the next questions
run() { local what=$1; shift; "$@" >"$work/out" 2>&1 </dev/null; ok $? "$what"; }
prints() { grep -qE -- "$1" "$work/out"; ok $? "prints: $1"; }
there() { [ -s "$prefix/$1" ]; ok $? "installed: $1"; }

run "cmake --install" cmake --install "$WEFT_BUILD" --prefix "$prefix"
for file in bin/weft libweft.so libweft.a weft.pc weft.h; do
    find -L "$prefix" -type f -path "*/$file" | grep -q .; ok $? "$file is there"
done
[ "$bad" -eq 0 ] || { echo "1..$n"; exit 1; } # the build is not whole: nothing below could tell more
libdir=$(dirname "$(find "$prefix" -name libweft.a)")

# --- the program ---
run "the installed program runs" "$prefix/bin/weft" version
prints '^weft [0-9]+\.[0-9]+\.[0-9]+$'
version=$(cut -d ' ' -f 2 "$work/out")
run "and plans" "$prefix/bin/weft" plan examples/heft-paper.yaml --on examples/heft-paper-nodes.yaml --with heft
prints 'makespan +80$'

# --- the library ---
export PKG_CONFIG_PATH=$libdir/pkgconfig
run "pkg-config finds it" pkg-config --modversion weft
[ "$(cat "$work/out")" = "$version" ]; ok $? "pkg-config tells the program's version"
run "pkg-config tells where" pkg-config --variable=prefix weft
[ "$(readlink -f "$(cat "$work/out")")" = "$(readlink -f "$prefix")" ]; ok $? "the prefix is where it was installed, not where it was configured for"
api=$(sed -nE 's/^#define WEFT_API ([0-9]+)$/\1/p' "$prefix/include/weft/weft.h")
[ "$(readlink "$libdir/libweft.so.$api")" = "libweft.so.$version" ]; ok $? "libweft.so.$api, after WEFT_API, names the version"
readelf -d "$libdir/libweft.so" | grep -q "SONAME.*\[libweft.so.$api\]"; ok $? "and is the soname"

# Comments may speak of functions, too: only what is left without them is declared. What is inline is in the header, and what that calls
# stands in braces.
declared=$(cat "$prefix"/include/weft/*.h | cc -fpreprocessed -E -P -x c - 2>/dev/null | awk '/^static inline/ { inside = 1 } !inside { print } /^}/ { inside = 0 }' | grep -oE '\bweft_[a-z_0-9]+\(' | tr -d '(' | sort -u)
nm -D --defined-only "$libdir/libweft.so" | awk '{print $NF}' | grep -vE '^__' | sort -u >"$work/out"
[ -s "$work/out" ] && ! grep -qvE '^weft_[a-z_0-9]+$' "$work/out"; ok $? "only weft_* is exported"
nm -g --defined-only "$libdir/libweft.a" 2>/dev/null | awk 'NF == 3 {print $3}' | sort -u >"$work/static"
diff "$work/out" "$work/static" >"$work/differ"; ok $? "the static library shows the same, and nothing else"
[ "$declared" = "$(cat "$work/out")" ]; ok $? "what the header declares is exported, and nothing else"
for name in $declared; do
    grep -qE "\b$name\b" "$prefix"/share/man/man3/*.3 || echo "$name is in no page of section 3"
done >"$work/out"
[ ! -s "$work/out" ]; ok $? "the pages of section 3 tell every function"

sed -nE '/^```c$/,/^```$/{/^```/!p}' docs/library.md >"$work/demo.c"
cp examples/heft-paper.yaml "$work/flow.yaml"; cp examples/heft-paper-nodes.yaml "$work/nodes.yaml"
if ldd "$libdir/libweft.so" | grep -qE 'lib[a-z]*san\.' || nm -D "$libdir/libweft.so" | grep -q ' U __[at]san_'; then
    skip "the program of docs/library.md" "a sanitized library needs a sanitized program"
else
    strict="-std=c11 -Wall -Wextra -Wpedantic -Werror"
    run "the program of docs/library.md compiles" cc $strict "$work/demo.c" -o "$work/demo" $(pkg-config --cflags --libs weft) -Wl,-rpath,"$libdir"
    run "it runs" bash -c "cd '$work' && ./demo"
    prints '^n1 on P3 at 0$'
    [ "$(wc -l <"$work/out")" -eq 10 ]; ok $? "a line for each of the ten tasks"
    rm "$work/nodes.yaml"
    (cd "$work" && ./demo) >"$work/out" 2>&1; [ $? -eq 2 ]; ok $? "without its platform it says so and returns 2"
    prints '^nodes.yaml: '
    cp examples/heft-paper-nodes.yaml "$work/nodes.yaml"
    run "it links with the static library" cc $strict "$work/demo.c" -o "$work/static" $(pkg-config --cflags weft) "$libdir/libweft.a" $(pkg-config --static --libs-only-l weft | sed 's/-lweft\b//')
    ! ldd "$work/static" | grep -q libweft; ok $? "and does not need the shared one"
    run "it runs, too" bash -c "cd '$work' && ./static"
    prints '^n1 on P3 at 0$'
    if command -v c++ >/dev/null; then
        echo '#include <weft/weft.h>
int main() { return weft_version() == nullptr; }' >"$work/demo.cc"
        run "C++ can use it" c++ -Wall -Wextra -Werror "$work/demo.cc" -o "$work/plus" $(pkg-config --cflags --libs weft) -Wl,-rpath,"$libdir"
        run "and run it" "$work/plus"
    else
        skip "C++ can use it" "no C++ compiler"
    fi
fi

# --- man pages: one a command, and they render without a warning ---
commands=$("$prefix/bin/weft" help | sed -nE 's/^  ([a-z]+) .*/\1/p' | grep -vxE 'help|version')
there share/man/man1/weft.1
there share/man/man3/weft.3
# what at least four commands have is common
shared=$(for command in $commands; do "$prefix/bin/weft" help "$command" | grep -oE '^ +(-[a-z], )?--[a-z-]+' | grep -oE -- '--[a-z-]+' | sort -u; done | sort | uniq -c | awk '$1 >= 4 { print $2 }')
for option in $shared; do
    grep -qF -- "${option//-/\\-}" "$prefix/share/man/man1/weft.1" || echo "$option is not in weft(1)"
done >"$work/out"
[ ! -s "$work/out" ]; ok $? "weft(1) tells every option that many commands have"
for command in $commands; do
    there "share/man/man1/weft-$command.1"
    grep -qE "^.BR $command \" \(\" weft" "$prefix/share/man/man1/weft.1"; ok $? "weft(1) lists $command"
    grep -qF "weft\\-$command" <(sed -n '/^.SH SEE ALSO/,$p' "$prefix/share/man/man1/weft.1"); ok $? "and refers to its page"
    for option in $("$prefix/bin/weft" help "$command" | grep -oE '^ +(-[a-z], )?--[a-z-]+' | grep -oE -- '--[a-z-]+'); do
        grep -qF -- "${option//-/\\-}" "$prefix/share/man/man1/weft-$command.1" || echo "$option is not in the page of $command"
    done >"$work/out"
    [ ! -s "$work/out" ]; ok $? "the page of $command tells every option"
done
if command -v groff >/dev/null; then
    for page in "$prefix"/share/man/man?/*; do
        groff -ww -man -Tutf8 "$page" 2>"$work/out" >"$work/page"
        [ $? -eq 0 ] && [ -s "$work/page" ] && [ ! -s "$work/out" ]; ok $? "renders without a warning: ${page##*/}"
    done
else
    skip "the pages render" "no groff"
fi

# --- completion, as bash would ask for it ---
complete_words() { # WORDS...: what bash offers for the last one
    PATH=$prefix/bin:$PATH bash -c 'source "$0" || exit 1
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        _weft
        printf "%s\n" "${COMPREPLY[@]}"' "$prefix/share/bash-completion/completions/weft" "$@" >"$work/out" 2>&1
}
offers() { # DESCRIPTION WORDS-EXPECTED: all of these, one a line
    local what=$1 word; shift
    for word in "$@"; do grep -qxF -- "$word" "$work/out" || { ok 1 "$what offers $word"; return; }; done
    ok 0 "$what offers $*"
}
there share/bash-completion/completions/weft
complete_words weft pl
offers "weft pl" plan planners platform
[ "$(wc -l <"$work/out")" -eq 3 ]; ok $? "and nothing else"
complete_words weft plan flow.yaml --with he
offers "--with he" heft
! grep -qv '^he' "$work/out"; ok $? "only what begins so"
complete_words weft plan --wi
offers "plan --wi" --with
complete_words weft convert a b --to d
offers "--to d" dot dagman
complete_words weft generate chol
offers "generate chol" cholesky
complete_words weft planners pe
offers "planners pe" peft
complete_words weft show "$prefix/bin/we"
offers "a file" "$prefix/bin/weft"
echo "1..$n"
exit $bad
