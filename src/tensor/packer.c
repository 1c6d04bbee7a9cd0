/* Packing: lists of rows after each other in rows of a fixed length. */
#include <columnstone/tensor.h>
#include <stdio.h>
#include <string.h>

#include "base/arguments.h"
#include "base/interrupt.h"
#include "tensor/encode.h"
#include "tensor/kind.h"

/* A tensor that is packed. */
typedef struct packed_list {
  const char *name;
  const char *ids_name;
  const char *positions_name;
  cst_pad pad; /* the value of empty places, as the caller gave it */
  int64_t length;
  cst_dtype dtype; /* NONE: no batch has said it yet */
  /* Of the packed batch that is being made: [rows, length]. */
  char *values;
  int32_t *ids;
  int32_t *positions;
  int64_t *used; /* places, by packed row */
  /* Of the batch that is being added. */
  const cst_tensor *from;
  const int64_t *splits; /* of its rows */
} packed_list;

struct cst_packer {
  cst__arena arena; /* lists and their names */
  cst__arena batch; /* splits of the batch that is being added */
  cst__arena_pool *pool;
  size_t num_lists;
  packed_list *lists;
  int64_t rows;
  bool split;
  cst_tensors *made;  /* that is being packed; NULL: nothing is */
  int64_t num_begun;  /* packed rows that have something */
  int32_t *num_parts; /* by packed row */
};

/* The most bytes of one tensor of a packed batch. */
static const int64_t max_packed = INT64_C(1) << 32;

/* ---- options ---- */

static cst_status fail_list(const char *name, cst_status code, const char *hint, const char *what,
                            cst_error *error) {
  cst__fail(error, code, hint, "%s", what);
  cst__error_add_path(error, name, strlen(name));
  return code;
}

static cst_status check_list(const cst_packer_options *o, size_t i, cst_error *error) {
  const cst_pad *pad = &o->lists[i];
  int64_t places;
  if (pad->name == NULL) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "a list to pack has no name");
  }
  if (pad->num_lengths != 1 || pad->lengths == NULL || pad->lengths[0] <= 0 ||
      (pad->sizes != NULL && pad->sizes[0].count > 0)) {
    return fail_list(pad->name, CST_INVALID_ARGUMENT, NULL,
                     "a packed list has one length, which is above 0", error);
  }
  if (__builtin_mul_overflow(pad->lengths[0], o->rows, &places) || places > max_packed / 8) {
    return fail_list(pad->name, CST_INVALID_ARGUMENT, "give smaller lengths, or fewer rows",
                     "the packed tensor has more than 4 GiB", error);
  }
  for (size_t k = 0; k < i; k++) {
    if (strcmp(o->lists[k].name, pad->name) == 0) {
      return fail_list(pad->name, CST_INVALID_ARGUMENT, "name each list once",
                       "the list is packed twice", error);
    }
    if (o->split && o->lists[k].lengths[0] != pad->lengths[0]) {
      return fail_list(pad->name, CST_INVALID_ARGUMENT, "give one length, or do not split rows",
                       "lists of rows that are split have one length", error);
    }
  }
  return CST_OK;
}

static cst_status packer_check_options(const cst_packer_options *o, cst_error *error) {
  CST__TRY(cst__check_allocator(o->allocator, error));
  if (o->lists == NULL || o->num_lists == 0) {
    return cst__fail(error, CST_INVALID_ARGUMENT, "name the lists to pack", "nothing to pack");
  }
  if (o->rows <= 0 || o->rows > INT32_MAX) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                     "a packed batch has %lld rows, expected 1 to %d", (long long)o->rows,
                     INT32_MAX);
  }
  for (size_t i = 0; i < o->num_lists; i++) {
    CST__TRY(check_list(o, i, error));
  }
  return CST_OK;
}

/* ---- life ---- */

static const char *name_with(cst__arena *arena, const char *name, const char *suffix) {
  size_t size = strlen(name) + strlen(suffix) + 1;
  char *made = cst__arena_take(arena, size);
  if (made != NULL) {
    snprintf(made, size, "%s%s", name, suffix);
  }
  return made;
}

