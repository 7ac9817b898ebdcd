/* This machine in figures: what there is (files of /proc and control groups), and what it can do
 * (short benchmarks). The reference of speed and what a round is: measure.h. Nothing here is an
 * error: a figure that cannot be had is NAN or INFINITY, with a note.
 *
 * The parts share the time that is given, in order: load by others first, since the rest is load by
 * us. One thread beside the caller's, for the far end of the loopback, joined before it returns. */
#include "exec/measure.h"
#include "base/clock.h"
#include "base/mem.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

/* ---- what there is ---- */

static FILE *open_in(const char *root, const char *path)
{
    char whole[4096];
    int n = snprintf(whole, sizeof whole, "%s%s", root, path);
    return n > 0 && (size_t)n < sizeof whole ? fopen(whole, "re") : NULL;
}

/* The first number in a file; INFINITY when there is none ("max"). */
static double number_in(const char *root, const char *path, double *second)
{
    double first = INFINITY;
    FILE *f = open_in(root, path);
    if (!f)
        return INFINITY;
    char a[64] = "", b[64] = "";
    int n = fscanf(f, "%63s %63s", a, b);
    if (n >= 1 && strcmp(a, "max") != 0)
        first = strtod(a, NULL);
    if (second && n >= 2)
        *second = strtod(b, NULL);
    fclose(f);
    return first;
}

/* CPU quota and memory of the group at `group` below `mount` (version 2 when `unified`).
 * A limit may stand on the process's own group and on every one above it: all are asked. */
static void limits_along(const char *root, const char *mount, const char *group, bool unified,
                         double *quota, double *memory)
{
    char at[2048];
    snprintf(at, sizeof at, "%s", group);
    for (;;) {
        char path[4096];
        double period = 100000; /* microseconds, the kernel's standard */
        snprintf(path, sizeof path, "%s%s/%s", mount, at, unified ? "cpu.max" : "cpu.cfs_quota_us");
        double used = number_in(root, path, unified ? &period : NULL);
        if (!unified) {
            snprintf(path, sizeof path, "%s%s/cpu.cfs_period_us", mount, at);
            double stated = number_in(root, path, NULL);
            period = isfinite(stated) ? stated : period;
        }
        if (used > 0 && period > 0)
            *quota = fmin(*quota, used / period);
        snprintf(path, sizeof path, "%s%s/%s", mount, at,
                 unified ? "memory.max" : "memory.limit_in_bytes");
        double bytes = number_in(root, path, NULL);
        if (bytes > 0)
            *memory = fmin(*memory, bytes);
        char *slash = strrchr(at, '/');
        if (!slash)
            return;
        *slash = 0;
    }
}

void measure_limits(const char *root, double *quota, double *memory)
{
    *quota = *memory = INFINITY;
    FILE *f = open_in(root, "/proc/self/cgroup");
    char line[4096];
    while (f && fgets(line, sizeof line, f)) {
        /* "0::/user.slice/x" is version 2, "4:cpu,cpuacct:/x" version 1 */
        line[strcspn(line, "\n")] = 0;
        char *controllers = strchr(line, ':'),
             *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group)
            continue;
        *controllers++ = 0;
        *group++ = 0;
        if (strcmp(group, "/") == 0)
            group = "";
        if (!*controllers) {
            limits_along(root, "/sys/fs/cgroup", group, true, quota, memory);
            limits_along(root, "/sys/fs/cgroup/unified", group, true, quota, memory);
            continue;
        }
        char *rest = NULL;
        for (char *c = strtok_r(controllers, ",", &rest); c; c = strtok_r(NULL, ",", &rest))
            if (strcmp(c, "cpu") == 0 || strcmp(c, "memory") == 0) {
                char mount[64];
                snprintf(mount, sizeof mount, "/sys/fs/cgroup/%s", c);
                limits_along(root, mount, group, false, quota, memory);
                /* in a container the group's path is often the outer one: the mount is its own */
                limits_along(root, mount, "", false, quota, memory);
            }
    }
    if (f)
        fclose(f);
}

