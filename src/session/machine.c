/* Platforms by name: files by formats, generators by generate, this machine by exec's inventory. */
#include "session/machine.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/quantity.h"
#include "base/strbuf.h"
#include "exec/measure.h"
#include "formats/format.h"
#include "generate/generate.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

char *machine_file(void)
{
    struct machine m;
    measure_inventory(&m);
    /* a folder's worth of machines may share one home: the file is named by the host, and a host's
     * name may hold what a file's must not */
    for (char *c = m.name; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("-._", *c))
            *c = '_';
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    struct strbuf path = {0};
    if (config && *config == '/')
        strbuf_printf(&path, "%s/weft/%s.yaml", config, m.name);
    else if (home && *home == '/')
        strbuf_printf(&path, "%s/.config/weft/%s.yaml", home, m.name);
    else
        return NULL;
    return strbuf_steal(&path);
}

/* A measured file that cannot be read is an error: to plan on guesses instead would surprise. */
struct platform *machine_this(struct error *err)
{
    char *path = machine_file();
    struct platform *measured = NULL;
    bool there = path && file_exists(path);
    if (there)
        measured = format_read_platform(path, NULL, NULL, err);
    free(path);
    if (there) {
        if (measured) {
            measured->file = pool_add(&measured->text, "this-machine", strlen("this-machine"));
            if (measured->memory_rule == MEMORY_UNSTATED)
                measured->memory_rule = MEMORY_TASKS;
        }
        return measured;
    }
    /* not measured: one node at speed 1, so that its times are those that the workflow states */
    struct machine m;
    measure_inventory(&m);
    struct platform_builder *b = platform_builder_new("this-machine");
    platform_builder_name(b, "this machine", strlen("this machine"));
    uint32_t node = platform_builder_node(b, "localhost", strlen("localhost"), 0);
    platform_builder_cores(b, node, m.cores, 0);
    if (isfinite(m.memory))
        platform_builder_memory(b, node, m.memory, 0);
    /* one machine keeps the files between its tasks on its disk */
    platform_builder_memory_rule(b, MEMORY_TASKS);
    return platform_builder_finish(b, err);
}

/* A measured file that cannot be read counts as none here: a run is not to fail of it. */
double machine_speed(void)
{
    char *path = machine_file();
    struct platform *p = path && file_exists(path) ? machine_this(NULL) : NULL;
    double speed = p && p->nnodes ? p->speed[0] : 0;
    platform_free(p);
    free(path);
    return speed;
}

/* "homogeneous:n=8,speed=2" -> a platform, by its generator. */
static struct platform *machine_generated(const char *spec, struct error *err)
{
    char *text = mem_copy_string(spec), *colon = strchr(text, ':');
    struct option_value values[32];
    size_t count = 0;
    char *rest = NULL;
    if (colon)
        *colon = 0;
    const struct generator *g = generator_find(text);
    struct platform *p = NULL;
    for (char *item = colon ? strtok_r(colon + 1, ",", &rest) : NULL; item && count < 32;
         item = strtok_r(NULL, ",", &rest)) {
        char *equals = strchr(item, '=');
        if (!equals) {
            error_set(err, ERROR_INPUT, "--on %s: '%s' is not name=value", spec, item);
            free(text);
            return NULL;
        }
        *equals = 0;
        values[count++] = (struct option_value){item, equals + 1};
    }
    if (g && g->kind == GENERATES_PLATFORM)
        p = generator_platform(g, values, count, 1, err);
    else
        error_set(
            err, ERROR_INPUT,
            "--on %s: no such file, and no generator of platforms is called '%s'; `weft generate` "
            "lists them",
            spec, text);
    free(text);
    return p;
}

/* "fourfold:dmax=0.5": its values may have a point or a slash, as names of files do. */
static bool machine_names_generator(const char *spec)
{
    const char *colon = strchr(spec, ':');
    char *name = mem_copy_bytes(spec, colon ? (size_t)(colon - spec) : strlen(spec));
    bool known = colon && generator_find(name);
    free(name);
    return known;
}

/* In this order: the word for this machine, a file that is there, a number, what looks like a file, a
 * generator. */
struct platform *machine_named(const char *spec, struct error *err)
{
    if (strcmp(spec, "this-machine") == 0)
        return machine_this(err);
    int64_t count;
    if (file_exists(spec) || strcmp(spec, "-") == 0)
        return format_read_platform(spec, NULL, NULL, err);
    char text[64];
    struct platform *p;
    if (quantity_integer(spec, strlen(spec), &count)) {
        snprintf(text, sizeof text, "homogeneous:n=%lld", (long long)count);
        p = machine_generated(text, err);
    } else if (!machine_names_generator(spec) && (strchr(spec, '/') || strchr(spec, '.'))) {
        /* Meant as a file: say what is wrong with the file. */
        return format_read_platform(spec, NULL, NULL, err);
    } else {
        p = machine_generated(spec, err);
    }
    /* The spec stands in for a file name, so that a plan can name its platform again. */
    if (p)
        p->file = pool_add(&p->text, spec, strlen(spec));
    return p;
}

char *machine_system(void)
{
    struct utsname name;
    struct strbuf text = {0};
    if (uname(&name) == 0)
        strbuf_printf(&text, "%s %s %s", name.sysname, name.release, name.machine);
    return strbuf_steal(&text);
}
