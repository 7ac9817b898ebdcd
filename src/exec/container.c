/* Engines of containers, by their commands. Nothing is linked: what can be installed can be used.
 *
 * I1. A secret's value is in no argument: `-e NAME` takes it from the environment of the engine.
 * I2. A container is started by what it is (its image's number), not by its name: who tags another image
 *     while a run goes on changes nothing, and the key tells the truth.
 * I3. Its output is ours alone (--log-driver none): no journal keeps what a log may not. */
#include "exec/container.h"

#include "base/digest.h"
#include "base/mem.h"
#include "base/program.h"
#include "exec/wrapper.h"
#include "model/command.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ENGINE_WORDS = 32 };

/* ---- the engine ---- */

static char engine_text[4096];
static char *engine_words[ENGINE_WORDS];
static struct container_engine engine_here;
static struct error engine_error;

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* False: no engine that we know. */
static bool engine_kind(const char *program, enum container_kind *kind)
{
    const char *name = last_part(program);
    if (strcmp(name, "podman") == 0)
        *kind = CONTAINER_PODMAN;
    else if (strcmp(name, "docker") == 0)
        *kind = CONTAINER_DOCKER;
    else if (strcmp(name, "apptainer") == 0 || strcmp(name, "singularity") == 0)
        *kind = CONTAINER_APPTAINER;
    else
        return false;
    return true;
}

/* Written once, under pthread_once(), and read-only from then on. */
static void find_engine(void)
{
    static const char *const known[] = {"podman", "docker", "apptainer", "singularity"};
    const char *named = getenv("WEFT_CONTAINER");
    size_t n = 0;
    if (named && *named) {
        snprintf(engine_text, sizeof engine_text, "%s", named);
        n = command_words(engine_text, engine_words, ENGINE_WORDS);
        char found[sizeof engine_text];
        if (!n || !engine_kind(engine_words[0], &engine_here.kind))
            error_set(&engine_error, ERROR_INPUT,
                      "WEFT_CONTAINER is '%.200s'; expected podman, docker or apptainer, with its "
                      "options",
                      named);
        else if (strchr(engine_words[0], '/') ? access(engine_words[0], X_OK) != 0
                                              : !program_find(engine_words[0], found, sizeof found))
            error_set(&engine_error, ERROR_INPUT,
                      "WEFT_CONTAINER names '%.200s', which is not on this machine",
                      engine_words[0]);
        else
            engine_here.words = (const char *const *)engine_words;
        return;
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (program_find(known[i], engine_text, sizeof engine_text)) {
            engine_kind(known[i], &engine_here.kind);
            engine_words[0] = engine_text;
            engine_here.words = (const char *const *)engine_words;
            return;
        }
    error_set(&engine_error, ERROR_INPUT,
              "there is no podman, docker or apptainer in PATH on this machine; install one of "
              "them, or name one in WEFT_CONTAINER");
}

const struct container_engine *container_engine_here(struct error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_engine);
    if (engine_here.words)
        return &engine_here;
    error_set(err, engine_error.kind, "%s", engine_error.text);
    return NULL;
}

/* ---- texts ---- */

__attribute__((format(printf, 2, 3))) static char *make_text(container_texts *texts,
                                                             const char *fmt, ...)
{
    va_list args;
    char *text = NULL;
    va_start(args, fmt);
    int n = vasprintf(&text, fmt, args);
    va_end(args);
    char *copy = mem_copy_string(n >= 0 ? text : "");
    free(text);
    array_push(texts, copy);
    return copy;
}

void container_texts_free(container_texts *texts)
{
    for (size_t i = 0; i < texts->n; i++)
        free(texts->at[i]);
    array_free(texts);
}

static void push_engine(const struct container_engine *e, container_texts *out)
{
    for (const char *const *w = e->words; *w; w++)
        array_push(out, (char *)*w);
}

/* Append words that last as long as the program. */
#define PUSH(out, ...)                                                                             \
    do {                                                                                           \
        static const char *const pushed_[] = {__VA_ARGS__};                                        \
        for (size_t pushed_i_ = 0; pushed_i_ < sizeof pushed_ / sizeof *pushed_; pushed_i_++)      \
            array_push((out), (char *)pushed_[pushed_i_]);                                         \
    } while (0)

