#!/usr/bin/env bash
# Issue 15, point 11: other people's folders. Whose --state, --scratch and folder of sandboxes it is was not always asked, an agent's log was
# written through a link, an input edited in place with its time put back was "nothing to do". (A .weft of another user, and links in
# it: 014_look_test.sh.) Speaks TAP.
. "$(dirname "$0")/../cluster/cluster_common.sh"
command -v redis-server >/dev/null || skip "other people's folders" "redis-server is not installed"
umask 022
is_mode() { [ "$(stat -c %a "$1")" = "$2" ]; } # path mode
open_to_others() { find "$1" -perm /077 ! -type l 2>/dev/null; }

# --- an input that was edited in place, and its time put back ---
mkdir "$work/edited"
cat >"$work/edited/flow.yaml" <<'FLOW'
weft: 1
tasks: { copy: { run: "cat {in} > {out}", in: given.txt, out: copied.txt } }
FLOW
echo first >"$work/edited/given.txt"
touch -d '2020-01-02 03:04:05' "$work/edited/given.txt"
say run "$work/edited/flow.yaml" && say run "$work/edited/flow.yaml" && grep -q "nothing to do" "$work/out"
ok $? "a task whose input is as it was has nothing to do"
touch -r "$work/edited/given.txt" "$work/time"
printf 'other\n' 1<>"$work/edited/given.txt"
touch -r "$work/time" "$work/edited/given.txt"
[ "$(stat -c '%s %Y' "$work/edited/given.txt")" = "6 $(date -d '2020-01-02 03:04:05' +%s)" ]
ok $? "the input is edited in place, with size and time as they were"
say run "$work/edited/flow.yaml" && [ "$(cat "$work/edited/copied.txt")" = other ]
ok $? "the task runs again"

# --- the history ---
cp -r "$work/edited" "$work/recorded" && rm -rf "$work/recorded/.weft" "$work/recorded/copied.txt"
(umask 0 && WEFT_HISTORY=$work/history/runs.db say run "$work/recorded/flow.yaml") && is_mode "$work/history/runs.db" 600 && [ -z "$(open_to_others "$work/history")" ]
ok $? "the history is its owner's alone, whatever the umask: $(stat -c '%a %n' "$work/history"/* | tr '\n' ' ' | sed "s|$work/||g")"
chmod 644 "$work/history/runs.db" && WEFT_HISTORY=$work/history/runs.db say run "$work/recorded/flow.yaml" --force && is_mode "$work/history/runs.db" 600
ok $? "one that others could read is closed to them"

