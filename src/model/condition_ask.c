/* Conditions asked of files: each test looks at what it needs, once, and nothing is kept between two
 * questions. A file is read whole, up to CONDITION_FILE_MOST. */
#include "model/condition_steps.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* What an operand turned out to be. */
struct condition_value {
    char *text; /* owned; NULL: it is a number only, or borrowed */
    const char *at;
    size_t length;
    bool is_number;
    double number;
};

struct condition_asking {
    const struct condition *c;
    const struct condition_world *world;
    struct error *err;
};

/* Where a file is and what it is. False: it cannot be asked. */
static bool find_file(const struct condition_asking *q, const struct condition_operand *o,
                      struct condition_file *f, struct stat *s)
{
    *f = q->world->file(q->world->context, o->out, o->place);
    if (!f->path)
        return error_set(q->err, ERROR_FAILED,
                         "it asks about '%.300s', which is not there; say `exists %.*s and ...` if "
                         "it may be missing",
                         f->name, (int)o->length, q->c->texts.at + o->text);
    if (stat(f->path, s) != 0)
        return error_set(q->err, ERROR_FAILED, "it asks about '%.300s': %s", f->name,
                         strerror(errno));
    return true;
}

static bool file_is_there(const struct condition_asking *q, const struct condition_operand *o)
{
    struct condition_file f = q->world->file(q->world->context, o->out, o->place);
    return f.path && access(f.path, F_OK) == 0;
}

