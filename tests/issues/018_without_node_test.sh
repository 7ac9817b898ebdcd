#!/usr/bin/env bash
# A build without node works, and says that the page is not in it; so does `weft ui`, with what to do. Speaks TAP.
n=0 bad=0
ok() { # status, text, file to show
    n=$((n + 1))
    if [ "$1" = 0 ]; then echo "ok $n - $2"; else bad=1 && echo "not ok $n - $2" && sed 's/^/# /' "${3:-/dev/null}"; fi
}
# shellcheck disable=SC2153 # set by who runs the tests
weft=$(realpath "$WEFT") build=$(realpath "$WEFT_BUILD") here=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Programs of this machine but for node and npm.
mkdir "$work/bin" "$work/alone" "$work/empty"
IFS=: read -ra folders <<<"$PATH"
for folder in "${folders[@]}"; do
    for program in "$folder"/*; do
        case ${program##*/} in node | nodejs | npm | npx) ;; *) [ -e "$work/bin/${program##*/}" ] || ln -s "$program" "$work/bin/" 2>/dev/null ;; esac
    done
done
! PATH=$work/bin command -v node >/dev/null
ok $? "node is hidden"
cp -r tools page/package.json page/package-lock.json "$work/alone/" && mkdir "$work/alone/page" && mv "$work/alone"/package*.json "$work/alone/page/"
PATH=$work/bin "$work/alone/tools/deps" page >"$work/said" 2>&1 && grep -q "node and npm are not there: weft is built without its page" "$work/said"
ok $? "what fetches packages says that there is no node, and goes on" "$work/said"
if command -v cmake ninja >/dev/null && [ -f "$build/build.ninja" ] && [ -x "$(dirname "$weft")/weft-ui" ]; then
    # as a checkout that has no packages; what `make` shows of it is what comes on stderr
    PATH=$work/bin CMAKE_C_COMPILER_LAUNCHER='' cmake -G Ninja -S "$here" -B "$work/build" -DWEFT_PAGE_PACKAGES="$work/empty" >/dev/null 2>"$work/said"
    ok $? "cmake takes it" "$work/said"
    grep -q 'weft is built without its page: .*node and npm' "$work/said"
    ok $? "and says that the page is not in it, with what to do" "$work/said"
    # its own command alone: ninja would build every room before it
    (cd "$work/build" && PATH=$work/bin && eval "$(ninja -t commands page/assets.c | tail -n 1)") >"$work/said" 2>&1 && grep -q ui_assets "$work/build/page/assets.c"
    ok $? "what stands for the page is made without node" "$work/said"
    # the rest is the same program: it is linked from what is built already, with nothing for a page
    flags=$(cd "$build" && ninja -t commands weft-ui | grep -o -- '-fsanitize=[a-z,]*' | head -n 1)
    # shellcheck disable=SC2086 # none or one
    cc $flags -I src -c "$work/build/page/assets.c" -o "$work/assets.o" 2>"$work/said"
    link=$(cd "$build" && ninja -t commands weft-ui | tail -n 1 | sed -E "s|[^ ]*page/assets\.c\.o|$work/assets.o|; s|-o weft-ui|-o $work/alone/weft-ui|")
    (cd "$build" && eval "$link") >>"$work/said" 2>&1
    ok $? "and linked" "$work/said"
    ln "$weft" "$work/alone/weft" 2>/dev/null || cp "$weft" "$work/alone/weft"
    "$work/alone/weft" ui "$work/empty" >"$work/out" 2>"$work/said"
    # shellcheck disable=SC2016 # as it is said
    [ $? = 2 ] && [ ! -s "$work/out" ] && grep -q 'built without its page: install node and npm, then `make deps` and `make`' "$work/said"
    ok $? "weft ui says so, with what to do, and ends with status 2" "$work/said"
else
    echo "# cmake, ninja or the build are not there: what a build says is not tested"
    ln "$weft" "$work/alone/weft" 2>/dev/null || cp "$weft" "$work/alone/weft"
fi
rm -f "$work/alone/weft-ui"
"$work/alone/weft" ui "$work/empty" >/dev/null 2>"$work/said"
[ $? = 2 ] && grep -q 'no weft-ui beside it.*libmicrohttpd' "$work/said"
ok $? "a weft that was copied alone says what is missing" "$work/said"
printf 'weft: 1\ntasks:\n  a: { run: "echo 1 > {out}", out: a.txt }\n' >"$work/empty/a.yaml"
cd "$work/empty" || exit 1
WEFT_HISTORY=$work/history.db "$work/alone/weft" run a.yaml -q && WEFT_HISTORY=$work/history.db "$work/alone/weft" report -o run.html 2>"$work/said" && [ -s run.html ] && grep -q "without its page" "$work/said"
ok $? "everything else works, and a report without the Run view says so" "$work/said"
echo "1..$n"
exit $bad
