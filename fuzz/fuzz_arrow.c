/* Arrow data from outside: the input describes an ArrowSchema and an ArrowArray, which are made as
 * a producer would make them, in buffers of exactly the size that they need. A view either refuses
 * them, or every slot of it can be read; so can every tensor that a conversion makes of them.
 *
 * The language: the first byte chooses the tensor that is asked for; then comes one node. A node is
 * a kind, flags, a length and an offset (one byte each), what the flags ask for, its buffers, and
 * its children. Bytes that are missing are zero.
 */
#include <columnstone/tensor.h>
#include <stdbool.h>
#include <string.h>

#include "arrow/view.h"
#include "base/utf8.h"
#include "fuzz.h"

enum {
  MOST_SLOTS = 64,
  MOST_DEPTH = 8,
  MOST_CHILDREN = 4,
  MOST_STEPS = 1 << 16,
  MOST_BLOCKS = 512
};

enum {
  FLAG_VALIDITY = 1 << 0,
  FLAG_COUNTS = 1 << 1,     /* other numbers of buffers and children than there should be */
  FLAG_LENGTHS = 1 << 2,    /* 64-bit length and offset */
  FLAG_NO_BUFFER = 1 << 3,  /* one buffer is NULL */
  FLAG_NULL_COUNT = 1 << 4, /* a null count is given */
  FLAG_MISALIGNED = 1 << 5,
  FLAG_DICTIONARY = 1 << 6,
  FLAG_RELEASED = 1 << 7
};

/* ---- the input ---- */

typedef struct feed {
  const uint8_t *at;
  const uint8_t *end;
  bool is_damaged; /* may hold what no sound producer makes */
} feed;

static uint8_t take(feed *f) { return f->at < f->end ? *f->at++ : 0; }

static int64_t take_64(feed *f) {
  uint64_t value = 0;
  for (int i = 0; i < 8; i++) {
    value |= (uint64_t)take(f) << (8 * i);
  }
  return (int64_t)value;
}

/* ---- making ---- */

static void *blocks[MOST_BLOCKS];
static size_t num_blocks;

/* Zeroed memory of exactly this size; all of it is freed after the run. */
static void *make_block(size_t size) {
  if (num_blocks == MOST_BLOCKS) {
    return NULL;
  }
  void *block = calloc(1, size ? size : 1);
  FUZZ_ASSERT(block != NULL);
  blocks[num_blocks++] = block;
  return block;
}

static void free_blocks(void) {
  while (num_blocks > 0) {
    free(blocks[--num_blocks]);
  }
}

static void release_schema(struct ArrowSchema *schema) { schema->release = NULL; }
static void release_array(struct ArrowArray *array) { array->release = NULL; }

static const struct kind {
  const char *format;
  int width;   /* bytes of a value; 0: see the kind */
  char layout; /* n: null, b: bits, f: fixed, z: binary, v: views, l: list, w: list view, s: struct
                */
} kinds[] = {
    {"n", 0, 'n'},   {"b", 0, 'b'},    {"c", 1, 'f'},    {"C", 1, 'f'},  {"s", 2, 'f'},
    {"S", 2, 'f'},   {"i", 4, 'f'},    {"I", 4, 'f'},    {"l", 8, 'f'},  {"L", 8, 'f'},
    {"f", 4, 'f'},   {"g", 8, 'f'},    {"e", 2, 'f'},    {"z", 4, 'z'},  {"Z", 8, 'z'},
    {"u", 4, 'z'},   {"U", 8, 'z'},    {"vz", 0, 'v'},   {"vu", 0, 'v'}, {"w:3", 3, 'f'},
    {"w:0", 0, 'f'}, {"+l", 4, 'l'},   {"+L", 8, 'l'},   {"+m", 4, 'l'}, {"+vl", 4, 'w'},
    {"+vL", 8, 'w'}, {"+w:2", 0, 'x'}, {"+w:0", 0, 'x'}, {"+s", 0, 's'}, {"tsu:", 8, 'f'},
    {"?", 0, 'n'},   {"+w:", 0, 'x'},  {"w:9x", 0, 'n'}, {"", 0, 'n'},
};

static const char *const names[] = {"x", "i", "n", "m", "a"};

