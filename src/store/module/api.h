/* What we use of the interface that a Redis server gives its modules, declared by ourselves: the
 * server hands out functions by name when it loads us, and a name that it does not know is an error
 * there (module.c). Redis 7 has all of these; so have the servers that follow it. */
#pragma once
#include <stddef.h>

struct server_ctx;    /* one command that is being executed */
struct server_string; /* an argument of it */
struct server_key;    /* an open key */
struct server_reply;  /* of a command that we called */

typedef int server_command(struct server_ctx *ctx, struct server_string **argv, int argc);

enum { SERVER_OK = 0, SERVER_ERR = 1, SERVER_API = 1 };
enum { SERVER_READ = 1, SERVER_WRITE = 2 };           /* modes of a key */
enum { SERVER_KEY_EMPTY = 0, SERVER_KEY_STRING = 1 }; /* types of one */
enum { SERVER_REPLY_STRING = 0, SERVER_REPLY_INTEGER = 2, SERVER_REPLY_ARRAY = 3 };

/* Each row: result, our name, the server's, arguments. Formats of `call` and `replicate`: s a string
 * of the server, b bytes and their number (size_t), l a long long, c a C string; ! replicates. */
#define SERVER_FUNCTIONS(ROW)                                                                      \
    ROW(void, attributes, SetModuleAttribs, (struct server_ctx *, const char *, int, int))         \
    ROW(int, command, CreateCommand,                                                               \
        (struct server_ctx *, const char *, server_command *, const char *, int, int, int))        \
    ROW(void *, resize, Realloc, (void *, size_t))                                                 \
    ROW(void, release, Free, (void *))                                                             \
    ROW(const char *, bytes, StringPtrLen, (const struct server_string *, size_t *))               \
    ROW(struct server_key *, open, OpenKey, (struct server_ctx *, struct server_string *, int))    \
    ROW(void, close, CloseKey, (struct server_key *))                                              \
    ROW(int, type, KeyType, (struct server_key *))                                                 \
    ROW(char *, direct, StringDMA, (struct server_key *, size_t *, int))                           \
    ROW(struct server_reply *, call, Call, (struct server_ctx *, const char *, const char *, ...)) \
    ROW(int, reply_type, CallReplyType, (struct server_reply *))                                   \
    ROW(const char *, reply_bytes, CallReplyStringPtr, (struct server_reply *, size_t *))          \
    ROW(long long, reply_integer, CallReplyInteger, (struct server_reply *))                       \
    ROW(size_t, reply_length, CallReplyLength, (struct server_reply *))                            \
    ROW(struct server_reply *, reply_at, CallReplyArrayElement, (struct server_reply *, size_t))   \
    ROW(void, reply_free, FreeCallReply, (struct server_reply *))                                  \
    ROW(int, replicate, Replicate, (struct server_ctx *, const char *, const char *, ...))         \
    ROW(int, answer, ReplyWithStringBuffer, (struct server_ctx *, const char *, size_t))           \
    ROW(int, answer_error, ReplyWithError, (struct server_ctx *, const char *))

#define SERVER_MEMBER(result, name, theirs, arguments) result(*name) arguments;
struct server_functions {
    SERVER_FUNCTIONS(SERVER_MEMBER)
};
extern struct server_functions server; /* set when the module is loaded, never again */
