/* Counting what features look like over batches, and writing that down as a schema.
 *
 * Sources: tensorflow_metadata/proto/v0/schema.proto (a Feature has either a shape or a
 * value_count); the meaning of presence and value_count is that of TensorFlow Data Validation.
 */
#include "schema/inference.h"

#include <stdlib.h>

#include "arrow/text.h"
#include "base/arguments.h"
#include "schema/internal.h"
#include "schema/schema.h"

/* Lists that are there, empty or not, and how many items the shortest and the longest of them has
 * (valid if any is there). */
typedef struct lengths {
  uint64_t present;
  int64_t min, max;
} lengths;

typedef struct inference inference;

/* What has been seen of one feature. */
typedef struct seen_feature {
  const char *name; /* in the inference's arena */
  size_t name_size;
  bool counted;          /* one of a batch that failed may never have been */
  cst_feature_type type; /* UNKNOWN: only nulls so far */
  cst__place first;      /* of the first record that has the type */
  lengths lists;         /* a list is what one record has */
  lengths inner;         /* of a feature list: the lists in those lists */
  bool has_inner;        /* in a STRUCT: lists of lists (valid if the type is known) */
  inference *children;   /* of a STRUCT: feature lists */
  uint64_t nulls;        /* of a STRUCT: records that have none; feature lists are never null */
  bool not_text;         /* of BYTES, where values are looked at: some are not UTF-8 */
} seen_feature;

struct inference {
  cst_allocator allocator;
  cst__arena arena;       /* names, those of files too */
  cst__file_names files;  /* of the first places */
  seen_feature *features; /* in the order of their first appearance */
  size_t count;
  size_t capacity;
  cst__name_map names;
  uint64_t num_records;
  bool looks; /* at values, and past columns of other types */
};

static cst_status inference_create(const void *plan, const cst_allocator *allocator, void **out,
                                   cst_error *error) {
  const cst__inference_plan *options = plan;
  inference *made = cst__new_zero(allocator, sizeof *made);
  if (made == NULL) {
    return cst__fail_memory(error, sizeof *made);
  }
  made->allocator = cst__allocator_of(allocator);
  cst__arena_init(&made->arena, allocator);
  made->looks = options != NULL && options->looks_at_values;
  *out = made;
  return CST_OK;
}

static void inference_free(void *state) {
  inference *in = state;
  if (in != NULL) {
    for (size_t i = 0; i < in->count; i++) {
      inference_free(in->features[i].children);
    }
    cst__name_map_reset(&in->names);
    cst__file_names_reset(&in->files);
    cst__delete(in->features);
    cst__arena_reset(&in->arena);
    cst__delete(in);
  }
}

static seen_feature *find_seen(const inference *in, const char *name, size_t size) {
  size_t at = cst__name_map_find(&in->names, name, size);
  return at != SIZE_MAX ? &in->features[at] : NULL;
}

/* The feature of a name, made if need be. */
static cst_status need_seen(inference *in, const char *name, size_t size, seen_feature **out,
                            cst_error *error) {
  *out = find_seen(in, name, size);
  if (*out != NULL) {
    return CST_OK;
  }
  void *items = in->features;
  bool ok = cst__grow(&in->allocator, &items, &in->capacity, in->count + 1, sizeof *in->features);
  in->features = items;
  const char *copy = ok ? cst__arena_copy(&in->arena, name, size) : NULL;
  if (copy == NULL || !cst__name_map_add(&in->names, copy, size, in->count)) {
    return cst__fail_memory(error, size);
  }
  *out = &in->features[in->count++];
  **out = (seen_feature){.name = copy, .name_size = size, .first = cst__no_place};
  return CST_OK;
}

