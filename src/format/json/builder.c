/* Parsed records to columns: each value is checked against the type that its column has. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "format/json/json.h"

enum { NO_CHILD = UINT32_MAX };

typedef cst__json_builder builder;

cst_status cst__json_builder_init(cst__json_builder *b, const cst__json_types *types,
                                  const cst_allocator *allocator, cst_error *error) {
  *b = (cst__json_builder){.allocator = cst__allocator_of(allocator)};
  cst__arena_init(&b->arena, allocator);
  b->root.type = &types->root;
  if (types->is_inferred) {
    b->hint = "the types were inferred from other records: give a schema or types";
  }
  return cst__json_column_init(&b->root, &types->root, &b->arena, error);
}

void cst__json_builder_reset(cst__json_builder *b) {
  if (b->root.type != NULL) {
    cst__json_column_free(&b->root, &b->allocator);
  }
  cst__arena_reset(&b->arena);
}

/* ---- failures ---- */

static cst_status fail_memory(cst_error *error) { return cst__fail_memory(error, 64); }

static cst_status fail_kind(builder *b, const cst__json_column *column, yyjson_val *value,
                            cst_error *error) {
  b->failed = value;
  return cst__fail(error, CST_SCHEMA, b->hint, "%s, expected %s", cst__json_kind_name(value),
                   cst__json_type_word(column->type));
}

static cst_status fail_value(builder *b, const cst__json_column *column, yyjson_val *value,
                             const char *what, cst_error *error) {
  b->failed = value;
  return cst__fail(error, CST_SCHEMA, b->hint, "%s, expected %s", what,
                   cst__json_type_word(column->type));
}

/* ---- scalars ---- */

static bool fits(cst__json_number number, int64_t least, uint64_t most) {
  return (number.kind == CST__JSON_UINT && number.u <= most) ||
         (number.kind == CST__JSON_INT && number.i >= least &&
          (number.i < 0 || (uint64_t)number.i <= most));
}

/* Puts the low bytes of an integer, as they lie in memory of a little-endian machine. */
static bool put_integer(cst_dtype dtype, cst__json_number number, uint8_t *to) {
  static const struct {
    int64_t least;
    uint64_t most;
  } ranges[] = {
      [CST_DTYPE_INT8] = {INT8_MIN, INT8_MAX},    [CST_DTYPE_INT16] = {INT16_MIN, INT16_MAX},
      [CST_DTYPE_INT32] = {INT32_MIN, INT32_MAX}, [CST_DTYPE_INT64] = {INT64_MIN, INT64_MAX},
      [CST_DTYPE_UINT8] = {0, UINT8_MAX},         [CST_DTYPE_UINT16] = {0, UINT16_MAX},
      [CST_DTYPE_UINT32] = {0, UINT32_MAX},       [CST_DTYPE_UINT64] = {0, UINT64_MAX}};
  uint64_t bits = number.kind == CST__JSON_UINT ? number.u : (uint64_t)number.i;
  if (!fits(number, ranges[dtype].least, ranges[dtype].most)) {
    return false;
  }
  memcpy(to, &bits, cst_dtype_width(dtype));
  return true;
}

static bool put_float(cst_dtype dtype, const char *text, size_t size, uint8_t *to) {
  float narrow;
  double wide;
  if (dtype == CST_DTYPE_FLOAT32) {
    bool ok = cst__json_read_float32(text, size, &narrow);
    memcpy(to, &narrow, sizeof narrow);
    return ok;
  }
  bool ok = cst__json_read_float64(text, size, &wide);
  memcpy(to, &wide, sizeof wide);
  return ok;
}

static void put_double(cst_dtype dtype, double value, uint8_t *to) {
  float narrow = (float)value;
  if (dtype == CST_DTYPE_FLOAT32) {
    memcpy(to, &narrow, sizeof narrow);
  } else {
    memcpy(to, &value, sizeof value);
  }
}

static bool is_float(cst_dtype dtype) {
  return dtype == CST_DTYPE_FLOAT32 || dtype == CST_DTYPE_FLOAT64;
}

