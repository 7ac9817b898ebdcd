/* The cluster files of HetPart: {"groups":[{"number":18,"memory":3,"speed":1}]}. Node j of group i
 * is named "group<i>-<j>", from 1.
 *
 * Memory is relative there: the reader's option memory-unit multiplies it. BandwInside and
 * BandwOutside, where every group states them, are the bandwidths within a group and to other
 * groups (of two groups the smaller counts). */
#include "base/array.h"
#include "base/quantity.h"
#include "formats/format.h"
#include "formats/json_field.h"

#include <math.h>
#include <string.h>

/* Links of groups are pairs: 2,048 nodes are two million of them, and enough for the published
 * files. */
enum { MOST_NODES = 1000000, MOST_LINKED_NODES = 2048 };

struct hetpart_group {
    uint32_t first, count;
    double inside, outside; /* NAN: not stated */
};

static int sniff_cluster(const char *path, const char *text, size_t length)
{
    (void)path;
    size_t head = format_json_head(text, length);
    if (!head || !memmem(text, head, "\"groups\"", 8))
        return 0;
    return memmem(text, head, "\"number\"", 8) ? 3 : 2;
}

static double memory_unit(const struct format_source *source)
{
    const char *text = format_option(source, "memory-unit");
    double unit = 1;
    if (text)
        quantity_bytes(text, strlen(text), &unit);
    return unit;
}

/* The nodes of one group, `number` from 1; `first` is the number of its first node. */
static bool add_group(const struct json *j, json_ref v, uint32_t number, double unit,
                      uint32_t first, struct platform_builder *b, struct hetpart_group *out,
                      struct error *err)
{
    char what[32];
    snprintf(what, sizeof what, "group %u", number);
    double count = NAN, memory = NAN, speed = 1;
    *out = (struct hetpart_group){.first = first, .inside = NAN, .outside = NAN};
    if (!json_field_is(j, v, JSON_OBJECT, what, err) ||
        json_field_need(j, v, "number", JSON_NUMBER, what, err) == JSON_NONE ||
        !json_field_number(j, v, "number", 0, &count, what, err) ||
        !json_field_number(j, v, "memory", 0, &memory, what, err) ||
        !json_field_number(j, v, "speed", 0, &speed, what, err) ||
        !json_field_number(j, v, "BandwInside", 0, &out->inside, what, err) ||
        !json_field_number(j, v, "BandwOutside", 0, &out->outside, what, err))
        return false;
    if (count != floor(count) || count > MOST_NODES - first)
        return json_error(j, v, err,
                          "%s: number is %g; expected a whole number, at most %d nodes in all",
                          what, count, MOST_NODES);
    out->count = (uint32_t)count;
    size_t line = json_line(j, v);
    for (uint32_t i = 0; i < out->count; i++) {
        char name[48];
        int n = snprintf(name, sizeof name, "group%u-%u", number, i + 1);
        uint32_t node = platform_builder_node(b, name, (size_t)n, line);
        platform_builder_speed(b, node, speed, line);
        if (!isnan(memory))
            platform_builder_memory(b, node, memory * unit, line);
    }
    return true;
}

/* Only when every group states both bandwidths: a platform that is half stated would be half
 * unlimited. */
static void hetpart_add_links(struct platform_builder *b, const struct hetpart_group *groups,
                              size_t n, uint32_t nodes)
{
    for (size_t i = 0; i < n; i++) {
        if (isnan(groups[i].inside) || isnan(groups[i].outside) || nodes > MOST_LINKED_NODES)
            return;
    }
    for (size_t g = 0; g < n; g++) {
        for (uint32_t x = groups[g].first; x < groups[g].first + groups[g].count; x++) {
            for (uint32_t y = x + 1; y < groups[g].first + groups[g].count; y++)
                platform_builder_link(b, x, y, groups[g].inside, NAN, 0);
            for (size_t h = g + 1; h < n; h++) {
                double outside = fmin(groups[g].outside, groups[h].outside);
                for (uint32_t y = groups[h].first; y < groups[h].first + groups[h].count; y++)
                    platform_builder_link(b, x, y, outside, NAN, 0);
            }
        }
    }
}

/* Groups in the order of the file, nodes numbered through. */
static bool read_groups(const struct json *j, const struct format_source *source,
                        struct platform_builder *b, struct error *err)
{
    double unit = memory_unit(source);
    if (!json_field_is(j, 0, JSON_OBJECT, "the document", err))
        return false;
    json_ref list = json_field_need(j, 0, "groups", JSON_ARRAY, "the document", err);
    if (list == JSON_NONE)
        return false;
    ARRAY(struct hetpart_group) groups = {0};
    uint32_t nodes = 0;
    bool good = true;
    for (json_ref v = json_first(j, list); good && v != JSON_NONE && !platform_builder_failed(b);
         v = json_next_element(j, list, v)) {
        struct hetpart_group g;
        good = add_group(j, v, (uint32_t)groups.n + 1, unit, nodes, b, &g, err);
        array_push(&groups, g);
        nodes += g.count;
    }
    if (good && !platform_builder_failed(b))
        hetpart_add_links(b, groups.at, groups.n, nodes);
    array_free(&groups);
    return good;
}

/* The platform is named after the file: the format has no name of its own. */
static struct platform *hetpart_read_platform(const struct format_source *source, struct error *err)
{
    struct json j;
    if (!json_parse(&j, source->path, source->text, source->length, err))
        return NULL;
    struct platform_builder *b = platform_builder_new(source->path);
    const char *base = file_basename(source->path);
    platform_builder_name(b, base, file_stem_length(base));
    struct error own = {0};
    struct platform *p = NULL;
    if (read_groups(&j, source, b, &own)) {
        p = platform_builder_finish(b, err);
    } else {
        error_set(err, own.kind, "%s", own.text);
        platform_builder_free(b);
    }
    json_free(&j);
    return p;
}

static const struct option hetpart_cluster_options[] = {
    {"memory-unit", OPTION_BYTES, "1", NULL, 1e-18, 1e18,
     "multiply the memory of every node (relative in these files; default 1)"},
    {0},
};

const struct format format_hetpart_cluster = {
    .name = "hetpart-cluster",
    .summary = "HetPart cluster JSON: groups of equal nodes",
    .suffixes = NULL,
    .sniff = sniff_cluster,
    .read_platform = hetpart_read_platform,
    .options = hetpart_cluster_options,
};