/* Bytes from the input: how many, and these again and again; none is zero. */
static void fill(feed *f, uint8_t *to, size_t size) {
  uint8_t pattern[16];
  size_t count = take(f) % (sizeof pattern + 1);
  for (size_t i = 0; i < count; i++) {
    pattern[i] = take(f);
  }
  for (size_t i = 0; i < size && count > 0; i++) {
    to[i] = pattern[i % count];
  }
}

static void put_entry(void *entries, int width, int64_t i, int64_t value) {
  if (width == 8) {
    ((int64_t *)entries)[i] = value;
  } else {
    ((int32_t *)entries)[i] = (int32_t)value;
  }
}

/* Offsets: steps of the same size, or 16-bit numbers from the input. Gives the largest. */
static int64_t fill_entries(feed *f, void *entries, int width, int64_t count, int64_t first) {
  uint8_t mode = take(f);
  int64_t largest = 0;
  for (int64_t i = 0; i < count; i++) {
    int64_t value = mode % 8 * i + first;
    if (mode >= 128) {
      int16_t raw = (int16_t)(take(f) | take(f) << 8);
      value = raw;
    }
    put_entry(entries, width, i, value);
    largest = value > largest ? value : largest;
  }
  return largest;
}

static void make_views(feed *f, const void **buffers, int64_t slots, int64_t *num_buffers) {
  int64_t count = take(f) % 3;
  int64_t *sizes = make_block((size_t)count * 8);
  uint8_t *views = make_block((size_t)slots * 16);
  if (sizes == NULL || views == NULL) {
    return;
  }
  for (int64_t i = 0; i < count; i++) {
    sizes[i] = take(f);
    uint8_t *bytes = make_block((size_t)sizes[i]);
    buffers[2 + i] = bytes;
    if (bytes == NULL) {
      return;
    }
    fill(f, bytes, (size_t)sizes[i]);
  }
  for (int64_t i = 0; i < slots; i++) {
    int32_t entry[4] = {(int8_t)take(f), 0, 0, 0};
    if (entry[0] > 12) {
      entry[2] = (int8_t)take(f);
      entry[3] = (int8_t)take(f);
      if (entry[2] >= 0 && entry[2] < count && entry[3] >= 0 && entry[3] + 4 <= sizes[entry[2]]) {
        memcpy(&entry[1], (const char *)buffers[2 + entry[2]] + entry[3], 4);
      }
    } else {
      fill(f, (uint8_t *)&entry[1], 12);
    }
    memcpy(views + i * 16, entry, 16);
  }
  buffers[1] = views;
  buffers[2 + count] = sizes;
  *num_buffers = 3 + count;
}

/* Buffers of `slots` slots. */
static void make_buffers(feed *f, const struct kind *k, struct ArrowArray *array, int64_t slots,
                         const void **buffers) {
  void *entries;
  switch (k->layout) {
    case 'b':
      array->n_buffers = 2;
      buffers[1] = make_block((size_t)(slots + 7) / 8);
      break;
    case 'f':
      array->n_buffers = 2;
      buffers[1] = entries = make_block((size_t)(slots * k->width));
      if (entries != NULL) {
        fill(f, entries, (size_t)(slots * k->width));
      }
      break;
    case 'z':
    case 'l':
      array->n_buffers = k->layout == 'z' ? 3 : 2;
      buffers[1] = entries = make_block((size_t)((slots + 1) * k->width));
      if (entries != NULL) {
        int64_t bytes = fill_entries(f, entries, k->width, slots + 1, 0);
        buffers[2] = k->layout == 'z' ? make_block((size_t)bytes) : NULL;
        if (buffers[2] != NULL) {
          fill(f, (uint8_t *)(uintptr_t)buffers[2], (size_t)bytes);
        }
      }
      break;
    case 'w':
      array->n_buffers = 3;
      for (int i = 1; i < 3; i++) {
        buffers[i] = entries = make_block((size_t)(slots * k->width));
        if (entries != NULL) {
          fill_entries(f, entries, k->width, slots, i == 2 ? take(f) % 4 : 0);
        }
      }
      break;
    case 'v':
      make_views(f, buffers, slots, &array->n_buffers);
      break;
    case 's':
    case 'x':
      array->n_buffers = 1;
      break;
    default:
      array->n_buffers = 0;
  }
}

