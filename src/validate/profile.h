/* Profiles: what the values of each feature are like, over all records of a source, and which
 * features divide or place the values of others. What proposals are made of, beside what inference
 * counts.
 */
#ifndef VALIDATE_PROFILE_H
#define VALIDATE_PROFILE_H

#include "arrow/view.h"
#include "base/archive.h"

typedef struct cst__profiler cst__profiler;

/* Longer strings are not values of a domain. */
enum { CST__PROFILE_STRING_MAX = 256 };

/* The different strings of a feature, while there are few of them. */
typedef struct cst__few_strings {
  bool too_many; /* or too long ones, or some that are not UTF-8 */
  cst_bytes *items;
  size_t count;
  size_t capacity;
  cst__name_map places; /* in items */
} cst__few_strings;

typedef enum cst__pair_kind { CST__PAIR_INDEXES, CST__PAIR_LENGTHS } cst__pair_kind;

/* One column that says something about another one. */
typedef struct cst__pair {
  cst__pair_kind kind;
  int rank;      /* among those of the same values: the lower, the more usual are the names */
  size_t column; /* number of the profile: indexes of the values, or lengths of their rows */
  size_t values; /* number of the other one */
  bool holds;    /* it has fit in every record so far */
  bool proven;   /* by a record that could have shown otherwise */
  size_t next;   /* of the same values; SIZE_MAX: none */
} cst__pair;

/* The numbers of a feature, in their order. */
typedef struct cst__int_profile {
  bool any; /* the others are set */
  int64_t min, max, first, last;
} cst__int_profile;

typedef struct cst__float_profile {
  bool any;
  double min, max, first, last; /* NaN is none of them */
} cst__float_profile;

/* Numbers of a feature, strings, or (so far) neither. */
typedef struct cst__profile {
  const char *name;
  size_t name_size;
  uint64_t count; /* values */
  bool has_nulls; /* inside of lists */
  bool has_nan;
  bool is_beyond;    /* has integers above INT64_MAX */
  bool is_unsigned;  /* its integers cannot be negative */
  bool rises, falls; /* from one value to the next, anywhere */
  cst__int_profile ints;
  cst__float_profile floats;
  cst__few_strings strings;
  size_t first_pair;    /* whose values it has; SIZE_MAX: none */
  cst__profiler *parts; /* of a struct: its children */
} cst__profile;

/* max_domain: as many different strings are kept for each feature. */
cst_status cst__profiler_new(const cst_allocator *allocator, size_t max_domain, cst__profiler **out,
                             cst_error *error);
void cst__profiler_free(cst__profiler *profiler);

/* Adds a batch that inference has taken. Batches come in the order of the records. */
cst_status cst__profiler_add(cst__profiler *profiler, const cst__view *batch, cst_error *error);
/* Adds what was found in the records after these. */
cst_status cst__profiler_merge(cst__profiler *into, const cst__profiler *from, cst_error *error);
/* Empties it for records whose profiles will be merged into the same ones as these: which features
 * have too many strings is still known. */
void cst__profiler_restart(cst__profiler *profiler);
void cst__profiler_archive(cst__profiler *profiler, cst__archive *a);

/* NULL: there is no such feature. */
const cst__profile *cst__profiler_find(const cst__profiler *profiler, cst_bytes name);
const cst__profile *cst__profiler_get(const cst__profiler *profiler, size_t i);
const cst__pair *cst__profiler_pair(const cst__profiler *profiler, size_t i);

#endif /* VALIDATE_PROFILE_H */
