/* Starting agents with the real ssh and the real Slurm, in test beds of their own (tests/cluster/bed_sshd,
 * tests/cluster/bed_slurm), with a stand-in for the agent; and the network of tests/cluster/bed_netns. Without
 * arguments this runs every bed with itself inside; a bed that this machine does not allow is
 * skipped, and says why. */
#include "cluster/launch/launch_testing.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* The first line that a command prints. */
static const char *first_line(const char *command)
{
    static char line[256];
    FILE *in = popen(command, "r");
    if (!in || !fgets(line, sizeof line, in))
        line[0] = 0;
    if (in)
        pclose(in);
    line[strcspn(line, "\n")] = 0;
    return line;
}

static bool exists(struct launch_test *t, const char *name)
{
    return access(folder_file(&t->folder, name), F_OK) == 0;
}

static void touch(struct launch_test *t, const char *name)
{
    folder_write(&t->folder, name, "");
}

static void inside_ssh(void)
{
    struct launch_test t;
    struct launch_config config = launch_test_begin(&t, "ssh:a,down,b,stranger,c=127.0.0.1");
    char home[128];
    snprintf(home, sizeof home, "%s/far", t.folder.path);
    config.remote = t.program;
    config.remote_state = home;
    if (ok(launch_test_open(&t, &config), "ssh to five")) {
        launch_want(t.launch, UINT32_MAX);
        ok(launch_test_wait(&t, 3, 2, 0, false), "three ready, two failed");
        is_int(launch_counts(t.launch).ready, 3, "counted");
        ok(strncmp(t.address[0], "127.0.0.1:", 10) == 0 &&
               strncmp(t.address[2], "127.0.0.1:", 10) == 0 &&
               strncmp(t.address[4], "127.0.0.1:", 10) == 0,
           "each at the address that ssh reached");
        has_str(launch_test_file(&t, 0, "arguments"), "--serve-store 127.0.0.1:0",
                "the first has the store");
        has_str(launch_test_file(&t, 1, "arguments"), ", store rediss://127.0.0.1:6399?auth=key",
                "the others use it");
        char command[64];
        snprintf(command, sizeof command, "kill -0 %ld && echo yes",
                 strtol(launch_test_file(&t, 2, "pid"), NULL, 10));
        is_str(first_line(command), "yes", "the agent goes on when its ssh has ended");
    }
    launch_test_end(&t);

    config = launch_test_begin(&t, "ssh:stranger");
    config.store = "redis://127.0.0.1";
    if (ok(launch_test_open(&t, &config), "ssh without a right")) {
        launch_want(t.launch, 1);
        ok(launch_test_wait(&t, 0, 1, 0, false), "fails");
        has_str(t.why, "Permission denied", "cause");
        has_str(t.why, "without a password", "remedy");
    }
    launch_test_end(&t);

    config = launch_test_begin(&t, "ssh:a");
    config.remote = "no-such-weft";
    config.store = "redis://127.0.0.1";
    if (ok(launch_test_open(&t, &config), "ssh where there is no weft")) {
        launch_want(t.launch, 1);
        ok(launch_test_wait(&t, 0, 1, 0, false), "fails");
        has_str(t.why, "WEFT_REMOTE", "remedy");
    }
    launch_test_end(&t);
}

