/* Arrays in a key: numpy's and such, lists, Arrow data, tensors. */
#include <stdlib.h>
#include <string.h>

#include "ext/structured/structured.h"
#include "ext/table/table.h"

/* ---- Arrow arrays of our own ---- */

/* A level of lists, or the values. */
typedef struct key_node {
  const void *buffers[2];
  struct ArrowArray child;
  struct ArrowArray *children[1];
  void *data;
} key_node;

static void release_node(struct ArrowArray *array) {
  key_node *node = array->private_data;
  if (node->child.release != NULL) {
    node->child.release(&node->child);
  }
  free(node->data);
  free(node);
  array->release = NULL;
}

static void keep_schema(struct ArrowSchema *schema) { schema->release = NULL; }

/* An array of `length` with `size` bytes of data, or none. 0, or -1 with an exception. */
static int new_node(int64_t length, size_t size, struct ArrowArray *out) {
  key_node *node = calloc(1, sizeof *node);
  if (node == NULL || (size > 0 && (node->data = malloc(size)) == NULL)) {
    free(node);
    PyErr_NoMemory();
    return -1;
  }
  node->buffers[1] = node->data;
  node->children[0] = &node->child;
  *out = (struct ArrowArray){.length = length,
                             .n_buffers = 2,
                             .buffers = node->buffers,
                             .children = node->children,
                             .release = release_node,
                             .private_data = node};
  return 0;
}

/* ---- buffers ---- */

/* The letter of a format of one item in the machine's own order; 0 for others. */
static char letter_of(const Py_buffer *buffer) {
  const char *format = buffer->format != NULL ? buffer->format : "B";
  const int one = 1;
  bool is_little = *(const char *)&one == 1;
  if (*format == '@' || *format == '=' || *format == (is_little ? '<' : '>')) {
    format++;
  }
  return format[0] != '\0' && format[1] == '\0' ? format[0] : 0;
}

/* Values that lie one after the other, as int64. */
static void widen(const Py_buffer *buffer, bool is_signed, const uint8_t *from, int64_t count,
                  int64_t *to) {
  for (int64_t i = 0; i < count; i++, from += buffer->itemsize) {
    uint64_t bits = 0;
    memcpy(&bits, from, (size_t)buffer->itemsize); /* little-endian, as all machines that we know */
    int shift = 64 - 8 * (int)buffer->itemsize;
    int64_t value = is_signed ? (int64_t)(bits << shift) >> shift : (int64_t)bits;
    to[i] = !is_signed && value < 0 ? INT64_MAX : value;
  }
}

/* Eight bytes at a time: what is not 0 becomes 1, and a product brings the ones side by side. */
static uint8_t pack_eight(const uint8_t *from) {
  const uint64_t low = UINT64_C(0x7f7f7f7f7f7f7f7f);
  uint64_t bytes;
  memcpy(&bytes, from, sizeof bytes);
  bytes = (((bytes & low) + low) | bytes) >> 7 & UINT64_C(0x0101010101010101);
  return (uint8_t)(bytes * UINT64_C(0x0102040810204080) >> 56);
}

static void pack(const uint8_t *from, int64_t count, uint8_t *bits) {
  int64_t whole = count / 8;
  uint8_t rest[8] = {0};
  for (int64_t i = 0; i < whole; i++) {
    bits[i] = pack_eight(from + 8 * i);
  }
  if (count % 8 > 0) {
    memcpy(rest, from + 8 * whole, (size_t)(count % 8));
    bits[whole] = pack_eight(rest);
  }
}

static int fill_values(const Py_buffer *buffer, char letter, int64_t count,
                       struct ArrowArray *out) {
  const uint8_t *from = buffer->buf;
  uint8_t *copy = NULL;
  if (!PyBuffer_IsContiguous(buffer, 'C')) {
    copy = malloc((size_t)buffer->len + 1);
    if (copy == NULL) {
      PyErr_NoMemory();
      return -1;
    }
    if (PyBuffer_ToContiguous(copy, buffer, buffer->len, 'C') < 0) {
      free(copy);
      return -1;
    }
    from = copy;
  }
  int result =
      new_node(count, letter == '?' ? (size_t)count / 8 + 1 : ((size_t)count + 1) * 8, out);
  void *to = result < 0 ? NULL : ((key_node *)out->private_data)->data;
  if (result == 0 && letter == '?') {
    pack(from, count, to);
  } else if (result == 0) {
    widen(buffer, strchr("bhilqn", letter) != NULL, from, count, to);
  }
  free(copy);
  return result;
}

enum { MOST_DIMS = 64 };

