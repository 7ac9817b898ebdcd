/* Two stores a call (calling.h): no lock, nothing that other threads see. */
#include "base/calling.h"

#include <stddef.h>

_Thread_local const char *calling_task __attribute__((tls_model("initial-exec"))) = NULL;
