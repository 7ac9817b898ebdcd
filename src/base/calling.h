/* The function of a task in which this thread is: so that what ends the process from there can be told by name. */
#pragma once

/* The task's name; NULL: this thread is in none. Of a call above another (crew.h) it is the upper one's. */
extern _Thread_local const char *calling_task __attribute__((tls_model("initial-exec")));