static cst_status check_seen_type(const seen_feature *known, const char *name, size_t size,
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

static bool is_list(const cst__view *column) {
  return column->layout == CST__LAYOUT_LIST || column->layout == CST__LAYOUT_FIXED_LIST;
}

static bool is_list_of_lists(const cst__view *column) {
  return is_list(column) && is_list(&column->children[0]);
}

/* The children of structs are lists in all batches, or lists of lists in all of them. */
static cst_status check_seen_depth(const seen_feature *known, const char *name, size_t size,
                                   cst_feature_type type, bool has_inner, cst_error *error) {
  if (known == NULL || known->type == CST_FEATURE_UNKNOWN || type == CST_FEATURE_UNKNOWN ||
      known->has_inner == has_inner) {
    return CST_OK;
  }
  cst_status status = cst__fail(
      error, CST_SCHEMA, "a feature has one type in all records: repair the data, or leave it out",
      "found lists%s, expected lists%s as in the records before", has_inner ? " of lists" : "",
      has_inner ? "" : " of lists");
  cst__error_add_path(error, name, size);
  return status;
}

static cst_feature_type number_type(cst_dtype dtype) {
  return dtype == CST_DTYPE_FLOAT32 || dtype == CST_DTYPE_FLOAT64 ? CST_FEATURE_FLOAT
                                                                  : CST_FEATURE_INT;
}

/* The feature type of single values. False: none fits. */
static bool type_of_values(const cst__view *values, cst_feature_type *type) {
  switch (values->layout) {
    case CST__LAYOUT_NUMBER:
      *type = number_type(values->dtype);
      return true;
    case CST__LAYOUT_BOOL: /* 0 and 1, as tf.Examples have them */
      *type = CST_FEATURE_INT;
      return true;
    case CST__LAYOUT_BINARY:
    case CST__LAYOUT_BINARY_VIEW:
    case CST__LAYOUT_FIXED_BINARY:
      *type = CST_FEATURE_BYTES;
      return true;
    case CST__LAYOUT_NULL:
      *type = CST_FEATURE_UNKNOWN;
      return true;
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
 * of lists, or of lists of lists. */
static bool type_of_column(const cst__view *column, bool in_struct, cst_feature_type *type) {
  if (in_struct) {
    const cst__view *items = is_list(column) ? &column->children[0] : NULL;
    return items != NULL && type_of_values(is_list(items) ? &items->children[0] : items, type);
  }
  if (column->layout == CST__LAYOUT_STRUCT) {
    *type = CST_FEATURE_STRUCT;
    return true;
  }
  return type_of_values(is_list(column) ? &column->children[0] : column, type);
}

/* True for a column that no feature could be, if there may be some. */
static bool inference_passes_over(const inference *in, const cst__view *column, bool in_struct) {
  cst_feature_type type = CST_FEATURE_UNKNOWN;
  bool fits = !in->looks || type_of_column(column, in_struct, &type);
  for (int64_t i = 0; fits && type == CST_FEATURE_STRUCT && i < column->num_children; i++) {
    fits = !inference_passes_over(in, &column->children[i], true);
  }
  return !fits;
}

static cst_status wrong_type(const cst__view *column, bool in_struct, cst_error *error) {
  char found[64];
  cst__view_type_name(column, found, sizeof found);
  cst_status status = cst__fail(error, CST_UNSUPPORTED,
                                "cast the column, or leave it out by a query or a file without it; "
                                "tensors of messages and of nested columns need no schema",
                                "found a column of type %s, expected lists%s of numbers or bytes",
                                found, in_struct ? ", or lists of lists," : "");
  cst__error_add_path(error, column->name, strlen(column->name));
  return status;
}

/* The first row that has a value, or row 0: the one to blame for the column's type. `structs` are
 * those that the column is a child of, or NULL; an empty feature list is none. */
static int64_t first_row_with(const cst__view *structs, const cst__view *column) {
  for (int64_t row = 0; row < column->length; row++) {
    int64_t begin = 0;
    int64_t end = 1;
    if (structs != NULL && cst__view_is_list(column)) {
      cst__view_list(column, row, &begin, &end);
    }
    if (end > begin && !cst__view_is_null(column, row) &&
        (structs == NULL || !cst__view_is_null(structs, row))) {
      return row;
    }
  }
  return 0;
}

/* `in` is NULL for the children of a STRUCT that was not there before; `structs` for columns of the
 * batch. *row: the one to blame for a failure. */
static cst_status check_seen_column(const inference *in, const cst__view *structs,
                                    const cst__view *column, int64_t *row, cst_error *error) {
  size_t size = strlen(column->name);
  const seen_feature *known = in != NULL ? find_seen(in, column->name, size) : NULL;
  cst_feature_type type = CST_FEATURE_UNKNOWN;
  cst_status status = type_of_column(column, structs != NULL, &type)
                          ? check_seen_type(known, column->name, size, type, error)
                          : wrong_type(column, structs != NULL, error);
  if (status == CST_OK && structs != NULL) {
    status = check_seen_depth(known, column->name, size, type, is_list_of_lists(column), error);
  }
  if (status != CST_OK) {
    *row = first_row_with(structs, column);
    return status;
  }
  for (int64_t i = 0; type == CST_FEATURE_STRUCT && i < column->num_children; i++) {
    status = check_seen_column(known != NULL ? known->children : NULL, column, &column->children[i],
                               row, error);
    if (status != CST_OK) {
      cst__error_add_path(error, column->name, size);
      return status;
    }
  }
  return CST_OK;
}

static void count_lengths(lengths *t, uint64_t rows, int64_t min, int64_t max) {
  if (rows > 0) {
    t->min = t->present == 0 || min < t->min ? min : t->min;
    t->max = t->present == 0 || max > t->max ? max : t->max;
    t->present = cst__count_sum(t->present, rows);
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
    count_lengths(t, (uint64_t)(column->length - column->null_count), (int64_t)least, \
                  (int64_t)most);                                                     \
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
    count_lengths(t, (uint64_t)(column->length - column->null_count), size, size);
  }
}

/* The lists of slot i, and those in them. */
static void count_slot(seen_feature *t, const cst__view *column, int64_t i) {
  int64_t begin;
  int64_t end;
  if (cst__view_is_null(column, i)) {
    return;
  }
  cst__view_list(column, i, &begin, &end);
  count_lengths(&t->lists, 1, end - begin, end - begin);
  for (int64_t k = begin; k < end && is_list_of_lists(column); k++) {
    const cst__view *inner = &column->children[0];
    int64_t from;
    int64_t to;
    if (!cst__view_is_null(inner, k)) {
      cst__view_list(inner, k, &from, &to);
      count_lengths(&t->inner, 1, to - from, to - from);
    }
  }
}

/* Those of a STRUCT, made if need be. */
static cst_status need_children(const inference *in, seen_feature *t, cst_error *error) {
  void *children = t->children;
  cst_status status =
      children != NULL ? CST_OK : inference_create(NULL, &in->allocator, &children, error);
  t->children = status == CST_OK ? children : NULL;
  if (status == CST_OK) {
    t->children->looks = in->looks;
  }
  return status;
}

/* A child of structs some of which are null: what it has in those is not there. */
static void count_masked(seen_feature *t, const cst__view *structs, const cst__view *column) {
  for (int64_t i = 0; i < structs->length; i++) {
    if (!cst__view_is_null(structs, i)) {
      count_slot(t, column, i);
    }
  }
}

/* Room for all columns, and the first places of those whose type is new. `files` and `arena` are
 * those of the whole inference, `structs` is NULL for columns of the batch. */
static cst_status need_seen_columns(inference *root, inference *in, const cst__view *batch,
                                    const cst__view *structs, const cst__origin *origin,
                                    cst_error *error) {
  for (int64_t i = 0; i < batch->num_children; i++) {
    const cst__view *column = &batch->children[i];
    cst_feature_type type = CST_FEATURE_UNKNOWN;
    seen_feature *t;
    if (inference_passes_over(in, column, structs != NULL)) {
      continue;
    }
    CST__TRY(need_seen(in, column->name, strlen(column->name), &t, error));
    (void)type_of_column(column, structs != NULL, &type);
    if (t->type == CST_FEATURE_UNKNOWN && type != CST_FEATURE_UNKNOWN && origin != NULL) {
      t->first = cst__origin_place(origin, first_row_with(structs, column));
      if (!cst__file_names_keep(&root->files, &t->first, &root->arena)) {
        t->first = cst__no_place;
        return cst__fail_memory(error, 64);
      }
    }
    if (column->layout == CST__LAYOUT_STRUCT) {
      CST__TRY(need_children(in, t, error));
      CST__TRY(need_seen_columns(root, t->children, column, column, origin, error));
    }
  }
  return CST_OK;
}

/* Counts columns that were checked, into features that are there. `structs` is the batch itself if
 * its columns are children of structs, else NULL. */
static void count_columns(inference *in, const cst__view *batch, const cst__view *structs) {
  for (int64_t i = 0; i < batch->num_children; i++) {
    const cst__view *column = &batch->children[i];
    seen_feature *t = find_seen(in, column->name, strlen(column->name));
    cst_feature_type type = CST_FEATURE_UNKNOWN;
    if (inference_passes_over(in, column, structs != NULL)) {
      continue;
    }
    (void)type_of_column(column, structs != NULL, &type);
    t->counted = true;
    bool has_inner = structs != NULL && is_list_of_lists(column);
    t->has_inner =
        type != CST_FEATURE_UNKNOWN || t->type == CST_FEATURE_UNKNOWN ? has_inner : t->has_inner;
    t->type = type != CST_FEATURE_UNKNOWN ? type : t->type;
    if (in->looks && type == CST_FEATURE_BYTES && !t->not_text) {
      t->not_text = cst__view_find_not_text(column, column->length) < column->length;
    }
    if (type == CST_FEATURE_STRUCT) {
      t->nulls = cst__count_sum(t->nulls, (uint64_t)column->null_count);
      count_columns(t->children, column, column);
    } else if (structs != NULL && structs->null_count > 0) {
      count_masked(t, structs, column);
    } else {
      count_lists(&t->lists, column);
      if (has_inner) {
        count_lists(&t->inner, &column->children[0]);
      }
    }
  }
  in->num_records = cst__count_sum(in->num_records, (uint64_t)batch->length);
}

static cst_status inference_add(void *state, const cst__view *batch, const cst__origin *origin,
                                cst_error *error) {
  inference *in = state;
  for (int64_t i = 0; i < batch->num_children; i++) {
    const cst__view *column = &batch->children[i];
    int64_t row = 0;
    cst_status status = inference_passes_over(in, column, false)
                            ? CST_OK
                            : check_seen_column(in, NULL, column, &row, error);
    if (status != CST_OK) {
      cst__place place = cst__origin_place(origin, row);
      cst__error_add_place(error, &place);
      return status;
    }
  }
  CST__TRY(need_seen_columns(in, in, batch, NULL, origin, error));
  count_columns(in, batch, NULL);
  return CST_OK;
}

/* ---- merging ---- */

static cst_status check_merge(const inference *into, const inference *from, cst_error *error) {
  for (size_t i = 0; i < from->count; i++) {
    const seen_feature *t = &from->features[i];
    const seen_feature *mine = find_seen(into, t->name, t->name_size);
    cst_status status = check_seen_type(mine, t->name, t->name_size, t->type, error);
    if (status == CST_OK) {
      status = check_seen_depth(mine, t->name, t->name_size, t->type, t->has_inner, error);
    }
    if (status != CST_OK) {
      cst__error_add_place(error, &t->first);
      return status;
    }
    if (mine != NULL && mine->children != NULL && t->children != NULL) {
      status = check_merge(mine->children, t->children, error);
      if (status != CST_OK) {
        cst__error_add_path(error, t->name, t->name_size);
        return status;
      }
    }
  }
  return CST_OK;
}

static cst_status need_merge(inference *root, inference *into, const inference *from,
                             cst_error *error) {
  for (size_t i = 0; i < from->count; i++) {
    const seen_feature *t = &from->features[i];
    seen_feature *mine;
    CST__TRY(need_seen(into, t->name, t->name_size, &mine, error));
    if (mine->type == CST_FEATURE_UNKNOWN && t->type != CST_FEATURE_UNKNOWN) {
      mine->first = t->first;
      if (!cst__file_names_keep(&root->files, &mine->first, &root->arena)) {
        mine->first = cst__no_place;
        return cst__fail_memory(error, 64);
      }
    }
    if (t->children != NULL) {
      CST__TRY(need_children(into, mine, error));
      CST__TRY(need_merge(root, mine->children, t->children, error));
    }
  }
  return CST_OK;
}

static void count_merge(inference *into, const inference *from) {
  for (size_t i = 0; i < from->count; i++) {
    const seen_feature *t = &from->features[i];
    seen_feature *mine = find_seen(into, t->name, t->name_size);
    mine->counted |= t->counted;
    mine->has_inner = mine->type != CST_FEATURE_UNKNOWN ? mine->has_inner : t->has_inner;
    mine->not_text |= t->not_text;
    mine->type = mine->type != CST_FEATURE_UNKNOWN ? mine->type : t->type;
    count_lengths(&mine->lists, t->lists.present, t->lists.min, t->lists.max);
    count_lengths(&mine->inner, t->inner.present, t->inner.min, t->inner.max);
    mine->nulls = cst__count_sum(mine->nulls, t->nulls);
    if (t->children != NULL) {
      count_merge(mine->children, t->children);
    }
  }
  into->num_records = cst__count_sum(into->num_records, from->num_records);
}

static cst_status inference_merge(void *into, const void *from, cst_error *error) {
  CST__TRY(check_merge(into, from, error));
  CST__TRY(need_merge(into, into, from, error));
  count_merge(into, from);
  return CST_OK;
}

/* ---- saving and loading ---- */

static void archive_lengths(cst__archive *a, lengths *t) {
  cst__archive_u64(a, &t->present);
  cst__archive_i64(a, &t->min);
  cst__archive_i64(a, &t->max);
  cst__archive_check(a, t->min >= 0 && t->min <= t->max);
}

static void archive_features(cst__archive *a, inference *root, inference *in);

static void archive_feature(cst__archive *a, inference *root, inference *in, seen_feature *t) {
  int type = (int)t->type;
  cst__archive_bool(a, &t->counted);
  cst__archive_bool(a, &t->has_inner);
  cst__archive_bool(a, &t->not_text);
  cst__archive_enum(a, &type, CST_FEATURE_STRUCT + 1);
  t->type = (cst_feature_type)type;
  cst__archive_place(a, &t->first, &root->files, &root->arena);
  archive_lengths(a, &t->lists);
  archive_lengths(a, &t->inner);
  cst__archive_u64(a, &t->nulls);
  if (t->type == CST_FEATURE_STRUCT && !a->bad) {
    cst__archive_check(a, root == in); /* there are no structs in structs */
    if (!a->bad && need_children(in, t, NULL) != CST_OK) {
      cst__archive_fail_memory(a);
    }
    if (!a->bad) {
      archive_features(a, root, t->children);
    }
  }
}

static void archive_features(cst__archive *a, inference *root, inference *in) {
  size_t count = in->count;
  cst__archive_u64(a, &in->num_records);
  cst__archive_count(a, &count);
  for (size_t i = 0; i < count && !a->bad; i++) {
    bool loads = cst__archive_loads(a);
    cst_bytes name = {NULL, 0};
    seen_feature *t = NULL;
    if (!loads) {
      t = &in->features[i];
      name = (cst_bytes){(const uint8_t *)t->name, t->name_size};
    }
    cst__archive_bytes(a, &name);
    cst__archive_check(a, memchr(name.data, 0, name.size) == NULL);
    if (loads && !a->bad && need_seen(in, (const char *)name.data, name.size, &t, NULL)) {
      cst__archive_fail_memory(a);
    }
    cst__archive_check(a, in->count == i + 1); /* no name comes twice */
    if (!a->bad) {
      archive_feature(a, root, in, t);
    }
  }
}

static void inference_archive(void *state, cst__archive *a) {
  inference *in = state;
  bool looks = in->looks;
  cst__archive_bool(a, &looks);
  cst__archive_check(a, looks == in->looks); /* else values were not looked at as they should be */
  archive_features(a, in, in);
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
                       uint64_t num_records) {
  bool is_fixed = t->present == num_records && t->min == t->max && t->min > 0;
  if (is_fixed) {
    cst__message *shape = cst__message_put_child(arena, feature, FEATURE_SHAPE);
    cst__message *dim = shape != NULL ? cst__message_put_child(arena, shape, SHAPE_DIM) : NULL;
    return dim != NULL && cst__message_put_int(arena, dim, DIM_SIZE, t->min);
  }
  return put_range(arena, feature, FEATURE_VALUE_COUNT, t);
}

/* Of a list of lists: how many Features a record has, and how many values each of them. */
static bool put_nested_counts(cst__arena *arena, cst__message *feature, const seen_feature *t) {
  cst__message *counts = cst__message_put_child(arena, feature, FEATURE_VALUE_COUNTS);
  return counts != NULL && put_range(arena, counts, VALUE_COUNTS_VALUE_COUNT, &t->lists) &&
         (t->inner.present == 0 || put_range(arena, counts, VALUE_COUNTS_VALUE_COUNT, &t->inner));
}

static bool put_presence(cst__arena *arena, cst__message *feature, uint64_t present,
                         uint64_t num_records) {
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

static bool put_seen_features(const inference *in, cst__arena *arena, cst__message *parent,
                              int32_t number, uint64_t num_records, bool in_struct);

/* Whether a batch has the STRUCT of feature lists says nothing. */
static bool put_struct(cst__arena *arena, cst__message *feature, const seen_feature *t,
                       uint64_t num_records) {
  cst__message *domain = cst__message_put_child(arena, feature, FEATURE_STRUCT_DOMAIN);
  return domain != NULL && put_presence(arena, feature, num_records - t->nulls, num_records) &&
         put_seen_features(t->children, arena, domain, STRUCT_DOMAIN_FEATURE, num_records, true);
}

static bool put_seen_feature(const inference *in, cst__arena *arena, cst__message *feature,
                             const seen_feature *t, bool in_struct, uint64_t num_records) {
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
  if (in->looks && t->type == CST_FEATURE_BYTES && !t->not_text &&
      cst__message_put_child(arena, feature, FEATURE_STRING_DOMAIN) == NULL) {
    return false;
  }
  bool ok = t->lists.present == 0 ||
            (!in_struct     ? put_counts(arena, feature, &t->lists, num_records)
             : t->has_inner ? put_nested_counts(arena, feature, t)
                            : put_range(arena, feature, FEATURE_VALUE_COUNT, &t->lists));
  return ok && put_presence(arena, feature, t->lists.present, num_records);
}

static int compare_seen_names(const void *a, const void *b) {
  return strcmp((*(const seen_feature *const *)a)->name, (*(const seen_feature *const *)b)->name);
}

static bool put_seen_features(const inference *in, cst__arena *arena, cst__message *parent,
                              int32_t number, uint64_t num_records, bool in_struct) {
  const seen_feature **sorted = cst__new(&in->allocator, (in->count + 1) * sizeof *sorted);
  bool ok = sorted != NULL;
  size_t count = 0;
  for (size_t i = 0; ok && i < in->count; i++) {
    if (in->features[i].counted) {
      sorted[count++] = &in->features[i];
    }
  }
  if (count > 1) {
    qsort(sorted, count, sizeof *sorted, compare_seen_names);
  }
  for (size_t i = 0; ok && i < count; i++) {
    cst__message *feature = cst__message_put_child(arena, parent, number);
    ok = put_seen_feature(in, arena, feature, sorted[i], in_struct, num_records);
  }
  cst__delete(sorted);
  return ok;
}

static cst_status inference_schema(const void *state, cst_schema **out, cst_error *error) {
  const inference *in = state;
  cst_schema *schema = cst__schema_new();
  if (schema == NULL) {
    return cst__fail_memory(error, sizeof *schema);
  }
  bool ok =
      put_seen_features(in, &schema->arena, schema->root, SCHEMA_FEATURE, in->num_records, false);
  cst_status status = ok ? cst__schema_compile(schema, error)
                         : cst__fail_memory(error, in->count * sizeof(seen_feature));
  if (status != CST_OK) {
    cst_schema_release(schema);
    return status;
  }
  *out = schema;
  return CST_OK;
}

static cst_status inference_finish(const void *state, cst_findings **out, cst_error *error) {
  return cst__finish_features(inference_schema, state, out, error);
}

static const cst__option inference_table[] = {
    {.info = {.name = "look_at_values",
              .kind = CST_OPTION_SWITCH,
              .help = "give a string_domain to BYTES features whose values are all UTF-8, and skip "
                      "columns whose type no feature has"},
     .offset = offsetof(cst__inference_plan, looks_at_values)}};
static const cst__option_table inference_options = {
    "inference", inference_table, 1, sizeof(cst__option), sizeof(cst__inference_plan)};

static cst_status inference_plan(const void *options, const cst_allocator *allocator,
                                 cst__owned_plan *out, cst_error *error) {
  static const cst__inference_plan plans[] = {{false}, {true}};
  (void)allocator;
  (void)error;
  out->plan = &plans[((const cst__inference_plan *)options)->looks_at_values];
  return CST_OK;
}

const cst__accumulator cst__inference_accumulator = {.name = "inference",
                                                     .version = 3,
                                                     .purpose = "infer a schema from",
                                                     .summary = "the schema of the data",
                                                     .options = &inference_options,
                                                     .plan = inference_plan,
                                                     .create = inference_create,
                                                     .free = inference_free,
                                                     .add = inference_add,
                                                     .merge = inference_merge,
                                                     .archive = inference_archive,
                                                     .finish = inference_finish,
                                                     .finish_schema = inference_schema};
