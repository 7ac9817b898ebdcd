#include "cluster/launch/launch_testing.h"

#include "cluster/launch/shell.h"
#include "cluster/launch/subprocess.h"

#include <sys/stat.h>

/* ---- subprocesses ---- */

struct subprocess_heard {
    char lines[256], said[8192];
    int status;
    bool ended;
};

static void heard_line(void *context, const char *line)
{
    struct subprocess_heard *h = context;
    size_t n = strlen(h->lines);
    snprintf(h->lines + n, sizeof h->lines - n, "[%s]", line);
}

static void heard_end(void *context, int status, const char *said)
{
    struct subprocess_heard *h = context;
    h->ended = true;
    h->status = status;
    snprintf(h->said, sizeof h->said, "%s", said);
}

static struct subprocess_heard run_subprocess(const char *const *arguments, const char *input,
                                              double limit)
{
    struct subprocess_heard h = {.status = -1};
    uv_loop_t loop;
    uv_loop_init(&loop);
    subprocess_start(&(struct subprocess_config){.loop = &loop,
                                                 .arguments = arguments,
                                                 .input = input,
                                                 .limit = limit,
                                                 .line = heard_line,
                                                 .ended = heard_end,
                                                 .context = &h});
    uv_run(&loop, UV_RUN_DEFAULT);
    is_int(uv_loop_close(&loop), 0, "a subprocess leaves no handle");
    return h;
}

static void test_subprocesses(void)
{
    signal(SIGPIPE, SIG_IGN);
    const char *echo[] = {"sh", "-c", "cat; echo two; printf three; echo oops >&2; exit 3", NULL};
    struct subprocess_heard h = run_subprocess(echo, "one\n", 0);
    is_str(h.lines, "[one][two][three]", "lines, the last without an end too");
    is_str(h.said, "oops", "stderr");
    is_int(h.status, 3, "its status");
    h = run_subprocess((const char *[]){"no-such-program-here", NULL}, "key", 0);
    ok(h.ended && h.status == 127, "what does not exist is told once, later");
    has_str(h.said, "no such program", "and why");
    h = run_subprocess((const char *[]){"sh", "-c", "sleep 30", NULL}, NULL, 0.2);
    ok(h.status != 0, "a limit ends it");
    has_str(h.said, "no answer in 0.2 s", "and says so");
    h = run_subprocess((const char *[]){"sh", "-c", "exec <&-; exit 0", NULL}, "never read", 0);
    is_int(h.status, 0, "a reader that does not want its input");
    h = run_subprocess((const char *[]){"sh", "-c", "sleep 5 & echo done", NULL}, NULL, 0);
    is_str(h.lines, "[done]", "a child that holds the pipes is not waited for");
    h = run_subprocess(
        (const char *[]){"sh", "-c", "yes word | head -n 20000 >&2; echo last >&2", NULL}, NULL, 0);
    ok(strlen(h.said) <= 4096 && strlen(h.said) > 4000, "only the end of a long complaint is kept");
    has_str(h.said, "\nlast", "which is the end");
    struct strbuf quoted = {0};
    shell_quote(&quoted, "it's $HOME");
    is_str(strbuf_text(&quoted), "'it'\\''s $HOME'", "quoted for a shell");
    strbuf_free(&quoted);
}

/* ---- targets ---- */

static void launch_test_refused(const char *target, const char *part)
{
    struct launch_test t;
    struct launch_config config = launch_test_begin(&t, target);
    struct error err = {0};
    t.launch = launch_new(&config, &err);
    ok(!t.launch && err.kind == ERROR_INPUT, "'%s' is refused", target);
    has_str(err.text, part, "and says why");
    launch_test_end(&t);
}

static void test_one_line(void)
{
    struct strbuf out = {0};
    shell_one_line(&out, "#!/bin/sh\n# a comment\na=1;\n\n  if b; then\n    # c\n    d;\n  fi;\n");
    is_str(out.at, "a=1; if b; then d; fi;", "a script in one line, without its comments");
    strbuf_free(&out);
}

