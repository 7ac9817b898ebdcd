/* Objects by their names: how a name is spelled, which number it has. Every mention of a file in a
 * workflow comes here, several million in a large one. */
#include "model/builder_state.h"

#include <string.h>

const char *builder_object_name(const struct builder *b, uint32_t object)
{
    return pool_text(&b->w->text, b->object_name.at[object]);
}

/* The one spelling of a name, without the slash of a folder; valid until the next call. Most names
 * have it: then they are scanned once and nothing else. */
static const char *builder_canonical(struct builder *b, const char *name, size_t *len, bool *folder)
{
    *folder = *len > 1 && name[*len - 1] == '/';
    if (*name != '/' && path_is_canonical(name, *len)) {
        *len -= *folder;
        return name;
    }
    strbuf_clear(&b->canonical);
    path_add_canonical(name, *len, &b->canonical);
    const char *text = b->canonical.at, *below = path_in_home(b->home, text);
    text = below ? *below ? below : "." : text;
    *len = strlen(text);
    *folder = *len > 1 && text[*len - 1] == '/';
    *len -= *folder;
    return text;
}

uint32_t builder_find_object(struct builder *b, const char *name, size_t len)
{
    bool folder;
    if (!len)
        return NONE;
    name = builder_canonical(b, name, &len, &folder);
    return name_index_find(&b->w->object_index, &b->w->text, b->object_name.at, name, len);
}

/* Files are mostly mentioned in the order in which they were mentioned before: a gathering reads what a
 * family made one after the other, the next family what the one before it made. So the numbers of the last
 * mentions are carried on, with a period of one and of two; a text that is the guessed one's, which lies
 * beside the one that was read just before, needs no hash and misses no cache. A guess costs nothing where
 * it points past what is there, as it does while names are new. */
static uint32_t mention_guess(const struct builder *b, const char *name, size_t len)
{
    const uint32_t *m = b->mentions.last;
    for (int period = 1; period <= MENTION_PERIODS; period++) {
        uint32_t guess =
            2 * m[period - 1] - m[2 * period - 1]; /* around 2^32: past what is there */
        if (guess >= b->object_name.n || !b->object_name.at[guess])
            continue;
        const char *text = builder_object_name(b, guess);
        if (strncmp(text, name, len) == 0 && !text[len])
            return guess;
    }
    return NONE;
}

static void mention_note(struct builder_mentions *m, uint32_t object)
{
    for (int i = 2 * MENTION_PERIODS - 1; i > 0; i--)
        m->last[i] = m->last[i - 1];
    m->last[0] = object;
}

static uint32_t builder_find_or_add(struct builder *b, const char *name, size_t len)
{
    uint32_t hash = name_index_hash(name, len);
    uint32_t object = name_index_find_hashed(&b->w->object_index, &b->w->text, b->object_name.at,
                                             name, len, hash);
    if (object != NONE)
        return object;
    object = builder_new_object(b, pool_add(&b->w->text, name, len));
    if (object != NONE)
        name_index_add_hashed(&b->w->object_index, object, hash);
    return object;
}

/* Names are found by hash: O(1) a mention. */
uint32_t builder_object(struct builder *b, const char *name, size_t len)
{
    if (!len || memchr(name, 0, len)) {
        builder_error(b, 0, "a data object has an empty name");
        return NONE;
    }
    bool folder;
    name = builder_canonical(b, name, &len, &folder);
    uint32_t object = mention_guess(b, name, len);
    if (object == NONE)
        object = builder_find_or_add(b, name, len);
    mention_note(&b->mentions, object);
    if (folder && object != NONE)
        array_push(&b->folders, object);
    return object;
}