static void inside_slurm(void)
{
    /* three nodes, one job each; they leave alone; a further one on demand */
    struct launch_test t;
    struct launch_config config = launch_test_begin(&t, "slurm");
    config.store = "redis://10.99.0.254";
    if (ok(launch_test_open(&t, &config), "Slurm")) {
        launch_want(t.launch, 2);
        ok(launch_test_wait(&t, 2, 0, 0, false), "two nodes ready");
        is_str(first_line("squeue -h -r | wc -l"), "2", "two jobs");
        launch_want(t.launch, 3);
        ok(launch_test_wait(&t, 3, 0, 0, false), "a third when wanted");
        for (unsigned i = 0; i < 3; i++)
            ok(strncmp(t.address[i], "10.99.0.", 8) == 0, "agent %u is at %s, of its node", i,
               t.address[i]);
        ok(strcmp(t.address[0], t.address[1]) != 0 && strcmp(t.address[1], t.address[2]) != 0,
           "at different ones");
        has_str(launch_test_file(&t, 2, "arguments"), "--store @",
                "they are told of the store in a file");
        has_str(launch_test_file(&t, 2, "arguments"), "-j 1", "cores of the node");
        has_str(launch_name(t.launch, 2), "Slurm job ", "named by its job");
        double until = clock_seconds() + 10;
        while (exists(&t, "state/key") && clock_seconds() < until) {
            uv_run(&t.loop, UV_RUN_NOWAIT);
            usleep(10000);
        }
        ok(!exists(&t, "state/key"), "the key's file is gone when all have it");
        touch(&t, "leave");
        ok(launch_test_wait(&t, 3, 0, 3, false), "agents that leave end their jobs");
        is_str(first_line("squeue -h -r | wc -l"), "0", "and give back the nodes");
        launch_end(t.launch, 5, launch_test_done);
        ok(launch_test_wait(&t, 3, 0, 3, true) && !*t.done_why, "the end of nothing comes at once");
    }
    launch_test_end(&t);

    /* agents that do not leave, and a job that cannot start, are cancelled */
    config = launch_test_begin(&t, "slurm");
    config.store = "redis://10.99.0.254";
    if (ok(launch_test_open(&t, &config), "more than there are nodes")) {
        launch_want(t.launch, 4);
        ok(launch_test_wait(&t, 3, 0, 0, false), "three are ready");
        double until = clock_seconds() + 20;
        while (!*launch_counts(t.launch).waiting && clock_seconds() < until) {
            uv_run(&t.loop, UV_RUN_NOWAIT);
            usleep(10000);
        }
        ok(*launch_counts(t.launch).waiting, "the fourth waits: %s",
           launch_counts(t.launch).waiting);
        struct stat s;
        ok(stat(folder_file(&t.folder, "state/key"), &s) == 0 && (s.st_mode & 0777) == 0600,
           "the key waits for it, 0600");
        launch_end(t.launch, 0.5, launch_test_done);
        ok(launch_test_wait(&t, 3, 0, 3, true), "the end");
        is_str(t.done_why, "", "in order");
        is_str(first_line("squeue -h -r | wc -l"), "0", "no job is left");
        is_str(launch_test_file(&t, 0, "ended"), "told\n",
               "agents were told (SIGTERM), not killed");
        ok(!exists(&t, "state/key"), "no key is left");
        is_int(launch_counts(t.launch).failed, 0, "what was not wanted any more did not fail");
    }
    launch_test_end(&t);

    config = launch_test_begin(&t, "slurm");
    config.together = true;
    config.cores = 1;
    config.memory = 100e6;
    config.linger = 1;
    config.store = "redis://10.99.0.254";
    if (ok(launch_test_open(&t, &config), "one job of three nodes")) {
        launch_want(t.launch, 3);
        ok(launch_test_wait(&t, 3, 0, 0, false), "three ready");
        is_str(first_line("squeue -h -o %D"), "3", "in one job");
        ok(launch_test_wait(&t, 3, 0, 3, false), "idle ones leave after their linger");
    }
    launch_test_end(&t);

    config = launch_test_begin(&t, "slurm");
    config.store = "redis://10.99.0.254";
    mkdir(folder_file(&t.folder, "broken"), 0700);
    if (ok(launch_test_open(&t, &config), "an agent that fails")) {
        launch_want(t.launch, 2);
        ok(launch_test_wait(&t, 1, 1, 0, false), "one failed, the other ready");
        has_str(t.why, "broken on purpose", "what it said is in the job's output");
        launch_want(t.launch, 2);
        is_int(launch_counts(t.launch).starting, 0, "it is not tried again");
        launch_end(t.launch, 0, launch_test_done);
        ok(launch_test_wait(&t, 1, 1, 1, true), "the end");
    }
    launch_test_end(&t);

    config = launch_test_begin(&t, "slurm");
    if (!ok(!launch_test_open(&t, &config), "without a store it is refused"))
        printf("# jobs end, and a store with them\n");
    launch_test_end(&t);
    config = launch_test_begin(&t, "slurm");
    config.store = "redis://10.99.0.254";
    config.sbatch = "--partition=nowhere";
    if (ok(launch_test_open(&t, &config), "arguments for sbatch")) {
        launch_want(t.launch, 2);
        ok(launch_test_wait(&t, 0, 2, 0, false), "that it refuses");
        has_str(t.why, "invalid partition", "cause");
        has_str(t.why, "WEFT_SBATCH", "remedy");
    }
    launch_test_end(&t);
}

/* In an allocation of three nodes. */
static void inside_allocation(void)
{
    struct launch_test t;
    struct launch_config config = launch_test_begin(&t, "slurm");
    config.store = "redis://10.99.0.254";
    if (ok(launch_test_open(&t, &config), "in an allocation")) {
        is_int(launch_most(t.launch), 3, "its nodes are all there are");
        launch_want(t.launch, 1);
        ok(launch_test_wait(&t, 1, 0, 0, false), "one ready");
        launch_want(t.launch, 9);
        ok(launch_test_wait(&t, 3, 0, 0, false), "three ready");
        ok(!exists(&t, "state/key"), "the key was never in a file");
        is_str(first_line("squeue -h -r | wc -l"), "1", "no further job");
        char seen[3][64];
        for (unsigned i = 0; i < 3; i++) {
            snprintf(seen[i], sizeof seen[i], "%s", t.address[i]);
            seen[i][strcspn(seen[i], ":")] = 0;
        }
        ok(strcmp(seen[0], seen[1]) != 0 && strcmp(seen[1], seen[2]) != 0 &&
               strcmp(seen[0], seen[2]) != 0,
           "each at a node of its own");
        launch_end(t.launch, 0, launch_test_done);
        ok(launch_test_wait(&t, 3, 0, 3, true) && !*t.done_why, "the end ends the steps");
        is_str(first_line("squeue -h -s | grep -v -c -E 'batch|extern|interact'"), "0",
               "no step is left");
    }
    launch_test_end(&t);
}

