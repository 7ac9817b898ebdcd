/* What is wrong with a node on which attempts fail that are not to blame. */
#pragma once

enum trace_trouble {
    TROUBLE_NONE,
    TROUBLE_DISK,      /* no space left */
    TROUBLE_IO,        /* reading or writing fails */
    TROUBLE_PROCESSES, /* no process can be started */
    TROUBLE_MEMORY,    /* the kernel ended tasks for want of memory that they did not take */
    TROUBLE_SHELL,     /* a shell or interpreter is missing */
    TROUBLES
};
