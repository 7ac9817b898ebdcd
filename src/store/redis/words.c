/* What is said to any Redis server and what it may answer, as text (words.h). Nothing here has
 * state. */
#include "store/redis/words.h"
#include "store/redis/script.h"
#include <ctype.h>
#include <stdio.h>

/* "host:port", "[::1]:port", "host". */
static bool take_server(const char *text, size_t n, char host[static 256], uint16_t *port,
                        struct error *err)
{
    char *end = NULL;
    const char *all = text;
    size_t colon = n;
    /* the last colon, unless a bracket comes behind it: an IPv6 address has colons of its own */
    while (colon && text[colon - 1] != ':' && text[colon - 1] != ']')
        colon--;
    bool has_port = colon && text[colon - 1] == ':';
    size_t length = has_port ? colon - 1 : n;
    unsigned long number = has_port ? strtoul(text + colon, &end, 10) : 6379;
    if (length > 1 && text[0] == '[' && text[length - 1] == ']') {
        text++;
        length -= 2;
    }
    if (!length || length >= 256 || !number || number > 65535 ||
        (has_port && *end && *end != ',' && !isspace((unsigned char)*end)))
        return error_set(err, ERROR_INPUT, "redis: '%.*s' is no server: expected host:port",
                         (int)(n < 200 ? n : 200), all);
    memcpy(host, text, length);
    host[length] = 0;
    *port = (uint16_t)number;
    return true;
}

/* Commas and blanks part them; an empty part is passed over. */
bool redis_words_servers(const char *text,
                         void (*each)(void *context, const char *host, uint16_t port),
                         void *context, struct error *err)
{
    bool any = false;
    for (const char *at = text; *at;) {
        char host[256];
        uint16_t port = 0;
        at += strspn(at, ", \t");
        size_t n = strcspn(at, ", \t");
        if (!n)
            continue;
        if (!take_server(at, n, host, &port, err))
            return false;
        each(context, host, port);
        any = true;
        at += n;
    }
    return any || error_set(err, ERROR_INPUT, "redis: no server is named: host:port");
}

/* No braces: the hash tag must be ours. No blanks: people type keys into redis-cli. */
bool redis_words_prefix(const char *prefix, size_t most, struct error *err)
{
    size_t n = strlen(prefix);
    bool good = n > 0 && n <= most;
    for (size_t i = 0; i < n; i++)
        good &= isalnum((unsigned char)prefix[i]) || strchr("-_.:", prefix[i]);
    return good || error_set(err, ERROR_INPUT,
                             "redis: '%.200s' is no prefix of keys: expected 1 to %zu letters, "
                             "digits and -_.:",
                             prefix, most);
}

void redis_words_command(struct redis_conn *c, struct redis_conn_mark mark, size_t n,
                         const char *const *args)
{
    size_t lengths[8];
    for (size_t i = 0; i < n; i++)
        lengths[i] = strlen(args[i]);
    redis_conn_command(c, mark, n, args, lengths);
}

/* Pipelined: who are we, who are you. A server that wants no password refuses AUTH, and that is
 * final. */
void redis_words_greet(struct redis_conn *c, const char *user, const char *password,
                       struct redis_conn_mark auth, struct redis_conn_mark info,
                       struct redis_conn_mark config)
{
    if (password && user)
        redis_words_command(c, auth, 3, (const char *const[]){"AUTH", user, password});
    else if (password)
        redis_words_command(c, auth, 2, (const char *const[]){"AUTH", password});
    redis_words_command(c, info, 1, (const char *const[]){"INFO"});
    redis_words_command(c, config, 3, (const char *const[]){"CONFIG", "GET", "appendfsync"});
}

static double info_number(const char *info, const char *field)
{
    const char *at = strstr(info, field);
    return at ? strtod(at + strlen(field), NULL) : 0;
}

bool redis_words_fsync(const redisReply *reply, const char **loses)
{
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 2 || !reply->element[1]->str)
        return false;
    if (strcmp(reply->element[1]->str, "no") == 0)
        *loses = "it leaves to the system when it writes (appendfsync no)";
    return true;
}

/* Version 7: board.lua declares flags (#!lua), which older servers do not know. INFO is text, one
 * field a line. */