/* x86 says "model name", some others "cpu model"; ARM says neither, and gets "". */
static void find_processor(struct machine *m)
{
    FILE *f = fopen("/proc/cpuinfo", "re");
    char line[512];
    while (f && fgets(line, sizeof line, f)) {
        char *colon = strchr(line, ':');
        if (!colon || (strncmp(line, "model name", 10) != 0 && strncmp(line, "cpu model", 9) != 0))
            continue;
        colon += 1 + strspn(colon + 1, " \t");
        colon[strcspn(colon, "\n")] = 0;
        snprintf(m->processor, sizeof m->processor, "%.*s", (int)sizeof m->processor - 1, colon);
        break;
    }
    if (f)
        fclose(f);
}

/* A whole number above 0 in the environment; 0: none. */
static double measure_variable(const char *name)
{
    const char *text = getenv(name);
    char *end;
    double x = text ? strtod(text, &end) : 0;
    return text && end != text && !*end && x > 0 ? x : 0;
}

/* On a node of a Slurm job: what the job was given here. Sites that bind tasks and limit memory by
 * control groups say the same; others only here. MB are Slurm's: 2^20 bytes. SLURM_CPUS_ON_NODE is set
 * on the job's nodes alone, not in the shell that asked for them. */
static void measure_allocation(struct machine *m)
{
    double cores = measure_variable("SLURM_CPUS_ON_NODE");
    double each = measure_variable("SLURM_MEM_PER_CPU"),
           whole = measure_variable("SLURM_MEM_PER_NODE");
    if (cores <= 0)
        return;
    if (cores < m->cores)
        m->cores = (uint32_t)cores;
    if (whole > 0)
        m->memory = fmin(m->memory, whole * 1048576);
    else if (each > 0)
        m->memory = fmin(m->memory, each * cores * 1048576);
}

void measure_inventory(struct machine *m)
{
    *m = (struct machine){.speed = NAN,
                          .speed_low = NAN,
                          .speed_high = NAN,
                          .utilization = NAN,
                          .disk_write = NAN,
                          .disk_read = NAN,
                          .loopback = NAN,
                          .latency = NAN};
    if (gethostname(m->name, sizeof m->name - 1) != 0 || !*m->name)
        snprintf(m->name, sizeof m->name, "localhost");
    find_processor(m);
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    m->present = m->cores = online > 0 ? (uint32_t)online : 1;
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        m->cores = (uint32_t)CPU_COUNT(&set); /* past 1,024 cores the call fails: all count */
    double limit;
    measure_limits("", &m->quota, &limit);
    if (m->quota < m->cores) /* half a core more would only make two tasks slow */
        m->cores = m->quota >= 1 ? (uint32_t)(m->quota + 0.01) : 1;
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGE_SIZE);
    m->memory = pages > 0 && size > 0 ? (double)pages * (double)size : INFINITY;
    m->memory = fmin(m->memory, limit);
    measure_allocation(m);
}

/* ---- speed ---- */

enum {
    TABLE = 1 << 17, /* words: 1 MiB, past the first caches of most cores */
    RUNS = 9,        /* odd, for a median; enough that a burst of others spoils the minority */
    ROUNDS_AT_ONCE = 1 << 18, /* between looks at the clock: some milliseconds */
};

/* The work of the benchmark; what it returns must be used, or the compiler leaves it out. */
__attribute__((noinline)) static double speed_rounds(uint64_t *table, uint64_t count, uint64_t seed)
{
    uint64_t x = seed;
    double sum = 1;
    for (uint64_t i = 0; i < count; i++) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        uint64_t v = table[(x >> 40) % TABLE];
        sum = sum * 0.9999999 + (double)(v & 1023);
        x += v;
    }
    return sum;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of one core, in processor time: what others take from it is not its speed. */
