/* How far two statistics are from each other: what the files of the comparison share.
 *
 * Both are tables of features. compare_ranks.c has numbers, by what is known of the ranks of their
 * values; compare_values.c values that are counted one by one; compare_row.c puts both together,
 * compare_limits.c holds them against thresholds, compare_words.c says what changed, and compare.c
 * makes the table. docs/drift.md says what each measure means.
 */
#ifndef STATISTICS_COMPARE_H
#define STATISTICS_COMPARE_H

#include <columnstone/statistics.h>

#include "arrow/findings.h"
#include "schema/comparators.h"

/* CST_INVALID_ARGUMENT for findings that are no table of features. */
cst_status cst__check_features_table(const cst_findings *table, cst_error *error);

/* ---- two distributions, share by share ---- */

/* Of the same values, ranges or bins: what is more of one is less of another. */
typedef struct cst__shares {
  double *before, *after;
  size_t count;
} cst__shares;

/* Between 0 and 1, by logarithms of base 2. */
double cst__shares_jensen_shannon(const cst__shares *shares);
/* Shares below 0.0001 count as that much. */
double cst__shares_psi(const cst__shares *shares);

/* ---- numbers: compare_ranks.c ---- */

/* What part of the values is at most a number: the bounds, in order, and the part up to each;
 * between two bounds it grows evenly, and at equal ones it jumps. NaN is above all. */
typedef struct cst__ranks {
  double *bounds;
  double *upto;
  size_t count;
  double nan; /* the part of the values that are NaN; the last of upto is 1 less that */
} cst__ranks;

/* Where a table has what is asked for. */
typedef struct cst__feature_row {
  const cst_findings *table;
  size_t row; /* SIZE_MAX: the table does not have the feature */
  bool weighs;
} cst__feature_row;

/* In the arena. False: no memory. What has no values has no bounds. Deciles are as they stand. */
bool cst__ranks_of_quantiles(const cst__feature_row *feature, cst__arena *arena, cst__ranks *out);
bool cst__ranks_of_deciles(const cst__feature_row *feature, cst__arena *arena, cst__ranks *out);
bool cst__ranks_of_histogram(const cst__feature_row *feature, cst__arena *arena, cst__ranks *out);

/* The part of the values below a number, and up to it. */
double cst__ranks_below(const cst__ranks *ranks, double number);
double cst__ranks_upto(const cst__ranks *ranks, double number);

/* The largest distance of both, and where it is; NaN: at NaN itself. */
double cst__ranks_distance(const cst__ranks *before, const cst__ranks *after, double *place);

/* The shares of bins, of which NaN is one of its own, where one of both has values: about twenty of
 * the same share of both together, and what only one of both reaches. False: no memory. */
bool cst__ranks_even_bins(const cst__ranks *before, const cst__ranks *after, cst__arena *arena,
                          cst__shares *out);
/* The same of the deciles of `before`. */
bool cst__ranks_deciles(const cst__ranks *before, const cst__ranks *after, cst__arena *arena,
                        cst__shares *out);
/* The shares between all bounds of both, and at those where one of them jumps. */
bool cst__ranks_all_bins(const cst__ranks *before, const cst__ranks *after, cst__arena *arena,
                         cst__shares *out);

/* ---- values: compare_values.c ---- */

/* A value that one of the tables has among its frequent ones. */
typedef struct cst__compared_value {
  const char *text;         /* borrowed from the table */
  double share[2];          /* before and after */
  double least[2], most[2]; /* its bounds */
  bool is_there[2];         /* it is among the frequent ones */
} cst__compared_value;

typedef struct cst__compared_values {
  cst__compared_value *items;
  size_t count;
  double rest[2];                     /* the share of all others */
  bool is_all[2];                     /* there are no others */
  double weight[2];                   /* of all values */
  double linf, least_linf, most_linf; /* the largest difference of a share, and its bounds */
  size_t worst;                       /* whose it is; SIZE_MAX: nothing differs */
} cst__compared_values;

