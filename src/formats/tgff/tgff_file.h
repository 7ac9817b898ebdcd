/* The blocks of a TGFF file, read and not yet understood as a whole: graphs as statements, tables
 * as rows by type. Words point into the text. */
#pragma once
#include "base/array.h"
#include "formats/format.h"
#include "formats/scan.h"

struct tgff_word {
    const char *at;
    size_t length;
};

struct tgff_statement {
    struct tgff_word name, from, to; /* arcs: from and to; deadlines: on in `to` */
    int64_t type;                    /* -1: none stated */
    double value;                    /* of a deadline */
    uint32_t line;
    bool soft;
};

struct tgff_row {
    int64_t type;
    double value;
    uint32_t order; /* in the file: of several rows of a type, the first valid one counts */
    bool valid;
};

struct tgff_block {
    struct tgff_word label;
    int64_t number;
    uint32_t line;
    bool is_graph;
    double period;
    ARRAY(struct tgff_statement) tasks;
    ARRAY(struct tgff_statement) arcs;
    ARRAY(struct tgff_statement) deadlines;
    /* table: which columns the remark before the rows names; -1 none */
    int type_column, valid_column, time_column, size_column;
    ARRAY(struct tgff_row) rows; /* sorted by type once read */
};

struct tgff_file {
    ARRAY(struct tgff_block) blocks;
    size_t lines; /* of the file */
};

/* For "%.*s" in messages. */
static inline int tgff_shown(struct tgff_word w)
{
    return w.length < 60 ? (int)w.length : 60;
}

/* Read all blocks; false with an error. tgff_file_free() in any case. */
bool tgff_file_read(struct tgff_file *f, const struct format_source *source, struct error *err);
void tgff_file_free(struct tgff_file *f);

/* A table of times, and so a processor. */
bool tgff_is_processor(const struct tgff_block *b);
/* A table of what arcs carry. */
bool tgff_is_communication(const struct tgff_block *b);
/* Rows by type, the first that counts leading. */
void tgff_sort_rows(struct tgff_row *rows, size_t n);
/* The row that counts for a type in sorted rows, NULL: not listed. */
const struct tgff_row *tgff_find_row(const struct tgff_row *rows, size_t n, int64_t type);
