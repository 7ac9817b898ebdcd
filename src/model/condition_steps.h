/* What the two files of conditions share: condition.c (a text becomes steps) and condition_ask.c (steps
 * are asked of files). Private to them. */
#pragma once
#include "base/array.h"
#include "model/condition.h"

enum operand_kind {
    OPERAND_QUOTED, /* a text, whatever it looks like */
    OPERAND_WORD,   /* a number if it looks like one */
    OPERAND_FILE,
    OPERAND_SIZE, /* of a file */
};

struct condition_operand {
    enum operand_kind kind;
    bool is_number, out;
    uint32_t text, length; /* in condition.texts; of a file: as it was written, for messages */
    uint32_t place;        /* of a file */
    double number;
};

enum condition_test {
    TEST_EQUAL,
    TEST_OTHER,
    TEST_LESS,
    TEST_AT_MOST,
    TEST_GREATER,
    TEST_AT_LEAST,
    TEST_CONTAINS,
    TEST_EXISTS,
    TEST_TRUE,
    TEST_FALSE,
    STEP_NOT,
    STEP_IF_FALSE, /* jumps to `target` */
    STEP_IF_TRUE,
};

struct condition_step {
    enum condition_test test;
    uint32_t target;
    struct condition_operand a, b;
};

struct condition {
    ARRAY(struct condition_step) steps;
    struct strbuf texts;
    bool asks_files;
};

/* A number with a sign and an exponent, or bytes with a unit in capitals: "5b" is a name. The text ends
 * with a NUL. */
bool condition_number(const char *text, size_t length, double *out);