static bool list_init(packed_list *list, const cst_pad *pad, cst__arena *arena) {
  *list = (packed_list){.name = name_with(arena, pad->name, ""),
                        .ids_name = name_with(arena, pad->name, "_segment_ids"),
                        .positions_name = name_with(arena, pad->name, "_positions"),
                        .pad = *pad,
                        .length = pad->lengths[0],
                        .dtype = CST_DTYPE_NONE};
  list->pad.lengths = NULL;
  return list->name != NULL && list->ids_name != NULL && list->positions_name != NULL;
}

cst_status cst_packer_new(const cst_packer_options *options, cst_packer **out, cst_error *error) {
  CST__CLEAR(out);
  cst_packer_options own = CST_PACKER_OPTIONS_INIT;
  CST__TRY(cst__check_given(options, "options", out, error));
  CST__TRY(cst__read_options(&own, sizeof own, options, error));
  CST__TRY(packer_check_options(&own, error));
  cst_allocator allocator = cst__allocator_of(own.allocator);
  cst_packer *packer = cst__new_zero(&allocator, sizeof *packer);
  if (packer == NULL) {
    return cst__fail_memory(error, sizeof *packer);
  }
  cst__arena_init(&packer->arena, &allocator);
  cst__arena_init(&packer->batch, &allocator);
  packer->rows = own.rows;
  packer->split = own.split;
  packer->pool = cst__arena_pool_new(&allocator);
  packer->lists = cst__arena_take(&packer->arena, own.num_lists * sizeof *packer->lists);
  bool done = packer->pool != NULL && packer->lists != NULL;
  for (size_t i = 0; done && i < own.num_lists; i++) {
    done = list_init(&packer->lists[packer->num_lists++], &own.lists[i], &packer->arena);
  }
  if (!done) {
    cst_packer_free(packer);
    return cst__fail_memory(error, own.num_lists * sizeof *packer->lists);
  }
  *out = packer;
  return CST_OK;
}

void cst_packer_free(cst_packer *packer) {
  if (packer != NULL) {
    cst_tensors_release(packer->made);
    cst__arena_pool_release(packer->pool);
    cst__arena_reset(&packer->batch);
    cst__arena_reset(&packer->arena);
    cst__delete(packer);
  }
}

/* ---- the batch that is added ---- */

static cst_status fail_kind(const packed_list *list, cst_error *error) {
  return fail_list(list->name, CST_SCHEMA, NULL,
                   "only lists of single values are packed: a ragged tensor of one level, a varlen "
                   "one, or a dense one of two dimensions",
                   error);
}

/* Splits of a varlen tensor, whose indices are in order: the rows may end without values. */
static cst_status splits_of_indices(cst_packer *packer, const packed_list *list, int64_t *rows,
                                    const int64_t **out, cst_error *error) {
  const cst_tensor *t = list->from;
  CST__TRY(cst__encode_check_integers("indices", &t->indices, 2, error));
  CST__TRY(cst__encode_check_integers("dense shape", &t->dense_shape, 1, error));
  const int64_t *indices = t->indices.data;
  if (t->indices.shape[1] != 2 || t->dense_shape.size != 2 ||
      t->indices.shape[0] != t->values.size) {
    return fail_kind(list, error);
  }
  *rows = ((const int64_t *)t->dense_shape.data)[0];
  int64_t row = 0;
  if (*rows < 0 || *rows > INT32_MAX) {
    return fail_list(list->name, CST_LIMIT, "pack smaller batches", "the tensor has too many rows",
                     error);
  }
  int64_t *splits = cst__arena_take(&packer->batch, ((size_t)*rows + 1) * sizeof *splits);
  if (splits == NULL) {
    return cst__fail_memory(error, (size_t)*rows * sizeof *splits);
  }
  splits[0] = 0;
  for (int64_t i = 0; i < t->values.size; i++) {
    int64_t at = indices[2 * i];
    if (at < row || at >= *rows) {
      return fail_list(list->name, CST_INVALID_ARGUMENT, NULL, "the indices are not in order",
                       error);
    }
    while (row < at) {
      splits[++row] = i;
    }
  }
  while (row < *rows) {
    splits[++row] = t->values.size;
  }
  *out = splits;
  return CST_OK;
}

