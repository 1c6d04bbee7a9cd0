/* Parsed records to rows: each value is checked against the type that its column has. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/exact.h"
#include "format/json/json.h"
#include "format/table/value_text.h"
#include "text/base64.h"
#include "text/number.h"

enum { NO_CHILD = UINT32_MAX };

/* Finds the column of a type and its builder, and those within. */
static cst_status init_column(cst__json_rows *rows, cst__json_column *column,
                              const cst__json_type *type, cst__builder *to, cst_error *error) {
  *column = (cst__json_column){.type = type,
                               .to = to,
                               .touched = NO_CHILD,
                               .first_key = NO_CHILD,
                               .next_key = NO_CHILD,
                               .way = cst__json_way_of(type->type)};
  to->absent_is_null = (type->flags & (CST__JSON_REQUIRED | CST__JSON_PRESENT)) == 0;
  size_t size = to->num_children * sizeof *column->children;
  column->children = cst__arena_take(&rows->arena, size + 1);
  if (column->children == NULL ||
      !cst__json_key_init(&column->key, type->type->name, type->name_size, &rows->arena)) {
    return cst__fail_memory(error, size);
  }
  for (size_t i = 0; i < to->num_children; i++) {
    CST__TRY(init_column(rows, &column->children[i], &type->children[i], &to->children[i], error));
  }
  return CST_OK;
}

cst_status cst__json_rows_init(cst__json_rows *rows, const cst__json_types *types,
                               const cst_allocator *allocator, cst_error *error) {
  *rows = (cst__json_rows){0};
  cst__arena_init(&rows->arena, allocator);
  if (types->is_inferred) {
    rows->hint = "the types were inferred from other records: give a schema or types";
  }
  CST__TRY(cst__batch_builder_new(&types->arrow, allocator, &rows->batch, error));
  CST__TRY(init_column(rows, &rows->root, &types->root, rows->batch->root, error));
  rows->is_direct = cst__json_column_is_direct(&rows->root);
  return CST_OK;
}

/* ---- failures ---- */

/* A builder that had no room. */
static cst_status json_fail_room(const cst__json_rows *rows, cst_error *error) {
  return cst__batch_builder_fail(rows->batch, error);
}

static cst_status fail_kind(cst__json_rows *rows, const cst__json_column *column, yyjson_val *value,
                            cst_error *error) {
  rows->failed = value;
  return cst__fail(error, CST_SCHEMA, rows->hint, "%s, expected %s", cst__json_kind(value),
                   cst__json_type_word(column->type));
}

static cst_status fail_value(cst__json_rows *rows, const cst__json_column *column,
                             yyjson_val *value, const char *what, cst_error *error) {
  rows->failed = value;
  return cst__fail(error, CST_SCHEMA, rows->hint, "%s, expected %s", what,
                   cst__json_type_word(column->type));
}

/* ---- scalars ---- */

static bool fits(cst__json_number number, int64_t least, uint64_t most) {
  return (number.kind == CST__JSON_UINT && number.u <= most) ||
         (number.kind == CST__JSON_INT && number.i >= least &&
          (number.i < 0 || (uint64_t)number.i <= most));
}

bool cst__json_read_integer(cst_dtype dtype, cst__json_number number, uint64_t *bits) {
  static const struct {
    int64_t least;
    uint64_t most;
  } ranges[] = {
      [CST_DTYPE_INT8] = {INT8_MIN, INT8_MAX},    [CST_DTYPE_INT16] = {INT16_MIN, INT16_MAX},
      [CST_DTYPE_INT32] = {INT32_MIN, INT32_MAX}, [CST_DTYPE_INT64] = {INT64_MIN, INT64_MAX},
      [CST_DTYPE_UINT8] = {0, UINT8_MAX},         [CST_DTYPE_UINT16] = {0, UINT16_MAX},
      [CST_DTYPE_UINT32] = {0, UINT32_MAX},       [CST_DTYPE_UINT64] = {0, UINT64_MAX}};
  *bits = number.kind == CST__JSON_UINT ? number.u : (uint64_t)number.i;
  return fits(number, ranges[dtype].least, ranges[dtype].most);
}

bool cst__json_is_inexact(const char *text, size_t size) {
  if (size <= DBL_DIG) { /* so few digits are always held */
    return false;
  }
  cst__json_number number = cst__json_read_number(text, size);
  if (number.kind == CST__JSON_FLOAT || number.kind == CST__JSON_HUGE) {
    return number.kind == CST__JSON_HUGE;
  }
  return !cst__float_holds(number.u, DBL_MANT_DIG);
}

