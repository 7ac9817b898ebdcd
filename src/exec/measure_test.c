#include "exec/measure.h"
#include "base/file.h"
#include "tap.h"

#include <sys/stat.h>
#include <unistd.h>

static char root[256];

static void root_put(const char *path, const char *text)
{
    char whole[512];
    struct error err = {0};
    snprintf(whole, sizeof whole, "%s/%s", root, path);
    for (char *slash = whole + strlen(root) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = 0;
        mkdir(whole, 0700);
        *slash = '/';
    }
    if (!file_write(whole, text, strlen(text), &err))
        printf("# %s\n", err.text);
}

static void root_clear(void)
{
    char command[300];
    snprintf(command, sizeof command, "rm -rf '%s'/*", root);
    if (system(command) != 0)
        printf("# could not clear %s\n", root);
}

static void are_limits(double want_quota, double want_memory, const char *what)
{
    double quota, memory;
    measure_limits(root, &quota, &memory);
    is_dbl(quota, want_quota, 1e-9, "%s: cores", what);
    is_dbl(memory, want_memory, 0, "%s: memory", what);
}

static void test_limits(void)
{
    const char *base = getenv("TMPDIR");
    snprintf(root, sizeof root, "%s/weft-measure-XXXXXX", base ? base : P_tmpdir);
    if (!mkdtemp(root)) {
        tap_skip("limits of control groups", "no temporary folder");
        return;
    }
    are_limits(INFINITY, INFINITY, "no control groups");
    root_put("proc/self/cgroup", "0::/user.slice/job\n");
    root_put("sys/fs/cgroup/user.slice/job/cpu.max", "max 100000\n");
    root_put("sys/fs/cgroup/user.slice/job/memory.max", "max\n");
    are_limits(INFINITY, INFINITY, "version 2 without limits");
    root_put("sys/fs/cgroup/user.slice/cpu.max", "250000 100000\n");
    root_put("sys/fs/cgroup/user.slice/memory.max", "4000000000\n");
    root_put("sys/fs/cgroup/user.slice/job/memory.max", "8000000000\n");
    are_limits(2.5, 4e9, "version 2, the group above is tighter");
    root_clear();
    root_put("proc/self/cgroup", "0::/\n");
    root_put("sys/fs/cgroup/cpu.max", "50000 100000\n");
    root_put("sys/fs/cgroup/memory.max", "1000000\n");
    are_limits(0.5, 1e6, "version 2 in a container");
    root_clear();
    root_put("proc/self/cgroup", "5:memory:/docker/x\n4:cpu,cpuacct:/docker/x\n1:name=systemd:/\n");
    root_put("sys/fs/cgroup/cpu/docker/x/cpu.cfs_quota_us", "300000\n");
    root_put("sys/fs/cgroup/cpu/docker/x/cpu.cfs_period_us", "100000\n");
    root_put("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
    root_put("sys/fs/cgroup/memory/memory.limit_in_bytes", "2000000000\n");
    are_limits(3, 2e9, "version 1; -1 is no quota");
    root_clear();
    root_put("proc/self/cgroup", "nonsense\n:::\n0:\n\n");
    root_put("sys/fs/cgroup/cpu.max", "");
    are_limits(INFINITY, INFINITY, "nonsense");
    root_clear();
}

int main(void)
{
    TAP_DO(test_limits());
    struct machine m;
    measure_inventory(&m);
    ok(m.cores >= 1 && m.cores <= m.present, "cores");
    ok(m.memory > 1e6, "memory");
    ok(*m.name, "a name");
    uint32_t cores = m.cores;
    double memory = m.memory;
    setenv("SLURM_CPUS_ON_NODE", "1", 1);
    setenv("SLURM_MEM_PER_CPU", "64", 1);
    measure_inventory(&m);
    ok(m.cores == 1 && m.memory == 64 * 1048576.0, "in a job of Slurm what the job has");
    setenv("SLURM_CPUS_ON_NODE", "100000", 1);
    setenv("SLURM_MEM_PER_NODE", "1000000000", 1);
    measure_inventory(&m);
    ok(m.cores == cores && m.memory == memory, "and never more than there is");
    unsetenv("SLURM_CPUS_ON_NODE");
    measure_inventory(&m);
    ok(m.cores == cores && m.memory == memory, "beside its nodes nothing of it counts");
    unsetenv("SLURM_MEM_PER_CPU");
    unsetenv("SLURM_MEM_PER_NODE");
    ok(isnan(m.speed) && isnan(m.utilization), "nothing is measured by looking");

    struct strbuf notes = {0};
    struct measure_options o = {.patience = 0.4, .folder = root};
    measure_machine(&m, &o, &notes);
    printf("# %s", notes.n ? notes.at : "no notes\n");
    ok(m.speed > 0 && m.speed_low <= m.speed && m.speed <= m.speed_high, "speed");
    ok(m.utilization >= 0 && m.utilization <= 1, "load by others");
    if (strstr(strbuf_text(&notes), "disk: ") && isnan(m.disk_write))
        tap_skip("disk", "cannot be measured here");
    else
        ok(m.disk_write > 0 && m.disk_read > 0, "disk");
    if (strstr(strbuf_text(&notes), "loopback: "))
        tap_skip("loopback", "cannot be measured here");
    else
        ok(m.loopback > 0 && m.latency > 0 && m.latency < 10, "loopback");
    strbuf_clear(&notes);
    o.folder = "/nowhere/at/all";
    measure_machine(&m, &o, &notes);
    has_str(strbuf_text(&notes), "disk: No such file or directory\n", "a folder that is not there");
    ok(isnan(m.disk_write) && m.speed > 0, "does not stop the rest");
    strbuf_free(&notes);
    rmdir(root);
    return tap_done();
}