static cst_status splits_of_lists(cst_packer *packer, const packed_list *list, int64_t *rows,
                                  const int64_t **out, cst_error *error) {
  const cst_ndarray *given = &list->from->splits[0];
  CST__TRY(cst__encode_check_array("row splits", given, error));
  *rows = given->size - 1;
  int64_t *splits = cst__arena_take(&packer->batch, ((size_t)given->size + 1) * sizeof *splits);
  if (splits == NULL) {
    return cst__fail_memory(error, (size_t)given->size * sizeof *splits);
  }
  bool is_whole = given->num_dims == 1 && given->size > 0 &&
                  (given->dtype == CST_DTYPE_INT64 || given->dtype == CST_DTYPE_INT32);
  for (int64_t i = 0; is_whole && i < given->size; i++) {
    splits[i] = given->dtype == CST_DTYPE_INT64 ? ((const int64_t *)given->data)[i]
                                                : ((const int32_t *)given->data)[i];
    is_whole = i == 0 ? splits[0] == 0 : splits[i] >= splits[i - 1];
  }
  if (!is_whole || splits[given->size - 1] > list->from->values.size) {
    return fail_list(list->name, CST_INVALID_ARGUMENT, NULL,
                     "the row splits do not divide the values", error);
  }
  *out = splits;
  return CST_OK;
}

static cst_status splits_of_rows(cst_packer *packer, const cst_ndarray *values, int64_t *rows,
                                 const int64_t **out, cst_error *error) {
  *rows = values->shape[0];
  int64_t *splits = cst__arena_take(&packer->batch, ((size_t)*rows + 1) * sizeof *splits);
  if (splits == NULL) {
    return cst__fail_memory(error, ((size_t)*rows + 1) * sizeof *splits);
  }
  for (int64_t i = 0; i <= *rows; i++) {
    splits[i] = i * values->shape[1];
  }
  *out = splits;
  return CST_OK;
}

static cst_status find_splits(cst_packer *packer, packed_list *list, int64_t *rows,
                              cst_error *error) {
  const cst_tensor *t = list->from;
  CST__TRY(cst__encode_check_array("values", &t->values, error));
  if (t->values.dtype == CST_DTYPE_BYTES) {
    return fail_list(list->name, CST_UNSUPPORTED, "convert them to numbers first",
                     "strings cannot be packed", error);
  }
  bool is_sparse = t->kind == CST_TENSOR_VARLEN_SPARSE || t->kind == CST_TENSOR_SPARSE;
  if (t->kind == CST_TENSOR_DENSE && t->values.num_dims == 2) {
    return splits_of_rows(packer, &t->values, rows, &list->splits, error);
  }
  if (t->values.num_dims != 1) {
    return fail_kind(list, error);
  }
  if (t->kind == CST_TENSOR_RAGGED && t->num_splits == 1) {
    return splits_of_lists(packer, list, rows, &list->splits, error);
  }
  return is_sparse ? splits_of_indices(packer, list, rows, &list->splits, error)
                   : fail_kind(list, error);
}

/* Values keep the type of the first batch, which holds the value of empty places. */
static cst_status settle_type(packed_list *list, cst_error *error) {
  cst_dtype found = list->from->values.dtype;
  bool is_float = found == CST_DTYPE_FLOAT32 || found == CST_DTYPE_FLOAT64;
  if (list->dtype == CST_DTYPE_NONE && !is_float && !cst__dtype_holds(found, list->pad.int_value)) {
    return fail_list(list->name, CST_INVALID_ARGUMENT, NULL,
                     "the value of empty places does not fit the type of the values", error);
  }
  if (list->dtype != CST_DTYPE_NONE && list->dtype != found) {
    cst__fail(error, CST_SCHEMA, NULL, "values of %s, those of batches before are %s",
              cst_dtype_name(found), cst_dtype_name(list->dtype));
    cst__error_add_path(error, list->name, strlen(list->name));
    return CST_SCHEMA;
  }
  list->dtype = found;
  return CST_OK;
}

