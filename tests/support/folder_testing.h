/* A folder of its own for a test, and workflows of commands in it. */
#pragma once
#include "base/file.h"
#include "model/builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct bench_folder {
    char path[64];
};

static inline struct bench_folder folder_make(void)
{
    struct bench_folder f = {"/tmp/weft-run-test-XXXXXX"};
    if (!mkdtemp(f.path))
        abort();
    return f;
}

static inline const char *folder_file(const struct bench_folder *f, const char *name)
{
    static char path[8][256];
    static unsigned next;
    char *at = path[next++ % 8];
    snprintf(at, 256, "%s/%s", f->path, name);
    return at;
}

static inline void folder_write(const struct bench_folder *f, const char *name, const char *text)
{
    struct error err = {0};
    if (!file_write(folder_file(f, name), text, strlen(text), &err))
        abort();
}

/* What a file holds, "" when it is not there. Valid until the next call. */
static inline const char *folder_read(const struct bench_folder *f, const char *name)
{
    static char text[4096];
    FILE *in = fopen(folder_file(f, name), "re");
    size_t n = in ? fread(text, 1, sizeof text - 1, in) : 0;
    text[n] = 0;
    if (in)
        fclose(in);
    return text;
}

/* "in1 in2 > out1 out2" beside a command. */
static inline uint32_t add_task(struct builder *b, const char *name, const char *command,
                                const char *files)
{
    uint32_t t = builder_task(b, name, strlen(name), 0);
    if (command)
        builder_command(b, t, command, strlen(command));
    char *copy = strdup(files), *save = NULL;
    bool out = false;
    for (char *word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
        if (strcmp(word, ">") == 0)
            out = true;
        else if (out)
            builder_produces(b, t, builder_object(b, word, strlen(word)), 0);
        else
            builder_consumes(b, t, builder_object(b, word, strlen(word)), 0);
    }
    free(copy);
    return t;
}