/* Lengths that no buffer could have, and what needs no buffer. Others would be a lie. */
static bool is_absurd(int64_t length, int64_t offset) {
  return length < 0 || offset < 0 || length > INT64_MAX / 64 - offset;
}

static void make_node(feed *f, struct ArrowSchema *schema, struct ArrowArray *array, int depth) {
  const struct kind *k = &kinds[take(f) % (sizeof kinds / sizeof kinds[0])];
  uint8_t flags = f->is_damaged ? take(f) : take(f) & (FLAG_VALIDITY);
  const void **buffers = make_block(8 * sizeof *buffers);
  *schema = (struct ArrowSchema){.format = k->format, .name = "a", .release = release_schema};
  *array = (struct ArrowArray){.null_count = -1, .buffers = buffers, .release = release_array};
  array->length = take(f) % MOST_SLOTS;
  array->offset = take(f) % 8;
  if (buffers == NULL) {
    return;
  }
  int64_t slots = array->length + array->offset;
  make_buffers(f, k, array, slots, buffers);
  if ((flags & FLAG_VALIDITY) != 0 && array->n_buffers > 0) {
    uint8_t *bits = make_block((size_t)(slots + 7) / 8);
    buffers[0] = bits;
    if (bits != NULL) {
      fill(f, bits, (size_t)(slots + 7) / 8);
    }
  }
  int64_t children = k->layout == 's' ? take(f) % (MOST_CHILDREN + 1)
                     : k->layout == 'l' || k->layout == 'w' || k->layout == 'x' ? 1
                                                                                : 0;
  if (depth < MOST_DEPTH && children > 0) {
    schema->children = make_block((size_t)children * sizeof(void *));
    array->children = make_block((size_t)children * sizeof(void *));
    for (int64_t i = 0; i < children && schema->children != NULL && array->children != NULL; i++) {
      schema->children[i] = make_block(sizeof(struct ArrowSchema));
      array->children[i] = make_block(sizeof(struct ArrowArray));
      if (schema->children[i] == NULL || array->children[i] == NULL) {
        break;
      }
      make_node(f, schema->children[i], array->children[i], depth + 1);
      schema->children[i]->name = names[i % 5];
      schema->n_children = array->n_children = i + 1;
    }
  }
  if ((flags & FLAG_COUNTS) != 0) {
    array->n_buffers -= k->layout == 'v' ? 0 : take(f) % 3; /* the last of views holds sizes */
    array->n_children -= array->n_children > 0 ? take(f) % 2 : 0;
    schema->n_children -= schema->n_children > 0 ? take(f) % 2 : 0;
  }
  if ((flags & FLAG_LENGTHS) != 0) {
    int64_t length = take_64(f);
    int64_t offset = take_64(f);
    if (is_absurd(length, offset)) {
      array->length = length;
      array->offset = offset;
    }
  }
  if ((flags & FLAG_NO_BUFFER) != 0) {
    buffers[take(f) % 3] = NULL;
  }
  if ((flags & FLAG_NULL_COUNT) != 0) {
    array->null_count = (int8_t)take(f);
  }
  bool is_aligned = k->width == 2 || k->width == 4 || k->width == 8;
  if ((flags & FLAG_MISALIGNED) != 0 && buffers[1] != NULL && is_aligned) {
    buffers[1] = (const char *)buffers[1] + 1;
  }
  if ((flags & FLAG_DICTIONARY) != 0) {
    static struct ArrowSchema strings = {.format = "u", .release = release_schema};
    schema->dictionary = &strings;
  }
  if ((flags & FLAG_RELEASED) != 0 && take(f) % 4 == 0) {
    array->release = NULL;
  }
}

/* ---- reading everything ---- */

static size_t steps;
static uint64_t sum;

static void read_bytes(const void *bytes, size_t size) {
  for (size_t i = 0; i < size; i++) {
    sum = sum * 31 + ((const uint8_t *)bytes)[i];
  }
}