# --- sandboxes ---
cp -r "$work/edited" "$work/open" && rm -rf "$work/open/.weft" "$work/open/copied.txt"
sed -i 's/cat {in}/echo said; cat {in}/' "$work/open/flow.yaml"
(umask 0 && say run "$work/open/flow.yaml") && ls "$work/open/.weft/logs"/*/copy.log >/dev/null && ! find "$work/open/.weft" -perm /002 ! -type l | grep .
ok $? "nothing in .weft is everybody's to write to, memo and logs included, also with umask 0"
mkdir -p "$work/open/.weft/sandbox" && chmod 777 "$work/open/.weft/sandbox"
say run "$work/open/flow.yaml" --force && { [ ! -e "$work/open/.weft/sandbox" ] || is_mode "$work/open/.weft/sandbox" 755; }
ok $? "a folder of sandboxes that was is closed, when it is ours"
if [ "$(id -u)" = 0 ]; then
    mkdir -p "$work/open/.weft/sandbox" && chmod 777 "$work/open/.weft/sandbox" && chown 12345 "$work/open/.weft/sandbox"
    say run "$work/open/flow.yaml" --force
    [ $? != 0 ] && cat "$work/out" "$work/err" | tr '\n' ' ' | tr -s ' ' | grep -q "$work/open/.weft/sandbox: everybody may write to this folder.*chmod o-w"
    ok $? "and another's is refused, with place, cause and remedy"
fi

# --- an agent's folder ---
start_server
say key "$work/key"
export WEFT_KEY=$work/key
mkdir "$work/known" && chmod 755 "$work/known"
(umask 0 && exec "$weft" agent -j 1 --state "$work/known") >"$work/known.out" 2>"$work/known.log" </dev/null &
agents="$agents $!" pid_known=$!
are_ready known && is_mode "$work/known" 700
ok $? "a state folder that is there as 0755 is closed to others"
rm -rf "$work/edited/.weft" "$work/edited/copied.txt"
say run "$work/edited/flow.yaml" --on cluster --no-shared && [ "$(cat "$work/edited/copied.txt")" = other ]
ok $? "an agent works in it"
if [ "$(id -u)" = 0 ]; then
    chmod 755 "$work"
    find "$work/known" -type f | grep -q . && ! setpriv --reuid=12345 --regid=12345 --clear-groups find "$work/known" -type f 2>/dev/null | grep .
    ok $? "and nobody else finds any of its files"
fi
end_process "$pid_known"
echo precious >"$work/precious"
rm "$work/known/lock" && ln -s "$work/precious" "$work/known/lock"
timeout 60 "$weft" agent --state "$work/known" >"$work/out" 2>"$work/err"
[ $? = 1 ] && grep -q "$work/known/lock: " "$work/err" && [ "$(cat "$work/precious")" = precious ]
ok $? "a link in the place of its lock is not followed"
rm "$work/known/lock" && ln -s "$work/precious" "$work/known/agent.log"
say agent --state "$work/known" --detach && pid=$(cat "$work/known/lock") && agents="$agents $pid" && [ "$(cat "$work/precious")" = precious ]
ok $? "nor one in the place of its log"
end_process "$pid"
if [ "$(id -u)" = 0 ]; then
    mkdir "$work/theirs" && chown 12345 "$work/theirs"
    say agent --state "$work/theirs"
    [ $? = 2 ] && grep -q "$work/theirs: this folder is user 12345's.*--state names another" "$work/err" && [ -z "$(ls -A "$work/theirs")" ]
    ok $? "--state of another user is refused, with place, cause and remedy, and nothing is made there"
    mkdir -m 755 "$work/mine" && ln -s "$work/mine" "$work/led" && chown -h 12345 "$work/led"
    say agent --state "$work/led"
    [ $? = 2 ] && grep -q "$work/led: this link is user 12345's.*--state names another" "$work/err" && [ -z "$(ls -A "$work/mine")" ] && is_mode "$work/mine" 755
    ok $? "also a link of another's to a folder of ours"
fi
ln -s "$work/own" "$work/my_link" && mkdir "$work/own"
start_agent my_link "$weft" agent -j 1
are_ready my_link
ok $? "a link of one's own is one's own"
# shellcheck disable=SC2154 # start_agent sets it
end_process "$pid_my_link"

# --- scratch, where everybody can make folders ---
mkdir -m 1777 "$work/scratch"
start_agent local "$weft" agent -j 1 --scratch "$work/scratch"
are_ready local
data=$(echo "$work"/scratch/weft-*)
[ -d "$data" ] && is_mode "$data" 700
ok $? "an agent's folder in --scratch is its own: ${data##*/}"
# shellcheck disable=SC2154
end_process "$pid_local"
rm -rf "$data" && mkdir -m 777 "$data"
start_agent local "$weft" agent -j 1 --scratch "$work/scratch"
are_ready local && is_mode "$data" 700
ok $? "one that is there and open is closed"
end_process "$pid_local"
if [ "$(id -u)" = 0 ]; then
    rm -rf "$data" && mkdir -m 777 "$data" && chown 12345 "$data"
    say agent --state "$work/local" --scratch "$work/scratch"
    [ $? = 2 ] && grep -q "$data: this folder is user 12345's.*--scratch names another" "$work/err" && [ -z "$(ls -A "$data")" ]
    ok $? "one that another user made before it is refused"
    rm -rf "$data" && ln -s "$work/mine" "$data" && chown -h 12345 "$data"
    say agent --state "$work/local" --scratch "$work/scratch"
    [ $? = 2 ] && grep -q "$data: this link is user 12345's" "$work/err" && [ -z "$(ls -A "$work/mine")" ]
    ok $? "and so is a link"
fi
finish