static cst_status append_float(cst__json_rows *rows, cst__json_column *column, yyjson_val *value,
                               cst_error *error) {
  const char *text = yyjson_is_raw(value) ? unsafe_yyjson_get_raw(value) : "";
  size_t size = unsafe_yyjson_get_len(value);
  bool is_wide = column->type->type->dtype == CST_DTYPE_FLOAT64;
  double wide;
  float narrow;
  bool is_special =
      yyjson_is_str(value) && cst__json_read_special(unsafe_yyjson_get_str(value), size, &wide);
  if (is_special) {
    narrow = (float)wide;
  } else if (!yyjson_is_raw(value)) {
    return fail_kind(rows, column, value, error);
  } else if ((column->type->flags & CST__JSON_EXACT) != 0 && cst__json_is_inexact(text, size)) {
    return fail_value(rows, column, value, "an integer that float64 cannot represent exactly",
                      error);
  } else if (is_wide ? !cst__parse_float64(text, size, &wide)
                     : !cst__parse_float32(text, size, &narrow)) {
    return fail_value(rows, column, value, "a number out of range", error);
  }
  bool ok = is_wide ? cst__builder_append(column->to, &wide, sizeof wide)
                    : cst__builder_append(column->to, &narrow, sizeof narrow);
  return ok ? CST_OK : json_fail_room(rows, error);
}

static cst_status append_half(cst__json_rows *rows, cst__json_column *column, yyjson_val *value,
                              cst_error *error) {
  double special;
  uint16_t half;
  bool is_text = yyjson_is_str(value);
  if ((!is_text && !yyjson_is_raw(value)) ||
      (is_text && !cst__json_read_special(unsafe_yyjson_get_str(value),
                                          unsafe_yyjson_get_len(value), &special))) {
    return fail_kind(rows, column, value, error);
  }
  const char *text = is_text ? unsafe_yyjson_get_str(value) : unsafe_yyjson_get_raw(value);
  if (!cst__parse_half(text, unsafe_yyjson_get_len(value), &half)) {
    return fail_value(rows, column, value, "a number out of range", error);
  }
  return cst__builder_append(column->to, &half, sizeof half) ? CST_OK : json_fail_room(rows, error);
}

/* A time, or a decimal, which may be a number, too. */
static cst_status append_texted(cst__json_rows *rows, cst__json_column *column, yyjson_val *value,
                                cst_error *error) {
  uint64_t word[4]; /* as wide as any of them */
  const cst__type *type = column->type->type;
  bool is_number = yyjson_is_raw(value) && type->format[0] == 'd';
  if (!yyjson_is_str(value) && !is_number) {
    return fail_kind(rows, column, value, error);
  }
  const char *text = is_number ? unsafe_yyjson_get_raw(value) : unsafe_yyjson_get_str(value);
  if (!cst__parse_value_text(type->format, text, unsafe_yyjson_get_len(value), word)) {
    return fail_value(rows, column, value, is_number ? "another number" : "another text", error);
  }
  return cst__builder_append(column->to, word, type->width) ? CST_OK : json_fail_room(rows, error);
}

static cst_status append_integer(cst__json_rows *rows, cst__json_column *column, yyjson_val *value,
                                 cst_error *error) {
  uint64_t bits;
  if (!yyjson_is_raw(value)) {
    return fail_kind(rows, column, value, error);
  }
  cst__json_number number =
      cst__json_read_number(unsafe_yyjson_get_raw(value), unsafe_yyjson_get_len(value));
  if (number.kind == CST__JSON_FLOAT) {
    return fail_value(rows, column, value, "a number with a point or an exponent", error);
  }
  if (!cst__json_read_integer(column->type->type->dtype, number, &bits)) {
    return fail_value(rows, column, value, "an integer out of range", error);
  }
  return cst__builder_append(column->to, &bits, column->type->type->width)
             ? CST_OK
             : json_fail_room(rows, error);
}

static cst_status json_append_bool(cst__json_rows *rows, cst__json_column *column,
                                   yyjson_val *value, cst_error *error) {
  if (!yyjson_is_bool(value)) {
    return fail_kind(rows, column, value, error);
  }
  return cst__builder_append_bool(column->to, unsafe_yyjson_get_bool(value))
             ? CST_OK
             : json_fail_room(rows, error);
}

