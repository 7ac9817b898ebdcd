/* Members of a JSON object that a format demands or allows, with errors at their line: "file:12:
 * task: \"cost\" is a string; expected a number". `what` says whose member it is. null counts as
 * absent. */
#pragma once
#include "base/json.h"

/* The member, JSON_NONE when absent or null. */
json_ref json_field(const struct json *j, json_ref object, const char *key);
/* Must be there and of that type; JSON_NONE after an error. */
json_ref json_field_need(const struct json *j, json_ref object, const char *key,
                         enum json_type type, const char *what, struct error *err);
/* May be absent (*out keeps its value), else a number, not below `least`. */
bool json_field_number(const struct json *j, json_ref object, const char *key, double least,
                       double *out, const char *what, struct error *err);
/* May be absent (NULL, no error), else a string; false after an error. */
bool json_field_string(const struct json *j, json_ref object, const char *key, const char **out,
                       const char *what, struct error *err);
/* Is `v` of the type? */
bool json_field_is(const struct json *j, json_ref v, enum json_type type, const char *what,
                   struct error *err);
