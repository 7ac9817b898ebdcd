/* Texts for shells (shell.h). Pure: nothing is run here. */
#include "cluster/launch/shell.h"

#include <string.h>

void shell_quote(struct strbuf *out, const char *text)
{
    strbuf_add_char(out, '\'');
    for (; *text; text++) {
        if (*text == '\'')
            strbuf_add(out, "'\\''"); /* end the quotes, a quoted quote, begin again */
        else
            strbuf_add_char(out, *text);
    }
    strbuf_add_char(out, '\'');
}

void shell_one_line(struct strbuf *out, const char *script)
{
    bool first = true;
    while (*script) {
        size_t n = strcspn(script, "\n"), blank = strspn(script, " \t");
        if (blank < n && script[blank] != '#') {
            if (!first)
                strbuf_add_char(out, ' ');
            strbuf_add_bytes(out, script + blank, n - blank);
            first = false;
        }
        script += n + (script[n] == '\n');
    }
}
