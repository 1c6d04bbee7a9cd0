/* Counting what features look like over batches, and writing that down as a schema.
 *
 * Sources: tensorflow_metadata/proto/v0/schema.proto (a Feature has either a shape or a
 * value_count); the meaning of presence and value_count is that of TensorFlow Data Validation.
 */
#include "schema/infer.h"

#include <stdlib.h>

#include "arrow/view.h"
#include "schema/internal.h"

/* Lists that are there, empty or not, and how many items the shortest and the longest of them has
 * (valid if any is there). */
typedef struct lengths {
  int64_t present;
  int64_t min, max;
} lengths;

/* What has been seen of one feature. */
typedef struct tally {
  const char *name; /* in the inferrer's arena */
  size_t name_size;
  bool seen;             /* a slot of a batch that failed may never have been counted */
  cst_feature_type type; /* UNKNOWN: only nulls so far */
  lengths lists;         /* a list is what one record has */
  lengths inner;         /* of a feature list: the lists in those lists */
  cst__inferrer *parts;  /* of a STRUCT: its children, which are feature lists */
  int64_t nulls;         /* of a STRUCT: records that have none; feature lists are never null */
} tally;

struct cst__inferrer {
  cst_allocator allocator;
  cst__arena arena; /* names */
  tally *tallies;   /* in the order of their first appearance */
  size_t count;
  size_t capacity;
  cst__name_map names;
  int64_t num_records;
};

cst_status cst__inferrer_new(const cst_allocator *allocator, cst__inferrer **out,
                             cst_error *error) {
  cst__inferrer *inferrer = cst__new_zero(allocator, sizeof *inferrer);
  if (inferrer == NULL) {
    return cst__fail_memory(error, sizeof *inferrer);
  }
  inferrer->allocator = cst__allocator_of(allocator);
  cst__arena_init(&inferrer->arena, allocator);
  *out = inferrer;
  return CST_OK;
}

void cst__inferrer_free(cst__inferrer *inferrer) {
  if (inferrer != NULL) {
    for (size_t i = 0; i < inferrer->count; i++) {
      cst__inferrer_free(inferrer->tallies[i].parts);
    }
    cst__name_map_reset(&inferrer->names);
    cst__delete(inferrer->tallies);
    cst__arena_reset(&inferrer->arena);
    cst__delete(inferrer);
  }
}

int64_t cst__inferrer_num_records(const cst__inferrer *inferrer) { return inferrer->num_records; }

static tally *find(const cst__inferrer *inferrer, const char *name, size_t size) {
  size_t at = cst__name_map_find(&inferrer->names, name, size);
  return at != SIZE_MAX ? &inferrer->tallies[at] : NULL;
}

/* The tally of a name, made if need be. */
static cst_status need(cst__inferrer *inferrer, const char *name, size_t size, tally **out,
                       cst_error *error) {
  *out = find(inferrer, name, size);
  if (*out != NULL) {
    return CST_OK;
  }
  void *items = inferrer->tallies;
  bool ok = cst__grow(&inferrer->allocator, &items, &inferrer->capacity, inferrer->count + 1,
                      sizeof *inferrer->tallies);
  inferrer->tallies = items;
  const char *copy = ok ? cst__arena_copy(&inferrer->arena, name, size) : NULL;
  if (copy == NULL || !cst__name_map_add(&inferrer->names, copy, size, inferrer->count)) {
    return cst__fail_memory(error, size);
  }
  *out = &inferrer->tallies[inferrer->count++];
  **out = (tally){.name = copy, .name_size = size};
  return CST_OK;
}

static cst_status check_type(const tally *known, const char *name, size_t size,
                             cst_feature_type type, cst_error *error) {
  if (known == NULL || known->type == type || known->type == CST_FEATURE_UNKNOWN ||
      type == CST_FEATURE_UNKNOWN) {
    return CST_OK;
  }
  cst_status status = cst__fail(
      error, CST_SCHEMA, "a feature has one type in all records: repair the data, or leave it out",
      "found %s, expected %s as in the records before", cst__feature_type_name(type),
      cst__feature_type_name(known->type));
  cst__error_add_path(error, name, size);
  return status;
}

/* ---- batches ---- */