/* Something at node 2 answers; at node 1 we ask it. */
static void move_to(const char *node)
{
    char path[64];
    snprintf(path, sizeof path, "/run/netns/node%s", node);
    int space = open(path, O_RDONLY | O_CLOEXEC);
    if (space < 0 || setns(space, CLONE_NEWNET) != 0)
        exit(9);
    close(space);
}

static struct sockaddr_in at_node_2(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(5000)};
    inet_pton(AF_INET, "10.98.0.2", &at.sin_addr);
    return at;
}

/* Seconds until a connection stood; -1: it did not in a second and a half. */
static double connect_takes(void)
{
    struct sockaddr_in at = at_node_2();
    struct timeval limit = {.tv_sec = 1, .tv_usec = 500000};
    double begin = clock_seconds();
    int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(s, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    bool good = connect(s, (struct sockaddr *)&at, sizeof at) == 0;
    close(s);
    return good ? clock_seconds() - begin : -1;
}

static double connect_in_time(void)
{
    double until = clock_seconds() + 20, took = -1;
    while (took < 0 && clock_seconds() < until) {
        took = connect_takes();
        if (took < 0)
            usleep(50000);
    }
    return took;
}

static void inside_network(void)
{
    pid_t server = fork();
    if (server == 0) {
        move_to("2");
        struct sockaddr_in at = at_node_2();
        int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (bind(s, (struct sockaddr *)&at, sizeof at) != 0 || listen(s, 9) != 0)
            _exit(9);
        for (;;)
            close(accept(s, NULL, NULL));
    }
    pid_t asker = fork();
    if (asker == 0) {
        move_to("1");
        tap_count = 0;
        double took = connect_in_time();
        ok(took >= 0.04, "node 1 reaches node 2, and not before twice the delay: %.1f ms",
           took * 1e3);
        ok(system("cut_node 2 && sleep 0.1") == 0 && connect_takes() < 0,
           "not when node 2 is cut off");
        ok(system("heal_node 2") == 0 && connect_in_time() > 0, "and again when it is healed");
        _exit(tap_failed ? 1 : 0);
    }
    int status = -1;
    waitpid(asker, &status, 0);
    ok(status == 0, "two nodes with a delay of 20 ms");
    kill(server, SIGKILL);
    waitpid(server, NULL, 0);
}

/* Itself in a bed. */
static void bed(const char *self, const char *part, const char *command)
{
    char line[8192];
    snprintf(line, sizeof line,
             "BED_CPUS=1 BED_DELAY=20ms timeout 280 bash %s/tests/cluster/%s '%s' %s 2>&1",
             WEFT_SOURCE_DIR, command, self, part);
    FILE *in = popen(line, "r");
    char last[512] = "";
    while (in && fgets(line, sizeof line, in)) {
        bool plan = strncmp(line, "1..", 3) == 0,
             check = strncmp(line, "ok ", 3) == 0 || strncmp(line, "not ok ", 7) == 0;
        if (!plan)
            printf("%s%s", check || line[0] == '#' ? "" : "# ", line);
        if (!plan && !check && line[0] != '#')
            snprintf(last, sizeof last, "%.500s", line);
    }
    last[strcspn(last, "\n")] = 0;
    int status = in ? pclose(in) : -1;
    if (status >= 0 && WIFEXITED(status) && WEXITSTATUS(status) == 77)
        tap_skip(part, last);
    else
        ok(status == 0, "%s: the bed and everything in it", part);
}

int main(int argc, char **argv)
{
    const char *part = argc > 1 ? argv[1] : "";
    if (strcmp(part, "ssh") == 0) {
        inside_ssh();
        return tap_done();
    }
    if (strcmp(part, "network") == 0) {
        inside_network();
        return tap_done();
    }
    if (strcmp(part, "allocation") == 0) {
        inside_allocation();
        return tap_done();
    }
    if (strcmp(part, "slurm") == 0) {
        inside_slurm();
        char command[4096];
        snprintf(command, sizeof command, "salloc -Q -N3 '%s' allocation", argv[0]);
        ok(system(command) == 0, "in an allocation by salloc"); // NOLINT(cert-env33-c)
        return tap_done();
    }
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = 0;
    bed(self, "ssh", "bed_sshd");
    bed(self, "network", "bed_netns 2");
    bed(self, "slurm", "bed_slurm 3");
    return tap_done();
}
