/* Flat columns to nested ones, when a batch is complete. */
#include "decode/nested.h"

#include <columnstone/records.h>
#include <string.h>

#include "arrow/owned.h"
#include "arrow/view.h"
#include "base/hash.h"
#include "base/names.h"
#include "decode/ragged_writer.h"

/* One column of the nested batch. */
typedef struct nested_column {
  const cst_tensor_spec *spec; /* NULL: the flat column as it is */
  size_t first;                /* the flat column, or the values; after it the lengths */
  size_t num_lengths;
  int64_t outer_unit;         /* what the length of a row's list is a multiple of */
  int64_t *units;             /* [num_lengths]: slots that count as one in a length */
  const char *const *lengths; /* [num_lengths]: names */
} nested_column;

struct cst__nest {
  cst_allocator allocator;
  int offset_width; /* of the flat lists */
  cst__arena arena; /* holds what follows */
  cst_specs *ragged;
  cst__name_map sources; /* of wanted tensors; the value is the tensor's number */
  nested_column *columns;
  size_t num_columns;
  const char **flat;
  size_t num_flat;
};

/* ---- the plan ---- */

static cst_status at_name(cst_status status, const char *name, cst_error *error) {
  cst__error_add_path(error, name, strlen(name));
  return status;
}

static const char *nth_source(const cst_tensor_spec *spec, size_t i) {
  return i == 0 ? spec->path[0] : spec->partitions[i - 1].row_length_column;
}

/* The value feature and the partitions, of which uniform ones have no source (NULL). */
static size_t num_sources(const cst_tensor_spec *spec) { return spec->num_partitions + 1; }

static cst_status add_tensor_source(cst__nest *nest, size_t tensor, const char *name,
                                    cst_error *error) {
  size_t other = cst__name_map_find(&nest->sources, name, strlen(name));
  if (other != SIZE_MAX) {
    char first[64];
    char second[64];
    const char *a = cst_specs_get(nest->ragged, other)->name;
    const char *b = cst_specs_get(nest->ragged, tensor)->name;
    cst__escape(first, sizeof first, a, strlen(a));
    cst__escape(second, sizeof second, b, strlen(b));
    return at_name(
        cst__fail(error, CST_SCHEMA, "leave one of them out by columns",
                  "the feature is a source of two ragged tensors, '%s' and '%s'", first, second),
        name, error);
  }
  return cst__name_map_add(&nest->sources, name, strlen(name), tensor)
             ? CST_OK
             : cst__fail_memory(error, sizeof(cst__name_slot));
}

static cst_status add_sources(cst__nest *nest, size_t tensor, cst_error *error) {
  const cst_tensor_spec *spec = cst_specs_get(nest->ragged, tensor);
  for (size_t i = 0; i < num_sources(spec); i++) {
    const char *name = nth_source(spec, i);
    if (name != NULL) {
      CST__TRY(add_tensor_source(nest, tensor, name, error));
    }
  }
  return CST_OK;
}

/* A tensor has the name of a feature only if that is one of its own. */
static cst_status check_tensor_name(const cst__nest *nest, const cst_schema *schema, size_t tensor,
                                    cst_error *error) {
  const char *name = cst_specs_get(nest->ragged, tensor)->name;
  if (cst__schema_find_feature(schema, name, strlen(name)) == SIZE_MAX ||
      cst__name_map_find(&nest->sources, name, strlen(name)) == tensor) {
    return CST_OK;
  }
  return at_name(
      cst__fail(error, CST_SCHEMA, "rename the tensor, or leave it out by columns",
                "a ragged tensor has the same name as a feature that is not one of its sources"),
      name, error);
}

static void add_flat(cst__nest *nest, const char *name) {
  nested_column *column = &nest->columns[nest->num_columns++];
  *column = (nested_column){.first = nest->num_flat};
  nest->flat[nest->num_flat++] = name;
}

