#!/usr/bin/env bash
# A result that its task left as 0600 came home from an agent as 0644, and an input of that mode stood so in the agent's folder.
# Files and folders have the permission bits that their maker gave them, on every way. Speaks TAP.
. "$(dirname "$0")/../cluster/cluster_common.sh"
flow() { # folder
    mkdir -p "$1"
    echo secret >"$1/in.txt" && chmod 600 "$1/in.txt"
    printf '#!/bin/sh\ncat\n' >"$1/tool.sh" && chmod 750 "$1/tool.sh"
    cat >"$1/flow.yaml" <<'END2'
weft: 1
name: modes
tasks:
  look: { run: "stat -L -c '%a' {in} > {out}", in: [in.txt, tool.sh], out: [seen.txt] }
  private: { run: './tool.sh < in.txt > {out}; chmod 600 {out}', in: [in.txt, tool.sh], out: [private.txt] }
  middle: { run: 'cat {in} > {out}; chmod 600 {out}', in: [in.txt], out: [middle.txt] }
  passed: { run: "stat -L -c '%a' {in} > {out}; chmod 640 {out}", in: [middle.txt], out: [passed.txt] }
  program: { run: 'echo true > {out}; chmod 711 {out}', out: [program] }
  folder: { run: 'mkdir {out} {out}/deep; echo x > {out}/deep/x; echo y > {out}/y; chmod 600 {out}/deep/x; chmod 755 {out}/y; chmod 500 {out}/deep; chmod 700 {out}', out: [dir] }
  between: { run: 'mkdir {out} {out}/deep; echo x > {out}/deep/x; chmod 600 {out}/deep/x; chmod 500 {out}/deep', out: [mid] }
  inside: { run: "stat -L -c '%a' {in}/deep {in}/deep/x > {out}", in: [mid], out: [inside.txt] }
END2
}
modes() { (cd "$1" && stat -c '%a %n' private.txt passed.txt program dir dir/deep dir/deep/x dir/y && cat seen.txt passed.txt inside.txt) >"$work/modes" 2>"$work/err"; }
umask 022
cat >"$work/right" <<'END2'
600 private.txt
640 passed.txt
711 program
700 dir
500 dir/deep
600 dir/deep/x
755 dir/y
600
750
600
500
600
END2
flow "$work/here"
say run "$work/here/flow.yaml" && modes "$work/here" && diff "$work/right" "$work/modes" >"$work/err"
ok $? "on this machine"
if command -v redis-server >/dev/null; then
    flow "$work/away"
    say run "$work/away/flow.yaml" --on local:2 -j 1 --no-shared && modes "$work/away" && diff "$work/right" "$work/modes" >"$work/err"
    ok $? "from agents, to agents, and home"
    flow "$work/shared"
    say run "$work/shared/flow.yaml" --on local:2 -j 1 --shared && modes "$work/shared" && diff "$work/right" "$work/modes" >"$work/err"
    ok $? "in a shared folder"
fi
chmod -R u+rwx "$work"/here "$work"/away "$work"/shared 2>/dev/null
finish