static void test_targets(void)
{
    ok(launch_is_target("slurm") && launch_is_target("local:2") && launch_is_target("ssh:a"),
       "targets");
    ok(!launch_is_target("cluster.yaml") && !launch_is_target("slurm.yaml"), "platforms");
    launch_test_refused("local:", "expected a number of agents");
    launch_test_refused("local:0", "expected a number of agents");
    launch_test_refused("local:1000000000000", "expected a number of agents");
    launch_test_refused("ssh:", "empty host name");
    launch_test_refused("ssh:a,,b", "empty host name");
    launch_test_refused("ssh:a,-oProxyCommand=x", "is not a host");
    launch_test_refused("ssh:a;b", "is not a host");
    launch_test_refused("ssh:a=$(x)", "is not a host");
    launch_test_refused("pbs", "expected local:N");
    struct launch_test t;
    struct launch_config config = launch_test_begin(&t, "local:1");
    folder_write(&t.folder, "state", "a file");
    struct error err = {0};
    t.launch = launch_new(&config, &err);
    ok(!t.launch, "a state folder that cannot be");
    has_str(err.text, "is not a folder", "is told");
    launch_test_end(&t);
}

/* ---- here ---- */

static void test_local(void)
{
    struct launch_test t;
    struct launch_config config = launch_test_begin(&t, "local:3");
    const char *extra[] = {"--cache", "5M", NULL};
    config.cores = 2;
    config.memory = 1e9;
    config.linger = 7;
    config.extra = extra;
    if (ok(launch_test_open(&t, &config), "local:3")) {
        is_int(launch_most(t.launch), 3, "three at most");
        launch_want(t.launch, 2);
        ok(launch_test_wait(&t, 2, 0, 0, false), "two ready");
        is_str(launch_store(t.launch), "rediss://127.0.0.1:6399?auth=key",
               "the store of the first");
        launch_want(t.launch, 99);
        ok(launch_test_wait(&t, 3, 0, 0, false), "and the third");
        is_int(launch_counts(t.launch).asked, 3, "no more than there are");
        const char *first = launch_test_file(&t, 0, "arguments");
        has_str(first, "--serve-store 127.0.0.1:0", "the first starts the store");
        has_str(first, "-j 2 -m 1000000000 --temporary --cache 5M", "settings are handed on");
        has_str(first, "--linger 7", "it may leave too: last, as agents do that serve the store");
        ok(!strstr(first, LAUNCH_TEST_KEY), "the key is in no argument");
        has_str(launch_test_file(&t, 2, "arguments"), ", store rediss://127.0.0.1:6399?auth=key",
                "the others are told where it is");
        has_str(launch_test_file(&t, 2, "arguments"), "--linger 7", "and may leave");
        struct stat s;
        ok(stat(t.state, &s) == 0 && (s.st_mode & 0777) == 0700, "the state folder is ours alone");
        launch_agent_left(t.launch, 1);
        launch_want(t.launch, 3);
        ok(launch_test_wait(&t, 4, 0, 0, false), "one that left is started again");
        launch_end(t.launch, 0, launch_test_done);
        ok(launch_test_wait(&t, 4, 0, 0, true) && !*t.done_why, "the end");
        launch_want(t.launch, 3);
        is_int(launch_counts(t.launch).starting, 0, "nothing starts after it");
    }
    launch_test_end(&t);
}

