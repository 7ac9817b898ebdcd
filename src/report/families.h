/* A workflow by kind: all members of a family, and all tasks of one kind, are one thing, with what they
 * are together and what goes between them. By module all tasks of a module or a sub-workflow are one,
 * and so are families; what stands beside them stands by itself. */
#pragma once
#include "base/array.h"
#include "base/strbuf.h"
#include "model/workflow.h"

struct family_sum {
    str_id name;           /* the kind, in the workflow's pool */
    uint32_t level;        /* of its first task; told apart by it where `families.by_level` */
    uint32_t tasks, first; /* first: its first task in topological order */
    double work, bytes;    /* together; bytes: of all that its tasks make */
    double memory;         /* the largest */
    uint32_t cores;
};

/* Pairs of tasks that are joined, from one family to another or within one. */
struct family_link {
    uint32_t from, to;
    uint64_t pairs;
    double bytes;
};

struct families {
    ARRAY(struct family_sum) at;     /* in topological order of their first tasks */
    ARRAY(struct family_link) links; /* by from, then to */
    uint32_t *of;                    /* per task */
    ARRAY(char *) modules;           /* per family: the module's name, or NULL; empty: by kind */
    bool by_module;
    bool by_level; /* the families alone would be a cycle */
};

enum families_by { FAMILIES_BY_KIND, FAMILIES_BY_MODULE };

/* Linear in tasks and edges. `acyclic`: a kind that comes before and after another is told apart by
 * the level of its tasks, so that there is no cycle but from a family to itself. */
void families_of(struct families *f, const struct workflow *w, enum families_by by, bool acyclic);
void families_free(struct families *f);

/* Is the task a member of a family (its name begins with its kind and an @)? */
bool families_is_member(const struct workflow *w, uint32_t task);
/* "count@doc=a and 119 more": how members that are alike are listed in one line. Appends. */
void families_add_label(const struct workflow *w, uint32_t first, uint32_t more,
                        struct strbuf *out);

/* The kind; of a kind that is one task and no family, the task. */
const char *families_name(const struct families *f, const struct workflow *w, uint32_t family);
/* A task each, in the same order, with the links between them; NULL: they are a cycle. The caller frees. */
struct workflow *families_as_workflow(const struct families *f, const struct workflow *w);
/* Tables of both; a picture, a box each. Append. */
void families_text(const struct families *f, const struct workflow *w, bool colour,
                   struct strbuf *out);
/* `bare`: no title in it, the page around it has one. */
void families_svg(const struct workflow *w, enum families_by by, bool bare, struct strbuf *out);