static cst_status add_nested(cst__nest *nest, const cst_tensor_spec *spec, cst_error *error) {
  nested_column *column = &nest->columns[nest->num_columns++];
  size_t at = 0;
  *column = (nested_column){.spec = spec, .first = nest->num_flat};
  column->lengths = &nest->flat[nest->num_flat + 1];
  column->units = cst__arena_take(&nest->arena, (spec->num_partitions + 1) * sizeof(int64_t));
  if (column->units == NULL) {
    return cst__fail_memory(error, spec->num_partitions * sizeof(int64_t));
  }
  nest->flat[nest->num_flat++] = spec->path[0];
  column->outer_unit = cst__uniform_product(spec, &at);
  while (at < spec->num_partitions) {
    nest->flat[nest->num_flat++] = spec->partitions[at++].row_length_column;
    column->units[column->num_lengths++] = cst__uniform_product(spec, &at);
  }
  return CST_OK;
}

static cst_status plan_all(cst__nest *nest, const cst_schema *schema, cst_error *error) {
  for (size_t i = 0; i < cst_specs_num_specs(nest->ragged); i++) {
    CST__TRY(add_sources(nest, i, error));
  }
  for (size_t i = 0; i < cst_specs_num_specs(nest->ragged); i++) {
    CST__TRY(check_tensor_name(nest, schema, i, error));
  }
  for (size_t i = 0; i < cst_schema_num_features(schema); i++) {
    const cst_feature *feature = cst_schema_feature(schema, i);
    size_t at = cst__name_map_find(&nest->sources, feature->name, feature->name_size);
    const cst_tensor_spec *spec = at != SIZE_MAX ? cst_specs_get(nest->ragged, at) : NULL;
    if (spec == NULL) {
      add_flat(nest, feature->name);
    } else if (strcmp(spec->path[0], feature->name) == 0) {
      CST__TRY(add_nested(nest, spec, error));
    }
  }
  return CST_OK;
}

/* All ragged tensors: the first that a feature is a source of. */
static cst_status list_sources(const cst__nest *nest, cst__name_map *sources, cst_error *error) {
  for (size_t i = 0; i < cst_specs_num_specs(nest->ragged); i++) {
    const cst_tensor_spec *spec = cst_specs_get(nest->ragged, i);
    for (size_t k = 0; k < num_sources(spec); k++) {
      const char *source = nth_source(spec, k);
      size_t size = source != NULL ? strlen(source) : 0;
      if (source != NULL && cst__name_map_find(sources, source, size) == SIZE_MAX &&
          !cst__name_map_add(sources, source, size, i)) {
        return cst__fail_memory(error, sizeof(cst__name_slot));
      }
    }
  }
  return CST_OK;
}

static cst_status refuse_source(const cst__nest *nest, const cst__name_map *sources,
                                const char *name, cst_error *error) {
  size_t tensor = cst__name_map_find(sources, name, strlen(name));
  if (tensor == SIZE_MAX) {
    return CST_OK;
  }
  const char *spec = cst_specs_get(nest->ragged, tensor)->name;
  char shown[64];
  cst__escape(shown, sizeof shown, spec, strlen(spec));
  return at_name(cst__fail(error, CST_NOT_FOUND, "ask for that column, or decode flat columns",
                           "the feature is a part of the nested column '%s'", shown),
                 name, error);
}

static cst_status take_wanted(cst__nest *nest, const cst_schema *schema, const char *const *columns,
                              size_t num_columns, const cst__name_map *sources, cst_error *error) {
  for (size_t i = 0; i < num_columns; i++) {
    size_t at = cst__specs_find(nest->ragged, columns[i]);
    if (at == SIZE_MAX) {
      CST__TRY(refuse_source(nest, sources, columns[i], error));
      add_flat(nest, columns[i]);
    } else {
      const char *values = cst_specs_get(nest->ragged, at)->path[0];
      if (cst__name_map_find(&nest->sources, values, strlen(values)) == at) {
        return cst__fail_twice(error, columns[i], strlen(columns[i]));
      }
      CST__TRY(add_sources(nest, at, error));
      CST__TRY(check_tensor_name(nest, schema, at, error));
      CST__TRY(add_nested(nest, cst_specs_get(nest->ragged, at), error));
    }
  }
  return CST_OK;
}