/* Finds each list among the tensors, and the lengths of its rows. */
static cst_status open_batch(cst_packer *packer, const cst_tensor *tensors, size_t count,
                             int64_t *rows, cst_error *error) {
  cst__arena_rewind(&packer->batch);
  for (size_t i = 0; i < packer->num_lists; i++) {
    packed_list *list = &packer->lists[i];
    int64_t own = 0;
    list->from = NULL;
    for (size_t k = 0; k < count; k++) {
      list->from = strcmp(tensors[k].name, list->name) == 0 ? &tensors[k] : list->from;
    }
    if (list->from == NULL) {
      return fail_list(list->name, CST_NOT_FOUND, NULL, "there is no tensor of this name to pack",
                       error);
    }
    CST__TRY(find_splits(packer, list, &own, error));
    CST__TRY(settle_type(list, error));
    if (i > 0 && own != *rows) {
      return fail_list(list->name, CST_INVALID_ARGUMENT, NULL, "the tensors differ in their rows",
                       error);
    }
    *rows = own;
  }
  return CST_OK;
}

/* ---- the batch that is made ---- */

static void keep_nothing(struct ArrowArray *batch) { batch->release = NULL; }

static cst_status begin_list(cst_packer *packer, packed_list *list, cst_error *error) {
  cst__arena *scratch = &packer->made->scratch;
  int64_t places = packer->rows * list->length;
  size_t width = cst_dtype_width(list->dtype);
  list->values = cst__arena_take_items(scratch, places, width);
  list->ids = cst__arena_take_items(scratch, places, sizeof *list->ids);
  list->positions = cst__arena_take_items(scratch, places, sizeof *list->positions);
  list->used = cst__arena_take_items(scratch, packer->rows, sizeof *list->used);
  if (list->values == NULL || list->ids == NULL || list->positions == NULL || list->used == NULL) {
    return cst__fail_memory(error, (size_t)places * width);
  }
  cst__element value = cst__element_of(list->dtype, list->pad.int_value, list->pad.float_value,
                                       (cst_bytes){NULL, 0});
  cst__fill(list->values, &value, width, places);
  memset(list->ids, 0, (size_t)places * sizeof *list->ids);
  memset(list->positions, 0, (size_t)places * sizeof *list->positions);
  memset(list->used, 0, (size_t)packer->rows * sizeof *list->used);
  return CST_OK;
}

static cst_status begin_batch(cst_packer *packer, cst_error *error) {
  const cst_allocator *allocator = &packer->arena.allocator;
  cst_tensors *made = cst__new_zero(allocator, sizeof *made);
  if (made == NULL) {
    return cst__fail_memory(error, sizeof *made);
  }
  cst__refcount_init(&made->owners);
  made->pool = packer->pool;
  cst__arena_pool_lend(made->pool, &made->scratch);
  cst__arena_init(&made->arena, allocator);
  made->batch.release = keep_nothing;
  packer->made = made;
  packer->num_begun = 0;
  packer->num_parts =
      cst__arena_take_items(&made->scratch, packer->rows, sizeof *packer->num_parts);
  cst_status status = packer->num_parts != NULL
                          ? CST_OK
                          : cst__fail_memory(error, (size_t)packer->rows * sizeof(int32_t));
  for (size_t i = 0; i < packer->num_lists && status == CST_OK; i++) {
    status = begin_list(packer, &packer->lists[i], error);
  }
  if (status != CST_OK) {
    cst_tensors_release(made);
    packer->made = NULL;
  } else {
    memset(packer->num_parts, 0, (size_t)packer->rows * sizeof *packer->num_parts);
  }
  return status;
}

/* ---- putting rows in ---- */

static int64_t length_of_row(const packed_list *list, int64_t row) {
  return list->splits[row + 1] - list->splits[row];
}

/* The same, as far as it is packed. */
static int64_t packed_length(const packed_list *list, int64_t row) {
  int64_t length = length_of_row(list, row);
  return list->pad.truncate && length > list->length ? list->length : length;
}

static cst_status fail_row(const packed_list *list, int64_t row, const char *hint, const char *text,
                           cst_error *error) {
  cst__fail(error, CST_SCHEMA, hint, "a list of %lld values, %s %lld",
            (long long)length_of_row(list, row), text, (long long)list->length);
  cst__error_add_path(error, list->name, strlen(list->name));
  cst__error_add_record(error, row, -1);
  return CST_SCHEMA;
}

