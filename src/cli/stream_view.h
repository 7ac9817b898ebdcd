/* What a stream shows: the line while it runs, the summary and the JSON. */
#pragma once
#include "base/strbuf.h"
#include "weft/stream.h"

/* One line, without its end. `recent`: items a second of late. */
void stream_view_line(const struct weft_stream *s, double recent, struct strbuf *out);
void stream_view_summary(const struct weft_stream *s, struct strbuf *out);
/* `whole`: with tasks, workers and failures, pretty; else one line of figures. */
void stream_view_json(const struct weft_stream *s, bool whole, struct strbuf *out);