static void measure_speed(struct machine *m, double seconds)
{
    uint64_t *table = mem_new(uint64_t, TABLE), x = 88172645463325252u;
    for (uint32_t i = 0; i < TABLE; i++) { /* xorshift64: any numbers will do, always the same */
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        table[i] = x;
    }
    double rate[RUNS], each = seconds / RUNS;
    volatile double sink =
        speed_rounds(table, ROUNDS_AT_ONCE, 1); /* warm the table and the clock frequency */
    for (int run = 0; run < RUNS; run++) {
        uint64_t done = 0;
        double start = clock_cpu_seconds(), now;
        do {
            sink = speed_rounds(table, ROUNDS_AT_ONCE, done + 1);
            done += ROUNDS_AT_ONCE;
            now = clock_cpu_seconds();
        } while (now - start < each);
        rate[run] = (double)done / (now - start);
    }
    (void)sink;
    free(table);
    qsort(rate, RUNS, sizeof *rate, by_value);
    m->speed_low = rate[0] / MEASURE_REFERENCE;
    m->speed = rate[RUNS / 2] / MEASURE_REFERENCE;
    m->speed_high = rate[RUNS - 1] / MEASURE_REFERENCE;
}

double measure_core(void)
{
    struct machine m;
    measure_speed(&m, 0);
    return m.speed;
}

/* ---- load by others ---- */

/* Busy and whole time of the cores that this process may use, in ticks. */
static bool read_load(double *busy, double *whole)
{
    cpu_set_t set;
    bool chosen = sched_getaffinity(0, sizeof set, &set) == 0;
    FILE *f = fopen("/proc/stat", "re");
    char line[1024];
    *busy = *whole = 0;
    while (f && fgets(line, sizeof line, f)) {
        unsigned core;
        double v[8] = {0};
        if (sscanf(line, "cpu%u %lf %lf %lf %lf %lf %lf %lf %lf", &core, &v[0], &v[1], &v[2], &v[3],
                   &v[4], &v[5], &v[6], &v[7]) < 5 ||
            (chosen && (core >= CPU_SETSIZE || !CPU_ISSET(core, &set))))
            continue;
        for (int i = 0; i < 8; i++)
            *whole += v[i];
        *busy += v[0] + v[1] + v[2] + v[5] + v[6] + v[7]; /* all but idle and waiting for disks */
    }
    if (f)
        fclose(f);
    return *whole > 0;
}

double measure_busy(struct measure_look *since)
{
    struct measure_look now;
    double load, part = NAN;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (!read_load(&now.busy, &now.whole))
        return NAN;
    if (since->whole > 0 && now.whole > since->whole)
        part = (now.busy - since->busy) / (now.whole - since->whole);
    else if (!(since->whole > 0) && cores > 0 && getloadavg(&load, 1) == 1)
        part = load / (double)cores;
    *since = now;
    return fmin(fmax(part, 0), 1);
}

/* Two looks at the kernel's counters, while we sleep. */
static void measure_utilization(struct machine *m, double seconds)
{
    double busy, whole, later_busy, later_whole;
    if (!read_load(&busy, &whole))
        return;
    struct timespec pause = {(time_t)seconds, (long)((seconds - floor(seconds)) * 1e9)};
    while (nanosleep(&pause, &pause) != 0 && errno == EINTR)
        ;
    if (read_load(&later_busy, &later_whole) && later_whole > whole)
        m->utilization = fmin(fmax((later_busy - busy) / (later_whole - whole), 0), 1);
}

/* ---- disk ---- */

enum {
    BLOCK = 1 << 20, /* bytes a write: large enough that the call does not count */
    SYNC_EVERY = 8,  /* blocks made durable together, about as a task does when it closes a file */
    BLOCKS_MOST = 256, /* a quarter of a gigabyte: more would only wear the disk */
};

