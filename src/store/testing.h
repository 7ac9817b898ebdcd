/* For the room's tests: small workflows, a folder of their own, operations in one line. */
#pragma once
#include "base/array.h"
#include "model/builder.h"
#include "store/embedded.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

__attribute__((unused)) static struct workflow *make_workflow(uint32_t n, const char *prefix)
{
    /* Each task reads from the one 3 before it and the one 7 before it (two objects from that one).
     */
    struct builder *b = builder_new("<test>", "test");
    char name[32];
    for (uint32_t t = 0; t < n; t++)
        builder_task(b, name, (size_t)snprintf(name, sizeof name, "%s%u", prefix, t), 0);
    for (uint32_t t = 0; t < n; t++) {
        if (t >= 3)
            builder_data_edge(b, t - 3, t, 100 + t, 0);
        if (t >= 7) {
            builder_data_edge(b, t - 7, t, 1000, 0);
            uint32_t second =
                builder_object(b, name, (size_t)snprintf(name, sizeof name, "o%u", t));
            builder_size(b, second, 500, 0);
            builder_produces(b, t - 7, second, 0);
            builder_consumes(b, t, second, 0);
        }
    }
    struct error err = {0};
    struct workflow *w = builder_finish(b, &err);
    if (!w) {
        printf("Bail out! %s\n", err.text);
        exit(1);
    }
    return w;
}

__attribute__((unused)) static const char *make_folder(char *path, size_t size)
{
    const char *base = getenv("TMPDIR");
    snprintf(path, size, "%s/weft-store-XXXXXX", base ? base : P_tmpdir);
    if (!mkdtemp(path)) {
        printf("Bail out! no temporary folder\n");
        exit(1);
    }
    return path;
}

__attribute__((unused)) static void remove_folder(const char *path)
{
    DIR *d = opendir(path);
    char file[4400];
    for (struct dirent *e; d && (e = readdir(d));) {
        snprintf(file, sizeof file, "%s/%s", path, e->d_name);
        if (e->d_name[0] != '.')
            unlink(file);
    }
    if (d)
        closedir(d);
    rmdir(path);
}

/* Submit one operation and wait for its answer, which stays valid until the next. */
__attribute__((unused)) static struct meta_answer ask(struct store *s, struct meta_op op,
                                                      struct meta_answers *all)
{
    struct meta_answers local;
    struct error err = {0};
    all = all ? all : &local;
    store_submit(s, &op, 1);
    do
        store_wait(s);
    while (store_poll(s, all, &err) && !all->n);
    if (!all->n)
        return (struct meta_answer){.outcome = 99};
    return all->at[0];
}

#define OP(k, ...) ((struct meta_op){.kind = META_##k, __VA_ARGS__})