/* ---- what an image is ---- */

bool container_is_pinned(const char *image)
{
    return strstr(image, "@sha256:") != NULL;
}

/* The last line that a program said, for an error. */
static const char *last_line(struct strbuf *said)
{
    while (said->n && said->at[said->n - 1] == '\n')
        said->at[--said->n] = 0;
    const char *line = strrchr(strbuf_text(said), '\n');
    return line ? line + 1 : strbuf_text(said);
}

/* The number of an image that is here. */
static bool image_number(const struct container_engine *e, const char *image, struct strbuf *what,
                         struct strbuf *said)
{
    container_texts words = {0};
    push_engine(e, &words);
    PUSH(&words, "image", "inspect", "--format", "{{.Id}}");
    array_push(&words, (char *)image);
    array_push(&words, NULL);
    bool good = program_output((const char *const *)words.at, what, said);
    array_free(&words);
    if (!good)
        return false;
    char *text = strbuf_steal(what);
    const char *at = strncmp(text, "sha256:", 7) == 0 ? text + 7 : text;
    strbuf_add_bytes(what, at, strspn(at, "0123456789abcdef"));
    free(text);
    return what->n >= 12;
}

static bool image_pull(const struct container_engine *e, const char *image, struct strbuf *said)
{
    container_texts words = {0};
    push_engine(e, &words);
    PUSH(&words, "pull", "-q");
    array_push(&words, (char *)image);
    array_push(&words, NULL);
    bool good = program_output((const char *const *)words.at, NULL, said);
    array_free(&words);
    return good;
}

/* A file is what is in it. */
static bool image_file(const char *image, const char *folder, struct strbuf *what,
                       struct error *err)
{
    struct strbuf path = {0};
    struct digest d;
    char hex[DIGEST_TEXT];
    strbuf_printf(&path, "%s%s%s", *image == '/' ? "" : folder, *image == '/' ? "" : "/", image);
    int fd = open(path.at, O_RDONLY | O_CLOEXEC);
    bool good = fd >= 0;
    if (!good)
        error_set(err, ERROR_INPUT,
                  "container '%.200s': %s; apptainer runs files (`apptainer pull tools.sif "
                  "docker://debian:12`, then `container: tools.sif`) and images that are named by "
                  "their digest (name@sha256:...)",
                  image, strerror(errno));
    good = good && digest_of_fd(fd, path.at, &d, err);
    if (good)
        strbuf_add(what, digest_text(&d, hex));
    if (fd >= 0)
        close(fd);
    strbuf_free(&path);
    return good;
}

bool container_resolve(const char *image, const char *folder, bool fetch, struct strbuf *what,
                       struct error *err)
{
    strbuf_clear(what);
    if (container_is_pinned(image)) {
        strbuf_add(what, image);
        return true;
    }
    const struct container_engine *e = container_engine_here(err);
    if (!e)
        return false;
    if (e->kind == CONTAINER_APPTAINER)
        return image_file(image, folder, what, err);
    struct strbuf said = {0};
    bool good = image_number(e, image, what, &said) ||
                (fetch && image_pull(e, image, &said) && image_number(e, image, what, &said));
    if (!good)
        error_set(err, ERROR_INPUT, "container '%.200s': %s has no such image%s: %.300s", image,
                  last_part(e->words[0]), fetch ? ", and cannot pull it" : "", last_line(&said));
    strbuf_free(&said);
    return good;
}

/* ---- running ---- */

/* A mount of the same name inside. Commas separate its parts, and cannot be quoted by all engines. */
static bool push_mount(const struct container_engine *e, const char *path, bool writable,
                       container_texts *texts, container_texts *out, struct error *err)
{
    bool apptainer = e->kind == CONTAINER_APPTAINER;
    if (strpbrk(path, apptainer ? ",:" : ","))
        return error_set(err, ERROR_FAILED,
                         "a container cannot be given '%.300s': the engines want no comma%s in the "
                         "name of a folder or file",
                         path, apptainer ? " and no colon" : "");
    if (apptainer) {
        PUSH(out, "--bind");
        array_push(out, make_text(texts, "%s:%s%s", path, path, writable ? "" : ":ro"));
    } else {
        PUSH(out, "--mount");
        array_push(out, make_text(texts, "type=bind,source=%s,target=%s%s", path, path,
                                  writable ? "" : ",readonly"));
    }
    return true;
}

