/* jansson in a file of its own: its names and those of base/json.h do not mix. */
#include "base/clock.h"

#include <jansson.h>

double peer_jansson_seconds(const char *text, size_t length);

double peer_jansson_seconds(const char *text, size_t length)
{
    json_error_t why;
    double start = clock_seconds();
    json_t *root = json_loadb(text, length, 0, &why);
    double seconds = clock_seconds() - start;
    json_decref(root);
    return seconds;
}