static cst_status json_append_base64(cst__json_rows *rows, cst__json_column *column,
                                     yyjson_val *value, yyjson_val *mark, cst_error *error) {
  size_t size;
  const char *text = unsafe_yyjson_get_str(mark);
  if (!cst__base64_size(text, unsafe_yyjson_get_len(mark), CST__BASE64_EXACT, &size)) {
    return fail_value(rows, column, value, "a text that is not base64", error);
  }
  uint8_t *to = cst__builder_append_string(column->to, size);
  if (to == NULL) {
    return json_fail_room(rows, error);
  }
  cst__base64_decode(text, unsafe_yyjson_get_len(mark), to);
  return CST_OK;
}

static cst_status append_fixed_bytes(cst__json_rows *rows, cst__json_column *column,
                                     yyjson_val *value, cst_error *error) {
  size_t width = column->type->type->width;
  yyjson_val *mark = cst__json_base64_mark(value);
  yyjson_val *string = mark != NULL ? mark : value;
  if (!yyjson_is_str(string)) {
    return fail_kind(rows, column, value, error);
  }
  const char *text = unsafe_yyjson_get_str(string);
  size_t size = unsafe_yyjson_get_len(string);
  size_t bytes = size;
  if (mark != NULL && !cst__base64_size(text, size, CST__BASE64_EXACT, &bytes)) {
    return fail_value(rows, column, value, "a text that is not base64", error);
  }
  if (bytes != width) {
    return fail_value(rows, column, value, "a value of another size", error);
  }
  if (!cst__builder_has_room(column->to)) {
    return json_fail_room(rows, error);
  }
  uint8_t *to = cst__builder_next(column->to, width);
  if (mark != NULL) {
    cst__base64_decode(text, size, to);
  } else if (width > 0) {
    memcpy(to, text, width);
  }
  column->to->length++;
  return CST_OK;
}

static cst_status json_append_value(cst__json_rows *rows, cst__json_column *column,
                                    yyjson_val *value, cst_error *error);

/* A value that is no string with offsets is made alone, as one of its type is. */
static cst_status append_dictionary_value(cst__json_rows *rows, cst__json_column *column,
                                          yyjson_val *value, cst_error *error) {
  cst__json_type type = {.type = column->type->type->dictionary, .flags = CST__JSON_REQUIRED};
  cst__json_column one = {.type = &type, .to = cst__builder_dictionary_value(column->to)};
  CST__TRY(json_append_value(rows, &one, value, error));
  cst_status status = cst__builder_append_value(column->to, error);
  rows->failed = status != CST_OK ? value : rows->failed;
  return status;
}

static cst_status append_dictionary(cst__json_rows *rows, cst__json_column *column,
                                    yyjson_val *value, cst_error *error) {
  int64_t index;
  if (column->type->type->dictionary->layout != CST__LAYOUT_BINARY) {
    return append_dictionary_value(rows, column, value, error);
  }
  yyjson_val *mark =
      column->type->type->dictionary->is_string ? NULL : cst__json_base64_mark(value);
  yyjson_val *string = mark != NULL ? mark : value;
  if (!yyjson_is_str(string)) {
    return fail_kind(rows, column, value, error);
  }
  const char *text = unsafe_yyjson_get_str(string);
  size_t size = unsafe_yyjson_get_len(string);
  char *bytes = NULL;
  if (mark != NULL) {
    size_t decoded;
    if (!cst__base64_size(text, size, CST__BASE64_EXACT, &decoded)) {
      return fail_value(rows, column, value, "a text that is not base64", error);
    }
    bytes = cst__new(&rows->batch->allocator, decoded + 1);
    if (bytes == NULL) {
      return cst__fail_memory(error, decoded);
    }
    cst__base64_decode(text, size, (uint8_t *)bytes);
    text = bytes;
    size = decoded;
  }
  cst_status status = cst__builder_intern(column->to, text, size, &index, error);
  cst__delete(bytes);
  if (status != CST_OK) {
    rows->failed = value;
    return status;
  }
  return cst__builder_append_index(column->to, index) ? CST_OK : json_fail_room(rows, error);
}

static cst_status json_append_bytes(cst__json_rows *rows, cst__json_column *column,
                                    yyjson_val *value, cst_error *error) {
  if (!column->type->type->is_string && yyjson_is_obj(value)) {
    yyjson_val *mark = cst__json_base64_mark(value);
    return mark != NULL ? json_append_base64(rows, column, value, mark, error)
                        : fail_kind(rows, column, value, error);
  }
  if (!yyjson_is_str(value)) {
    return fail_kind(rows, column, value, error);
  }
  return cst__builder_append_bytes(column->to, unsafe_yyjson_get_str(value),
                                   unsafe_yyjson_get_len(value))
             ? CST_OK
             : json_fail_room(rows, error);
}

