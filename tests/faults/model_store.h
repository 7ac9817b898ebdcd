/* A store of the tests: a second, independent writing of what model/metadata.h promises, as
 * plain as can be. It counts nothing that it can look up again, so it is slow (each answer walks
 * the edges of its task) and has nothing to get out of step. In memory only; answers are there
 * at once. */
#pragma once
#include "model/workflow.h"
#include "store/store.h"

/* `workflow` must outlive it. An ADOPT gives at most `adopt_most` tasks at a time, whatever the
 * asker's limit is: few, so that it takes turns. */
struct store *model_store_open(const struct workflow *workflow, uint64_t adopt_most);
