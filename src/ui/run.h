/* What the files of the Run view's answers share. */
#pragma once
#include "api/inside_watch.h"
#include "base/json.h"
#include "ui/request.h"

/* One task as the page knows it. */
void run_put_task(const struct weft_watch *w, uint32_t task, struct json_writer *j);
/* A number of the address, or the standard. */
double run_request_number(const struct request *r, const char *name, double standard);
