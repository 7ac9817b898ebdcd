/* A moment as programs exchange it. */
#pragma once

#define INSTANT_TEXT 40 /* "2026-11-17T01:57:57.125000+00:00" and a NUL */

/* ISO 8601 with microseconds, in UTC. `seconds` since 1970; what no calendar has gives 1970. */
const char *instant_text(double seconds, char text[static INSTANT_TEXT]);
