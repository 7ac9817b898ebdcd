/* libweft: platforms. Nodes with cores, speed and memory, and the network between them. Frozen
 * when made: any number of threads may read one. Nodes are numbers from 0. Part of
 * <weft/weft.h>. */
#ifndef WEFT_PLATFORM_H
#define WEFT_PLATFORM_H
#include "weft/weft.h"
#include "weft/workflow.h"

#ifdef __cplusplus
extern "C" {
#endif

struct weft_platform;

struct weft_platform *weft_platform_read(const char *path, const struct weft_read_options *options,
                                         struct weft_error *error);
/* Plans made for it live on: they keep it. */
void weft_platform_free(struct weft_platform *p);

uint32_t weft_platform_nodes(const struct weft_platform *p);
/* NULL: no such number. */
const char *weft_platform_node_name(const struct weft_platform *p, uint32_t node);

#ifdef __cplusplus
}
#endif
#endif