/* True if an integer's text is a float64 without loss. */
static bool is_exact(cst__json_number number) {
  if (number.kind == CST__JSON_HUGE) {
    return false;
  }
  uint64_t size = number.u;
  while (size > UINT64_C(1) << 53 && (size & 1) == 0) {
    size >>= 1;
  }
  return size <= UINT64_C(1) << 53;
}

static cst_status append_number(builder *b, cst__json_column *column, yyjson_val *value,
                                cst_error *error) {
  cst_dtype dtype = column->type->dtype;
  double special;
  uint8_t *to = column->values.data + (size_t)(column->length - 1) * cst_dtype_width(dtype);
  if (yyjson_is_str(value) && is_float(dtype) &&
      cst__json_read_special(unsafe_yyjson_get_str(value), unsafe_yyjson_get_len(value),
                             &special)) {
    put_double(dtype, special, to);
    return CST_OK;
  }
  if (!yyjson_is_raw(value)) {
    return fail_kind(b, column, value, error);
  }
  const char *text = unsafe_yyjson_get_raw(value);
  size_t size = unsafe_yyjson_get_len(value);
  cst__json_number number = cst__json_read_number(text, size);
  if (!is_float(dtype)) {
    if (number.kind == CST__JSON_FLOAT) {
      return fail_value(b, column, value, "a number with a point or an exponent", error);
    }
    return put_integer(dtype, number, to)
               ? CST_OK
               : fail_value(b, column, value, "an integer out of range", error);
  }
  if ((column->type->flags & CST__JSON_EXACT) != 0 && number.kind != CST__JSON_FLOAT &&
      !is_exact(number)) {
    return fail_value(b, column, value, "an integer that a float64 does not hold exactly", error);
  }
  return put_float(dtype, text, size, to)
             ? CST_OK
             : fail_value(b, column, value, "a number out of range", error);
}

static cst_status append_bool(builder *b, cst__json_column *column, yyjson_val *value,
                              cst_error *error) {
  int64_t at = column->length - 1;
  if (!yyjson_is_bool(value)) {
    return fail_kind(b, column, value, error);
  }
  if (unsafe_yyjson_get_bool(value)) {
    column->values.data[at >> 3] |= (uint8_t)(1U << (at & 7));
  }
  return CST_OK;
}

static cst_status append_base64(builder *b, cst__json_column *column, yyjson_val *value,
                                yyjson_val *mark, cst_error *error) {
  size_t size;
  const char *text = unsafe_yyjson_get_str(mark);
  if (!cst__json_base64_size(text, unsafe_yyjson_get_len(mark), &size)) {
    return fail_value(b, column, value, "a text that is no base64", error);
  }
  uint8_t *to = cst__json_column_bytes(column, size, &b->allocator);
  if (to == NULL) {
    return fail_memory(error);
  }
  cst__json_base64_decode(text, unsafe_yyjson_get_len(mark), to);
  return CST_OK;
}

static cst_status append_bytes(builder *b, cst__json_column *column, yyjson_val *value,
                               cst_error *error) {
  if (column->type->kind == CST__JSON_KIND_BINARY && yyjson_is_obj(value)) {
    yyjson_val *mark = cst__json_base64_mark(value);
    return mark != NULL ? append_base64(b, column, value, mark, error)
                        : fail_kind(b, column, value, error);
  }
  if (!yyjson_is_str(value)) {
    return fail_kind(b, column, value, error);
  }
  size_t size = unsafe_yyjson_get_len(value);
  uint8_t *to = cst__json_column_bytes(column, size, &b->allocator);
  if (to == NULL) {
    return fail_memory(error);
  }
  memcpy(to, unsafe_yyjson_get_str(value), size);
  return CST_OK;
}

/* ---- lists and structs ---- */

static cst_status append(builder *b, cst__json_column *column, yyjson_val *value, cst_error *error);

static cst_status append_items(builder *b, cst__json_column *column, yyjson_val *value,
                               cst_error *error) {
  yyjson_arr_iter items = yyjson_arr_iter_with(value);
  size_t depth = b->path.depth++;
  b->path.steps[depth].name = NULL;
  for (size_t i = 0; i < items.max; i++) {
    b->path.steps[depth].index = i;
    CST__TRY(append(b, &column->children[0], yyjson_arr_iter_next(&items), error));
  }
  b->path.depth--;
  return CST_OK;
}