/* Did the kernel keep the file in memory though it was asked to forget it? A tenth is little enough
 * not to show. When nobody can say, it is taken to be. */
static bool still_cached(int fd, size_t bytes)
{
    void *map = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED)
        return true;
    size_t page = (size_t)sysconf(_SC_PAGE_SIZE), pages = (bytes + page - 1) / page, resident = 0;
    unsigned char *present = mem_new_zero(unsigned char, pages);
    if (mincore(map, bytes, present) == 0)
        for (size_t i = 0; i < pages; i++)
            resident += present[i] & 1;
    free(present);
    munmap(map, bytes);
    return resident > pages / 10;
}

static void measure_note(struct strbuf *notes, const char *what, const char *why)
{
    if (notes)
        strbuf_printf(notes, "%s: %s\n", what, why);
}

/* Write, with every 8 MiB made durable, until the time or the room is used up; then read back what
 * the cache has forgotten. */
static void disk_figures(struct machine *m, int fd, double seconds, struct strbuf *notes)
{
    uint64_t *block = mem_new(uint64_t, BLOCK / 8), x = 42;
    struct statvfs space;
    size_t most = BLOCKS_MOST, n = 0;
    if (fstatvfs(fd, &space) == 0) { /* never more than a quarter of what is free */
        double free_blocks = (double)space.f_bavail * (double)space.f_frsize / BLOCK / 4;
        most = free_blocks < (double)most ? (size_t)free_blocks : most;
    }
    double start = clock_seconds(), synced = NAN;
    bool fine = most > 0;
    for (; fine && n < most; n++) {
        for (size_t i = 0; i < BLOCK / 8; i++) /* no disk can make this smaller */
            block[i] = x = x * 6364136223846793005u + 1442695040888963407u;
        fine = write(fd, block, BLOCK) == BLOCK;
        if (!fine || (n + 1) % SYNC_EVERY)
            continue;
        fine = fdatasync(fd) == 0;
        synced = clock_seconds();
        if (synced - start > seconds / 2) {
            n++;
            break;
        }
    }
    if (fine && n % SYNC_EVERY) {
        fine = fdatasync(fd) == 0;
        synced = clock_seconds();
    }
    if (!fine || !n || isnan(synced)) {
        measure_note(notes, "disk", most ? strerror(errno) : "not enough room for a trial");
        free(block);
        return;
    }
    m->disk_write = (double)n * BLOCK / fmax(synced - start, 1e-9);
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    m->disk_cached = still_cached(fd, n * BLOCK);
    size_t got = 0;
    start = clock_seconds();
    double now = start;
    /* reading, with the other half of the time */
    for (ssize_t r; got < n * BLOCK && now - start < seconds / 2; got += (size_t)r) {
        r = pread(fd, block, BLOCK, (off_t)got);
        now = clock_seconds();
        if (r <= 0)
            break;
    }
    if (got && now > start)
        m->disk_read = (double)got / (now - start);
    if (m->disk_cached)
        measure_note(notes, "disk", "the file stayed in memory: reading is as fast as that");
    free(block);
}

static void measure_disk(struct machine *m, const char *folder, double seconds,
                         struct strbuf *notes)
{
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0) { /* not every file system has nameless files */
        char path[4096];
        int n = snprintf(path, sizeof path, "%s/.weft-measure-XXXXXX", folder);
        fd = n > 0 && (size_t)n < sizeof path ? mkostemp(path, O_CLOEXEC) : -1;
        if (fd >= 0)
            unlink(path);
    }
    if (fd < 0) {
        measure_note(notes, "disk", strerror(errno));
        return;
    }
    disk_figures(m, fd, seconds, notes);
    close(fd);
}

/* ---- loopback ---- */

enum {
    MESSAGE = 1 << 18, /* bytes a send: many segments, so that the call does not count */
    PINGS = 2001,      /* round trips at most: odd, for a median */
};