static cst_status check_row(const cst_packer *packer, int64_t row, cst_error *error) {
  const packed_list *first = &packer->lists[0];
  for (size_t i = 0; i < packer->num_lists; i++) {
    const packed_list *list = &packer->lists[i];
    if (packer->split && length_of_row(list, row) != length_of_row(first, row)) {
      cst__fail(error, CST_SCHEMA, "pack them without splitting rows",
                "a list of %lld values, and '%s' has one of %lld",
                (long long)length_of_row(list, row), first->name,
                (long long)length_of_row(first, row));
      cst__error_add_path(error, list->name, strlen(list->name));
      cst__error_add_record(error, row, -1);
      return CST_SCHEMA;
    }
    if (!packer->split && !list->pad.truncate && length_of_row(list, row) > list->length) {
      return fail_row(list, row, "split rows, truncate them, or give a larger length",
                      "but a packed row has", error);
    }
  }
  return CST_OK;
}

/* Copies values of a row to the end of a packed row, as its next part. */
static void put_values(const packed_list *list, int64_t begin, int64_t count, int64_t to,
                       int32_t part) {
  size_t width = cst_dtype_width(list->dtype);
  int64_t at = to * list->length + list->used[to];
  memcpy(list->values + (size_t)at * width,
         (const char *)list->from->values.data + (size_t)begin * width, (size_t)count * width);
  for (int64_t i = 0; i < count; i++) {
    list->ids[at + i] = part;
    list->positions[at + i] = (int32_t)i;
  }
  list->used[to] += count;
}

static void begin_part(cst_packer *packer, int64_t to) {
  packer->num_parts[to]++;
  packer->num_begun = to >= packer->num_begun ? to + 1 : packer->num_begun;
}

static bool has_room(const cst_packer *packer, int64_t row, int64_t to) {
  for (size_t i = 0; i < packer->num_lists; i++) {
    const packed_list *list = &packer->lists[i];
    if (list->used[to] + packed_length(list, row) > list->length) {
      return false;
    }
  }
  return true;
}

static bool is_empty_row(const cst_packer *packer, int64_t row) {
  for (size_t i = 0; i < packer->num_lists; i++) {
    if (length_of_row(&packer->lists[i], row) > 0) {
      return false;
    }
  }
  return true;
}

/* Puts the row into the first packed row that has room. False: none has. */
static bool put_whole(cst_packer *packer, int64_t row) {
  int64_t to = 0;
  while (to < packer->rows && !has_room(packer, row, to)) {
    to++;
  }
  if (to == packer->rows) {
    return false;
  }
  begin_part(packer, to);
  for (size_t i = 0; i < packer->num_lists; i++) {
    const packed_list *list = &packer->lists[i];
    if (packed_length(list, row) > 0) {
      put_values(list, list->splits[row], packed_length(list, row), to, packer->num_parts[to]);
    }
  }
  return true;
}

/* Puts what is left of the row behind what is packed. False: there is no room for all of it. */
static bool put_split(cst_packer *packer, int64_t row, int64_t *value) {
  const packed_list *first = &packer->lists[0];
  int64_t to = packer->num_begun > 0 ? packer->num_begun - 1 : 0;
  for (int64_t left = length_of_row(first, row) - *value; left > 0;) {
    to += first->used[to] == first->length;
    if (to == packer->rows) {
      return false;
    }
    int64_t room = first->length - first->used[to];
    int64_t count = left < room ? left : room;
    begin_part(packer, to);
    for (size_t i = 0; i < packer->num_lists; i++) {
      const packed_list *list = &packer->lists[i];
      put_values(list, list->splits[row] + *value, count, to, packer->num_parts[to]);
    }
    *value += count;
    left -= count;
  }
  return true;
}

static cst_status add_rows(cst_packer *packer, int64_t rows, cst_packer_place *place, bool *full,
                           cst_error *error) {
  size_t done = 0;
  for (; place->row < rows; place->row++, place->value = 0) {
    if (cst__stretch_is_over(&done, (size_t)length_of_row(&packer->lists[0], place->row) * 8)) {
      CST__TRY(cst__interrupted(error));
    }
    CST__TRY(check_row(packer, place->row, error));
    if (is_empty_row(packer, place->row)) {
      continue;
    }
    bool fits = packer->split ? put_split(packer, place->row, &place->value)
                              : put_whole(packer, place->row);
    if (!fits) {
      *full = true;
      return CST_OK;
    }
  }
  return CST_OK;
}