static void read_slot(const cst__view *v, int64_t i) {
  int64_t begin;
  int64_t end;
  FUZZ_ASSERT(i >= 0 && i < v->length);
  if (++steps > MOST_STEPS || cst__view_is_null(v, i)) {
    return;
  }
  if (v->layout == CST__LAYOUT_NUMBER) {
    size_t width = cst_dtype_width(v->dtype);
    read_bytes((const char *)v->data + (size_t)(v->offset + i) * width, width);
  } else if (v->dtype == CST_DTYPE_BYTES) {
    cst_bytes bytes = cst__view_bytes(v, i);
    read_bytes(bytes.data, bytes.size);
    FUZZ_ASSERT(!v->is_string || bytes.size == 0 || cst__utf8_valid(bytes.data, bytes.size));
  } else if (cst__view_is_list(v)) {
    cst__view_list(v, i, &begin, &end);
    FUZZ_ASSERT(begin >= 0 && begin <= end);
    for (int64_t at = begin; at < end && at < begin + MOST_SLOTS; at++) {
      read_slot(&v->children[0], at);
    }
    if (begin < end) {
      read_slot(&v->children[0], end - 1);
    }
  }
  for (int64_t c = 0; v->layout == CST__LAYOUT_STRUCT && c < v->num_children; c++) {
    read_slot(&v->children[c], i);
  }
}

static uint64_t read_view(const cst__view *v) {
  int64_t nulls = 0;
  steps = 0;
  sum = 1;
  for (int64_t i = 0; i < v->length && i < 2 * MOST_SLOTS; i++) {
    read_slot(v, i);
    nulls += cst__view_is_null(v, i);
  }
  FUZZ_ASSERT(v->length > 2 * MOST_SLOTS || v->layout == CST__LAYOUT_OTHER ||
              nulls == v->null_count);
  return sum;
}

static void check_error(const cst_error *error) {
  FUZZ_ASSERT(error->message[0] != '\0');
  FUZZ_ASSERT(cst__utf8_valid((const uint8_t *)error->message, strlen(error->message)));
}

/* ---- tensors ---- */

static const char *const representations[] = {
    "dense_tensor { column_name: 'x' shape { } }",
    "dense_tensor { column_name: 'x' shape { dim { size: 2 } } }",
    "dense_tensor { column_name: 'x' shape { } default_value { %s } }",
    "varlen_sparse_tensor { column_name: 'x' }",
    "sparse_tensor { value_column_name: 'x' index_column_names: 'i' dense_shape { dim { size: 9 } "
    "} }",
    "sparse_tensor { value_column_name: 'x' index_column_names: 'i' index_column_names: 'n' "
    "dense_shape { dim { size: 9 } dim { size: -1 } } }",
    "ragged_tensor { feature_path { step: 'x' } row_partition_dtype: INT32 }",
    "ragged_tensor { feature_path { step: 'x' } partition { uniform_row_length: 2 } }",
    "ragged_tensor { feature_path { step: 'x' } partition { row_length: 'n' } }",
    "ragged_tensor { feature_path { step: 'x' } partition { row_length: 'n' } "
    "partition { uniform_row_length: 1 } partition { row_length: 'm' } }",
};

enum { NUM_KINDS = sizeof representations / sizeof representations[0], NUM_SPECS = 3 * NUM_KINDS };

static cst_specs *specs_of(size_t which) {
  static cst_specs *specs[NUM_SPECS];
  static const char *const types[] = {"INT", "FLOAT", "BYTES"};
  static const char *const defaults[] = {"int_value: 7", "float_value: 7", "bytes_value: '7'"};
  if (specs[which] == NULL) {
    char text[2048];
    char representation[512];
    cst_schema *schema;
    size_t type = which / NUM_KINDS;
    snprintf(representation, sizeof representation, representations[which % NUM_KINDS],
             defaults[type]);
    size_t at = (size_t)snprintf(text, sizeof text, "feature { name: 'x' type: %s } ", types[type]);
    for (const char *name = "inm"; *name != '\0'; name++) {
      const char quoted[] = {'\'', *name, '\'', '\0'};
      if (strstr(representation, quoted) != NULL) { /* other features would be tensors as well */
        at += (size_t)snprintf(text + at, sizeof text - at, "feature { name: %s type: INT } ",
                               quoted);
      }
    }
    snprintf(text + at, sizeof text - at,
             "tensor_representation_group { key: '' value { tensor_representation { key: 't' "
             "value { %s } } } }",
             representation);
    FUZZ_ASSERT(cst_schema_parse_text(text, strlen(text), &schema, NULL) == CST_OK);
    FUZZ_ASSERT(cst_specs_new(schema, NULL, &specs[which], NULL) == CST_OK);
    cst_schema_release(schema);
  }
  return specs[which];
}