static cst_feature_type number_type(cst_dtype dtype) {
  return dtype == CST_DTYPE_FLOAT32 || dtype == CST_DTYPE_FLOAT64 ? CST_FEATURE_FLOAT
                                                                  : CST_FEATURE_INT;
}

static bool is_list(const cst__view *column) {
  return column->layout == CST__LAYOUT_LIST || column->layout == CST__LAYOUT_FIXED_LIST;
}

/* The feature type of single values. False: none fits. */
static bool value_type(const cst__view *values, cst_feature_type *type) {
  switch (values->layout) {
    case CST__LAYOUT_NUMBER:
      *type = number_type(values->dtype);
      return true;
    case CST__LAYOUT_BINARY:
    case CST__LAYOUT_BINARY_VIEW:
    case CST__LAYOUT_FIXED_BINARY:
      *type = CST_FEATURE_BYTES;
      return true;
    case CST__LAYOUT_NULL:
      *type = CST_FEATURE_UNKNOWN;
      return true;
    case CST__LAYOUT_BOOL:
    case CST__LAYOUT_HALF:
    case CST__LAYOUT_LIST:
    case CST__LAYOUT_FIXED_LIST:
    case CST__LAYOUT_LIST_VIEW:
    case CST__LAYOUT_STRUCT:
    case CST__LAYOUT_OPAQUE:
    case CST__LAYOUT_OTHER:
      break;
  }
  return false;
}

/* The feature type of a column: of a list's items, or of single values; in a STRUCT, of the items
 * of lists of lists. */
static bool column_type(const cst__view *column, bool in_struct, cst_feature_type *type) {
  if (in_struct) {
    return is_list(column) && is_list(&column->children[0]) &&
           value_type(&column->children[0].children[0], type);
  }
  if (column->layout == CST__LAYOUT_STRUCT) {
    *type = CST_FEATURE_STRUCT;
    return true;
  }
  return value_type(is_list(column) ? &column->children[0] : column, type);
}

static cst_status wrong_type(const cst__view *column, bool in_struct, cst_error *error) {
  char found[64];
  cst__view_type_name(column, found, sizeof found);
  cst_status status = cst__fail(error, CST_UNSUPPORTED, NULL,
                                "found a column of type %s, expected lists of %snumbers or bytes",
                                found, in_struct ? "lists of " : "");
  cst__error_add_path(error, column->name, strlen(column->name));
  return status;
}

/* `inferrer` is NULL for the children of a STRUCT that was not there before. */
static cst_status check_column(const cst__inferrer *inferrer, const cst__view *column,
                               bool in_struct, cst_error *error) {
  size_t size = strlen(column->name);
  const tally *known = inferrer != NULL ? find(inferrer, column->name, size) : NULL;
  cst_feature_type type;
  if (!column_type(column, in_struct, &type)) {
    return wrong_type(column, in_struct, error);
  }
  CST__TRY(check_type(known, column->name, size, type, error));
  for (int64_t i = 0; type == CST_FEATURE_STRUCT && i < column->num_children; i++) {
    cst_status status =
        check_column(known != NULL ? known->parts : NULL, &column->children[i], true, error);
    if (status != CST_OK) {
      cst__error_add_path(error, column->name, size);
      return status;
    }
  }
  return CST_OK;
}

static void count_run(lengths *t, int64_t rows, int64_t min, int64_t max) {
  if (rows > 0) {
    t->min = t->present == 0 || min < t->min ? min : t->min;
    t->max = t->present == 0 || max > t->max ? max : t->max;
    t->present += rows;
  }
}

/* Lengths of the lists that are not null; branch-free where there are no nulls. */
#define COUNT_LENGTHS(T, T_MAX)                                                       \
  do {                                                                                \
    const T *offsets = (const T *)column->offsets + column->offset;                   \
    T least = T_MAX, most = 0;                                                        \
    for (int64_t i = 0; column->null_count == 0 && i < column->length; i++) {         \
      T size = offsets[i + 1] - offsets[i];                                           \
      least = size < least ? size : least;                                            \
      most = size > most ? size : most;                                               \
    }                                                                                 \
    for (int64_t i = 0; column->null_count != 0 && i < column->length; i++) {         \
      T size = offsets[i + 1] - offsets[i];                                           \
      bool is_null = cst__view_is_null(column, i);                                    \
      least = is_null || size >= least ? least : size;                                \
      most = is_null || size <= most ? most : size;                                   \
    }                                                                                 \
    count_run(t, column->length - column->null_count, (int64_t)least, (int64_t)most); \
  } while (0)

