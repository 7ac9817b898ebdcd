/* Names of the files of modules: what a module calls x.txt, the whole workflow calls lib/x.txt,
 * align@s=a/x.txt, or whatever the including file maps it to.
 *
 *     1. mapped, itself or a folder above it        ->  what the includer says
 *     2. absolute, or a URL                         ->  itself
 *     3. of a sub-workflow, and made by its tasks   ->  below the instance's folder
 *     4. else                                       ->  below the folder of the module's file
 *
 * Cost: a hash of each part of the name, for each module around it. */
#include "base/path.h"
#include "formats/native/native_reading.h"

#include <string.h>

/* Without the slash that says that it is a folder. */
static size_t bare_length(const char *name)
{
    size_t n = strlen(name);
    return n > 1 && name[n - 1] == '/' ? n - 1 : n;
}

bool module_map(struct native_module *m, const char *inner, size_t length, struct module_name x)
{
    struct strbuf name = {0};
    path_add_canonical(inner, length, &name);
    uint32_t before = m->inner.n,
             i = intern_number(&m->inner, name.at, bare_length(strbuf_text(&name)));
    strbuf_free(&name);
    if (i < before)
        return false;
    array_push(&m->outer, x);
    return true;
}

void module_makes(struct native_module *m, const char *name)
{
    size_t n = bare_length(name);
    for (bool itself = true; n && n != SIZE_MAX; itself = false) {
        uint32_t i = intern_number(&m->made, name, n);
        if (i == m->made_itself.n)
            array_push(&m->made_itself, itself);
        else if (itself)
            m->made_itself.at[i] = true;
        else
            return; /* its folders are known */
        while (--n && name[n] != '/')
            ;
    }
}

bool module_is_made(const struct native_module *m, const char *name)
{
    size_t n = bare_length(name);
    if (intern_find(&m->made, name, n) != UINT32_MAX)
        return true;
    while (n && --n) { /* or what is in a folder that a task makes */
        uint32_t i = name[n] == '/' ? intern_find(&m->made, name, n) : UINT32_MAX;
        if (i != UINT32_MAX && m->made_itself.at[i])
            return true;
    }
    return false;
}

/* The mapped name that is `name` or the longest folder above it; *length: how much of it. */
static struct module_name *find_mapped(const struct native_module *m, const char *name,
                                       size_t *length)
{
    if (!m->inner.n)
        return NULL;
    for (size_t n = bare_length(name); n; n--) {
        uint32_t i = !name[n] || name[n] == '/' ? intern_find(&m->inner, name, n) : UINT32_MAX;
        if (i != UINT32_MAX) {
            *length = n;
            return &m->outer.at[i];
        }
    }
    return NULL;
}

void module_map_name(const struct native_module *m, const char *name, struct strbuf *out)
{
    struct strbuf spelled = {0};
    size_t used = 0;
    struct module_name *mapped = find_mapped(m, name, &used);
    if (mapped) {
        mapped->named = true;
        strbuf_printf(&spelled, "%s%s", mapped->outer, name + used);
    } else if (*name == '/' || strstr(name, "://")) {
        strbuf_add(&spelled, name);
    } else {
        bool own = m->instance && module_is_made(m, name);
        strbuf_printf(&spelled, "%s%s", own ? m->instance : m->folder, name);
    }
    strbuf_clear(out);
    path_add_canonical(spelled.at, spelled.n, out);
    strbuf_add(out, "");
    strbuf_free(&spelled);
}

void native_outer_name(const struct native_reading *r, const struct native_reading *top,
                       const char *name, size_t length, struct strbuf *out)
{
    struct strbuf inner = {0};
    strbuf_clear(out);
    path_add_canonical(name, length, out);
    strbuf_add(out, "");
    for (; r != top && r->module; r = r->module->parent) {
        strbuf_clear(&inner);
        strbuf_add_bytes(&inner, out->at, out->n);
        strbuf_add(&inner, "");
        module_map_name(r->module, inner.at, out);
    }
    strbuf_free(&inner);
}

void module_add_folder(const char *name, struct strbuf *out)
{
    bool dots = strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
    for (const char *p = name; *p; p++) {
        if (*p == '/' || *p == '%' || (dots && p == name))
            strbuf_printf(out, "%%%02X", (unsigned char)*p);
        else
            strbuf_add_char(out, *p);
    }
    strbuf_add_char(out, '/');
}

/* Does `name` stand in the command as a word, or as the end of an option such as --in=name? */
static bool command_spells(const char *command, const char *name)
{
    static const char edge[] = " \t\n\"'`;|&<>()=:,";
    size_t n = strlen(name);
    for (const char *p = command; (p = strstr(p, name)); p++) {
        const char *start = p - command >= 2 && strncmp(p - 2, "./", 2) == 0 ? p - 2 : p;
        if ((start == command || strchr(edge, start[-1])) && strchr(edge, p[n]))
            return true;
    }
    return false;
}

void native_warn_spelled(const struct native_reading *r, yaml_ref at, const char *command)
{
    const char *end = r->renamed.at + r->renamed.n;
    for (const char *p = r->renamed.at; p && p < end; p += strlen(p) + 1)
        if (command_spells(command, p))
            builder_warn(r->b, yaml_line(&r->file.y, at),
                         "%s: its command spells out '%.100s', which has another name %s; {in} "
                         "and {out} have the name that holds",
                         r->file.where, p,
                         r->round ? "in each round" : "where this file is a module");
}
