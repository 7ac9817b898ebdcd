#include "formats/format.h"

/* One row a format; detection asks each, so the order matters only for ties: the more specific
 * first. */
extern const struct format format_native;
extern const struct format format_wfformat;
extern const struct format format_saga;
extern const struct format format_hetpart_cluster;
extern const struct format format_dax;
extern const struct format format_pegasus;
extern const struct format format_dagman;
extern const struct format format_cws;
extern const struct format format_dot;
extern const struct format format_stg;
extern const struct format format_tgff;
extern const struct format format_makeflow;
extern const struct format format_hyperdag;
extern const struct format format_daggen;
extern const struct format format_heft_csv;
extern const struct format format_tree;
extern const struct format format_mtx;

const struct format *const format_registry[] = {
    &format_native,   &format_wfformat,
    &format_saga,     &format_hetpart_cluster,
    &format_dax,      &format_pegasus,
    &format_dagman,   &format_cws,
    &format_dot,      &format_stg,
    &format_tgff,     &format_makeflow,
    &format_hyperdag, &format_daggen,
    &format_heft_csv, &format_tree,
    &format_mtx,      NULL,
};