/* ---- lists and structs ---- */

static cst_status append_items(cst__json_rows *rows, cst__json_column *column, yyjson_val *value,
                               cst_error *error) {
  yyjson_arr_iter items = yyjson_arr_iter_with(value);
  size_t depth = rows->path.depth++;
  rows->path.steps[depth].name = NULL;
  for (size_t i = 0; i < items.max; i++) {
    rows->path.steps[depth].index = i;
    CST__TRY(json_append_value(rows, &column->children[0], yyjson_arr_iter_next(&items), error));
  }
  rows->path.depth--;
  return CST_OK;
}

static cst_status json_append_list(cst__json_rows *rows, cst__json_column *column,
                                   yyjson_val *value, cst_error *error) {
  if (yyjson_is_arr(value)) {
    CST__TRY(append_items(rows, column, value, error));
  } else if ((column->type->flags & CST__JSON_SCALARS) != 0) {
    CST__TRY(json_append_value(rows, &column->children[0], value, error));
  } else {
    return fail_kind(rows, column, value, error);
  }
  return cst__builder_end_list(column->to) ? CST_OK : json_fail_room(rows, error);
}

static cst_status append_fixed_list(cst__json_rows *rows, cst__json_column *column,
                                    yyjson_val *value, cst_error *error) {
  int64_t size = column->type->type->fixed_size;
  bool is_scalar = !yyjson_is_arr(value) && (column->type->flags & CST__JSON_SCALARS) != 0;
  size_t found = is_scalar ? 1 : yyjson_arr_size(value);
  if (!is_scalar && !yyjson_is_arr(value)) {
    return fail_kind(rows, column, value, error);
  }
  if (found != (size_t)size) {
    rows->failed = value;
    return cst__fail(error, CST_SCHEMA, rows->hint, "a list of %zu values, expected %" PRId64,
                     found, size);
  }
  if (!cst__builder_begin_fixed(column->to)) {
    return json_fail_room(rows, error);
  }
  CST__TRY(is_scalar ? json_append_value(rows, &column->children[0], value, error)
                     : append_items(rows, column, value, error));
  return cst__builder_end_struct(column->to) ? CST_OK : json_fail_room(rows, error);
}

static bool is_key_of(const cst__json_type *type, const char *key, size_t size) {
  return type->name_size == size && memcmp(type->type->name, key, size) == 0;
}

/* The child of a key: the one whose key came here in the object before, or what the map says. */
static size_t json_find_child(cst__json_column *column, uint32_t *next, const char *key,
                              size_t size) {
  uint32_t expected = *next;
  if (expected != NO_CHILD && is_key_of(&column->type->children[expected], key, size)) {
    return expected;
  }
  size_t found = cst__name_map_find(&column->type->map, key, size);
  if (found < column->to->num_children) {
    *next = (uint32_t)found;
  }
  return found;
}

static cst_status fail_key(cst__json_rows *rows, yyjson_val *key, cst_error *error) {
  rows->failed = key;
  cst_status status = cst__fail(error, CST_SCHEMA, rows->hint, "a key that the types do not have");
  size_t depth = rows->path.depth++;
  rows->path.steps[depth].name = unsafe_yyjson_get_str(key);
  rows->path.steps[depth].size = unsafe_yyjson_get_len(key);
  return status;
}

/* Notes the value of each child, the last one of a key that comes twice (as Python's json has it);
 * *touched is a list of them, which begins empty. */
