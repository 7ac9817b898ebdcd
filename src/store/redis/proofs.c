/* What proves that somebody with the cluster's key ended a task (state.h, `proofs`). The server and
 * whoever may write there have no key: what they say of an end without a proof counts as not said.
 *
 *     of a record    'r', status B, task I, epoch I, holder I    16 bytes; of REMOVED epoch and holder
 *                                                                are 0, since anybody may remove
 *     of an edge     'e', producer I, mark I                     8 bytes, behind the mark
 *     of a copy      'c', object I, node I, digest 32, size d    16 bytes, behind these but the object
 *
 * The prover is the run's (store_redis_config.prover): a proof of another run, number or cluster is
 * none. Epoch and holder are in it, so that the end of an earlier holder, whose work was given to
 * another, does not pass for the later one's. */
#include "store/redis/state.h"

#include <stdio.h>

enum { COPY_SAYS = REDIS_SCRIPT_COPY - REDIS_SCRIPT_PROOF }; /* bytes of a copy that are proved */

struct proof_text {
    unsigned char at[56];
    size_t n;
};

static void proof_put(struct proof_text *t, uint32_t v)
{
    memcpy(t->at + t->n, &v, 4);
    t->n += 4;
}

static struct proof_text end_text(uint8_t status, uint32_t task, uint32_t epoch, uint32_t node)
{
    struct proof_text t = {{'r', status}, 2};
    bool held = status != META_REMOVED;
    proof_put(&t, task);
    proof_put(&t, held ? epoch : 0);
    proof_put(&t, held ? node : 0);
    return t;
}

static struct proof_text edge_text(uint32_t producer, uint32_t mark)
{
    struct proof_text t = {{'e'}, 1};
    proof_put(&t, producer);
    proof_put(&t, mark);
    return t;
}

/* `copy`: node, digest and size. */
static struct proof_text copy_text(uint32_t object, const unsigned char *copy)
{
    struct proof_text t = {{'c'}, 1};
    proof_put(&t, object);
    memcpy(t.at + t.n, copy, COPY_SAYS);
    t.n += COPY_SAYS;
    return t;
}

void redis_prove_end(const struct redis *r, const struct meta_op *op,
                     unsigned char proof[static REDIS_SCRIPT_PROOF])
{
    uint8_t status = op->status == META_FAILED ? META_FAILED : META_REMOVED;
    if (op->kind == META_COMPLETE)
        status = op->status >= META_SKIPPED ? op->status : META_DONE;
    struct proof_text t = end_text(status, op->task, op->epoch, op->node);
    seal_prove(&r->prover, t.at, t.n, proof);
}

void redis_prove_edge(const struct redis *r, uint32_t producer, uint32_t mark,
                      unsigned char out[static REDIS_SCRIPT_EDGE])
{
    unsigned char proof[SEAL_PROOF];
    struct proof_text t = edge_text(producer, mark);
    seal_prove(&r->prover, t.at, t.n, proof);
    memcpy(out, &mark, 4);
    memcpy(out + 4, proof, REDIS_SCRIPT_EDGE - 4);
}

/* The first is kept for who polls; more of them would say the same. */
static void note_forged(struct redis *r, uint32_t task, const char *what)
{
    if (r->forged[0])
        return;
    snprintf(
        r->forged, sizeof r->forged,
        "the store says that '%.100s' %s, and nobody who has the cluster's key wrote that; it is "
        "not believed: somebody else can write to the store",
        workflow_task_name(r->w, task), what);
}

void redis_prove_copy(const struct redis *r, const struct meta_op *op,
                      unsigned char out[static REDIS_SCRIPT_COPY])
{
    static const struct digest unknown;
    memcpy(out, &op->node, 4);
    memcpy(out + 4, op->digest ? op->digest : &unknown, sizeof unknown);
    memcpy(out + 4 + sizeof unknown, &op->bytes, 8);
    struct proof_text t = copy_text(op->task, out);
    seal_prove(&r->prover, t.at, t.n, out + COPY_SAYS);
}

bool redis_copy_is_proved(struct redis *r, uint32_t object, const unsigned char *copy)
{
    struct proof_text t = copy_text(object, copy);
    if (seal_proves(&r->prover, t.at, t.n, copy + COPY_SAYS, SEAL_PROOF))
        return true;
    if (r->w->producer[object] != NONE)
        note_forged(r, r->w->producer[object], "has outputs somewhere");
    return false;
}

uint8_t redis_proved_status(struct redis *r, uint32_t task, const unsigned char *record)
{
    static const char *const words[] = {[META_DONE] = "is done",
                                        [META_FAILED] = "has failed",
                                        [META_REMOVED] = "was removed",
                                        [META_SKIPPED] = "was skipped",
                                        [META_EXCUSED] = "failed, and may"};
    uint8_t status = record[0];
    uint32_t epoch, holder;
    if (status < META_DONE)
        return status;
    memcpy(&epoch, record + 4, 4);
    memcpy(&holder, record + 8, 4);
    struct proof_text t = end_text(status, task, epoch, holder);
    if (status <= META_EXCUSED &&
        seal_proves(&r->prover, t.at, t.n, record + REDIS_SCRIPT_RECORD - REDIS_SCRIPT_PROOF,
                    REDIS_SCRIPT_PROOF))
        return status;
    note_forged(r, task, status <= META_EXCUSED ? words[status] : "has ended");
    return META_QUEUED;
}

/* Every child of a task carries the same bytes: they are verified once, and compared from then on. A place is
 * that of several tasks, the last of which has it. */
static unsigned char *proof_place(struct redis *r, uint32_t producer)
{
    if (!r->proved_edges)
        r->proved_edges = mem_new_zero(struct redis_proved_edge, REDIS_PROVED_EDGES);
    struct redis_proved_edge *at = &r->proved_edges[producer % REDIS_PROVED_EDGES];
    if (at->producer != producer)
        *at = (struct redis_proved_edge){.producer = producer};
    return at->edge;
}

static bool proof_is_known(struct redis *r, uint32_t producer, const unsigned char *edge)
{
    return memcmp(proof_place(r, producer), edge, REDIS_SCRIPT_EDGE) == 0;
}

void redis_remember_edge(struct redis *r, uint32_t producer, const unsigned char *edge)
{
    memcpy(proof_place(r, producer), edge, REDIS_SCRIPT_EDGE);
}

uint32_t redis_proved_mark(struct redis *r, uint32_t producer, const unsigned char *edge)
{
    uint32_t mark;
    memcpy(&mark, edge, 4);
    if (!mark)
        return 0;
    if (proof_is_known(r, producer, edge))
        return mark;
    struct proof_text t = edge_text(producer, mark);
    if (seal_proves(&r->prover, t.at, t.n, edge + 4, REDIS_SCRIPT_EDGE - 4)) {
        redis_remember_edge(r, producer, edge);
        return mark;
    }
    note_forged(r, producer, "is done, for those who wait for it");
    return 0;
}