static void test_local_failures(void)
{
    struct launch_test t;
    struct launch_config config = launch_test_begin(&t, "local:2");
    mkdir(folder_file(&t.folder, "broken"), 0700);
    if (ok(launch_test_open(&t, &config), "local:2")) {
        launch_want(t.launch, 2);
        ok(launch_test_wait(&t, 1, 1, 0, false), "one fails, the other is ready");
        has_str(t.why, "local 1: fake agent: broken on purpose (exit status 1)", "what it said");
        has_str(launch_test_file(&t, 0, "arguments"), "--serve-store",
                "the next one starts the store");
        launch_want(t.launch, 2);
        is_int(launch_counts(t.launch).failed, 1, "what failed is not tried again");
        is_int(launch_counts(t.launch).starting, 0, "at all");
    }
    launch_test_end(&t);

    config = launch_test_begin(&t, "local:1");
    config.key = "another key\n";
    if (ok(launch_test_open(&t, &config), "with another key")) {
        launch_want(t.launch, 1);
        ok(launch_test_wait(&t, 0, 1, 0, false), "fails");
        has_str(t.why, "is not the key", "because of it: the key went through");
    }
    launch_test_end(&t);

    config = launch_test_begin(&t, "local:1");
    config.program = "no-such-program-here";
    config.store = "redis://10.0.0.1";
    if (ok(launch_test_open(&t, &config), "without a program")) {
        launch_want(t.launch, 1);
        ok(launch_test_wait(&t, 0, 1, 0, false), "fails");
        has_str(t.why, "no such program in PATH (exit status 127); install it", "and says why");
    }
    launch_test_end(&t);

    config = launch_test_begin(&t, "local:2");
    if (ok(launch_test_open(&t, &config), "given up while agents start"))
        launch_want(t.launch, 2);
    launch_test_end(&t);
}

/* ---- ssh, with a stand-in that logs in nowhere ---- */

static void test_ssh(void)
{
    struct launch_test t;
    struct launch_config config = launch_test_begin(&t, "ssh:down,me@a,b=10.7.7.7,c,slow");
    folder_write(
        &t.folder, "login",
        "host=$1\n"
        "case $host in\n"
        "down) echo 'ssh: connect to host down port 22: Connection refused' >&2; exit 255;;\n"
        "slow) exec sleep 20;;\n"
        "esac\n"
        "export SSH_CONNECTION='10.0.0.9 5555 10.0.0.2 22'\n"
        "[ $host != c ] || SSH_CONNECTION='UNKNOWN 65535 UNKNOWN 65535'\n"
        "eval \"$2\"\n");
    char ssh[160], home[128];
    snprintf(ssh, sizeof ssh, "sh %s", folder_file(&t.folder, "login"));
    snprintf(home, sizeof home, "%s/it's far", t.folder.path);
    config.ssh = ssh;
    config.remote = t.program;
    config.remote_state = home;
    config.patience = 3;
    if (ok(launch_test_open(&t, &config), "five hosts")) {
        launch_want(t.launch, UINT32_MAX);
        ok(launch_test_wait(&t, 3, 1, 0, false), "three ready, one failed");
        has_str(t.why, "ssh down: ssh: connect to host down port 22: Connection refused", "cause");
        has_str(t.why, "is its sshd running", "remedy");
        is_str(launch_store(t.launch), "rediss://10.0.0.2:6399?auth=key",
               "the store is at the second host, where ssh reached it");
        is_str(launch_name(t.launch, 1), "me@a", "by name");
        is_int(strncmp(t.address[1], "10.0.0.2:", 9), 0, "the address ssh reached");
        is_int(strncmp(t.address[2], "10.7.7.7:", 9), 0, "the address that was given");
        is_int(strncmp(t.address[3], "c:", 2), 0, "the name when nobody knows better");
        has_str(launch_test_file(&t, 0, "arguments"), "/it's far/weft-",
                "the state folder's name survives three shells");
        ok(launch_test_wait(&t, 3, 2, 0, false), "one that does not answer is given up");
        has_str(t.why, "ssh slow: no answer in 3 s", "in its time");
    }
    launch_test_end(&t);
}

int main(void)
{
    static const struct tap_case cases[] = {
        TAP_CASE(test_subprocesses), TAP_CASE(test_one_line),       TAP_CASE(test_targets),
        TAP_CASE(test_local),        TAP_CASE(test_local_failures), TAP_CASE(test_ssh),
    };
    return tap_run(cases, sizeof cases / sizeof *cases);
}