static cst_status json_collect(cst__json_rows *rows, cst__json_column *column, yyjson_val *value,
                               uint32_t *touched, cst_error *error) {
  yyjson_obj_iter members = yyjson_obj_iter_with(value);
  uint32_t *next = &column->first_key;
  uint32_t *tail = touched;
  for (yyjson_val *key; (key = yyjson_obj_iter_next(&members)) != NULL;) {
    size_t at =
        json_find_child(column, next, unsafe_yyjson_get_str(key), unsafe_yyjson_get_len(key));
    if (at >= column->to->num_children) {
      if (at != CST__JSON_IGNORED && (column->type->flags & CST__JSON_CLOSED) != 0) {
        return fail_key(rows, key, error);
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
    next = &child->next_key;
  }
  return CST_OK;
}

static cst_status append_child(cst__json_rows *rows, cst__json_column *column,
                               cst__json_column *child, yyjson_val *value, cst_error *error) {
  size_t depth = rows->path.depth++;
  rows->path.steps[depth].name = child->type->type->name;
  rows->path.steps[depth].size = child->type->name_size;
  if (!cst__builder_pad(child->to, column->to->length)) {
    return json_fail_room(rows, error);
  }
  CST__TRY(json_append_value(rows, child, value, error));
  rows->path.depth--;
  return CST_OK;
}

static cst_status check_required(cst__json_rows *rows, const cst__json_column *column,
                                 yyjson_val *value, cst_error *error) {
  for (size_t i = 0; i < column->to->num_children; i++) {
    const cst__json_type *type = &column->type->children[i];
    if ((type->flags & CST__JSON_REQUIRED) != 0 &&
        column->children[i].to->length <= column->to->length) {
      size_t depth = rows->path.depth++;
      rows->path.steps[depth].name = type->type->name;
      rows->path.steps[depth].size = type->name_size;
      rows->failed = value;
      return cst__fail(error, CST_SCHEMA, NULL, "the field is missing and not nullable");
    }
  }
  return CST_OK;
}

static cst_status json_append_struct(cst__json_rows *rows, cst__json_column *column,
                                     yyjson_val *value, cst_error *error) {
  uint32_t touched = NO_CHILD;
  if (!yyjson_is_obj(value)) {
    return fail_kind(rows, column, value, error);
  }
  cst_status status = json_collect(rows, column, value, &touched, error);
  while (touched != NO_CHILD) {
    cst__json_column *child = &column->children[touched];
    yyjson_val *pending = child->pending;
    touched = child->touched;
    child->pending = NULL;
    if (status == CST_OK) {
      status = append_child(rows, column, child, pending, error);
    }
  }
  if (status == CST_OK && column->type->num_required > 0) {
    status = check_required(rows, column, value, error);
  }
  if (status == CST_OK && !cst__builder_end_struct(column->to)) {
    status = json_fail_room(rows, error);
  }
  return status;
}

static cst_status append_null(cst__json_rows *rows, cst__json_column *column, yyjson_val *value,
                              cst_error *error) {
  if ((column->type->flags & CST__JSON_REQUIRED) != 0) {
    return fail_kind(rows, column, value, error);
  }
  return cst__builder_append_absent(column->to) ? CST_OK : json_fail_room(rows, error);
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

static cst_status json_append_value(cst__json_rows *rows, cst__json_column *column,
                                    yyjson_val *value, cst_error *error) {
  cst__layout layout = column->type->type->layout;
  bool is_null_column = layout == CST__LAYOUT_NULL;
  if (yyjson_is_null(value) || (is_null_column && is_list_of_nulls(value))) {
    return append_null(rows, column, value, error);
  }
  switch (layout) {
    case CST__LAYOUT_NULL:
      return fail_kind(rows, column, value, error);
    case CST__LAYOUT_BOOL:
      return json_append_bool(rows, column, value, error);
    case CST__LAYOUT_HALF:
      return append_half(rows, column, value, error);
    case CST__LAYOUT_OPAQUE:
      return append_texted(rows, column, value, error);
    case CST__LAYOUT_FIXED_BINARY:
      return append_fixed_bytes(rows, column, value, error);
    case CST__LAYOUT_NUMBER:
      if (column->type->type->dictionary != NULL) {
        return append_dictionary(rows, column, value, error);
      }
      return cst__json_is_float(column->type->type->dtype)
                 ? append_float(rows, column, value, error)
                 : append_integer(rows, column, value, error);
    case CST__LAYOUT_BINARY:
    case CST__LAYOUT_BINARY_VIEW:
      return json_append_bytes(rows, column, value, error);
    case CST__LAYOUT_LIST:
    case CST__LAYOUT_LIST_VIEW:
      return json_append_list(rows, column, value, error);
    case CST__LAYOUT_FIXED_LIST:
      return append_fixed_list(rows, column, value, error);
    default:
      return json_append_struct(rows, column, value, error);
  }
}

cst_status cst__json_rows_add(cst__json_rows *rows, const cst__json_document *document,
                              const cst__json_record *record, yyjson_val *value, cst_error *error) {
  cst__builder_mark mark = cst__batch_builder_mark(rows->batch);
  rows->path.depth = 0;
  rows->failed = NULL;
  cst_status status = json_append_value(rows, &rows->root, value, error);
  if (status != CST_OK) {
    cst__batch_builder_rollback(rows->batch, mark);
    if (status != CST_NO_MEMORY) {
      cst__json_add_path(&rows->path, error);
      cst__json_add_place(document, record, rows->failed, error);
    }
  }
  return status;
}