static cst_status append_list(builder *b, cst__json_column *column, yyjson_val *value,
                              cst_error *error) {
  if (yyjson_is_arr(value)) {
    CST__TRY(append_items(b, column, value, error));
  } else if ((column->type->flags & CST__JSON_SCALARS) != 0) {
    CST__TRY(append(b, &column->children[0], value, error));
  } else {
    return fail_kind(b, column, value, error);
  }
  cst__json_offsets(column)[column->length] = column->children[0].length;
  return CST_OK;
}

static cst_status append_fixed_list(builder *b, cst__json_column *column, yyjson_val *value,
                                    cst_error *error) {
  int64_t size = column->type->fixed_size;
  bool is_scalar = !yyjson_is_arr(value) && (column->type->flags & CST__JSON_SCALARS) != 0;
  size_t found = is_scalar ? 1 : yyjson_arr_size(value);
  if (!is_scalar && !yyjson_is_arr(value)) {
    return fail_kind(b, column, value, error);
  }
  if (found != (size_t)size) {
    b->failed = value;
    return cst__fail(error, CST_SCHEMA, b->hint, "a list of %zu values, expected %" PRId64, found,
                     size);
  }
  if (!cst__json_column_pad(&column->children[0], (column->length - 1) * size, &b->allocator,
                            &b->absent)) {
    return cst__json_fail_absent(b->absent, error);
  }
  return is_scalar ? append(b, &column->children[0], value, error)
                   : append_items(b, column, value, error);
}

static bool is_key_of(const cst__json_type *type, const char *key, size_t size) {
  return type->name_size == size && memcmp(type->name, key, size) == 0;
}

/* The child of a key: the one whose key came here in the object before, or what the map says. */
static size_t find_child(cst__json_column *column, uint32_t *next, const char *key, size_t size) {
  uint32_t expected = *next;
  if (expected != NO_CHILD && is_key_of(&column->type->children[expected], key, size)) {
    return expected;
  }
  size_t found = cst__name_map_find(&column->type->map, key, size);
  if (found < column->type->num_children) {
    *next = (uint32_t)found;
  }
  return found;
}

static cst_status fail_key(builder *b, yyjson_val *key, cst_error *error) {
  b->failed = key;
  cst_status status = cst__fail(error, CST_SCHEMA, b->hint, "a key that is not among the types");
  size_t depth = b->path.depth++;
  b->path.steps[depth].name = unsafe_yyjson_get_str(key);
  b->path.steps[depth].size = unsafe_yyjson_get_len(key);
  return status;
}

/* Notes the value of each child, the last one of a key that comes twice (as Python's json has it);
 * *touched is a list of them, which begins empty. */
static cst_status collect(builder *b, cst__json_column *column, yyjson_val *value,
                          uint32_t *touched, cst_error *error) {
  yyjson_obj_iter members = yyjson_obj_iter_with(value);
  uint32_t *next = &column->first_key;
  uint32_t *tail = touched;
  for (yyjson_val *key; (key = yyjson_obj_iter_next(&members)) != NULL;) {
    size_t at = find_child(column, next, unsafe_yyjson_get_str(key), unsafe_yyjson_get_len(key));
    if (at >= column->type->num_children) {
      if (at != CST__JSON_IGNORED && (column->type->flags & CST__JSON_CLOSED) != 0) {
        return fail_key(b, key, error);
      }
      continue;
    }
    cst__json_column *child = &column->children[at];
    if (child->pending == NULL) {
      *tail = (uint32_t)at;
      tail = &child->touched;
      *tail = NO_CHILD;
    }
    child->pending = yyjson_obj_iter_get_val(key);
    next = &child->key_behind;
  }
  return CST_OK;
}

static cst_status append_child(builder *b, cst__json_column *column, cst__json_column *child,
                               yyjson_val *value, cst_error *error) {
  size_t depth = b->path.depth++;
  b->path.steps[depth].name = child->type->name;
  b->path.steps[depth].size = child->type->name_size;
  if (!cst__json_column_pad(child, column->length - 1, &b->allocator, &b->absent)) {
    return cst__json_fail_absent(b->absent, error);
  }
  CST__TRY(append(b, child, value, error));
  b->path.depth--;
  return CST_OK;
}

