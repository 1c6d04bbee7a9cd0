/* Columns that grow by one value at a time.
 *
 * Numbers take 8 bytes each while they grow, and the width of their type when it is known. Fields
 * that a row lacks cost nothing: they are filled up with nulls when the next value comes.
 */
#include "ext/table/grow.h"

#include <stdlib.h>

/* ---- buffers ---- */

static int reserve(cst__py_grown *b, size_t more) {
  if (more <= b->capacity - b->size) {
    return 0;
  }
  size_t capacity = b->capacity < 64 ? 64 : b->capacity;
  while (capacity - b->size < more) {
    if (capacity > SIZE_MAX / 2) {
      PyErr_NoMemory();
      return -1;
    }
    capacity *= 2;
  }
  uint8_t *data = realloc(b->data, capacity);
  if (data == NULL) {
    PyErr_NoMemory();
    return -1;
  }
  b->data = data;
  b->capacity = capacity;
  return 0;
}

static int grow_append(cst__py_grown *b, const void *data, size_t size) {
  if (reserve(b, size) < 0) {
    return -1;
  }
  if (size > 0) {
    memcpy(b->data + b->size, data, size);
    b->size += size;
  }
  return 0;
}

static int append_zeros(cst__py_grown *b, size_t size) {
  if (reserve(b, size) < 0) {
    return -1;
  }
  if (size > 0) {
    memset(b->data + b->size, 0, size);
    b->size += size;
  }
  return 0;
}

/* ---- slots ---- */

static bool has_offsets(const cst__py_column *c, cst__py_kind kind) {
  return kind == CST__PY_TEXT || kind == CST__PY_BYTES ||
         (kind == CST__PY_LIST && c->fixed_size < 0);
}

static bool is_number(cst__py_kind kind) {
  return kind >= CST__PY_BOOL && kind <= CST__PY_DURATION;
}

/* Where the next slot of a column with offsets begins. */
static int64_t end_of(const cst__py_column *c) {
  return c->kind == CST__PY_LIST ? (c->num_children > 0 ? c->children[0]->length : 0)
                                 : (int64_t)c->values.size;
}

/* Ends a slot whose value, if it has one, is there. */
static int end_slot(cst__py_column *c, bool valid) {
  if (has_offsets(c, c->kind)) {
    int64_t end = end_of(c);
    if (grow_append(&c->offsets, &end, sizeof end) < 0) {
      return -1;
    }
  }
  if (c->kind != CST__PY_NULL) {
    if ((c->length & 7) == 0 && append_zeros(&c->valid, 1) < 0) {
      return -1;
    }
    if (valid) {
      c->valid.data[c->length >> 3] |= (uint8_t)(1 << (c->length & 7));
    }
  }
  c->has_nulls = c->has_nulls || !valid;
  c->guess = 0;
  c->length++;
  return 0;
}

static int fill_up(cst__py_column *column, int64_t length) {
  while (column->length < length) {
    if (cst__py_column_add_null(column) < 0) {
      return -1;
    }
  }
  return 0;
}

/* Below a null, what is never null has some value. */
int cst__py_column_add_null(cst__py_column *column) {
  if (is_number(column->kind) && append_zeros(&column->values, 8) < 0) {
    return -1;
  }
  if (column->fixed_size > 0 &&
      fill_up(column->children[0], (column->length + 1) * column->fixed_size) < 0) {
    return -1;
  }
  return end_slot(column, column->is_required);
}

int cst__py_column_end(cst__py_column *column) { return end_slot(column, true); }

int cst__py_column_become(cst__py_column *column, cst__py_kind kind, char letter, int64_t row) {
  if (column->kind == kind) {
    return 0;
  }
  if (column->kind != CST__PY_NULL || column->type != NULL) {
    return CST__PY_OTHER_KIND;
  }
  size_t length = (size_t)column->length;
  if (append_zeros(&column->valid, (length + 7) / 8) < 0 ||
      (is_number(kind) && append_zeros(&column->values, length * 8) < 0) ||
      (has_offsets(column, kind) && append_zeros(&column->offsets, (length + 1) * 8) < 0)) {
    return -1;
  }
  column->kind = kind;
  column->letter = letter;
  column->first = row;
  return 0;
}

/* ---- numbers ---- */

/* Whether float64 holds the int, which becomes *real. */
static bool fits(int64_t number, double *real) {
  *real = (double)number;
  return *real < 9223372036854775808.0 && (int64_t)*real == number;
}