static void count_lists(lengths *t, const cst__view *column) {
  if (column->layout == CST__LAYOUT_LIST && column->length > 0) {
    if (column->offset_width == 8) {
      COUNT_LENGTHS(int64_t, INT64_MAX);
    } else {
      COUNT_LENGTHS(int32_t, INT32_MAX);
    }
  } else if (column->layout != CST__LAYOUT_NULL) {
    int64_t size = column->layout == CST__LAYOUT_FIXED_LIST ? column->fixed_size : 1;
    count_run(t, column->length - column->null_count, size, size);
  }
}

/* The lists of slot i, and those in them. */
static void count_slot(tally *t, const cst__view *column, int64_t i) {
  int64_t begin;
  int64_t end;
  if (cst__view_is_null(column, i)) {
    return;
  }
  cst__view_list(column, i, &begin, &end);
  count_run(&t->lists, 1, end - begin, end - begin);
  for (int64_t k = begin; k < end; k++) {
    const cst__view *inner = &column->children[0];
    int64_t from;
    int64_t to;
    if (!cst__view_is_null(inner, k)) {
      cst__view_list(inner, k, &from, &to);
      count_run(&t->inner, 1, to - from, to - from);
    }
  }
}

static void count_batch(cst__inferrer *inferrer, const cst__view *batch, bool in_struct);

/* A child of structs some of which are null: what it has in those is not there. */
static void count_masked(tally *t, const cst__view *structs, const cst__view *column) {
  for (int64_t i = 0; i < structs->length; i++) {
    if (!cst__view_is_null(structs, i)) {
      count_slot(t, column, i);
    }
  }
}

/* structs: those that the column is a child of, or NULL. */
static void count_column(tally *t, const cst__view *structs, const cst__view *column) {
  bool in_struct = structs != NULL;
  cst_feature_type type = CST_FEATURE_UNKNOWN;
  (void)column_type(column, in_struct, &type);
  t->seen = true;
  t->type = type != CST_FEATURE_UNKNOWN ? type : t->type;
  if (type == CST_FEATURE_STRUCT) {
    t->nulls += column->null_count;
    count_batch(t->parts, column, true);
    return;
  }
  if (in_struct && structs->null_count > 0) {
    count_masked(t, structs, column);
    return;
  }
  count_lists(&t->lists, column);
  if (in_struct) {
    count_lists(&t->inner, &column->children[0]);
  }
}

/* Counts columns that were checked, into tallies that are there. */
static void count_batch(cst__inferrer *inferrer, const cst__view *batch, bool in_struct) {
  for (int64_t i = 0; i < batch->num_children; i++) {
    const char *name = batch->children[i].name;
    count_column(find(inferrer, name, strlen(name)), in_struct ? batch : NULL, &batch->children[i]);
  }
  inferrer->num_records += batch->length;
}

/* The parts of a tally that is a STRUCT, made if need be. */
static cst_status need_parts(cst__inferrer *inferrer, tally *t, cst_error *error) {
  return t->parts != NULL ? CST_OK : cst__inferrer_new(&inferrer->allocator, &t->parts, error);
}

/* Tallies for all columns. */
static cst_status need_columns(cst__inferrer *inferrer, const cst__view *batch, cst_error *error) {
  for (int64_t i = 0; i < batch->num_children; i++) {
    const cst__view *column = &batch->children[i];
    tally *t;
    CST__TRY(need(inferrer, column->name, strlen(column->name), &t, error));
    if (column->layout == CST__LAYOUT_STRUCT) {
      CST__TRY(need_parts(inferrer, t, error));
      CST__TRY(need_columns(t->parts, column, error));
    }
  }
  return CST_OK;
}

