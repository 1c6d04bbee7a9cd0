/* Ties a tree to the columns of a batch: where their slots lie, and which writer reads them.
 */
#include "message/encode/encoder_tree.h"

static cst__viewed child_of(const cst__viewed *parent, int64_t i) {
  return (cst__viewed){&parent->view->children[i], parent->schema->children[i],
                       parent->array->children[i]};
}

static bool is_map_field(const cst__field_def *def) {
  return def->type == CST__FIELD_MESSAGE && def->message->is_map_entry;
}

static cst_status fail_column_type(const cst__out_binding *b, const cst__out_field *field,
                                   const cst__view *view) {
  char type[64];
  bool is_map = is_map_field(field->def);
  cst__view_type_name(view, type, sizeof type);
  return cst__fail(b->error, CST_UNSUPPORTED, "cast the column, or leave it out",
                   "a field of type %s%s cannot be made of a column of type %s",
                   cst__field_is_repeated(field->def) && !is_map ? "repeated " : "",
                   is_map ? "map" : cst__field_type_name(field->def), type);
}

/* ---- dictionaries ---- */

static cst_status check_indices(const cst__out_binding *b, const cst__view *indices,
                                const cst__view *values) {
  for (int64_t i = 0; i < indices->length; i++) {
    int64_t index = cst__view_int(indices, i);
    if (!cst__view_is_null(indices, i) && (index < 0 || index >= values->length)) {
      return cst__fail(b->error, CST_CORRUPT, NULL,
                       "slot %lld: index %lld of a dictionary of %lld values", (long long)i,
                       (long long)index, (long long)values->length);
    }
  }
  return CST_OK;
}

/* Looks at a dictionary-encoded column; *column becomes its values. */
static cst_status bind_dictionary(const cst__out_binding *b, cst__viewed *column,
                                  cst__bound_slots *slots) {
  struct ArrowSchema index_schema = *column->schema;
  struct ArrowArray index_array = *column->array;
  index_schema.dictionary = NULL;
  index_array.dictionary = NULL;
  cst__view *views = cst__arena_take_zero(b->arena, 2 * sizeof *views);
  if (views == NULL) {
    return cst__fail_memory(b->error, 2 * sizeof *views);
  }
  cst__view *indices = &views[0];
  cst__view *values = &views[1];
  CST__TRY(cst__view_init(indices, &index_schema, &index_array, b->trusted, b->arena, b->error));
  if (!(indices->layout == CST__LAYOUT_NUMBER && indices->dtype != CST_DTYPE_FLOAT32 &&
        indices->dtype != CST_DTYPE_FLOAT64) ||
      column->array->dictionary == NULL || column->schema->dictionary->dictionary != NULL) {
    return cst__fail(b->error, CST_INVALID_ARGUMENT, NULL,
                     "a dictionary-encoded column without integers, or without plain values");
  }
  indices->offset = column->view->offset; /* of the parent's slice */
  indices->length = column->view->length;
  indices->format = column->view->format; /* that of the schema that stays */
  CST__TRY(cst__view_init(values, column->schema->dictionary, column->array->dictionary, b->trusted,
                          b->arena, b->error));
  CST__TRY(check_indices(b, indices, values));
  *slots = (cst__bound_slots){values, indices};
  *column = (cst__viewed){values, column->schema->dictionary, column->array->dictionary};
  return CST_OK;
}

/* *column becomes the one that has the values. */
static cst_status bind_slots(const cst__out_binding *b, cst__viewed *column,
                             cst__bound_slots *slots) {
  *slots = (cst__bound_slots){column->view, NULL};
  return column->schema->dictionary != NULL ? bind_dictionary(b, column, slots) : CST_OK;
}

/* The numbers that the names of a dictionary stand for, so that each is looked up once. */
static cst_status bind_enum_names(const cst__out_binding *b, cst__out_field *field) {
  const cst__view *values = field->values.view;
  field->numbers = NULL;
  if (field->def->type != CST__FIELD_ENUM || field->values.indices == NULL ||
      values->dtype != CST_DTYPE_BYTES) {
    return CST_OK;
  }
  int64_t *numbers = cst__arena_take(b->arena, (size_t)(values->length + 1) * sizeof *numbers);
  if (numbers == NULL) {
    return cst__fail_memory(b->error, (size_t)values->length * sizeof *numbers);
  }
  for (int64_t i = 0; i < values->length; i++) {
    numbers[i] = cst__out_enum_number(field, cst__view_bytes(values, i));
  }
  field->numbers = numbers;
  return CST_OK;
}

/* ---- fields ---- */

static uint8_t *put_nothing(const cst__out_field *field, int64_t row, uint8_t *at, cst__out *out) {
  (void)row;
  (void)out;
  (void)field;
  return at;
}

static cst__put_field field_writer(const cst__out_field *field) {
  cst__put_field plain = cst__out_plain_writer(field);
  if (plain != NULL) {
    return plain;
  }
  if (!cst__field_is_repeated(field->def)) {
    return cst__out_put_singular;
  }
  if (is_map_field(field->def)) {
    return cst__out_put_map;
  }
  return (field->def->flags & CST__FIELD_PACKED) != 0 ? cst__out_put_packed : cst__out_put_repeated;
}

