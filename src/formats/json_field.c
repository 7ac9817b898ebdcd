/* Fields of JSON objects with errors that name the object, the field, what was found and what was
 * expected. `null` counts as absent, as most writers mean it. */
#include "formats/json_field.h"

json_ref json_field(const struct json *j, json_ref object, const char *key)
{
    json_ref v = json_get(j, object, key);
    return v == JSON_NONE || json_type(j, v) == JSON_NULL ? JSON_NONE : v;
}

bool json_field_is(const struct json *j, json_ref v, enum json_type type, const char *what,
                   struct error *err)
{
    if (json_type(j, v) == type)
        return true;
    return json_error(j, v, err, "%s is %s; expected %s", what, json_type_name(json_type(j, v)),
                      json_type_name(type));
}

static bool field_wrong_type(const struct json *j, json_ref v, const char *key, enum json_type type,
                             const char *what, struct error *err)
{
    return json_error(j, v, err, "%s: \"%s\" is %s; expected %s", what, key,
                      json_type_name(json_type(j, v)), json_type_name(type));
}

/* JSON_NONE: missing or of another type, and the error is set. */
json_ref json_field_need(const struct json *j, json_ref object, const char *key,
                         enum json_type type, const char *what, struct error *err)
{
    json_ref v = json_field(j, object, key);
    if (v == JSON_NONE)
        json_error(j, object, err, "%s: \"%s\" is missing; expected %s", what, key,
                   json_type_name(type));
    else if (json_type(j, v) != type)
        field_wrong_type(j, v, key, type, what, err);
    else
        return v;
    return JSON_NONE;
}

/* Absent: true, and *out stays as it was, which is how callers state defaults. */
bool json_field_number(const struct json *j, json_ref object, const char *key, double least,
                       double *out, const char *what, struct error *err)
{
    json_ref v = json_field(j, object, key);
    if (v == JSON_NONE)
        return true;
    if (json_type(j, v) != JSON_NUMBER)
        return field_wrong_type(j, v, key, JSON_NUMBER, what, err);
    if (json_number(j, v) < least)
        return json_error(j, v, err, "%s: \"%s\" is %g; expected %g or more", what, key,
                          json_number(j, v), least);
    *out = json_number(j, v);
    return true;
}

bool json_field_string(const struct json *j, json_ref object, const char *key, const char **out,
                       const char *what, struct error *err)
{
    json_ref v = json_field(j, object, key);
    *out = NULL;
    if (v == JSON_NONE)
        return true;
    if (json_type(j, v) != JSON_STRING)
        return field_wrong_type(j, v, key, JSON_STRING, what, err);
    *out = json_string(j, v, NULL);
    return true;
}
