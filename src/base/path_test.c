#include "base/path.h"
#include "base/rng.h"
#include "tap.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void spelled(const char *name, const char *expected)
{
    struct strbuf out = {0};
    path_add_canonical(name, strlen(name), &out);
    is_str(strbuf_text(&out), expected, "%s", name);
    ok(path_is_canonical(out.at, out.n) || path_leads_out(out.at), "which has one spelling");
    strbuf_free(&out);
}

/* The oracle: parts in an array, as one would do it by hand. */
static void by_hand(const char *name, char *out)
{
    char copy[256], *part[64], *at = copy;
    int n = 0;
    bool absolute = *name == '/', folder = false;
    strcpy(copy, name);
    for (char *p; (p = strsep(&at, "/"));) {
        folder = !*p || strcmp(p, ".") == 0 || strcmp(p, "..") == 0;
        if (!*p || strcmp(p, ".") == 0)
            continue;
        if (strcmp(p, "..") == 0 && n && strcmp(part[n - 1], "..") != 0)
            n--;
        else if (strcmp(p, "..") != 0 || !absolute)
            part[n++] = p;
    }
    strcpy(out, absolute ? "/" : "");
    for (int i = 0; i < n; i++)
        strcat(strcat(out, i ? "/" : ""), part[i]);
    if (!n && !absolute)
        strcpy(out, ".");
    else if (n && folder && strcmp(part[n - 1], "..") != 0)
        strcat(out, "/");
}

static void random_names(void)
{
    static const char *const pieces[] = {"/", "/", "/", ".", "..", "a", "b", ".c", "..d", "e."};
    struct rng r;
    rng_seed(&r, 4);
    int wrong = 0, canonical = 0;
    for (int round = 0; round < 50000; round++) {
        char name[256] = "", expected[256];
        for (uint64_t n = 1 + rng_below(&r, 9); n--;)
            strcat(name, pieces[rng_below(&r, 10)]);
        by_hand(name, expected);
        struct strbuf out = {0};
        path_add_canonical(name, strlen(name), &out);
        bool same = strcmp(name, expected) == 0, said = path_is_canonical(name, strlen(name));
        canonical += said;
        /* names that lead out are spelled again, and come out the same */
        if (strcmp(out.at, expected) != 0 || (said && !same) ||
            (!said && same && !path_leads_out(name)))
            if (!wrong++)
                printf("# %s: %s, expected %s\n", name, out.at, expected);
        strbuf_free(&out);
    }
    is_int(wrong, 0, "50,000 names are spelled as by hand");
    ok(canonical > 1000, "some of them already were");
}

static void homes(void)
{
    char folder[] = "/tmp/weft-path-XXXXXX", text[PATH_MAX + 64], real[PATH_MAX];
    if (!ok(mkdtemp(folder) && realpath(folder, real), "a folder"))
        return;
    snprintf(text, sizeof text, "%s/project", folder);
    mkdir(text, 0777);
    struct path_home *home = path_home_new(text);
    snprintf(text, sizeof text, "%s/project/sub/x", real);
    is_str(path_in_home(home, text), "sub/x", "a name in it");
    snprintf(text, sizeof text, "%s/project", real);
    is_str(path_in_home(home, text), "", "itself");
    snprintf(text, sizeof text, "%s/projects/x", real);
    ok(!path_in_home(home, text), "one that only begins like it");
    ok(!path_in_home(home, "/x") && !path_in_home(home, "/usr/x"), "elsewhere");
    char link[PATH_MAX];
    snprintf(link, sizeof link, "%s/alias", folder);
    ok(symlink("project", link) == 0, "a link to it");
    snprintf(text, sizeof text, "%s/alias/sub/x", real);
    is_str(path_in_home(home, text), "sub/x", "by the link");
    is_str(path_in_home(home, text), "sub/x", "again");
    path_home_free(home);
    unlink(link);
    home = path_home_new("/no/such/folder");
    ok(!path_in_home(home, "/no/such/folder/x"), "a folder that is not there has nothing in it");
    path_home_free(home);
    path_home_free(NULL);
    ok(!path_in_home(NULL, "/x"), "no folder");
    snprintf(text, sizeof text, "%s/project", folder);
    rmdir(text);
    rmdir(folder);
}

int main(void)
{
    TAP_DO(spelled("./x", "x"));
    TAP_DO(spelled("a//b", "a/b"));
    TAP_DO(spelled("b/../x", "x"));
    TAP_DO(spelled("a/./b/", "a/b/"));
    TAP_DO(spelled("a/b/..", "a/"));
    TAP_DO(spelled("a/..", "."));
    TAP_DO(spelled("../a/../../x", "../../x"));
    TAP_DO(spelled("/../x/.", "/x/"));
    TAP_DO(spelled("/", "/"));
    TAP_DO(spelled("...", "..."));
    TAP_DO(spelled("s3://bucket//x", "s3://bucket//x"));
    TAP_DO(random_names());
    TAP_DO(homes());
    return tap_done();
}