bool redis_words_info(const struct redis_conn *c, const redisReply *reply,
                      struct redis_words_server *out, char *why, size_t size)
{
    const char *version = reply->str ? strstr(reply->str, "redis_version:") : NULL;
    if (!version || strtol(version + 14, NULL, 10) < 7) {
        snprintf(why, size, "redis %s:%u: this is version %.*s; weft needs Redis 7 or later",
                 c->host, c->port, version ? (int)strcspn(version + 14, "\r\n") : 7,
                 version ? version + 14 : "unknown");
        return false;
    }
    out->cluster = strstr(reply->str, "redis_mode:cluster") != NULL;
    out->has_aof = strstr(reply->str, "aof_enabled:1") != NULL;
    out->native = strstr(reply->str, REDIS_MODULE_LINE) != NULL;
    out->used = info_number(reply->str, "\nused_memory:");
    out->most = info_number(reply->str, "\nmaxmemory:");
    out->loses = NULL;
    if (!out->has_aof)
        out->loses = "it writes no append-only file (appendonly no)";
    else if (out->most > 0 && !strstr(reply->str, "maxmemory_policy:noeviction"))
        out->loses = "it deletes keys when its memory is full (maxmemory-policy)";
    return true;
}

bool redis_words_loading(const struct redis_conn *c)
{
    return redis_words_start(c->why, "LOADING");
}

/* A server that loads its file, or a replica that lost its master, will answer later; all else
 * needs a person. */
bool redis_words_refused(const struct redis_conn *c, bool auth, const char *text, char *why,
                         size_t size)
{
    if (redis_words_start(text, "LOADING") || redis_words_start(text, "MASTERDOWN"))
        return false;
    if (auth && redis_words_start(text, "WRONGPASS"))
        snprintf(why, size, "redis %s:%u: wrong user or password", c->host, c->port);
    else if (auth)
        snprintf(why, size, "redis %s:%u: the password was refused: %s", c->host, c->port, text);
    else if (redis_words_start(text, "NOAUTH"))
        snprintf(why, size, "redis %s:%u: the server wants a password", c->host, c->port);
    else
        snprintf(why, size, "redis %s:%u: %s", c->host, c->port, text);
    return true;
}

bool redis_words_start(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Errors of a server or cluster that is on its way back to health. */
bool redis_words_later(const char *text)
{
    static const char *const later[] = {"TRYAGAIN", "LOADING",  "CLUSTERDOWN", "MASTERDOWN",
                                        "BUSY ",    "READONLY", "NOREPLICAS"};
    for (size_t i = 0; i < sizeof later / sizeof *later; i++)
        if (redis_words_start(text, later[i]))
            return true;
    return false;
}

bool redis_words_redirect(const struct redis_conn *from, const char *text, char host[static 256],
                          uint16_t *port)
{
    const char *address = strrchr(text, ' '), *colon = address ? strrchr(address, ':') : NULL;
    if (!colon || colon - address - 1 >= 256)
        return false;
    unsigned long number = strtoul(colon + 1, NULL, 10);
    if (!number || number > 65535)
        return false;
    if (colon == address + 1) /* "the one you asked, at another port" */
        snprintf(host, 256, "%s", from->host);
    else
        snprintf(host, 256, "%.*s", (int)(colon - address - 1), address + 1);
    *port = (uint16_t)number;
    return true;
}

/* Slot ranges are arrays [first, last, [host, port, ...], replicas...]; a host may be empty: "the
 * one you asked". */
bool redis_words_range(const struct redis_conn *from, const redisReply *reply, size_t i,
                       struct redis_words_range *out)
{
    const redisReply *range = reply->element[i];
    if (range->type != REDIS_REPLY_ARRAY || range->elements < 3 ||
        range->element[0]->type != REDIS_REPLY_INTEGER ||
        range->element[1]->type != REDIS_REPLY_INTEGER ||
        range->element[2]->type != REDIS_REPLY_ARRAY || range->element[2]->elements < 2 ||
        range->element[2]->element[1]->type != REDIS_REPLY_INTEGER)
        return false;
    const redisReply *name = range->element[2]->element[0];
    out->first = range->element[0]->integer;
    out->last = range->element[1]->integer;
    out->host = name->type == REDIS_REPLY_STRING && name->len ? name->str : from->host;
    out->port = (uint16_t)range->element[2]->element[1]->integer;
    return true;
}

/* The cluster's rule: the first {...} that is not empty, else the whole key; CRC-16 modulo
 * 16384. */
uint16_t redis_slot(const char *key, size_t n)
{
    const char *open = memchr(key, '{', n);
    const char *end = open ? memchr(open + 1, '}', n - (size_t)(open + 1 - key)) : NULL;
    if (end && end > open + 1) {
        n = (size_t)(end - open - 1);
        key = open + 1;
    }
    uint16_t crc = 0;
    for (size_t i = 0; i < n; i++) {
        crc ^= (uint16_t)((uint16_t)(unsigned char)key[i] << 8);
        for (int bit = 0; bit < 8; bit++)
            crc = (uint16_t)(crc & 0x8000 ? crc << 1 ^ 0x1021 : crc << 1);
    }
    return crc & 16383;
}
