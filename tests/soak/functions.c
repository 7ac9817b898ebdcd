/* A function for `call:` tasks of soak_real.py: each output is a checksum (FNV-1a, 64 bits) over the task's name, the output's number and
 * all inputs, which soak_graph.py computes for itself. Starts and ends are told to the file that SOAK_LOG names, on an agent with its name
 * (SOAK_AGENT) and the folder of the run. */
#include <weft/task.h>

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int checksum(const struct weft_task *task);
int nap(const struct weft_task *task);

/* One write: lines of several threads and processes stay whole. */
static void tell(const char *what, const struct weft_task *task)
{
    const char *path = getenv("SOAK_LOG"), *agent = getenv("SOAK_AGENT");
    char line[1024];
    int n = agent ? snprintf(line, sizeof line, "%s %s %s %.800s\n", what, task->name, agent,
                             task->out[0])
                  : snprintf(line, sizeof line, "%s %s\n", what, task->name);
    int fd = path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666) : -1;
    if (fd >= 0) {
        if (write(fd, line, (size_t)n) != n)
            abort();
        close(fd);
    }
}

static uint64_t fnv(uint64_t hash, const unsigned char *at, size_t n)
{
    for (; n; n--, at++)
        hash = (hash ^ *at) * 0x100000001b3u;
    return hash;
}

static int read_into(const char *path, uint64_t *hash)
{
    unsigned char piece[4096];
    FILE *in = fopen(path, "re");
    if (!in)
        return 2;
    for (size_t n; (n = fread(piece, 1, sizeof piece, in)) > 0;)
        *hash = fnv(*hash, piece, n);
    int bad = ferror(in);
    fclose(in);
    return bad ? 3 : 0;
}

int checksum(const struct weft_task *task)
{
    tell("S", task);
    for (uint32_t o = 0; o < task->nout; o++) {
        char head[256];
        int n = snprintf(head, sizeof head, "%s %" PRIu32 "\n", task->name, o);
        uint64_t hash = fnv(0xcbf29ce484222325u, (const unsigned char *)head, (size_t)n);
        for (uint32_t i = 0; i < task->nin; i++) {
            int bad = read_into(task->in[i], &hash);
            if (bad)
                return bad;
        }
        FILE *out = fopen(task->out[o], "we");
        if (!out)
            return 4;
        fprintf(out, "%016" PRIx64 "\n", hash);
        if (fclose(out) != 0)
            return 5;
    }
    tell("E", task);
    return 0;
}

/* Lasts for the microseconds that NAP names; outputs are empty files. */
int nap(const struct weft_task *task)
{
    const char *time = getenv("NAP");
    usleep(time ? (useconds_t)strtoul(time, NULL, 10) : 0);
    for (uint32_t o = 0; o < task->nout; o++) {
        FILE *out = fopen(task->out[o], "we");
        if (!out || fclose(out) != 0)
            return 1;
    }
    return 0;
}