/* Ints to floats. CST__PY_INEXACT: one of them is not a float64. */
static int to_floats(cst__py_column *c) {
  for (int64_t i = 0; i < c->length; i++) {
    int64_t number;
    double real;
    memcpy(&number, c->values.data + i * 8, sizeof number);
    if (!fits(number, &real)) {
      return CST__PY_INEXACT;
    }
    memcpy(c->values.data + i * 8, &real, sizeof real);
  }
  c->kind = CST__PY_FLOAT;
  c->letter = 'g';
  return 0;
}

static int grow_add_number(cst__py_column *c, const cst__py_scalar *item) {
  double real = item->real;
  if (c->kind == CST__PY_FLOAT && item->kind == CST__PY_INT) {
    if (!fits(item->number, &real)) {
      return CST__PY_INEXACT;
    }
    c->letter = 'g';
  } else if (c->letter != item->letter) {
    c->letter = c->kind == CST__PY_FLOAT ? 'g' : 'l';
  }
  const void *value = c->kind == CST__PY_FLOAT ? (const void *)&real : (const void *)&item->number;
  return grow_append(&c->values, value, 8) < 0 ? -1 : end_slot(c, true);
}

static int add_fitting(cst__py_column *column, const cst__py_scalar *item) {
  cst__py_scalar fitting = *item;
  int result = cst__py_column_fit(column, &fitting);
  if (result != 0) {
    return result;
  }
  const void *value = column->kind == CST__PY_FLOAT ? (const void *)&fitting.real
                      : is_number(column->kind)     ? (const void *)&fitting.number
                                                    : (const void *)fitting.data;
  size_t size = is_number(column->kind) ? 8 : (size_t)fitting.size;
  return grow_append(&column->values, value, size) < 0 ? -1 : end_slot(column, true);
}

int cst__py_column_add(cst__py_column *column, const cst__py_scalar *item, int64_t row) {
  int result = 0;
  if (column->type != NULL) {
    return add_fitting(column, item);
  }
  if (column->kind == CST__PY_INT && item->kind == CST__PY_FLOAT) {
    result = to_floats(column);
  } else if (column->kind != CST__PY_FLOAT || item->kind != CST__PY_INT) {
    result = cst__py_column_become(column, item->kind, item->letter, row);
  }
  if (result != 0) {
    return result;
  }
  if (is_number(column->kind)) {
    return grow_add_number(column, item);
  }
  return grow_append(&column->values, item->data, (size_t)item->size) < 0 ? -1
                                                                          : end_slot(column, true);
}

/* ---- children ---- */

static cst__py_column *new_child(cst__py_column *parent, PyObject *name) {
  size_t count = parent->num_children;
  if ((count & (count - 1)) == 0) { /* the room is a power of two */
    size_t room = (count == 0 ? 1 : count * 2) * sizeof *parent->children;
    cst__py_column **grown = realloc(parent->children, room);
    if (grown == NULL) {
      PyErr_NoMemory();
      return NULL;
    }
    parent->children = grown;
  }
  cst__py_column *child = calloc(1, sizeof *child);
  if (child == NULL) {
    PyErr_NoMemory();
    return NULL;
  }
  child->fixed_size = -1;
  child->parent = parent;
  child->name = Py_XNewRef(name);
  parent->children[parent->num_children++] = child;
  return child;
}

cst__py_column *cst__py_column_values(cst__py_column *column) {
  return column->num_children > 0 ? column->children[0] : new_child(column, NULL);
}

/* Adds a field, and its number to the index. */
static cst__py_column *new_field(cst__py_column *column, PyObject *name) {
  PyObject *number = PyLong_FromSize_t(column->num_children);
  int result = number == NULL ? -1 : PyDict_SetItem(column->index, name, number);
  Py_XDECREF(number);
  return result < 0 ? NULL : new_child(column, name);
}

cst__py_column *cst__py_column_new_child(cst__py_column *column, PyObject *name) {
  if (name == NULL) {
    return new_child(column, NULL);
  }
  if (column->index == NULL && (column->index = PyDict_New()) == NULL) {
    return NULL;
  }
  return new_field(column, name);
}

static cst__py_column *find_field(cst__py_column *column, PyObject *name) {
  size_t guess = column->guess;
  if (guess < column->num_children && column->children[guess]->name == name) {
    column->guess++;
    return column->children[guess];
  }
  if (column->index == NULL && (column->index = PyDict_New()) == NULL) {
    return NULL;
  }
  PyObject *number = PyDict_GetItemWithError(column->index, name);
  if (number == NULL) {
    return PyErr_Occurred() != NULL || column->is_closed ? NULL : new_field(column, name);
  }
  size_t at = PyLong_AsSize_t(number);
  column->guess = at + 1;
  return column->children[at];
}