/* From the view's first slot on; NULL if the values are no numbers. */
static const void *first_number(const cst__view *view) {
  return view->layout == CST__LAYOUT_NUMBER && view->data != NULL
             ? (const uint8_t *)view->data + (size_t)view->offset * cst_dtype_width(view->dtype)
             : NULL;
}

/* What writers of plain columns go by. */
static void bind_plain(cst__out_field *field) {
  const cst__view *rows =
      cst__field_is_repeated(field->def) ? field->lists.view : field->values.view;
  field->data = first_number(field->values.view);
  field->validity = rows->validity;
  field->has_wide_offsets = rows->offset_width == 8;
  field->offsets = rows->layout == CST__LAYOUT_LIST && rows->offsets != NULL
                       ? (const uint8_t *)rows->offsets + rows->offset * rows->offset_width
                       : NULL;
}

static cst_status bind_below(const cst__out_binding *b, cst__out_field *field,
                             const cst__viewed *values) {
  if (field->message == NULL) {
    return CST_OK;
  }
  if (field->message->is_column) {
    /* The wrapper's value: its column is looked at already, and null where the wrapper is. */
    cst__out_field *value = &field->message->fields[0];
    value->values = (cst__bound_slots){values->view, NULL};
    bind_plain(value);
    value->put_value = cst__out_value_writer(value, values->view);
    value->put = field_writer(value);
    return value->put_value != NULL ? CST_OK : fail_column_type(b, field, values->view);
  }
  return cst__out_bind_message(b, field->message, values);
}

/* A list's items, which stand in for it; *column becomes theirs. */
static cst_status bind_list(const cst__out_binding *b, cst__out_field *field, cst__viewed *column) {
  CST__TRY(bind_slots(b, column, &field->lists));
  if (!cst__view_is_list(column->view)) {
    return column->view->layout == CST__LAYOUT_NULL ? CST_OK
                                                    : fail_column_type(b, field, column->view);
  }
  *column = child_of(column, 0);
  return CST_OK;
}

static cst_status bind_field(const cst__out_binding *b, cst__out_field *field, cst__viewed column) {
  const cst__view *whole = column.view;
  bool is_repeated = cst__field_is_repeated(field->def);
  if (is_repeated) {
    CST__TRY(bind_list(b, field, &column));
  }
  const cst__view *items = column.view;
  CST__TRY(bind_slots(b, &column, &field->values));
  if (column.view->layout == CST__LAYOUT_NULL) {
    bool is_list = is_repeated && items != field->lists.view;
    if (!is_list) {
      /* A column of nulls only. */
      field->values = field->lists = (cst__bound_slots){column.view, NULL};
      field->put = field->is_required ? cst__out_put_missing : put_nothing;
    } else {
      field->put = cst__out_put_repeated; /* lists of nulls: empty ones will do */
    }
    return CST_OK;
  }
  field->put_value = cst__out_value_writer(field, column.view);
  if (field->put_value == NULL ||
      (is_repeated && is_map_field(field->def) && field->message == NULL)) {
    return fail_column_type(b, field, whole);
  }
  bind_plain(field);
  CST__TRY(bind_enum_names(b, field));
  CST__TRY(bind_below(b, field, &column));
  field->put = field_writer(field);
  return CST_OK;
}

/* ---- messages ---- */

static cst_status bind_unknown(const cst__out_binding *b, cst__out_message *message,
                               const cst__viewed *columns) {
  cst__viewed column = child_of(columns, message->unknown_column);
  CST__TRY(bind_slots(b, &column, &message->unknown));
  if (column.view->dtype != CST_DTYPE_BYTES && column.view->layout != CST__LAYOUT_NULL) {
    return cst__fail(b->error, CST_UNSUPPORTED, NULL, "unknown fields are bytes");
  }
  return CST_OK;
}

/* A message in the place of an Any's value. */
static cst_status bind_cast(const cst__out_binding *b, cst__out_field *cast, cst__viewed column) {
  CST__TRY(bind_slots(b, &column, &cast->values));
  return cst__out_bind_message(b, cast->message, &column);
}

typedef cst_status (*bind_function)(const cst__out_binding *b, cst__out_field *field,
                                    cst__viewed column);

static cst_status bind_each(const cst__out_binding *b, cst__out_field *fields, size_t count,
                            const cst__viewed *columns, bind_function bind) {
  for (size_t i = 0; i < count; i++) {
    cst__out_field *field = &fields[i];
    if (field->column < 0) {
      continue;
    }
    cst_status status = bind(b, field, child_of(columns, field->column));
    if (status != CST_OK) {
      cst__error_add_path(b->error, field->name, strlen(field->name));
      return status;
    }
  }
  return CST_OK;
}

cst_status cst__out_bind_message(const cst__out_binding *b, cst__out_message *message,
                                 const cst__viewed *columns) {
  if (message->unknown_column >= 0) {
    cst_status status = bind_unknown(b, message, columns);
    if (status != CST_OK) {
      cst__error_add_path(b->error, message->unknown_name, strlen(message->unknown_name));
      return status;
    }
  }
  CST__TRY(bind_each(b, message->fields, message->num_fields, columns, bind_field));
  return bind_each(b, message->casts, message->num_casts, columns, bind_cast);
}
