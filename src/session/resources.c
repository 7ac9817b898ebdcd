/* See resources.h. GPUs are looked for only where the user asks for it: what a machine has and what a
 * run may use are two things. */
#include "session/resources.h"

#include "model/things.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char automatic[] = "gpu=auto";

/* Words with commas between them; what a scheduler writes for "none" counts as none. */
static const char *ids_of_environment(void)
{
    static const char *const names[] = {"CUDA_VISIBLE_DEVICES", "SLURM_STEP_GPUS",
                                        "SLURM_JOB_GPUS"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *ids = getenv(names[i]);
        if (ids && *ids && strcmp(ids, "NoDevFiles") != 0 && strcmp(ids, "-1") != 0)
            return ids;
    }
    return NULL;
}

static void add_device_ids(struct strbuf *out)
{
    const size_t before = out->n;
    for (uint32_t i = 0; i < THING_IDS; i++) {
        char path[40];
        snprintf(path, sizeof path, "/dev/nvidia%u", i);
        if (access(path, F_OK) == 0)
            strbuf_printf(out, "%s%u", out->n > before ? "," : "", i);
    }
}

/* The text with what `auto` stands for in its place. */
static bool resolve_automatic(const char *text, struct strbuf *out, struct error *err)
{
    const char *at = strstr(text, automatic);
    size_t n = sizeof automatic - 1;
    if (!at || (at > text && !strchr(", ;", at[-1])) || (at[n] && !strchr(", ;", at[n]))) {
        strbuf_add(out, text);
        return true;
    }
    struct strbuf ids = {0};
    const char *given = ids_of_environment();
    if (given)
        strbuf_add(&ids, given);
    else
        add_device_ids(&ids);
    strbuf_add_bytes(out, text, (size_t)(at - text));
    strbuf_printf(out, "gpu=[%s]%s", strbuf_text(&ids), at + n);
    bool found = ids.n > 0;
    strbuf_free(&ids);
    return found || error_set(err, ERROR_INPUT,
                              "--resources gpu=auto: CUDA_VISIBLE_DEVICES, SLURM_STEP_GPUS and "
                              "SLURM_JOB_GPUS name no GPU, and there is no /dev/nvidia0; name the "
                              "ids: --resources gpu=0,1");
}

bool resources_resolve(const char *text, struct strbuf *out, struct error *err)
{
    struct strbuf plain = {0};
    struct thing_list list = {0};
    struct error wrong = {0};
    if (!text || !*text)
        return true;
    bool good = resolve_automatic(text, &plain, err);
    if (good && !thing_list_read(strbuf_text(&plain), &list, &wrong))
        good = error_set(err, ERROR_INPUT, "--resources %s: %s", text, wrong.text);
    if (good)
        thing_list_text(&list, out);
    thing_list_free(&list);
    strbuf_free(&plain);
    return good;
}
