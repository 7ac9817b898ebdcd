/* weft-ui: the page's server, a program of its own, started by `weft ui`. Apart from weft, so that a weft
 * that is copied to a cluster needs no HTTP library there, and starts as fast as before.
 *
 *   weft-ui FOLDER PORT read-only|read-write WEFT
 *
 * Nothing of this line is checked here beyond what is needed to be safe: `weft ui` has read the user's options, told of mistakes
 * in them, and gone to the folder. Who starts this program by hand gets what he asks for. */
#include "ui/asset.h"
#include "ui/server.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    if (argc < 5) {
        fputs("weft-ui is started by `weft ui`\n", stderr);
        return 2;
    }
    if (!ui_assets[0].path) {
        fputs(
            "weft: this weft was built without its page: install node and npm, and `make` again\n",
            stderr);
        return 2;
    }
    struct error err = {0};
    struct ui_options o = {.lab = {.folder = argv[1],
                                   .program = argv[4],
                                   .read_only = strcmp(argv[3], "read-only") == 0},
                           .port = (uint16_t)strtoul(argv[2], NULL, 10)};
    if (ui_serve(&o, &err))
        return 0;
    fprintf(stderr, "weft: %s\n", err.text);
    return 2;
}
