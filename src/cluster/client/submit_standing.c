/* Before agents begin in the submitter's own folder: what stands there that weft did not make. */
#include "cluster/client/client_state.h"
#include "memo/standing.h"

/* Agents that work in the folder have no record of what tasks of it left: what weft did not make is
 * kept before they begin. As a copy, since a task may go on from it, or fail. */
bool submit_keep_standing(struct client *c, const struct client_work *k, struct error *err)
{
    const struct workflow *w = k->workflow;
    bool good = true;
    for (uint32_t o = 0; o < w->nobjects && good && !k->overwrite; o++) {
        uint32_t task = w->producer[o];
        if (task == NONE || !need_runs(k->needs, task) ||
            standing_at(k->needs, o) < STANDING_CHANGED)
            continue;
        struct strbuf kept = {0};
        char label[512];
        good = standing_keep(k->needs, o, true, &kept, err);
        if (good)
            client_say(c,
                       "'%s' was there, and weft did not make it: it is kept as '%s' (--overwrite "
                       "replaces such files)",
                       workflow_object_label(w, o, label, sizeof label), kept.at);
        strbuf_free(&kept);
    }
    return good;
}