static cst_status plan_wanted_columns(cst__nest *nest, const cst_schema *schema,
                                      const char *const *columns, size_t num_columns,
                                      cst_error *error) {
  cst__name_map sources = {0};
  cst_status status = list_sources(nest, &sources, error);
  if (status == CST_OK) {
    status = take_wanted(nest, schema, columns, num_columns, &sources, error);
  }
  cst__name_map_reset(&sources);
  return status;
}

/* Room for the lists: every wanted column once, and every source of a tensor once. */
static cst_status reserve_nest(cst__nest *nest, size_t wanted, cst_error *error) {
  size_t count = wanted + 1;
  for (size_t i = 0; i < cst_specs_num_specs(nest->ragged); i++) {
    count += num_sources(cst_specs_get(nest->ragged, i));
  }
  nest->columns = cst__arena_take(&nest->arena, count * sizeof *nest->columns);
  nest->flat = cst__arena_take(&nest->arena, count * sizeof *nest->flat);
  return nest->columns != NULL && nest->flat != NULL
             ? CST_OK
             : cst__fail_memory(error, count * sizeof *nest->columns);
}

static cst_status plan_nest(cst__nest *nest, const cst_schema *schema, const char *const *columns,
                            size_t num_columns, cst_error *error) {
  CST__TRY(cst__specs_new_ragged(schema, &nest->ragged, error));
  CST__TRY(
      reserve_nest(nest, columns != NULL ? num_columns : cst_schema_num_features(schema), error));
  return columns != NULL ? plan_wanted_columns(nest, schema, columns, num_columns, error)
                         : plan_all(nest, schema, error);
}

cst_status cst__nest_new(const cst_schema *schema, const cst__nest_options *options,
                         cst__nest **out, cst_error *error) {
  cst__nest *nest = cst__new_zero(options->allocator, sizeof *nest);
  if (nest == NULL) {
    return cst__fail_memory(error, sizeof *nest);
  }
  nest->allocator = cst__allocator_of(options->allocator);
  nest->offset_width = options->flags & CST_COLUMNS_OFFSETS_32 ? 4 : 8;
  cst__arena_init(&nest->arena, &nest->allocator);
  cst_status status = plan_nest(nest, schema, options->columns, options->num_columns, error);
  if (status != CST_OK) {
    cst__nest_free(nest);
    return status;
  }
  *out = nest;
  return CST_OK;
}

void cst__nest_free(cst__nest *nest) {
  if (nest != NULL) {
    cst_specs_release(nest->ragged);
    cst__name_map_reset(&nest->sources);
    cst__arena_reset(&nest->arena);
    cst__delete(nest);
  }
}

const char *const *cst__nest_columns(const cst__nest *nest, size_t *count) {
  *count = nest->num_flat;
  return nest->flat;
}

bool cst__nest_uses(const cst__nest *nest, const char *name) {
  return cst__name_map_find(&nest->sources, name, strlen(name)) != SIZE_MAX;
}

cst_status cst__nest_type(const cst__nest *nest, cst__arena *arena, cst__type *type,
                          cst_error *error) {
  const cst__type *flat = type->children;
  CST__TRY(cst__type_set_children(type, nest->num_columns, arena, error));
  for (size_t i = 0; i < nest->num_columns; i++) {
    const nested_column *column = &nest->columns[i];
    cst__type *nested = &type->children[i];
    *nested = flat[column->first];
    if (column->spec == NULL) {
      continue;
    }
    nested->name = column->spec->name;
    for (size_t k = 0; nested->num_children > 0 && k < column->num_lengths; k++) {
      CST__TRY(cst__type_enlist(nested, -1, nest->offset_width == 4, arena, error));
    }
  }
  return CST_OK;
}

/* ---- one batch ---- */

/* One nested column at work. */
typedef struct work {
  const nested_column *column;
  struct ArrowArray **flat; /* values, then lengths: lists of `rows` slots from slot 0 on */
  int64_t rows;
  int width; /* of offsets */
  cst_error *error;
} work;

static int64_t list_end(const work *w, size_t i, int64_t slot) {
  return cst__view_entry(w->flat[i]->buffers[1], w->width, slot);
}