static cst_status fail_missing(builder *b, const cst__json_column *column, yyjson_val *value,
                               cst_error *error) {
  for (size_t i = 0; i < column->type->num_children; i++) {
    const cst__json_type *type = &column->type->children[i];
    if ((type->flags & CST__JSON_REQUIRED) != 0 && column->children[i].length < column->length) {
      size_t depth = b->path.depth++;
      b->path.steps[depth].name = type->name;
      b->path.steps[depth].size = type->name_size;
      b->failed = value;
      return cst__fail(error, CST_SCHEMA, NULL, "the field is absent, and may not be null");
    }
  }
  return CST_OK;
}

static cst_status append_struct(builder *b, cst__json_column *column, yyjson_val *value,
                                cst_error *error) {
  uint32_t touched = NO_CHILD;
  if (!yyjson_is_obj(value)) {
    return fail_kind(b, column, value, error);
  }
  cst_status status = collect(b, column, value, &touched, error);
  while (touched != NO_CHILD) {
    cst__json_column *child = &column->children[touched];
    yyjson_val *pending = child->pending;
    touched = child->touched;
    child->pending = NULL;
    if (status == CST_OK) {
      status = append_child(b, column, child, pending, error);
    }
  }
  if (status == CST_OK && column->type->num_required > 0) {
    status = fail_missing(b, column, value, error);
  }
  return status;
}

static cst_status append_null(builder *b, cst__json_column *column, yyjson_val *value,
                              cst_error *error) {
  if ((column->type->flags & CST__JSON_REQUIRED) != 0) {
    return fail_kind(b, column, value, error);
  }
  return cst__json_column_pad(column, column->length + 1, &b->allocator, &b->absent)
             ? CST_OK
             : cst__json_fail_absent(b->absent, error);
}

/* A list without a value is what a schema calls TYPE_UNKNOWN, too. */
static bool is_list_of_nulls(yyjson_val *value) {
  size_t i;
  size_t count;
  yyjson_val *item;
  if (!yyjson_is_arr(value)) {
    return false;
  }
  yyjson_arr_foreach(value, i, count, item) {
    if (!yyjson_is_null(item)) {
      return false;
    }
  }
  return true;
}

static cst_status append(builder *b, cst__json_column *column, yyjson_val *value,
                         cst_error *error) {
  bool is_null_column = column->type->kind == CST__JSON_KIND_NULL;
  if (yyjson_is_null(value) || (is_null_column && is_list_of_nulls(value))) {
    return append_null(b, column, value, error);
  }
  if (is_null_column) {
    return fail_kind(b, column, value, error);
  }
  if (!cst__json_column_add(column, &b->allocator)) {
    return fail_memory(error);
  }
  switch (column->type->kind) {
    case CST__JSON_KIND_BOOL:
      return append_bool(b, column, value, error);
    case CST__JSON_KIND_NUMBER:
      return append_number(b, column, value, error);
    case CST__JSON_KIND_STRING:
    case CST__JSON_KIND_BINARY:
      return append_bytes(b, column, value, error);
    case CST__JSON_KIND_LIST:
      return append_list(b, column, value, error);
    case CST__JSON_KIND_FIXED_LIST:
      return append_fixed_list(b, column, value, error);
    default:
      return append_struct(b, column, value, error);
  }
}

/* ---- rows ---- */

cst_status cst__json_builder_add(cst__json_builder *b, const cst__json_document *document,
                                 const cst__json_record *record, yyjson_val *value,
                                 cst_error *error) {
  int64_t rows = b->root.length;
  int64_t absent = b->absent;
  b->path.depth = 0;
  b->failed = NULL;
  cst_status status = append(b, &b->root, value, error);
  if (status != CST_OK) {
    cst__json_column_truncate(&b->root, rows);
    b->absent = absent;
    if (status != CST_NO_MEMORY) {
      cst__json_add_path(&b->path, error);
      cst__json_add_place(document, record, b->failed, error);
    }
  }
  return status;
}

cst_status cst__json_builder_finish(cst__json_builder *b, struct ArrowArray *out,
                                    cst_error *error) {
  cst_status status =
      cst__json_column_export(&b->root, b->root.length, &b->allocator, &b->absent, out, error);
  b->absent = 0;
  return status;
}