cst_status cst_packer_add(cst_packer *packer, const cst_tensor *tensors, size_t count,
                          cst_packer_place *place, bool *full, cst_error *error) {
  int64_t rows = 0;
  if (packer == NULL || (tensors == NULL && count > 0) || place == NULL || full == NULL) {
    return cst__missing(packer == NULL ? "packer" : "tensors", error);
  }
  *full = false;
  CST__TRY(open_batch(packer, tensors, count, &rows, error));
  if (place->row < 0 || place->row > rows || place->value < 0 ||
      (place->value > 0 && (!packer->split || place->row == rows ||
                            place->value > length_of_row(&packer->lists[0], place->row)))) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                     "value %lld of row %lld is the next one, the batch has %lld rows",
                     (long long)place->value, (long long)place->row, (long long)rows);
  }
  if (packer->made == NULL) {
    CST__TRY(begin_batch(packer, error));
  }
  return add_rows(packer, rows, place, full, error);
}

/* ---- handing over ---- */

static cst_status finish_array(cst_packer *packer, const packed_list *list, cst_tensor *out,
                               cst_dtype dtype, const void *data, cst_error *error) {
  int64_t *shape = cst__arena_take_items(&packer->made->scratch, 2, sizeof *shape);
  CST__TRY(CST__TAKEN(shape, error));
  shape[0] = packer->num_begun;
  shape[1] = list->length;
  out->kind = CST_TENSOR_DENSE;
  out->values = (cst_ndarray){
      .dtype = dtype, .num_dims = 2, .shape = shape, .size = shape[0] * shape[1], .data = data};
  return CST_OK;
}

static const char *keep_name(cst_tensors *made, const char *name) {
  return cst__arena_copy(&made->arena, name, strlen(name));
}

static cst_status finish_batch(cst_packer *packer, cst_error *error) {
  cst_tensors *made = packer->made;
  size_t count = 3 * packer->num_lists;
  made->items = cst__arena_take_items(&made->scratch, (int64_t)count, sizeof *made->items);
  CST__TRY(CST__TAKEN(made->items, error));
  memset(made->items, 0, count * sizeof *made->items);
  for (size_t i = 0; i < packer->num_lists; i++) {
    const packed_list *list = &packer->lists[i];
    cst_tensor *items = &made->items[3 * i];
    items[0].name = keep_name(made, list->name);
    items[1].name = keep_name(made, list->ids_name);
    items[2].name = keep_name(made, list->positions_name);
    if (items[0].name == NULL || items[1].name == NULL || items[2].name == NULL) {
      return cst__fail_memory(error, strlen(list->ids_name));
    }
    CST__TRY(finish_array(packer, list, &items[0], list->dtype, list->values, error));
    CST__TRY(finish_array(packer, list, &items[1], CST_DTYPE_INT32, list->ids, error));
    CST__TRY(finish_array(packer, list, &items[2], CST_DTYPE_INT32, list->positions, error));
  }
  /* Sorted by name; they are few. */
  for (size_t i = 1; i < count; i++) {
    for (size_t k = i; k > 0 && strcmp(made->items[k - 1].name, made->items[k].name) > 0; k--) {
      cst_tensor moved = made->items[k];
      made->items[k] = made->items[k - 1];
      made->items[k - 1] = moved;
    }
  }
  made->count = count;
  return CST_OK;
}

cst_status cst_packer_take(cst_packer *packer, cst_tensors **out, cst_error *error) {
  CST__CLEAR(out);
  if (packer == NULL) {
    return cst__missing("packer", error);
  }
  if (out == NULL || packer->num_begun == 0 || packer->made == NULL) {
    cst_tensors_release(packer->made);
    packer->made = NULL;
    return CST_OK;
  }
  CST__TRY(finish_batch(packer, error));
  *out = packer->made;
  packer->made = NULL;
  return CST_OK;
}
