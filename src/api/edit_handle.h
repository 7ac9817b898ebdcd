/* The handle of an edit, for the files of the library that work on it. */
#pragma once
#include "api/api.h"
#include "base/array.h"
#include "formats/native/native_edit.h"

struct weft_edit {
    struct api_account account; /* of everything in the others */
    struct yaml_edit edit;
    struct strbuf shown;                /* the value or names that were shown last */
    struct strbuf place_text;           /* the place of the port that was shown last */
    ARRAY(struct weft_edit_wire) wires; /* as they were when the first of them was asked for */
    ARRAY(uint64_t)
    pairs; /* tasks that follow each other where the text was read, from << 32 | to, in order */
    ARRAY(bool) known; /* per task: some of it is there; empty: nobody has read it */
    struct edit_walk {
        uint32_t reading; /* `edit.readings` then */
        size_t i;
        yaml_ref at; /* its key; 0: nobody has asked */
    } walk;          /* the task that was asked for last: the next one is seldom far from it */
};
