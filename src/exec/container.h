/* Containers: which engine this machine has, what an image is, and the words that run a command in one.
 *
 *     podman, docker      run --rm ... IMAGE-ID words      a server or a monitor runs it: what ends our
 *                                                          process does not end it (container_ending)
 *     apptainer           exec ... FILE.sif words          it is our child
 *
 * The workflow's folder is seen under its own name, read-only; the folder that the task works in is
 * seen likewise and can be written. So links to inputs lead where they lead outside. The user is the
 * caller, the network is the machine's, and of variables it has the image's and what it is given. */
#pragma once
#include "base/array.h"
#include "base/error.h"
#include "base/strbuf.h"

enum container_kind { CONTAINER_PODMAN, CONTAINER_DOCKER, CONTAINER_APPTAINER };

/* The engine of this machine: the words of $WEFT_CONTAINER, else the first of podman, docker,
 * apptainer and singularity in PATH. */
struct container_engine {
    enum container_kind kind;
    const char *const *words; /* its program and options, NULL-terminated */
};
/* Looked for once. NULL: there is none; the error says what to do. */
const struct container_engine *container_engine_here(struct error *err);

/* What the image is: text that changes when the image does, and by which container_words() finds it.
 * An image that names its digest (name@sha256:...) is that. With `fetch` one that is not here is
 * pulled. False: an error. `folder`: of the workflow, for a file. */
bool container_resolve(const char *image, const char *folder, bool fetch, struct strbuf *what,
                       struct error *err);
/* Is that text known without an engine? */
bool container_is_pinned(const char *image);

/* Texts that are made for the words of one command, and freed together. */
typedef ARRAY(char *) container_texts;

struct container_task {
    const char *image, *what; /* as stated; as container_resolve() has it */
    const char *name;         /* of the container: one of this machine, from A-Z a-z 0-9 _ . - */
    const char *label;        /* whose it is, for container_end_all() */
    const char *folder,
        *work;          /* absolute: the workflow's; where the command works. May be the same */
    const char *script; /* a file that the command needs; NULL: none */
    const char *const *inputs; /* absolute files that lie elsewhere, NULL-terminated */
    const char *const *set;    /* "NAME=VALUE" that everybody may see, NULL-terminated */
    const char *const *given;  /* names of variables that stand in the environment already */
    const char *gpus;          /* ids that the task holds, with commas between them; NULL: none */
    double memory;             /* bytes; 0: no limit */
    bool fetch;                /* it may have to be pulled first: an agent's */
};

/* Of a task that holds these ids of `gpu`: does the container see just these, so that they are its 0, 1
 * ...? $WEFT_CONTAINER_DEVICE decides: see docs/running.md. */
bool container_sees_own_gpus(const char *gpus);

/* Append what runs `words` in it; texts that are made are in `texts`. False: an error. */
bool container_words(const struct container_task *t, char *const *words, container_texts *texts,
                     container_texts *out, struct error *err);
/* Append what ends that container, whatever became of who started it. False: nothing need to. */
bool container_ending(const struct container_task *t, container_texts *texts, container_texts *out);
/* The label of containers that are started for runs of this state. */
enum { CONTAINER_LABEL = 17 };
void container_label(const char *state, char label[static CONTAINER_LABEL]);
/* End those with this label that a run left behind. Returns how many. */
uint32_t container_end_all(const char *label);
void container_texts_free(container_texts *texts);
