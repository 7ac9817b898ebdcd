/* Moments in ISO 8601: always UTC, so that the same moment is the same text everywhere. */
#include "base/instant.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

#define LAST_YEAR_9999 253402300799.0 /* four digits of a year end here */

const char *instant_text(double seconds, char text[static INSTANT_TEXT])
{
    if (!(seconds >= 0 && seconds <= LAST_YEAR_9999))
        seconds = 0;
    /* rounded before it is split, so that no fraction has seven digits */
    double micro = round(seconds * 1e6);
    time_t whole = (time_t)(micro / 1e6);
    double rest = micro - (double)whole * 1e6;
    unsigned fraction = rest > 0 && rest < 1e6 ? (unsigned)rest : 0;
    struct tm tm = {0};
    gmtime_r(&whole, &tm);
    snprintf(text, INSTANT_TEXT, "%04u-%02u-%02uT%02u:%02u:%02u.%06u+00:00",
             (unsigned)(tm.tm_year + 1900) % 10000u, (unsigned)(tm.tm_mon + 1) % 100u,
             (unsigned)tm.tm_mday % 100u, (unsigned)tm.tm_hour % 100u, (unsigned)tm.tm_min % 100u,
             (unsigned)tm.tm_sec % 100u, fraction);
    return text;
}
