/* Places of threads by hwloc: see pins.h.
 *
 * hwloc is loaded when somebody asks for it: few do, and it would otherwise be a library that every program with weft in it
 * has to bring. Built where its header is not, this only says so.
 *
 * I1. Sets are made once and only read by threads afterwards. */
#include "exec/pins.h"

#include "base/mem.h"

#if __has_include(<hwloc.h>)
#include <dlfcn.h>
#include <errno.h>
#include <hwloc.h>
#include <limits.h>
#include <string.h>

static const char hwloc_file[] = "libhwloc.so.15"; /* of all versions 2.x */

/* What is used of it; the types are those of its own declarations. */
struct hwloc_calls {
    __typeof__(&hwloc_topology_init) init;
    __typeof__(&hwloc_topology_load) load;
    __typeof__(&hwloc_topology_destroy) destroy;
    __typeof__(&hwloc_topology_restrict) restrict_to;
    __typeof__(&hwloc_get_obj_by_depth) object;
    __typeof__(&hwloc_get_cpubind) get;
    __typeof__(&hwloc_set_cpubind) set;
    __typeof__(&hwloc_bitmap_alloc) make;
    __typeof__(&hwloc_bitmap_copy) copy;
    __typeof__(&hwloc_bitmap_singlify) single;
    __typeof__(&hwloc_bitmap_free) drop;
    __typeof__(&hwloc_get_nbobjs_by_depth) count;
    __typeof__(&hwloc_get_type_depth) depth;
};

struct pins {
    struct hwloc_calls call;
    hwloc_topology_t topology;
    hwloc_bitmap_t *place;
    uint32_t places;
};

#define PINS_FIND(field, name) ((c->field = (__typeof__(c->field))dlsym(library, #name)) != NULL)

/* Never unloaded: threads may still be in it. */
static bool pins_load(struct hwloc_calls *c, struct error *err)
{
    void *library = dlopen(hwloc_file, RTLD_NOW | RTLD_LOCAL);
    if (library && PINS_FIND(init, hwloc_topology_init) && PINS_FIND(load, hwloc_topology_load) &&
        PINS_FIND(destroy, hwloc_topology_destroy) &&
        PINS_FIND(restrict_to, hwloc_topology_restrict) &&
        PINS_FIND(object, hwloc_get_obj_by_depth) && PINS_FIND(get, hwloc_get_cpubind) &&
        PINS_FIND(set, hwloc_set_cpubind) && PINS_FIND(make, hwloc_bitmap_alloc) &&
        PINS_FIND(copy, hwloc_bitmap_copy) && PINS_FIND(single, hwloc_bitmap_singlify) &&
        PINS_FIND(drop, hwloc_bitmap_free) && PINS_FIND(count, hwloc_get_nbobjs_by_depth) &&
        PINS_FIND(depth, hwloc_get_type_depth))
        return true;
    error_set(err, ERROR_FAILED,
              "threads cannot be pinned: %s cannot be loaded (Debian's package libhwloc15 has it)",
              hwloc_file);
    return false;
}

/* What the process may use, which may be less than the machine has. */
static bool pins_see(struct pins *p, hwloc_bitmap_t allowed, struct error *err)
{
    struct hwloc_calls *c = &p->call;
    bool good = c->init(&p->topology) == 0;
    if (good && c->load(p->topology) != 0) {
        c->destroy(p->topology);
        good = false;
    }
    if (!good) {
        p->topology = NULL;
        return error_set(err, ERROR_FAILED,
                         "threads cannot be pinned: hwloc does not understand "
                         "this machine");
    }
    return (c->get(p->topology, allowed, HWLOC_CPUBIND_THREAD) == 0 &&
            c->restrict_to(p->topology, allowed, 0) == 0) ||
           error_set(err, ERROR_FAILED, "threads cannot be pinned: %s", strerror(errno));
}

/* Cores one after the other, as hwloc orders them: those that share a cache stand side by side, and a few threads are spread
 * over all of them. The caller goes to each place and back, so that who is refused learns it now. */
static bool pins_choose(struct pins *p, hwloc_bitmap_t allowed, struct error *err)
{
    struct hwloc_calls *c = &p->call;
    int depth = c->depth(p->topology, HWLOC_OBJ_CORE);
    int cores = depth < 0 ? 0 : c->count(p->topology, depth);
    if (cores <= 0) { /* some virtual machines tell of no cores */
        depth = c->depth(p->topology, HWLOC_OBJ_PU);
        cores = c->count(p->topology, depth);
    }
    bool good = cores > 0;
    for (uint32_t i = 0; i < p->places && good; i++) {
        uint64_t step = p->places < (uint32_t)cores ? (uint64_t)cores * i / p->places : i;
        hwloc_obj_t core = c->object(p->topology, depth, (unsigned)(step % (unsigned)cores));
        p->place[i] = c->make();
        good = core && p->place[i] && c->copy(p->place[i], core->cpuset) == 0 &&
               c->single(p->place[i]) == 0 &&
               c->set(p->topology, p->place[i], HWLOC_CPUBIND_THREAD) == 0;
    }
    int reason = errno;
    c->set(p->topology, allowed, HWLOC_CPUBIND_THREAD);
    return good || error_set(err, ERROR_FAILED, "threads cannot be pinned: %s", strerror(reason));
}

struct pins *pins_new(uint32_t threads, struct error *err)
{
    struct hwloc_calls call;
    if (!pins_load(&call, err))
        return NULL;
    struct pins *p = mem_new_zero(struct pins, 1);
    p->call = call;
    p->places = threads;
    p->place = mem_new_zero(hwloc_bitmap_t, threads);
    hwloc_bitmap_t allowed = call.make();
    bool good = allowed ? pins_see(p, allowed, err) && pins_choose(p, allowed, err)
                        : error_set(err, ERROR_FAILED, "threads cannot be pinned: no memory");
    if (allowed)
        call.drop(allowed);
    if (good)
        return p;
    pins_free(p);
    return NULL;
}

void pins_hold(const struct pins *p, uint32_t place)
{
    p->call.set(p->topology, p->place[place % p->places], HWLOC_CPUBIND_THREAD);
}

void pins_free(struct pins *p)
{
    if (!p)
        return;
    for (uint32_t i = 0; i < p->places; i++)
        if (p->place[i])
            p->call.drop(p->place[i]);
    if (p->topology)
        p->call.destroy(p->topology);
    free(p->place);
    free(p);
}

#else

struct pins *pins_new(uint32_t threads, struct error *err)
{
    (void)threads;
    error_set(err, ERROR_FAILED,
              "threads cannot be pinned: weft was built without hwloc (Debian's libhwloc-dev)");
    return NULL;
}

void pins_hold(const struct pins *p, uint32_t place)
{
    (void)p;
    (void)place;
}

void pins_free(struct pins *p)
{
    (void)p;
}
#endif
