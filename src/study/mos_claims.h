/* What the two halves of `the report's words` share: mos_claims.c (section 5.1, on synthetic graphs) and
 * mos_claims_applications.c (sections 5.2 and 6). */
#pragma once
#include "study/mos_study.h"

/* Places in the tables of mos.c: T / Tmax, CCR, k. */
enum { AT_MOST, AT_75, AT_50, AT_25, AT_ZERO };
enum { CCR_01, CCR_1, CCR_10 };
enum { K_2, K_4, K_8 };

/* As near as figures of the report can be read. */
static const double claim_hair = 0.02;

const char *claim_yes(bool good);
/* How ours stand to a published advantage. */
const char *claim_beside(double ours, double published);
/* A row in which both kinds of graphs are meant, or neither. */
void claim_row_alone(struct strbuf *md, const char *said, const char *verdict, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

bool claim_applications(struct mos_study *s);
void claim_inverse(struct mos_study *s);
