/* Objects in memory on agents. Between functions of one process such an object has no file (exec/data.h). On an
 * agent it has one, in a file system in memory (cluster/agent/memory_files.h): there its flag is OBJECT_IN_MEMORY no
 * more, but this one, and its label says where it stands, so that all paths follow. */
#pragma once
#include "model/workflow.h"

enum { OBJECT_MEMORY_FILE = 32 }; /* beside enum object_flag */

/* Below the folder of a run's files: a link to its folder in memory. */
#define MEMORY_FILES ".memory"

static inline bool workflow_in_memory_file(const struct workflow *w, uint32_t object)
{
    return w->object_flags && w->object_flags[object] & OBJECT_MEMORY_FILE;
}

/* It has no file that a command could read: in memory, one way or the other. */
static inline bool workflow_stays_in_memory(const struct workflow *w, uint32_t object)
{
    return w->object_flags && w->object_flags[object] & (OBJECT_IN_MEMORY | OBJECT_MEMORY_FILE);
}

/* Its name, wherever it stands: what people and the keys of computations know it by. As
 * workflow_object_label(), which says where it stands. */
const char *workflow_object_name(const struct workflow *w, uint32_t object, char *buffer,
                                 size_t size);
