/* Editing native workflows as text (formats/yaml/yaml_edit.h): what the page's canvas, or a program, does to a
 * file that a person wrote. Nothing here reads the graph: a name in `in` and the same name in `out` are one
 * file, as they stand, braces and all. */
#pragma once
#include "formats/yaml/yaml_edit.h"

/* A file that a task names. */
struct edit_port {
    yaml_ref at;            /* its scalar */
    struct yaml_path place; /* from the top; its last element is not "name" */
    char number[12];        /* of an element: `place` may point to it, so do not copy the struct */
};
/* Every file of `in` or `out`, in the order of the text; false from `found`: stop. */
typedef bool (*edit_port_found)(void *context, const struct edit_port *port);
bool edit_ports(const struct yaml_edit *e, const char *task, bool out, edit_port_found found,
                void *context);
/* The same for who has the task's key (a node below `tasks`), and need not look for it. */
bool edit_ports_of(const struct yaml_edit *e, yaml_ref task, bool out, edit_port_found found,
                   void *context);

/* Tasks of another text, with the parameters and lists that they name. Names that are taken get a number:
 * tasks, files that are made, and parameters whose value differs (`own`: parameters in any case). `names`
 * gets the names that they have here, a line each. */
bool edit_add(struct yaml_edit *e, const char *text, size_t n, bool own, struct strbuf *names,
              struct error *err);
/* These tasks with the parameters and lists that they name, as a workflow of its own. */
bool edit_copy(const struct yaml_edit *e, const char *const *tasks, size_t n, struct strbuf *out,
               struct error *err);
/* The task goes, and `after` of others forgets it. What reads its files reads them from outside. */
bool edit_remove_task(struct yaml_edit *e, const char *task, struct error *err);
bool edit_rename_task(struct yaml_edit *e, const char *from, const char *to, struct error *err);
/* Everywhere in `in` and `out`. */
bool edit_rename_file(struct yaml_edit *e, const char *from, const char *to, struct error *err);
/* `to` reads this file: in place of what stands at `port` (below the task: {"in", "0"}), or (n 0) beside
 * what it reads already. Refused: what is there is of another sort (by suffix), `from` does not make it,
 * and what would go in a circle. */
bool edit_connect(struct yaml_edit *e, const char *from, const char *file, const char *to,
                  const struct yaml_path *port, struct error *err);
/* `task` does not read this file any more. */
bool edit_disconnect(struct yaml_edit *e, const char *task, const char *file, struct error *err);
/* `name` stands for these tasks from now on: `module` is the workflow that they make by themselves, to be
 * written to `path`. */
bool edit_group(struct yaml_edit *e, const char *const *tasks, size_t n, const char *name,
                const char *path, struct strbuf *module, struct error *err);