cst__py_column *cst__py_column_field(cst__py_column *column, PyObject *name) {
  cst__py_column *field = find_field(column, name);
  return field == NULL || fill_up(field, column->length) < 0 ? NULL : field;
}

const cst__py_column *cst__py_column_missing(const cst__py_column *column) {
  for (size_t i = 0; i < column->num_children; i++) {
    const cst__py_column *child = column->children[i];
    if (child->length <= column->length && (child->type == NULL || child->is_required)) {
      return child;
    }
  }
  return NULL;
}

void cst__py_column_reset(cst__py_column *column) {
  for (size_t i = 0; i < column->num_children; i++) {
    cst__py_column_reset(column->children[i]);
    free(column->children[i]);
  }
  free(column->children);
  free(column->valid.data);
  free(column->values.data);
  free(column->offsets.data);
  Py_XDECREF(column->name);
  Py_XDECREF(column->index);
  *column = (cst__py_column)CST__PY_COLUMN_INIT;
}

/* ---- as Arrow's ---- */

typedef struct data {
  const void *buffers[3];
  struct ArrowArray *children;
  struct ArrowArray **pointers;
} data;

static void grow_release_array(struct ArrowArray *array) {
  data *d = array->private_data;
  for (int64_t i = 0; i < array->n_children; i++) {
    if (d->children[i].release != NULL) {
      d->children[i].release(&d->children[i]);
    }
  }
  for (int i = 0; i < 3; i++) {
    free((void *)(uintptr_t)d->buffers[i]);
  }
  free(d->children);
  free(d->pointers);
  free(d);
  array->release = NULL;
}

typedef struct type {
  char *name;
  struct ArrowSchema *children;
  struct ArrowSchema **pointers;
  char format[8];
} type;

static void grow_release_schema(struct ArrowSchema *schema) {
  type *t = schema->private_data;
  for (int64_t i = 0; i < schema->n_children; i++) {
    if (t->children[i].release != NULL) {
      t->children[i].release(&t->children[i]);
    }
  }
  free(t->name);
  free(t->children);
  free(t->pointers);
  free(t);
  schema->release = NULL;
}

static const char *format_of(cst__py_kind kind) {
  static const char *const formats[] = {
      [CST__PY_NULL] = "n",          [CST__PY_DATE] = "tdD",     [CST__PY_TIMESTAMP] = "tsu:",
      [CST__PY_INSTANT] = "tsu:UTC", [CST__PY_DURATION] = "tDu", [CST__PY_TEXT] = "U",
      [CST__PY_BYTES] = "Z",         [CST__PY_LIST] = "+L",      [CST__PY_STRUCT] = "+s",
  };
  return formats[kind];
}

static const char *grow_name_of(const cst__py_column *c) {
  return c->name != NULL ? PyUnicode_AsUTF8AndSize(c->name, NULL)
         : c->parent != NULL && c->parent->kind == CST__PY_LIST ? "item"
                                                                : "";
}

static int new_schema(const cst__py_column *c, struct ArrowSchema *out) {
  const char *name = grow_name_of(c);
  type *t = name == NULL ? NULL : calloc(1, sizeof *t);
  if (t == NULL) {
    return -1;
  }
  t->name = malloc(strlen(name) + 1);
  t->children = calloc(c->num_children + 1, sizeof *t->children);
  t->pointers = calloc(c->num_children + 1, sizeof *t->pointers);
  *out = (struct ArrowSchema){.format = t->format,
                              .name = t->name,
                              .flags = ARROW_FLAG_NULLABLE,
                              .release = grow_release_schema,
                              .private_data = t};
  if (t->name == NULL || t->children == NULL || t->pointers == NULL) {
    return -1;
  }
  memcpy(t->name, name, strlen(name) + 1);
  if (c->kind >= CST__PY_BOOL && c->kind <= CST__PY_FLOAT) {
    t->format[0] = c->letter;
  } else {
    memcpy(t->format, format_of(c->kind), strlen(format_of(c->kind)));
  }
  for (size_t i = 0; i < c->num_children; i++) {
    t->pointers[i] = &t->children[i];
  }
  out->children = t->pointers;
  out->n_children = (int64_t)c->num_children;
  return 0;
}