static cst_status add_batch(cst__inferrer *inferrer, const cst__view *batch, cst_error *error) {
  if (batch->layout != CST__LAYOUT_STRUCT) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "a record batch is a struct, found %s",
                     batch->format);
  }
  for (int64_t i = 0; i < batch->num_children; i++) {
    CST__TRY(check_column(inferrer, &batch->children[i], false, error));
  }
  CST__TRY(need_columns(inferrer, batch, error));
  count_batch(inferrer, batch, false);
  return CST_OK;
}

cst_status cst__inferrer_add(cst__inferrer *inferrer, const struct ArrowSchema *schema,
                             const struct ArrowArray *array, cst_error *error) {
  cst__arena arena;
  cst__view batch;
  cst__arena_init(&arena, &inferrer->allocator);
  cst_status status = cst__view_init(&batch, schema, array, true, &arena, error);
  if (status == CST_OK) {
    status = add_batch(inferrer, &batch, error);
  }
  cst__arena_reset(&arena);
  return status;
}

static cst_status check_merge(const cst__inferrer *inferrer, const cst__inferrer *other,
                              cst_error *error) {
  for (size_t i = 0; i < other->count; i++) {
    const tally *t = &other->tallies[i];
    const tally *mine = find(inferrer, t->name, t->name_size);
    CST__TRY(check_type(mine, t->name, t->name_size, t->type, error));
    if (mine != NULL && mine->parts != NULL && t->parts != NULL) {
      cst_status status = check_merge(mine->parts, t->parts, error);
      if (status != CST_OK) {
        cst__error_add_path(error, t->name, t->name_size);
        return status;
      }
    }
  }
  return CST_OK;
}

static cst_status need_merge(cst__inferrer *inferrer, const cst__inferrer *other,
                             cst_error *error) {
  for (size_t i = 0; i < other->count; i++) {
    const tally *t = &other->tallies[i];
    tally *mine;
    CST__TRY(need(inferrer, t->name, t->name_size, &mine, error));
    if (t->parts != NULL) {
      CST__TRY(need_parts(inferrer, mine, error));
      CST__TRY(need_merge(mine->parts, t->parts, error));
    }
  }
  return CST_OK;
}

static void count_merge(cst__inferrer *inferrer, const cst__inferrer *other) {
  for (size_t i = 0; i < other->count; i++) {
    const tally *t = &other->tallies[i];
    tally *mine = find(inferrer, t->name, t->name_size);
    mine->seen |= t->seen;
    mine->type = mine->type != CST_FEATURE_UNKNOWN ? mine->type : t->type;
    count_run(&mine->lists, t->lists.present, t->lists.min, t->lists.max);
    count_run(&mine->inner, t->inner.present, t->inner.min, t->inner.max);
    if (t->parts != NULL) {
      mine->nulls += t->nulls;
      count_merge(mine->parts, t->parts);
    }
  }
  inferrer->num_records += other->num_records;
}

cst_status cst__inferrer_merge(cst__inferrer *inferrer, const cst__inferrer *other,
                               cst_error *error) {
  CST__TRY(check_merge(inferrer, other, error));
  CST__TRY(need_merge(inferrer, other, error));
  count_merge(inferrer, other);
  return CST_OK;
}

/* ---- the schema ---- */

/* The functions below return true if all puts went well. */

static bool put_range(cst__arena *arena, cst__message *parent, int32_t number, const lengths *t) {
  cst__message *counts = cst__message_put_child(arena, parent, number);
  return counts != NULL && cst__message_put_int(arena, counts, VALUE_COUNT_MIN, t->min) &&
         cst__message_put_int(arena, counts, VALUE_COUNT_MAX, t->max);
}

/* Counts are the same in all records: a shape; else how many there are. */
static bool put_counts(cst__arena *arena, cst__message *feature, const lengths *t,
                       int64_t num_records) {
  bool is_fixed = t->present == num_records && t->min == t->max && t->min > 0;
  if (is_fixed) {
    cst__message *shape = cst__message_put_child(arena, feature, FEATURE_SHAPE);
    cst__message *dim = shape != NULL ? cst__message_put_child(arena, shape, SHAPE_DIM) : NULL;
    return dim != NULL && cst__message_put_int(arena, dim, DIM_SIZE, t->min);
  }
  return put_range(arena, feature, FEATURE_VALUE_COUNT, t);
}