/* The far end of the loopback: its socket, and what it swallowed. Read after the thread
 * is joined. */
struct loopback_end {
    int fd;
    uint64_t received;
};

/* The other end: sends back single bytes, until a longer message comes; swallows from then on. */
static void *loopback_echo(void *context)
{
    struct loopback_end *e = context;
    char *buffer = mem_alloc(MESSAGE);
    bool swallow = false;
    for (ssize_t n; (n = read(e->fd, buffer, MESSAGE)) > 0;) {
        swallow = swallow || n > 1;
        if (swallow)
            e->received += (uint64_t)n;
        else if (write(e->fd, buffer, 1) != 1)
            break;
    }
    free(buffer);
    return NULL;
}

/* Two ends of a TCP connection through the loopback device; Nagle's delay is switched off, as on
 * links. False: errno. `near` may be open then. */
static bool connect_pair(int *near, int *far)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    *near = *far = -1;
    if (listening < 0)
        return false;
    if (bind(listening, (struct sockaddr *)&address, size) == 0 && listen(listening, 1) == 0 &&
        getsockname(listening, (struct sockaddr *)&address, &size) == 0 &&
        (*near = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) >= 0 &&
        connect(*near, (struct sockaddr *)&address, size) == 0)
        *far = accept4(listening, NULL, NULL, SOCK_CLOEXEC);
    int saved = errno;
    close(listening);
    errno = saved;
    if (*far < 0)
        return false;
    setsockopt(*near, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(*far, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return true;
}

static void measure_loopback(struct machine *m, double seconds, struct strbuf *notes)
{
    int near;
    struct loopback_end other = {.fd = -1};
    pthread_t thread;
    if (!connect_pair(&near, &other.fd)) {
        measure_note(notes, "loopback", strerror(errno));
        if (near >= 0)
            close(near);
        return;
    }
    if (pthread_create(&thread, NULL, loopback_echo, &other) != 0) {
        measure_note(notes, "loopback", "no thread");
        close(near);
        close(other.fd);
        return;
    }
    /* first single bytes there and back, for the latency */
    double *trip = mem_new(double, PINGS), start = clock_seconds();
    size_t trips = 0;
    char byte = 1;
    while (trips < PINGS) {
        double sent = clock_seconds();
        if (sent - start > seconds / 2 || write(near, &byte, 1) != 1 || read(near, &byte, 1) != 1)
            break;
        trip[trips++] = clock_seconds() - sent;
    }
    if (trips) {
        qsort(trip, trips, sizeof *trip, by_value);
        m->latency = trip[trips / 2] / 2;
    }
    /* then as much as goes, for the bandwidth */
    char *message = mem_zero(MESSAGE);
    start = clock_seconds();
    while (clock_seconds() - start < seconds / 2)
        if (send(near, message, MESSAGE, MSG_NOSIGNAL) <= 0)
            break;
    shutdown(near, SHUT_WR);
    pthread_join(thread, NULL); /* when it has all of it */
    if (other.received)
        m->loopback = (double)other.received / (clock_seconds() - start);
    free(message);
    free(trip);
    close(near);
    close(other.fd);
}

void measure_machine(struct machine *m, const struct measure_options *options, struct strbuf *notes)
{
    /* parts of the time: a disk needs most to be past its own cache */
    double patience = options->patience > 0 ? options->patience : 4;
    measure_inventory(m);
    progress_report(options->progress, 0, "how busy the machine is");
    measure_utilization(m, patience * 0.25);
    progress_report(options->progress, 0.25, "speed of a core");
    measure_speed(m, patience * 0.2);
    progress_report(options->progress, 0.45, "disk");
    measure_disk(m, options->folder ? options->folder : ".", patience * 0.4, notes);
    progress_report(options->progress, 0.85, "loopback");
    measure_loopback(m, patience * 0.15, notes);
    progress_report(options->progress, 1, "done");
}