static void read_array(const cst_ndarray *a) {
  int64_t size = 1;
  for (size_t i = 0; i < a->num_dims; i++) {
    FUZZ_ASSERT(a->shape[i] >= 0);
    size *= a->shape[i];
  }
  FUZZ_ASSERT(size == a->size);
  for (int64_t i = 0; i < a->size && i < MOST_STEPS; i++) {
    if (a->dtype == CST_DTYPE_BYTES) {
      read_bytes(a->strings[i].data, a->strings[i].size);
    } else {
      read_bytes((const char *)a->data + (size_t)i * cst_dtype_width(a->dtype),
                 cst_dtype_width(a->dtype));
    }
  }
}

static int64_t split_at(const cst_ndarray *splits, int64_t i) {
  return cst__view_entry(splits->data, splits->dtype == CST_DTYPE_INT32 ? 4 : 8, i);
}

static void check_tensor(const cst_tensor *t, int64_t rows) {
  int64_t expected = rows;
  read_array(&t->values);
  for (size_t s = 0; s < t->num_splits; s++) {
    const cst_ndarray *splits = &t->splits[s];
    read_array(splits);
    FUZZ_ASSERT(splits->size == expected + 1 && split_at(splits, 0) == 0);
    for (int64_t i = 1; i < splits->size; i++) {
      FUZZ_ASSERT(split_at(splits, i - 1) <= split_at(splits, i));
    }
    expected = split_at(splits, expected);
  }
  FUZZ_ASSERT(t->kind != CST_TENSOR_RAGGED || t->values.shape[0] == expected);
  FUZZ_ASSERT(t->kind != CST_TENSOR_DENSE || t->values.shape[0] == rows);
  if (t->indices.data == NULL) {
    return;
  }
  int64_t rank = t->indices.shape[1];
  const int64_t *at = t->indices.data;
  read_array(&t->indices);
  FUZZ_ASSERT(t->indices.shape[0] == t->values.size);
  for (int64_t i = 1; i < t->values.size; i++) {
    int64_t k = 0;
    while (k < rank && at[(i - 1) * rank + k] == at[i * rank + k]) {
      k++;
    }
    FUZZ_ASSERT(k == rank || at[(i - 1) * rank + k] < at[i * rank + k]);
  }
}

static cst_status convert(size_t which, struct ArrowSchema *schema, struct ArrowArray *array) {
  cst_tensor_adapter *adapter;
  cst_tensors *tensors;
  cst_error error = CST_ERROR_INIT;
  int64_t rows = array->length;
  cst_status status = cst_tensor_adapter_new(schema, specs_of(which), NULL, &adapter, &error);
  if (status == CST_OK) {
    status = cst_tensor_adapter_convert(adapter, array, 0, &tensors, &error);
    FUZZ_ASSERT((status == CST_OK) == (array->release == NULL));
    if (status == CST_OK) {
      check_tensor(cst_tensors_find(tensors, "t"), rows);
      cst_tensors_release(tensors);
    }
    cst_tensor_adapter_free(adapter);
  }
  if (status != CST_OK) {
    check_error(&error);
  }
  return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  feed f = {data, data + size, false};
  struct ArrowSchema schema;
  struct ArrowArray array;
  cst__arena arena;
  cst__view view;
  cst__view trusted;
  cst_error error = CST_ERROR_INIT;
  uint8_t which = take(&f);
  f.is_damaged = which >= 128;
  make_node(&f, &schema, &array, 0);
  cst__arena_init(&arena, NULL);
  cst_status status = cst__view_init(&view, &schema, &array, false, &arena, &error);
  if (status == CST_OK) {
    uint64_t read = read_view(&view);
    FUZZ_ASSERT(cst__view_init(&trusted, &schema, &array, true, &arena, NULL) == CST_OK);
    FUZZ_ASSERT(read_view(&trusted) == read);
    if (view.layout == CST__LAYOUT_STRUCT && which % 32 < NUM_SPECS) {
      status = convert(which % 32, &schema, &array);
    }
  } else {
    check_error(&error);
  }
  cst__arena_reset(&arena);
  free_blocks();
  fuzz_outcome(cst_status_name(status));
  return 0;
}