static bool push_mounts(const struct container_engine *e, const struct container_task *t,
                        container_texts *texts, container_texts *out, struct error *err)
{
    bool apart = strcmp(t->folder, t->work) != 0;
    if ((apart && !push_mount(e, t->folder, false, texts, out, err)) ||
        !push_mount(e, t->work, true, texts, out, err) ||
        (t->script && !push_mount(e, t->script, false, texts, out, err)))
        return false;
    for (const char *const *f = t->inputs; f && *f; f++)
        if (!push_mount(e, *f, false, texts, out, err))
            return false;
    return true;
}

/* podman and docker: everything up to the image. */
/* What an id of `gpu` is to the engine: a device's name with {id} in it. NULL: as usual; "none": nothing. */
static const char *device_template(void)
{
    const char *t = getenv("WEFT_CONTAINER_DEVICE");
    return t && *t ? t : NULL;
}

bool container_sees_own_gpus(const char *gpus)
{
    const char *t = device_template();
    struct error ignored = {0};
    const struct container_engine *e = container_engine_here(&ignored);
    return gpus && *gpus && !gpus[strspn(gpus, "0123456789,")] && e &&
           e->kind != CONTAINER_APPTAINER && (!t || strstr(t, "nvidia.com/gpu"));
}

/* podman knows devices by the names of the Container Device Interface, which `nvidia-ctk cdi generate`
 * writes; docker has an option for those of NVIDIA, which is older and always there. */
static void push_gpus(const struct container_engine *e, const struct container_task *t,
                      container_texts *texts, container_texts *out)
{
    const char *device = device_template();
    if (!t->gpus || !*t->gpus || (device && strcmp(device, "none") == 0))
        return;
    if (e->kind == CONTAINER_APPTAINER) {
        PUSH(out, "--nv"); /* all of them are seen: CUDA_VISIBLE_DEVICES chooses */
        return;
    }
    if (e->kind == CONTAINER_DOCKER && !device) {
        PUSH(out, "--gpus");
        array_push(out, make_text(texts, "\"device=%s\"", t->gpus));
        return;
    }
    device = device ? device : "nvidia.com/gpu={id}";
    const char *mark = strstr(device, "{id}");
    for (const char *p = t->gpus; *p; p += *p == ',') {
        int n = (int)strcspn(p, ",");
        PUSH(out, "--device");
        if (mark)
            array_push(
                out, make_text(texts, "%.*s%.*s%s", (int)(mark - device), device, n, p, mark + 4));
        else
            array_push(out, make_text(texts, "%s", device));
        p += n;
        if (!mark)
            break; /* one device, whichever is held */
    }
}

static void push_run(const struct container_engine *e, const struct container_task *t,
                     container_texts *texts, container_texts *out)
{
    PUSH(out, "run", "--rm", "--log-driver", "none", "--network", "host", "--entrypoint", "");
    PUSH(out, "--name");
    array_push(out, (char *)t->name);
    PUSH(out, "--label");
    array_push(out, make_text(texts, "weft=%s", t->label));
    if (e->kind == CONTAINER_PODMAN) {
        PUSH(out, "--security-opt", "label=disable");
        if (geteuid() != 0)
            PUSH(out, "--userns", "keep-id");
    }
    PUSH(out, "--user");
    array_push(out, make_text(texts, "%u:%u", (unsigned)geteuid(), (unsigned)getegid()));
    if (t->memory > 0) {
        PUSH(out, "--memory");
        array_push(out, make_text(texts, "%.0fb", t->memory));
        PUSH(out, "--memory-swap");
        array_push(out, make_text(texts, "%.0fb", t->memory));
    }
    push_gpus(e, t, texts, out);
    for (const char *const *v = t->set; v && *v; v++) {
        PUSH(out, "-e");
        array_push(out, (char *)*v);
    }
    for (const char *const *v = t->given; v && *v; v++) {
        PUSH(out, "-e");
        array_push(out, (char *)*v);
    }
    PUSH(out, "--workdir");
    array_push(out, (char *)t->work);
}