/* In the arena. False: no memory. */
bool cst__compared_values_compare(const cst__feature_row *before, const cst__feature_row *after,
                                  cst__arena *arena, cst__compared_values *out);
/* The shares of the values, and of all others. */
bool cst__compared_values_shares(const cst__compared_values *values, cst__arena *arena,
                                 cst__shares *out);
/* The largest difference of weights, of the weight of both sides together. */
double cst__compared_values_abs_difference(const cst__compared_values *values);
/* True for a value that is there on this side (0: before, 1: after) and on the other one certainly
 * not. */
bool cst__compared_values_has_only(const cst__compared_values *values, size_t i, int side);

/* ---- a feature: compare_row.c ---- */

typedef enum cst__compared_state {
  CST__COMPARED_BOTH,
  CST__COMPARED_NEW,
  CST__COMPARED_LOST,
  CST__COMPARED_TYPE, /* it has another type */
  CST__COMPARED_NEW_SLICE,
  CST__COMPARED_LOST_SLICE
} cst__compared_state;

/* What thresholds are about; in the order of the names that options and findings have. */
typedef enum cst__measure {
  CST__MEASURE_LINF,
  CST__MEASURE_ABS_DIFFERENCE,
  CST__MEASURE_JENSEN_SHANNON,
  CST__MEASURE_PSI,
  CST__MEASURE_KS,
  CST__MEASURE_PRESENCE,
  CST__NUM_MEASURES
} cst__measure;

extern const char *const cst__measure_names[CST__NUM_MEASURES];

typedef struct cst__compared {
  cst__feature_row sides[2];
  cst__compared_state state;
  bool has_values[2];
  double presence[2];
  double measures[CST__NUM_MEASURES]; /* NaN: there is none */
  double resolution;
  double score;
  cst__ranks ranks[2]; /* of numbers */
  double place;        /* where ranks differ most */
  cst__compared_values values;
} cst__compared;

/* Everything but the score of slices that one table lacks. False: no memory. */
bool cst__compared_fill(cst__compared *c, cst__arena *arena);
/* True if values of one of both have such a measure, among others of their type. */
bool cst__compared_has(const cst__compared *c, cst__measure measure);
/* The path, the type and the like, of the side that has it. */
const char *cst__compared_text(const cst__compared *c, const char *column);

/* ---- thresholds: compare_limits.c ---- */

typedef struct cst__compare_limits {
  int32_t kind;                       /* cst__comparison_kind */
  const char *environment;            /* of the schema; NULL: none */
  double measures[CST__NUM_MEASURES]; /* below 0: none */
  double rows;                        /* of the change of the number of rows; below 0: none */
  bool slices;                        /* they hold for slices as well */
} cst__compare_limits;

extern const cst__option_table cst__compare_option_table;

/* That a threshold is passed. */
typedef struct cst__passed {
  const char *kind, *measure;
  double threshold, value; /* the value may be NaN: it cannot be measured */
  const char *text;
  struct cst__passed *next;
} cst__passed;

/* What all features are held against. */
typedef struct cst__limits {
  const cst__compare_limits *options;
  const cst__comparators *comparators; /* NULL: there is no schema */
} cst__limits;

/* Those of a feature, in the arena; NULL: none. False: no memory. */
bool cst__limits_of_feature(const cst__limits *limits, const cst__compared *c, cst__arena *arena,
                            cst__passed **out);
/* Those of the number of rows. */
bool cst__limits_of_rows(const cst__limits *limits, double before, double after, cst__arena *arena,
                         cst__passed **out);
/* ---- words: compare_words.c ---- */

/* What changed most, in a few words, in the arena; NULL: no memory. */
const char *cst__compared_words(const cst__compared *c, cst__arena *arena);

/* A share as "12 %", a number in a few digits. */
enum { CST__WORD_ROOM = 32 };
void cst__share_words(char room[CST__WORD_ROOM], double share);
void cst__number_words(char room[CST__WORD_ROOM], double number);

#endif /* STATISTICS_COMPARE_H */