static void put_list_offset(void *entries, int width, int64_t at, int64_t value) {
  if (width == 8) {
    ((int64_t *)entries)[at] = value;
  } else {
    ((int32_t *)entries)[at] = (int32_t)value;
  }
}

static cst_status at_row(const work *w, int64_t row, cst_status status) {
  cst__error_add_record(w->error, row, -1);
  return at_name(status, w->column->spec->name, w->error);
}

static bool is_null(const struct ArrowArray *list, int64_t row) {
  const uint8_t *validity = list->buffers[0];
  return list->null_count != 0 && validity != NULL && !((validity[row >> 3] >> (row & 7)) & 1);
}

/* All sources of a row are there, or none. */
static cst_status check_nulls(const work *w) {
  bool any = false;
  for (size_t i = 0; i <= w->column->num_lengths; i++) {
    any = any || w->flat[i]->null_count != 0;
  }
  for (int64_t row = 0; any && row < w->rows; row++) {
    bool absent = is_null(w->flat[0], row);
    for (size_t i = 1; i <= w->column->num_lengths; i++) {
      if (is_null(w->flat[i], row) != absent) {
        char name[64];
        const char *length = w->column->lengths[i - 1];
        cst__escape(name, sizeof name, length, strlen(length));
        return at_row(
            w, row,
            cst__fail(w->error, CST_SCHEMA, "write both or neither",
                      absent ? "the values are missing but their row lengths '%s' are present"
                             : "the row lengths '%s' are missing but the values are present",
                      name));
      }
    }
  }
  return CST_OK;
}

/* A row's own list holds whole rows of the uniform partitions before it. */
static cst_status check_outer(const work *w) {
  int64_t unit = w->column->outer_unit;
  size_t outermost = w->column->num_lengths > 0 ? 1 : 0;
  for (int64_t row = 0; unit > 1 && row < w->rows; row++) {
    int64_t count = list_end(w, outermost, row + 1) - list_end(w, outermost, row);
    if (count % unit != 0) {
      return at_row(
          w, row,
          cst__fail(w->error, CST_SCHEMA, "correct the data or the uniform_row_length",
                    "the row has %lld %s, expected a multiple of the uniform row length %lld",
                    (long long)count, outermost > 0 ? "row lengths" : "values", (long long)unit));
    }
  }
  return CST_OK;
}

/* The error of lengths i (from 1 on) that do not make up `wanted` slots of the next level. */
static cst_status wrong_sum(const work *w, size_t i, int64_t row, int64_t wanted) {
  const int64_t *lengths = w->flat[i]->children[0]->buffers[1];
  int64_t unit = w->column->units[i - 1];
  int64_t sum = 0;
  char name[64];
  cst__escape(name, sizeof name, w->column->lengths[i - 1], strlen(w->column->lengths[i - 1]));
  for (int64_t k = list_end(w, i, row); k < list_end(w, i, row + 1); k++) {
    int64_t slots;
    if (lengths[k] < 0) {
      return at_row(w, row,
                    cst__fail(w->error, CST_SCHEMA, "correct the data",
                              "row length %lld of '%s' is negative: %lld",
                              (long long)(k - list_end(w, i, row)), name, (long long)lengths[k]));
    }
    if (__builtin_mul_overflow(lengths[k], unit, &slots) ||
        __builtin_add_overflow(sum, slots, &sum)) {
      sum = INT64_MAX;
      break;
    }
  }
  const char *what = i == w->column->num_lengths ? "values" : "row lengths";
  return at_row(w, row,
                cst__fail(w->error, CST_SCHEMA, "correct the data, or the partitions of the tensor",
                          "row lengths '%s' add up to %lld %s, found %lld", name, (long long)sum,
                          what, (long long)wanted));
}