/* What is on the agent's own machine: an image is found by its number, or pulled by its name and looked
 * for again. */
static void push_fetch(const struct container_engine *e, const struct container_task *t,
                       container_texts *texts, container_texts *out)
{
    PUSH(out, "sh", "-c", exec_image_sh, "weft");
    struct strbuf engine = {0};
    for (const char *const *w = e->words; *w; w++) {
        strbuf_add(&engine, engine.n ? " " : "");
        command_add_quoted(&engine, *w);
    }
    array_push(out, (char *)t->image);
    array_push(out, (char *)t->what);
    array_push(out, make_text(texts, "%s", engine.at));
    strbuf_free(&engine);
}

bool container_words(const struct container_task *t, char *const *words, container_texts *texts,
                     container_texts *out, struct error *err)
{
    const struct container_engine *e = container_engine_here(err);
    bool pinned = container_is_pinned(t->image);
    if (!e)
        return false;
    if (e->kind == CONTAINER_APPTAINER) {
        push_engine(e, out);
        PUSH(out, "exec", "--cleanenv", "--no-home", "--pwd");
        array_push(out, (char *)t->work);
        push_gpus(e, t, texts, out);
    } else {
        if (t->fetch && !pinned)
            push_fetch(e, t, texts, out);
        push_engine(e, out);
        push_run(e, t, texts, out);
    }
    if (!push_mounts(e, t, texts, out, err))
        return false;
    if (e->kind != CONTAINER_APPTAINER)
        array_push(out, (char *)(pinned ? t->image : t->what));
    else if (pinned && !strstr(t->image, "://"))
        array_push(out, make_text(texts, "docker://%s", t->image));
    else
        array_push(out, *t->image == '/' || pinned
                            ? (char *)t->image
                            : make_text(texts, "%s/%s", t->folder, t->image));
    for (; *words; words++)
        array_push(out, *words);
    array_push(out, NULL);
    return true;
}

void container_label(const char *state, char label[static CONTAINER_LABEL])
{
    char path[PATH_MAX], hex[DIGEST_TEXT];
    struct digest d;
    const char *at = state && realpath(state, path) ? path : "";
    digest_of(at, strlen(at), &d);
    snprintf(label, CONTAINER_LABEL, "%.16s", digest_text(&d, hex));
}

bool container_ending(const struct container_task *t, container_texts *texts, container_texts *out)
{
    struct error ignored = {0};
    const struct container_engine *e = container_engine_here(&ignored);
    (void)texts;
    if (!e || e->kind == CONTAINER_APPTAINER)
        return false;
    push_engine(e, out);
    PUSH(out, "rm", "-f");
    if (e->kind == CONTAINER_PODMAN)
        PUSH(out, "-t", "0");
    array_push(out, (char *)t->name);
    array_push(out, NULL);
    return true;
}

uint32_t container_end_all(const char *label)
{
    struct error ignored = {0};
    const struct container_engine *e = container_engine_here(&ignored);
    container_texts words = {0}, texts = {0};
    struct strbuf found = {0};
    uint32_t ended = 0;
    if (!e || e->kind == CONTAINER_APPTAINER)
        return 0;
    push_engine(e, &words);
    PUSH(&words, "ps", "-aq", "--filter");
    array_push(&words, make_text(&texts, "label=weft=%s", label));
    array_push(&words, NULL);
    program_output((const char *const *)words.at, &found, NULL);
    for (char *save = NULL, *id = found.n ? strtok_r(found.at, " \n", &save) : NULL; id;
         id = strtok_r(NULL, " \n", &save)) {
        words.n = 0;
        push_engine(e, &words);
        PUSH(&words, "rm", "-f");
        array_push(&words, id);
        array_push(&words, NULL);
        ended += program_output((const char *const *)words.at, NULL, NULL);
    }
    array_free(&words);
    container_texts_free(&texts);
    strbuf_free(&found);
    return ended;
}
