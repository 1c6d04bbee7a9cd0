/* What is known of one feature: a column of the data, or a field of structs at any depth.
 *
 * Its lists are levels, the outermost first. What lies in the innermost is its values: numbers,
 * strings and bytes are counted and sketched, structs have their fields as features of their own,
 * and of all else it is known only where it is.
 */
#ifndef STATISTICS_STATS_H
#define STATISTICS_STATS_H

#include "nested/by_path.h"
#include "sketch/distinct_sketch.h"
#include "sketch/exact_ratio.h"
#include "sketch/heavy_hitters.h"
#include "sketch/moments.h"
#include "sketch/quantiles.h"

/* In the order of the names that findings have. */
typedef enum cst__stats_type {
  CST__STATS_NULL, /* nothing but nulls so far */
  CST__STATS_BOOL,
  CST__STATS_INT,
  CST__STATS_UINT,
  CST__STATS_FLOAT,
  CST__STATS_TIME, /* dates, times, durations: integers of their unit */
  CST__STATS_STRING,
  CST__STATS_BYTES,
  CST__STATS_STRUCT,
  CST__STATS_OTHER, /* decimals, intervals: no values are looked at */
  CST__NUM_STATS_TYPES
} cst__stats_type;

const char *cst__stats_type_name(cst__stats_type type);
cst__stats_type cst__stats_type_of(const cst__view *values);
/* Of the values that are sketched; CST__FAMILY_NONE: none are. */
cst__family cst__stats_family(cst__stats_type type);
/* That of values of both types, which stand beside each other in one family: bools, integers and
 * times are integers, strings and bytes are bytes. False: they do not. */
bool cst__stats_types_join(cst__stats_type a, cst__stats_type b, cst__stats_type *out);

/* The sketches of all features are made by it; it outlives them. */
typedef struct cst__stats_plan {
  cst_allocator allocator;
  cst__quantiles_plan quantiles;
  cst__heavy_options heavy;
  int precision; /* of distinct counts */
  uint64_t seed;
  bool weighs; /* rows have weights */
} cst__stats_plan;

/* The lists of one level. */
typedef struct cst__stats_level {
  uint64_t nulls;    /* among the items of the level above; of the first, the rows without a list */
  uint64_t lists;    /* that are not null, */
  uint64_t empty;    /* and those of them without items */
  uint64_t items;    /* of all */
  uint64_t min, max; /* items of the shortest and the longest; 0 without lists */
  cst__exact_sum weights[3]; /* of nulls, lists and items; 0 without weights */
} cst__stats_level;

/* What is kept of values that a plain pass would have to sort. */
typedef struct cst__stats_sketches {
  cst__quantiles quantiles; /* of numbers */
  cst__heavy heavy;         /* not of floats */
} cst__stats_sketches;

typedef struct cst__stats {
  cst_bytes key; /* its path, as cst__by_path has it */
  cst__stats_type type;
  bool is_ready;             /* the sketches are made */
  uint64_t rows;             /* of the data, or structs that have it as a field, */
  uint64_t present;          /* and those of them where it is not null */
  uint64_t values;           /* that are not null */
  uint64_t invalid;          /* bytes that are not UTF-8 */
  uint64_t tokens;           /* of strings: what stands between white space; 0 of other types */
  cst__exact_sum weights[2]; /* of rows and of present; 0 without weights */
  cst__stats_level *levels;
  size_t num_levels;
  cst__quantiles lengths; /* items of the outermost lists; nothing while all have as many */
  cst__moments moments;   /* of numbers; of strings and bytes, their lengths */
  cst__distinct_sketch distinct;
  cst__stats_sketches plain;    /* each value weighs 1 */
  cst__stats_sketches weighted; /* nothing without weights */
} cst__stats;

/* Makes one of zeros ready, if it is not. */
void cst__stats_prepare(cst__stats *feature, const cst__stats_plan *plan);
void cst__stats_reset(cst__stats *feature);

/* Takes in that there are values of a type, which joins its own. */
void cst__stats_join(cst__stats *feature, cst__stats_type type);

/* Adds a block of values, none of which is null. CST_NO_MEMORY, CST_LIMIT. */
cst_status cst__stats_add(void *stats, const cst__value_block *values, cst_error *error);

/* CST_SCHEMA, with the path: it has values of this type, too, which do not join. */
cst_status cst__stats_fail_types(const cst__stats *stats, cst__stats_type type, cst_error *error);
/* Both are ready, and their types join. */
cst_status cst__stats_merge(cst__stats *into, const cst__stats *from, cst_error *error);
/* Both ways; loading fills one that is ready, and has nothing. */
void cst__stats_archive(cst__stats *feature, const cst__stats_plan *plan, cst__archive *a);
/* Bytes on the heap. */
size_t cst__stats_memory(const cst__stats *feature);

/* Adds a weight so many times; false: no memory. */
static inline bool cst__stats_weigh(cst__exact_sum *sum, const cst_allocator *allocator,
                                    double weight, uint64_t times) {
  const cst__exact_factor factor = {times, 0, false};
  const cst__exact_term term = cst__exact_product2(cst__exact_of_double(weight), factor);
  return cst__exact_sum_add(sum, allocator, &term);
}

/* ---- stats_lists.c ---- */

enum {
  CST__STATS_NULLS,
  CST__STATS_LISTS,
  CST__STATS_ITEMS
}; /* whose weights those of levels are */

/* Makes room for the levels of its lists. False: no memory. */
bool cst__stats_need_levels(cst__stats *feature, const cst__stats_plan *plan, size_t count);
void cst__stats_reset_levels(cst__stats *feature);
/* Adds at most CST__VALUES_MOST lists of a level, which it has, by how many items they have.
 * `weights`: of each; NULL: there are none. */
cst_status cst__stats_add_lists(cst__stats *feature, size_t depth, const int64_t *lengths,
                                const double *weights, size_t count, cst_error *error);
/* `into` has as many levels. */
cst_status cst__stats_merge_lists(cst__stats *into, const cst__stats *from, cst_error *error);
void cst__stats_archive_lists(cst__stats *feature, const cst__stats_plan *plan, cst__archive *a);
size_t cst__stats_lists_memory(const cst__stats *feature);

#endif /* STATISTICS_STATS_H */