/* As much as may be read, and one byte more to see that there are others. */
static bool read_whole(const struct condition_asking *q, const struct condition_file *f,
                       struct condition_value *v)
{
    int fd = open(f->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return error_set(q->err, ERROR_FAILED, "it asks about '%.300s': %s", f->name,
                         strerror(errno));
    v->text = mem_new(char, CONDITION_FILE_MOST + 1);
    v->at = v->text;
    ssize_t n = 1;
    while (v->length <= CONDITION_FILE_MOST && n > 0) {
        n = read(fd, v->text + v->length, CONDITION_FILE_MOST + 1 - v->length);
        v->length += n > 0 ? (size_t)n : 0;
        if (n < 0 && errno == EINTR)
            n = 1;
    }
    bool good = n >= 0 || error_set(q->err, ERROR_FAILED, "it asks about '%.300s': %s", f->name,
                                    strerror(errno));
    close(fd);
    return good;
}

static bool read_file(const struct condition_asking *q, const struct condition_operand *o,
                      struct condition_value *v)
{
    struct condition_file f;
    struct stat s;
    if (!find_file(q, o, &f, &s))
        return false;
    if (!S_ISREG(s.st_mode))
        return error_set(q->err, ERROR_FAILED, "it asks what is in '%.300s', which is %s", f.name,
                         S_ISDIR(s.st_mode) ? "a folder" : "not a regular file");
    if (s.st_size <= CONDITION_FILE_MOST && !read_whole(q, &f, v))
        return false;
    if (s.st_size > CONDITION_FILE_MOST || v->length > CONDITION_FILE_MOST)
        return error_set(q->err, ERROR_FAILED,
                         "it asks what is in '%.300s', which has more than %d bytes; let its task "
                         "write a small file with what matters",
                         f.name, CONDITION_FILE_MOST);
    return true;
}

/* The first word of the file takes its place. */
static void keep_first_word(struct condition_value *v)
{
    while (v->length && isspace((unsigned char)*v->at))
        v->at++, v->length--;
    size_t n = 0;
    while (n < v->length && !isspace((unsigned char)v->at[n]))
        n++;
    v->length = n;
    char word[80] = "";
    if (n < sizeof word) {
        memcpy(word, v->at, n);
        v->is_number = condition_number(word, n, &v->number);
    }
}

static bool operand_value(const struct condition_asking *q, const struct condition_operand *o,
                          struct condition_value *v)
{
    struct condition_file f;
    struct stat s;
    switch (o->kind) {
    case OPERAND_SIZE:
        if (!find_file(q, o, &f, &s))
            return false;
        if (!S_ISREG(s.st_mode))
            return error_set(q->err, ERROR_FAILED,
                             "it asks for the size of '%.300s', which is not a regular file",
                             f.name);
        v->is_number = true;
        v->number = (double)s.st_size;
        return true;
    case OPERAND_FILE:
        if (!read_file(q, o, v))
            return false;
        keep_first_word(v);
        return true;
    default:
        v->at = q->c->texts.at + o->text;
        v->length = o->length;
        v->is_number = o->is_number;
        v->number = o->number;
        return true;
    }
}

/* Only of an order: a file without a number was found where one is needed. */
static bool needs_number(const struct condition_asking *q, const struct condition_operand *o,
                         const struct condition_value *v)
{
    if (v->is_number)
        return true;
    struct condition_file f = q->world->file(q->world->context, o->out, o->place);
    return error_set(q->err, ERROR_FAILED,
                     "it asks for a number at the beginning of '%.300s', which %s%.*s%s", f.name,
                     v->length ? "begins with '" : "is empty",
                     (int)(v->length < 40 ? v->length : 40), v->at, v->length ? "'" : "");
}

static bool compare(const struct condition_asking *q, const struct condition_step *s, bool *holds)
{
    struct condition_value a = {.at = ""}, b = {.at = ""};
    bool order = s->test >= TEST_LESS;
    bool good = operand_value(q, &s->a, &a) && operand_value(q, &s->b, &b) &&
                (!order || (needs_number(q, &s->a, &a) && needs_number(q, &s->b, &b)));
    if (good) {
        bool same_text = a.at && b.at && a.length == b.length && s->a.kind != OPERAND_SIZE &&
                         s->b.kind != OPERAND_SIZE && memcmp(a.at, b.at, a.length) == 0;
        bool numbers = a.is_number && b.is_number;
        bool equal = same_text || (numbers && a.number == b.number);
        *holds = s->test == TEST_EQUAL     ? equal
                 : s->test == TEST_OTHER   ? !equal
                 : s->test == TEST_LESS    ? a.number < b.number
                 : s->test == TEST_AT_MOST ? a.number <= b.number
                 : s->test == TEST_GREATER ? a.number > b.number
                                           : a.number >= b.number;
    }
    free(a.text);
    free(b.text);
    return good;
}

static bool file_contains(const struct condition_asking *q, const struct condition_step *s,
                          bool *holds)
{
    struct condition_value v = {.at = ""};
    bool good = s->a.kind == OPERAND_FILE ? read_file(q, &s->a, &v) : operand_value(q, &s->a, &v);
    if (good)
        *holds =
            !s->b.length || memmem(v.at, v.length, q->c->texts.at + s->b.text, s->b.length) != NULL;
    free(v.text);
    return good;
}

bool condition_holds(const struct condition *c, const struct condition_world *world, bool *holds,
                     struct error *err)
{
    const struct condition_asking q = {c, world, err};
    bool answer = false, good = true;
    for (size_t i = 0; i < c->steps.n && good; i++) {
        const struct condition_step *s = &c->steps.at[i];
        switch (s->test) {
        case STEP_NOT:
            answer = !answer;
            break;
        case STEP_IF_FALSE:
        case STEP_IF_TRUE:
            if (answer == (s->test == STEP_IF_TRUE))
                i = s->target - 1; /* a jump leads past itself */
            break;
        case TEST_TRUE:
        case TEST_FALSE:
            answer = s->test == TEST_TRUE;
            break;
        case TEST_EXISTS:
            answer = file_is_there(&q, &s->a);
            break;
        case TEST_CONTAINS:
            good = file_contains(&q, s, &answer);
            break;
        default:
            good = compare(&q, s, &answer);
        }
    }
    *holds = answer;
    return good;
}