/* Lists of fixed size above the values, for all dimensions but the first. */
static int wrap_dims(const Py_buffer *buffer, struct ArrowArray *array) {
  int64_t length = buffer->ndim > 0 ? buffer->shape[0] : 1;
  int64_t lengths[MOST_DIMS];
  for (int i = 1; i < buffer->ndim; i++) {
    lengths[i] = length;
    length *= buffer->shape[i];
  }
  for (int i = buffer->ndim - 1; i > 0; i--) {
    struct ArrowArray lists;
    if (new_node(lengths[i], 0, &lists) < 0) {
      array->release(array);
      return -1;
    }
    lists.n_buffers = 1;
    lists.n_children = 1;
    ((key_node *)lists.private_data)->child = *array;
    *array = lists;
  }
  return 0;
}

static cst_structured *import_buffer(cst__py_state *state, const Py_buffer *buffer, char letter,
                                     struct ArrowArray *array) {
  struct ArrowSchema schemas[MOST_DIMS];
  struct ArrowSchema *children[MOST_DIMS];
  char formats[MOST_DIMS][32];
  cst_error error = CST_ERROR_INIT;
  cst_array *made = NULL;
  cst_structured *tensor = NULL;
  int last = buffer->ndim > 0 ? buffer->ndim - 1 : 0;
  for (int i = 0; i <= last; i++) {
    schemas[i] = (struct ArrowSchema){.format = letter == '?' ? "b" : "l",
                                      .name = "item",
                                      .flags = ARROW_FLAG_NULLABLE,
                                      .release = keep_schema};
    if (i < last) {
      PyOS_snprintf(formats[i], sizeof formats[i], "+w:%lld", (long long)buffer->shape[i + 1]);
      schemas[i].format = formats[i];
      schemas[i].n_children = 1;
      schemas[i].children = &children[i];
      children[i] = &schemas[i + 1];
    }
  }
  cst_status status = cst_array_import(&schemas[0], array, CST_ARRAY_TRUSTED, NULL, &made, &error);
  if (status == CST_OK) {
    status = cst_structured_new(made, buffer->ndim == 0, &tensor, &error);
    cst_array_release(made);
  } else {
    array->release(array);
  }
  if (status != CST_OK) {
    cst__py_raise(state, &error);
  }
  return tensor;
}

/* One item of a buffer without dimensions, if it is an integer. */
static bool is_single_integer(const Py_buffer *buffer, char letter) {
  return buffer->ndim == 0 && letter != '?';
}

int cst__py_key_bool(cst__py_state *state, bool value, cst__py_key_array *out) {
  const Py_buffer one = {.ndim = 0};
  struct ArrowArray array;
  if (new_node(1, 1, &array) < 0) {
    return -1;
  }
  *(uint8_t *)((key_node *)array.private_data)->data = value;
  out->tensor = import_buffer(state, &one, '?', &array);
  return out->tensor != NULL ? 0 : -1;
}

int cst__py_key_buffer(cst__py_state *state, PyObject *object, cst__py_key_array *out) {
  Py_buffer buffer;
  if (PyObject_GetBuffer(object, &buffer, PyBUF_FULL_RO) < 0) {
    return -1;
  }
  char letter = letter_of(&buffer);
  int result = -1;
  if (letter == 0 || strchr("?bBhHiIlLqQnN", letter) == NULL || buffer.ndim > MOST_DIMS) {
    cst_error error = CST_ERROR_INIT;
    error.code = CST_INVALID_ARGUMENT;
    PyOS_snprintf(error.message, sizeof error.message,
                  "an index is an array of integers or bools, not of the format '%.20s'",
                  buffer.format != NULL ? buffer.format : "B");
    cst__py_structured_finish_index(state, CST_INVALID_ARGUMENT, &error, NULL);
  } else if (is_single_integer(&buffer, letter)) {
    out->is_single = true;
    widen(&buffer, strchr("bhilqn", letter) != NULL, buffer.buf, 1, &out->single);
    result = 0;
  } else {
    int64_t count = buffer.len / buffer.itemsize;
    struct ArrowArray array;
    if (fill_values(&buffer, letter, count, &array) == 0 && wrap_dims(&buffer, &array) == 0) {
      out->tensor = import_buffer(state, &buffer, letter, &array);
      result = out->tensor != NULL ? 0 : -1;
    }
  }
  PyBuffer_Release(&buffer);
  return result;
}

/* ---- what becomes an Array ---- */

int cst__py_key_values(cst__py_state *state, PyObject *object, cst__py_key_array *out) {
  PyObject *array = cst__py_table_method("array", NULL, object);
  const cst_array *handle = array == NULL ? NULL : cst__py_table_handle_of(state, array);
  cst_error error = CST_ERROR_INIT;
  int result = -1;
  if (handle != NULL) {
    result = cst_structured_new(handle, false, &out->tensor, &error) == CST_OK ? 0 : -1;
    if (result < 0) {
      cst__py_raise(state, &error);
    }
  }
  Py_XDECREF(array);
  return result;
}