static size_t width_of(const cst__py_column *c) {
  if (c->kind == CST__PY_DATE) {
    return 4;
  }
  switch (c->letter) {
    case 'c':
    case 'C':
      return 1;
    case 's':
    case 'S':
    case 'e':
      return 2;
    case 'i':
    case 'I':
    case 'f':
      return 4;
    default:
      return 8;
  }
}

/* The numbers in their type's own width, in place. */
static void narrow(cst__py_column *c) {
  uint8_t *to = c->values.data;
  size_t width = width_of(c);
  for (int64_t i = 0; i < c->length; i++) {
    const uint8_t *from = c->values.data + i * 8;
    if (c->kind == CST__PY_BOOL) {
      uint8_t bit = (uint8_t)((from[0] | from[7]) << (i & 7));
      to[i >> 3] = (uint8_t)(((i & 7) == 0 ? 0 : to[i >> 3]) | bit);
      continue;
    }
    if (c->letter == 'f') {
      double real;
      memcpy(&real, from, sizeof real);
      float single = (float)real;
      memcpy(to + (size_t)i * 4, &single, sizeof single);
      continue;
    }
    if (c->letter == 'e') {
      double real;
      memcpy(&real, from, sizeof real);
      uint16_t half = cst__py_half_of(real);
      memcpy(to + (size_t)i * 2, &half, sizeof half);
      continue;
    }
    int64_t number;
    memcpy(&number, from, sizeof number);
    uint8_t bytes[8];
    for (size_t k = 0; k < 8; k++) {
      bytes[k] = (uint8_t)((uint64_t)number >> (8 * k));
    }
    memcpy(to + (size_t)i * width, bytes, width);
  }
}

static const void *move_out(cst__py_grown *b) {
  const void *moved = b->data;
  *b = (cst__py_grown){.data = NULL};
  return moved;
}

static int new_array(cst__py_column *c, struct ArrowArray *out) {
  data *d = calloc(1, sizeof *d);
  if (d == NULL) {
    return -1;
  }
  d->children = calloc(c->num_children + 1, sizeof *d->children);
  d->pointers = calloc(c->num_children + 1, sizeof *d->pointers);
  *out = (struct ArrowArray){.length = c->length,
                             .null_count = c->has_nulls ? -1 : 0,
                             .buffers = d->buffers,
                             .release = grow_release_array,
                             .private_data = d};
  if (d->children == NULL || d->pointers == NULL || reserve(&c->values, 1) < 0 ||
      reserve(&c->offsets, 1) < 0) {
    return -1;
  }
  if (is_number(c->kind) && (c->kind == CST__PY_BOOL || width_of(c) < 8)) {
    narrow(c);
  }
  int next = 0;
  if (c->kind != CST__PY_NULL) {
    d->buffers[next++] = c->has_nulls ? move_out(&c->valid) : NULL;
  }
  if (has_offsets(c, c->kind)) {
    d->buffers[next++] = move_out(&c->offsets);
  }
  if (is_number(c->kind) || c->kind == CST__PY_TEXT || c->kind == CST__PY_BYTES) {
    d->buffers[next++] = move_out(&c->values);
  }
  out->n_buffers = next;
  for (size_t i = 0; i < c->num_children; i++) {
    d->pointers[i] = &d->children[i];
  }
  out->children = d->pointers;
  out->n_children = (int64_t)c->num_children;
  return 0;
}

/* Every part is released by the whole, also when it is not complete. */
static int grow_finish(cst__py_column *c, struct ArrowSchema *schema, struct ArrowArray *array) {
  if ((c->kind == CST__PY_LIST && cst__py_column_values(c) == NULL) ||
      (schema != NULL && new_schema(c, schema) < 0) || new_array(c, array) < 0) {
    return -1;
  }
  for (size_t i = 0; i < c->num_children; i++) {
    if ((c->kind == CST__PY_STRUCT && fill_up(c->children[i], c->length) < 0) ||
        grow_finish(c->children[i], schema == NULL ? NULL : schema->children[i],
                    array->children[i]) < 0) {
      return -1;
    }
  }
  return 0;
}

int cst__py_column_finish(cst__py_column *column, struct ArrowSchema *schema,
                          struct ArrowArray *array) {
  if (schema != NULL) {
    *schema = (struct ArrowSchema){.release = NULL};
  }
  *array = (struct ArrowArray){.release = NULL};
  if (grow_finish(column, schema, array) == 0) {
    return 0;
  }
  if (schema != NULL && schema->release != NULL) {
    schema->release(schema);
  }
  if (array->release != NULL) {
    array->release(array);
  }
  if (PyErr_Occurred() == NULL) {
    PyErr_NoMemory();
  }
  return -1;
}
