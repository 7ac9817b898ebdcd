/* What each task is known by when runs are compared and times predicted: its kind.
 *
 *     kind: sort                        as the file states it
 *     count@doc=a, count@doc=b          the family: count
 *     align_7, align_8                  the name without its number: align
 *     s1_map, s2_map                    the same inside of a name: s#_map
 *     step1: python a.py                names that differ in a number alone, and run different
 *     step2: python b.py                programs: "step python a.py", "step python b.py"
 *
 * The first word of a command is no kind: `python a.py` and `python b.py` are two things. It stays what
 * workflow.kind is where no file states one, and what histories of old weft were grouped by. */
#pragma once
#include "base/pool.h"
#include "base/strbuf.h"
#include "model/workflow.h"

struct task_kinds {
    struct intern names;
    uint32_t *of; /* per task, a number of `names` */
};

/* Linear in tasks and names; at most one kind a task. */
void task_kinds_find(const struct workflow *w, struct task_kinds *out);
void task_kinds_free(struct task_kinds *k);

/* Is workflow.kind what the builder chooses where no file states one? Then no file need state it. */
bool task_kind_is_usual(const struct workflow *w, uint32_t task);

/* Does this program do what its first argument says, as python does? */
bool task_kind_is_interpreter(const char *word, size_t n);

/* Could a task of this name alone be of this kind? For records that have a name and no command. */
bool task_kind_fits(const char *kind, const char *name);