/* Lengths i (from 1 on) to offsets of lists of what the next lengths, or the values, hold. */
static cst_status put_offsets(const work *w, size_t i, void *offsets) {
  const int64_t *lengths = w->flat[i]->children[0]->buffers[1];
  int64_t unit = w->column->units[i - 1];
  size_t next = i < w->column->num_lengths ? i + 1 : 0;
  put_list_offset(offsets, w->width, 0, 0);
  for (int64_t row = 0; row < w->rows; row++) {
    int64_t begin = list_end(w, next, row);
    int64_t end = list_end(w, next, row + 1);
    int64_t at = begin;
    for (int64_t k = list_end(w, i, row); k < list_end(w, i, row + 1); k++) {
      int64_t slots;
      if (lengths[k] < 0 || __builtin_mul_overflow(lengths[k], unit, &slots) || slots > end - at) {
        return wrong_sum(w, i, row, end - begin);
      }
      at += slots;
      put_list_offset(offsets, w->width, k + 1, at);
    }
    if (at != end) {
      return wrong_sum(w, i, row, end - begin);
    }
  }
  return CST_OK;
}

static cst_status new_list(const cst__nest *nest, const work *w, int64_t length,
                           struct ArrowArray *out, void **offsets) {
  size_t size = ((size_t)length + 1) * (size_t)w->width;
  CST__TRY(cst__owned_new(&nest->allocator, 2, 1, false, out, w->error));
  out->length = length;
  *offsets = cst__owned_buffer(out, 1, size);
  return *offsets != NULL ? CST_OK : cst__fail_memory(w->error, size);
}

static void move(struct ArrowArray *from, struct ArrowArray *to) {
  *to = *from;
  from->release = NULL;
}

/* The rows' level: as many lists as there are outermost lengths, null where the values are. */
static cst_status put_row_offsets(const cst__nest *nest, const work *w, struct ArrowArray *out) {
  const struct ArrowArray *values = w->flat[0];
  void *offsets;
  CST__TRY(new_list(nest, w, w->rows, out, &offsets));
  memcpy(offsets, w->flat[1]->buffers[1], ((size_t)w->rows + 1) * (size_t)w->width);
  out->null_count = values->null_count;
  if (values->null_count != 0) {
    uint8_t *validity = cst__owned_buffer(out, 0, cst__bits_size(w->rows));
    if (validity == NULL) {
      return cst__fail_memory(w->error, cst__bits_size(w->rows));
    }
    memcpy(validity, values->buffers[0], cst__bits_size(w->rows));
  }
  return CST_OK;
}

/* `out` is filled from the outside in; on failure it has to be released. */
static cst_status nest_column(const cst__nest *nest, const work *w, struct ArrowArray *out) {
  CST__TRY(check_nulls(w));
  CST__TRY(check_outer(w));
  if (w->column->num_lengths == 0) {
    move(w->flat[0], out);
    return CST_OK;
  }
  CST__TRY(put_row_offsets(nest, w, out));
  for (size_t i = 1; i <= w->column->num_lengths; i++) {
    void *offsets;
    out = out->children[0];
    CST__TRY(new_list(nest, w, list_end(w, i, w->rows), out, &offsets));
    CST__TRY(put_offsets(w, i, offsets));
  }
  move(w->flat[0]->children[0], out->children[0]);
  return CST_OK;
}

static cst_status nest_columns(const cst__nest *nest, struct ArrowArray *flat,
                               struct ArrowArray *out, cst_error *error) {
  out->length = flat->length;
  for (size_t i = 0; i < nest->num_columns; i++) {
    const nested_column *column = &nest->columns[i];
    struct ArrowArray **first = &flat->children[column->first];
    if (column->spec == NULL) {
      move(*first, out->children[i]);
      continue;
    }
    const work w = {column, first, flat->length, nest->offset_width, error};
    CST__TRY(nest_column(nest, &w, out->children[i]));
  }
  return CST_OK;
}

cst_status cst__nest_batch(const cst__nest *nest, struct ArrowArray *batch, cst_error *error) {
  struct ArrowArray out;
  cst_status status =
      cst__owned_new(&nest->allocator, 1, (int64_t)nest->num_columns, false, &out, error);
  if (status == CST_OK) {
    status = nest_columns(nest, batch, &out, error);
  }
  batch->release(batch);
  if (status != CST_OK) {
    cst__array_release(&out);
    return status;
  }
  *batch = out;
  return CST_OK;
}
