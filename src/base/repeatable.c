/* The functions of SQLite that depend on their arguments alone: what constraints and questions to
 * the history may call. A list of the good ones, since what SQLite learns tomorrow is refused until
 * somebody has looked at it: julianday() and date('now') came in through a list of the bad ones. */
#include "base/repeatable.h"

#include <stddef.h>
#include <strings.h>

/* clang-format off */
static const char *const repeatable_names[] = {
    "abs", "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "avg", "ceil",
    "ceiling", "char", "coalesce", "concat", "concat_ws", "cos", "cosh", "count", "cume_dist",
    "degrees", "dense_rank", "exp", "first_value", "floor", "format", "glob", "group_concat",
    "hex", "ifnull", "iif", "instr", "json", "json_array", "json_array_length", "json_extract",
    "json_group_array", "json_group_object", "json_object", "json_quote", "json_type",
    "json_valid", "->", "->>", "lag", "last_value", "lead", "length", "like", "likelihood",
    "likely", "ln", "log", "log10", "log2", "lower", "ltrim", "max", "min", "mod", "nth_value",
    "ntile", "nullif", "octet_length", "percent_rank", "pi", "pow", "power", "printf", "quote",
    "radians", "rank", "replace", "round", "row_number", "rtrim", "sign", "sin", "sinh",
    "sqrt", "string_agg", "substr", "substring", "sum", "tan", "tanh", "total", "trim",
    "trunc", "typeof", "unicode", "unlikely", "upper", NULL,
};
/* clang-format on */

bool repeatable_function(const char *name)
{
    for (const char *const *known = repeatable_names; name && *known; known++)
        if (strcasecmp(name, *known) == 0)
            return true;
    return false;
}
