/* Is this one well-formed XML element (no declaration, comments or CDATA)? For the tests of the
 * pictures. */
#pragma once
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool wellformed_text(const char **at, const char *stop)
{
    for (; **at && !strchr(stop, **at); (*at)++) {
        unsigned char c = (unsigned char)**at;
        if ((c < 0x20 && c != '\n') || c == 0x7F || c == '<' || c == '>')
            return false;
        if (c != '&')
            continue;
        static const char *const entities[] = {"&lt;", "&gt;", "&amp;", "&quot;", "&#39;"};
        bool known = false;
        for (size_t i = 0; i < 5; i++)
            known = known || strncmp(*at, entities[i], strlen(entities[i])) == 0;
        if (!known)
            return false;
    }
    return **at != 0;
}

/* On a fault prints where. */
__attribute__((unused)) static bool wellformed(const char *text)
{
    char open[32][32];
    size_t depth = 0, roots = 0;
    const char *at = text;
    while (*at) {
        if (isspace((unsigned char)*at) && depth == 0) {
            at++;
            continue;
        }
        if (*at != '<') {
            if (depth == 0 || !wellformed_text(&at, "<"))
                goto fault;
            continue;
        }
        bool closing = *++at == '/';
        at += closing;
        size_t len = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ123456");
        if (len == 0 || len >= 32 || depth >= 32)
            goto fault;
        if (closing) {
            if (depth == 0 || strlen(open[depth - 1]) != len ||
                memcmp(open[depth - 1], at, len) != 0)
                goto fault;
            depth--;
            at += len;
            if (*at != '>')
                goto fault;
            at++;
            continue;
        }
        if (depth == 0 && roots++)
            goto fault;
        memcpy(open[depth], at, len);
        open[depth++][len] = 0;
        at += len;
        while (*at == ' ') {
            at++;
            size_t name =
                strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-:");
            at += name;
            if (name == 0 || strncmp(at, "=\"", 2) != 0)
                goto fault;
            at += 2;
            if (!wellformed_text(&at, "\""))
                goto fault;
            at++;
        }
        if (*at == '/') {
            depth--;
            at++;
        }
        if (*at != '>')
            goto fault;
        at++;
    }
    if (depth == 0 && roots == 1)
        return true;
fault:
    printf("# not well-formed at byte %zu: %.60s\n", (size_t)(at - text), at);
    return false;
}