/* Of a list of lists: how many Features a record has, and how many values each of them. */
static bool put_nested_counts(cst__arena *arena, cst__message *feature, const tally *t) {
  cst__message *counts = cst__message_put_child(arena, feature, FEATURE_VALUE_COUNTS);
  return counts != NULL && put_range(arena, counts, VALUE_COUNTS_VALUE_COUNT, &t->lists) &&
         (t->inner.present == 0 || put_range(arena, counts, VALUE_COUNTS_VALUE_COUNT, &t->inner));
}

static bool put_presence(cst__arena *arena, cst__message *feature, int64_t present,
                         int64_t num_records) {
  cst__message *presence = cst__message_put_child(arena, feature, FEATURE_PRESENCE);
  if (presence == NULL) {
    return false;
  }
  if (present > 0 && present == num_records &&
      !cst__message_put_double(arena, presence, PRESENCE_MIN_FRACTION, 1)) {
    return false;
  }
  return cst__message_put_int(arena, presence, PRESENCE_MIN_COUNT, present > 0);
}

static bool put_features(const cst__inferrer *inferrer, cst__arena *arena, cst__message *parent,
                         int32_t number, int64_t num_records, bool in_struct);

/* Whether a batch has the STRUCT of feature lists says nothing. */
static bool put_struct(cst__arena *arena, cst__message *feature, const tally *t,
                       int64_t num_records) {
  cst__message *domain = cst__message_put_child(arena, feature, FEATURE_STRUCT_DOMAIN);
  return domain != NULL && put_presence(arena, feature, num_records - t->nulls, num_records) &&
         put_features(t->parts, arena, domain, STRUCT_DOMAIN_FEATURE, num_records, true);
}

static bool put_feature(cst__arena *arena, cst__message *feature, const tally *t,
                        int64_t num_records, bool in_struct) {
  if (feature == NULL ||
      !cst__message_put_bytes(arena, feature, FEATURE_NAME, t->name, t->name_size) ||
      !cst__message_put_int(arena, feature, FEATURE_TYPE, t->type)) {
    return false;
  }
  if (t->type == CST_FEATURE_STRUCT) {
    return put_struct(arena, feature, t, num_records);
  }
  if (t->type == CST_FEATURE_UNKNOWN && !in_struct) { /* lists that never had a value say nothing */
    return put_presence(arena, feature, 0, num_records);
  }
  bool ok =
      t->lists.present == 0 || (in_struct ? put_nested_counts(arena, feature, t)
                                          : put_counts(arena, feature, &t->lists, num_records));
  return ok && put_presence(arena, feature, t->lists.present, num_records);
}

static int compare_tallies(const void *a, const void *b) {
  return strcmp((*(const tally *const *)a)->name, (*(const tally *const *)b)->name);
}

static bool put_features(const cst__inferrer *inferrer, cst__arena *arena, cst__message *parent,
                         int32_t number, int64_t num_records, bool in_struct) {
  const tally **sorted = cst__new(&inferrer->allocator, (inferrer->count + 1) * sizeof *sorted);
  bool ok = sorted != NULL;
  size_t count = 0;
  for (size_t i = 0; ok && i < inferrer->count; i++) {
    if (inferrer->tallies[i].seen) {
      sorted[count++] = &inferrer->tallies[i];
    }
  }
  if (count > 1) {
    qsort(sorted, count, sizeof *sorted, compare_tallies);
  }
  for (size_t i = 0; ok && i < count; i++) {
    cst__message *feature = cst__message_put_child(arena, parent, number);
    ok = put_feature(arena, feature, sorted[i], num_records, in_struct);
  }
  cst__delete(sorted);
  return ok;
}

cst_status cst__inferrer_finish(const cst__inferrer *inferrer, cst_schema **out, cst_error *error) {
  cst_schema *schema = cst__schema_new();
  if (schema == NULL) {
    return cst__fail_memory(error, sizeof *schema);
  }
  bool ok = put_features(inferrer, &schema->arena, schema->root, SCHEMA_FEATURE,
                         inferrer->num_records, false);
  cst_status status = ok ? cst__schema_compile(schema, error)
                         : cst__fail_memory(error, inferrer->count * sizeof(tally));
  if (status != CST_OK) {
    cst__schema_release(schema);
    return status;
  }
  *out = schema;
  return CST_OK;
}
