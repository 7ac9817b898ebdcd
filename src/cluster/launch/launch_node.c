/* What runs on a node of a Slurm job: a script in the state folder, written once. */
#include "cluster/launch/launch_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

bool launch_write_private(const char *path, const char *text, mode_t mode)
{
    struct strbuf temporary = {0};
    strbuf_printf(&temporary, "%s.new", path);
    unlink(strbuf_text(&temporary));
    int fd =
        open(strbuf_text(&temporary), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
    size_t n = strlen(text);
    bool good = fd >= 0 && write(fd, text, n) == (ssize_t)n && fsync(fd) == 0;
    if (fd >= 0)
        good = close(fd) == 0 && good;
    good = good && rename(strbuf_text(&temporary), path) == 0;
    int kept = errno;
    if (!good)
        unlink(strbuf_text(&temporary));
    strbuf_free(&temporary);
    errno = kept;
    return good;
}

/* The address: the first of the node's name, what Slurm has for it, and its own, that is not a
 * loopback one. The first agent of all starts the store when there is none: who makes the lock
 * folder is that; the others wait for its address, which the launcher writes. */
char *launch_node_script(const struct launch *l, const char *key)
{
    struct strbuf s = {0};
    strbuf_add(&s, "#!/bin/sh\n# Written by weft: starts the agent of one node of a job.\nstate=");
    errand_quote(&s, l->state);
    strbuf_add(&s, "\nprogram=");
    errand_quote(&s, l->program);
    strbuf_add(&s, "\nagents=");
    if (l->remote_state[0])
        errand_quote(&s, l->remote_state);
    else
        strbuf_add(&s, "$state/agents");
    strbuf_add(
        &s,
        "\npick() { for a; do case $a in 127.* | *:*) ;; *.*.*.*) echo \"$a\"; return 0 ;; esac; "
        "done; return 1; }\n"
        "node=${SLURMD_NODENAME:-$(hostname)}\n"
        "a=$(pick $(getent ahostsv4 \"$node\" 2>/dev/null | cut -d' ' -f1)) ||\n"
        "    a=$(pick $(scontrol show node \"$node\" 2>/dev/null |\n"
        "        sed -n 's/.*NodeAddr=\\([0-9.]*\\).*/\\1/p')) ||\n"
        "    a=$(pick $(hostname -I 2>/dev/null)) || a=127.0.0.1\n"
        "mkdir -p \"$agents\"\n"
        "set -- agent --key ");
    errand_quote(&s, key);
    strbuf_printf(&s,
                  " --bind \"$a:0\" --state \"$agents/%s-$SLURM_JOB_ID-${SLURM_STEP_ID:-0}-"
                  "${SLURM_PROCID:-0}\"",
                  l->name);
    if (!l->config.cores)
        strbuf_add(&s, " ${SLURM_CPUS_ON_NODE:+-j \"$SLURM_CPUS_ON_NODE\"}");
    launch_quote_common(l, &s);
    strbuf_add(&s, "\nlinger=");
    if (l->config.linger > 0)
        strbuf_printf(&s, "'--linger %g'", l->config.linger);
    if (l->config.store) {
        strbuf_add(&s, "\nexec \"$program\" \"$@\" $linger --store ");
        errand_quote(&s, l->config.store);
        strbuf_add_char(&s, '\n');
    } else {
        strbuf_add(
            &s, "\nwaited=0\n"
                "until [ -s \"$state/store-address\" ]; do\n"
                "    if mkdir \"$state/store-lock\" 2>/dev/null; then\n"
                "        trap : TERM INT # the agent has it too, and ends first\n"
                "        \"$program\" \"$@\" $linger --serve-store \"$a:0\"\n"
                "        status=$?\n"
                "        [ -s \"$state/store-address\" ] || rmdir \"$state/store-lock\"\n"
                "        exit $status\n"
                "    fi\n"
                "    waited=$((waited + 1))\n"
                "    [ $waited -lt 600 ] || { echo 'weft agent: no other agent has started the "
                "store in two minutes' >&2; exit 1; }\n"
                "    sleep 0.2\n"
                "done\n"
                "exec \"$program\" \"$@\" $linger --store \"$(cat \"$state/store-address\")\"\n");
    }
    return strbuf_steal(&s);
}
