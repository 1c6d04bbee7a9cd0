/* Views: every layout and slice gives the same values; damaged arrays are refused. */
#include <inttypes.h>

#include "arrow/view.h"
#include "arrow_text.h"

typedef struct fixture {
  struct ArrowSchema schema;
  struct ArrowArray array;
  cst__arena arena;
  cst__view view;
  cst_error error;
} fixture;

static void make(fixture *f, const char *type, const char *rows) {
  memset(f, 0, sizeof *f);
  f->error = (cst_error)CST_ERROR_INIT;
  arrow_text(type, rows, &f->schema, &f->array);
  cst__arena_init(&f->arena, NULL);
}

static cst_status look(fixture *f, bool trusted) {
  return cst__view_init(&f->view, &f->schema, &f->array, trusted, &f->arena, &f->error);
}

static void drop(fixture *f) {
  cst__arena_reset(&f->arena);
  if (f->schema.release) ArrowSchemaRelease(&f->schema);
  if (f->array.release) ArrowArrayRelease(&f->array);
}

/* ---- writing a view out as text ---- */

typedef struct text {
  char buf[1024];
  size_t size;
} text;

static void put(text *t, const char *format, ...) {
  va_list args;
  va_start(args, format);
  t->size += (size_t)vsnprintf(t->buf + t->size, sizeof t->buf - t->size, format, args);
  va_end(args);
}

static void put_number(text *t, const cst__view *v, int64_t i) {
  const char *at = (const char *)v->data + (size_t)(v->offset + i) * cst_dtype_width(v->dtype);
  switch (v->dtype) {
    case CST_DTYPE_INT8:
      put(t, "%d", *(const int8_t *)at);
      break;
    case CST_DTYPE_INT32:
      put(t, "%d", *(const int32_t *)at);
      break;
    case CST_DTYPE_INT64:
      put(t, "%" PRId64, *(const int64_t *)at);
      break;
    case CST_DTYPE_UINT64:
      put(t, "%" PRIu64, *(const uint64_t *)at);
      break;
    case CST_DTYPE_FLOAT32:
      put(t, "%g", (double)*(const float *)at);
      break;
    case CST_DTYPE_FLOAT64:
      put(t, "%g", *(const double *)at);
      break;
    default:
      put(t, "?");
  }
}

static void put_slot(text *t, const cst__view *v, int64_t i) {
  int64_t begin, end;
  if (cst__view_is_null(v, i)) {
    put(t, "null");
  } else if (v->layout == CST__LAYOUT_NUMBER) {
    put_number(t, v, i);
  } else if (v->dtype == CST_DTYPE_BYTES) {
    cst_bytes bytes = cst__view_bytes(v, i);
    put(t, "'%.*s'", (int)bytes.size, bytes.size ? (const char *)bytes.data : "");
  } else if (v->layout == CST__LAYOUT_STRUCT) {
    put(t, "{");
    for (int64_t c = 0; c < v->num_children; c++) {
      put(t, "%s", c ? ", " : "");
      put_slot(t, &v->children[c], i);
    }
    put(t, "}");
  } else if (cst__view_is_list(v)) {
    cst__view_list(v, i, &begin, &end);
    put(t, "[");
    for (int64_t at = begin; at < end; at++) {
      put(t, "%s", at > begin ? ", " : "");
      put_slot(t, &v->children[0], at);
    }
    put(t, "]");
  } else {
    put(t, "?");
  }
}

static const char *written(const cst__view *v) {
  static text t;
  t.size = 0;
  t.buf[0] = '\0';
  for (int64_t i = 0; i < v->length; i++) {
    put(&t, "%s", i ? " " : "");
    put_slot(&t, v, i);
  }
  return t.buf;
}

typedef struct sample {
  const char *type;
  const char *rows;
} sample;

static const sample samples[] = {
    {"null", "null null null"},
    {"int8", "-1 2 null"},
    {"int32", "-1 2 null"},
    {"int64", "-5000000000 2 null"},
    {"uint64", "18446744073709551615 2 null"},
    {"float32", "1.5 null 2"},
    {"float64", "1.5 null 2"},
    {"binary", "'' null 'abc'"},
    {"large_binary", "'' null 'abc'"},
    {"string", "'' null 'ab\xc3\xa4'"},
    {"large_string", "'' null 'abc'"},
    {"binary_view", "'' null 'a text of more than 12 bytes' 'abc'"},
    {"string_view", "'' null 'a text of more than 12 bytes' 'abc'"},
    {"fixed_binary[3]", "'xyz' 'abc' 'def'"},
    {"list<int64>", "[1, 2] null [] [3]"},
    {"large_list<int64>", "[1, 2] null [] [3]"},
    {"list_view<int64>", "[1, 2] null [] [3]"},
    {"large_list_view<int64>", "[1, 2] null [] [3]"},
    {"fixed_list<int64>[2]", "[1, 2] null [3, 4]"},
    {"large_list<large_list<string>>", "[['a', null], []] null [] [['bcd']]"},
    {"large_list<fixed_list<int32>[2]>", "[[1, 2], [3, 4]] null [] [[5, 6]]"},
    {"struct{a: int64, b: list<int8>}", "{1, [2]} {null, null} {3, []}"},
    {"large_list<struct{a: int64, b: string}>", "[{1, 'x'}, {2, 'y'}] [] null [{3, null}]"},
};

TEST(every_layout_reads_back) {
  for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
    for (int trusted = 0; trusted < 2; trusted++) {
      fixture f;
      make(&f, samples[i].type, samples[i].rows);
      CHECK_EQ(look(&f, trusted), CST_OK);
      CHECK_STR(written(&f.view), samples[i].rows);
      drop(&f);
    }
  }
}

/* The text of slots [from, from + count), out of the text of all of them. */
static const char *part_of(const char *rows, int64_t from, int64_t count) {
  static char buf[256];
  size_t size = 0;
  int depth = 0;
  int64_t slot = 0;
  bool in_text = false;
  for (; *rows != '\0'; rows++) {
    in_text ^= *rows == '\'';
    depth += (*rows == '[' || *rows == '{') - (*rows == ']' || *rows == '}');
    bool is_gap = *rows == ' ' && depth == 0 && !in_text;
    slot += is_gap;
    if (slot >= from && slot < from + count && !(is_gap && slot == from)) buf[size++] = *rows;
  }
  buf[size] = '\0';
  return buf;
}

TEST(slices_of_every_layout) {
  for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
    for (int64_t from = 0; from < 3; from++) {
      fixture f;
      make(&f, samples[i].type, samples[i].rows);
      int64_t count = f.array.length - from - 1 < 0 ? 0 : f.array.length - from - 1;
      arrow_text_slice(&f.array, from, count);
      CHECK_EQ(look(&f, false), CST_OK);
      CHECK_EQ(f.view.length, count);
      CHECK_STR(written(&f.view), part_of(samples[i].rows, from, count));
      drop(&f);
    }
  }
}

TEST(a_slice_of_a_struct_reaches_its_children) {
  fixture f;
  make(&f, "struct{a: int64, b: struct{c: large_list<int64>}}",
       "{1, {[1]}} {2, {[2, 2]}} {null, {null}} {4, {[4]}}");
  arrow_text_slice(&f.array, 1, 2);
  arrow_text_slice(f.array.children[1], 0, 4); /* null_count unknown */
  CHECK_EQ(look(&f, false), CST_OK);
  CHECK_STR(written(&f.view), "{2, {[2, 2]}} {null, {null}}");
  CHECK_EQ(f.view.children[0].null_count, 1);
  CHECK_EQ(f.view.children[1].children[0].null_count, 1);
  CHECK_EQ(f.view.children[1].children[0].offset, 1);
  drop(&f);
}

TEST(children_have_offsets_of_their_own) {
  fixture f;
  make(&f, "struct{a: int64, b: fixed_list<int32>[2]}", "{1, [1, 2]} {2, [3, 4]} {3, [5, 6]}");
  f.array.length = 1;
  f.array.offset = 1;
  for (int i = 0; i < 2; i++) arrow_text_slice(f.array.children[i], 1, 2);
  CHECK_EQ(look(&f, false), CST_OK);
  CHECK_STR(written(&f.view), "{3, [5, 6]}");
  drop(&f);

  make(&f, "large_list<int64>", "[0, 0] [1]");
  arrow_text_slice(f.array.children[0], 1, 2);
  ((int64_t *)f.array.buffers[1])[1] = 1;
  ((int64_t *)f.array.buffers[1])[2] = 2;
  CHECK_EQ(look(&f, false), CST_OK);
  CHECK_STR(written(&f.view), "[0] [1]");
  drop(&f);
}

TEST(null_slots_hold_nothing_whatever_lies_behind) {
  fixture f;
  static const uint8_t bits[] = {0x05};
  const char *types[] = {"list<int64>", "large_list_view<int64>", "fixed_list<int64>[2]"};
  for (int i = 0; i < 3; i++) {
    make(&f, types[i], "[1, 2] [3, 4] [5, 6]");
    const void *old = f.array.buffers[0];
    f.array.buffers[0] = bits;
    f.array.null_count = 1;
    CHECK_EQ(look(&f, false), CST_OK);
    CHECK_EQ(f.view.null_count, 1);
    CHECK_STR(written(&f.view), "[1, 2] null [5, 6]");
    int64_t begin, end;
    cst__view_list(&f.view, 1, &begin, &end);
    CHECK_EQ(begin, end);
    f.array.buffers[0] = old;
    drop(&f);
  }
}

TEST(empty_arrays_need_no_buffers) {
  const char *types[] = {"int64",           "list<int64>",         "large_binary",
                         "string_view",     "list_view<int8>",     "float16",
                         "fixed_binary[2]", "fixed_list<int64>[3]"};
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
    fixture f;
    const void *old[3] = {NULL};
    make(&f, types[i], "");
    for (int b = 0; b < f.array.n_buffers && b < 3; b++)
      old[b] = f.array.buffers[b], f.array.buffers[b] = NULL;
    CHECK_EQ(look(&f, false), CST_OK);
    CHECK_EQ(f.view.length, 0);
    for (int b = 0; b < f.array.n_buffers && b < 3; b++) f.array.buffers[b] = old[b];
    drop(&f);
  }
}

TEST(names_of_types) {
  struct {
    const char *type;
    const char *name;
  } names[] = {{"int64", "int64"},
               {"large_list<int64>", "large_list<int64>"},
               {"fixed_list<string_view>[3]", "fixed_size_list<string_view>[3]"},
               {"struct{a: int8, b: int8}", "struct<2 fields>"},
               {"list_view<struct{a: int8}>", "list_view<struct<1 fields>>"},
               {"timestamp", "timestamp"},
               {"fixed_binary[3]", "fixed_size_binary"}};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    fixture f;
    char buf[64];
    make(&f, names[i].type, "");
    CHECK_EQ(look(&f, false), CST_OK);
    cst__view_type_name(&f.view, buf, sizeof buf);
    CHECK_STR(buf, names[i].name);
    CHECK_EQ(cst__view_init_schema(&f.view, &f.schema, &f.arena, NULL), CST_OK);
    CHECK_EQ(f.view.length, 0);
    cst__view_type_name(&f.view, buf, 5);
    CHECK_EQ(strlen(buf) <= 4, true);
    drop(&f);
  }
}

TEST(other_types_are_named_and_left_alone) {
  fixture f;
  make(&f, "struct{a: timestamp, b: int64}", "{1, 2} {3, 4}");
  CHECK_EQ(look(&f, false), CST_OK);
  CHECK_EQ(f.view.children[0].layout, CST__LAYOUT_OPAQUE);
  CHECK_EQ(f.view.children[0].fixed_size, 8);
  CHECK_EQ(f.view.children[1].layout, CST__LAYOUT_NUMBER);
  const char *old = f.schema.children[1]->format;
  f.schema.children[1]->format = "?!";
  char buf[16];
  CHECK_EQ(look(&f, false), CST_OK);
  cst__view_type_name(&f.view.children[1], buf, sizeof buf);
  CHECK_STR(buf, "unknown");
  f.schema.children[1]->format = old;
  drop(&f);
}

TEST(times_and_decimals_have_a_width) {
  struct {
    const char *format;
    int64_t width; /* 0: not known */
  } formats[] = {{"tdD", 4},      {"tdm", 8},        {"tts", 4},         {"ttm", 4},
                 {"ttu", 8},      {"ttn", 8},        {"tss:", 8},        {"tsm:Europe/Rome", 8},
                 {"tsu:", 8},     {"tsn:+01:00", 8}, {"tDs", 8},         {"tDn", 8},
                 {"tiM", 4},      {"tiD", 8},        {"tin", 16},        {"d:19,10", 16},
                 {"d:9,2,32", 4}, {"d:9,-2,64", 8},  {"d:38,9,128", 16}, {"d:76,0,256", 32},
                 {"d:19", 0},     {"d:9,2,7", 0},    {"d:9,2,", 0},      {"tdX", 0},
                 {"ttsx", 0},     {"tss", 0},        {"ti", 0}};
  for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
    cst__arena arena;
    cst__view view;
    struct ArrowSchema schema;
    ArrowSchemaInit(&schema);
    cst__arena_init(&arena, NULL);
    CHECK_EQ(ArrowSchemaSetFormat(&schema, formats[i].format), 0);
    CHECK_EQ(cst__view_init_schema(&view, &schema, &arena, NULL), CST_OK);
    CHECK_EQ(view.layout, formats[i].width > 0 ? CST__LAYOUT_OPAQUE : CST__LAYOUT_OTHER);
    CHECK_EQ(view.fixed_size, formats[i].width);
    cst__arena_reset(&arena);
    ArrowSchemaRelease(&schema);
  }
}

/* ---- damage ---- */

static const uint8_t some_nulls[] = {0x02};

static void negative_length(fixture *f) { f->array.length = -1; }
static void negative_offset(fixture *f) { f->array.offset = -1; }
static void huge_offset(fixture *f) { f->array.offset = INT64_MAX - 1; }
static void huge_length(fixture *f) { f->array.length = INT64_MAX; }
static void wrong_null_count(fixture *f) {
  f->array.null_count = 1, f->array.buffers[0] = some_nulls;
}
static void nulls_without_bitmap(fixture *f) { f->array.null_count = 1; }
static void absurd_null_count(fixture *f) { f->array.null_count = 100; }
static void few_buffers(fixture *f) { f->array.n_buffers = 1; }
static void no_buffer(fixture *f) { f->array.buffers[1] = NULL; }
static void misaligned(fixture *f) { f->array.buffers[1] = (const char *)f->array.buffers[1] + 1; }
static void no_child(fixture *f) { f->array.n_children = 0; }
static void short_child(fixture *f) { f->array.children[0]->length = 1; }
static void released(fixture *f) { ArrowArrayRelease(&f->array); }
static void first_negative(fixture *f) { ((int64_t *)f->array.buffers[1])[0] = -1; }
static void decreasing(fixture *f) { ((int64_t *)f->array.buffers[1])[1] = 4; }
static void past_the_end(fixture *f) { ((int64_t *)f->array.buffers[1])[2] = 5; }
static void huge_size(fixture *f) { ((int32_t *)f->array.buffers[2])[1] = INT32_MAX; }
static void negative_size(fixture *f) { ((int32_t *)f->array.buffers[2])[1] = -1; }
static void cut_character(fixture *f) { ((int32_t *)f->array.buffers[1])[1] = 1; }
static void no_bytes(fixture *f) { f->array.buffers[2] = NULL; }
static void view_length(fixture *f) { ((int32_t *)f->array.buffers[1])[4] = -1; }
static void view_buffer(fixture *f) { ((int32_t *)f->array.buffers[1])[6] = 1; }
static void view_offset(fixture *f) { ((int32_t *)f->array.buffers[1])[7] = 1; }
static void view_prefix(fixture *f) { ((int32_t *)f->array.buffers[1])[5] ^= 1; }

static void no_buffers(fixture *f) { f->array.buffers = NULL; }
static void many_slots(fixture *f) { f->array.length = INT64_MAX / 64; }

static const struct {
  const char *type;
  const char *rows;
  void (*damage)(fixture *f);
  cst_status status;
  const char *message;
} damages[] = {
    {"int64", "1 2", negative_length, CST_CORRUPT, "length -1"},
    {"int64", "1 2", negative_offset, CST_CORRUPT, "offset -1"},
    {"int64", "1 2", huge_offset, CST_CORRUPT, "offset 9223372036854775806"},
    {"int64", "1 2", huge_length, CST_CORRUPT, "length 9223372036854775807"},
    {"int64", "1 2", absurd_null_count, CST_CORRUPT, "null count of 100"},
    {"int64", "1 2 3", wrong_null_count, CST_CORRUPT, "null count of 1, but 2 nulls"},
    {"int64", "1 2", nulls_without_bitmap, CST_CORRUPT, "no validity bitmap"},
    {"int64", "1 2", no_buffers, CST_INVALID_ARGUMENT, "has no buffers"},
    {"fixed_binary[100]", "", many_slots, CST_CORRUPT, "slots of 100 bytes each"},
    {"fixed_list<int64>[100]", "", many_slots, CST_CORRUPT, "x 100 items has only 0"},
    {"int64", "1 2", few_buffers, CST_INVALID_ARGUMENT, "has 1 buffers instead of 2"},
    {"int64", "1 2", no_buffer, CST_CORRUPT, "buffer 1 of an array of length 2 is missing"},
    {"int64", "1 2", misaligned, CST_UNSUPPORTED, "not aligned to 8 bytes"},
    {"int64", "1 2", released, CST_INVALID_ARGUMENT, "released"},
    {"list<int64>", "[1] [2]", no_child, CST_INVALID_ARGUMENT, "has 0 children, its schema 1"},
    {"list<int64>", "[1] [2]", no_buffer, CST_CORRUPT, "missing"},
    {"list<int64>", "[1] [2]", short_child, CST_CORRUPT, "there are 1 items"},
    {"fixed_list<int64>[2]", "[1, 2] [3, 4]", short_child, CST_CORRUPT, "2 x 2 items has only 1"},
    {"struct{a: int64}", "{1} {2}", short_child, CST_CORRUPT, "length 1 in a struct of length 2"},
    {"large_list<int64>", "[1, 2] [3]", first_negative, CST_CORRUPT, "offset -1 is negative"},
    {"large_list<int64>", "[1, 2] [3]", decreasing, CST_CORRUPT, "less than the one before"},
    {"large_list<int64>", "[1, 2] [3]", past_the_end, CST_CORRUPT, "last offset is 5"},
    {"list_view<int64>", "[1, 2] [3]", huge_size, CST_CORRUPT, "slot 1: items 2 + 2147483647"},
    {"list_view<int64>", "[1, 2] [3]", negative_size, CST_CORRUPT, "slot 1: items 2 + -1"},
    {"string", "'a' '\xc3(' 'b'", NULL, CST_CORRUPT, "slot 1: a string that is not UTF-8"},
    {"string", "'\xc3\xa4' 'b'", cut_character, CST_CORRUPT, "slot 0: a string that is not UTF-8"},
    {"string", "'a'", no_bytes, CST_CORRUPT, "no buffer for them"},
    {"string_view", "'a' '\xc3('", NULL, CST_CORRUPT, "slot 1: a string that is not UTF-8"},
    {"binary_view", "'a' 'more than 12 bytes'", view_length, CST_CORRUPT, "slot 1: a length of -1"},
    {"binary_view", "'a' 'more than 12 bytes'", view_buffer, CST_CORRUPT, "slot 1: buffer 1 of 1"},
    {"binary_view", "'a' 'more than 12 bytes'", view_offset, CST_CORRUPT,
     "bytes 1 + 18 of a buffer"},
    {"binary_view", "'a' 'more than 12 bytes'", view_prefix, CST_CORRUPT, "prefix"},
};

TEST(damaged_arrays_are_refused) {
  for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
    fixture f;
    make(&f, damages[i].type, damages[i].rows);
    const void *buffers[4] = {NULL};
    struct ArrowArray sound = f.array;
    for (int b = 0; b < sound.n_buffers && b < 4; b++) buffers[b] = sound.buffers[b];
    if (damages[i].damage) damages[i].damage(&f);
    CHECK_EQ(look(&f, false), damages[i].status);
    CHECK_CONTAINS(f.error.message, damages[i].message);
    if (f.array.release) {
      f.array = sound;
      for (int b = 0; b < sound.n_buffers && b < 4; b++) f.array.buffers[b] = buffers[b];
    }
    drop(&f);
  }
}

TEST(bools_have_bits) {
  fixture f;
  make(&f, "list<bool>", "[true] [true]");
  CHECK_EQ(look(&f, false), CST_OK);
  CHECK_EQ(f.view.children[0].layout, CST__LAYOUT_BOOL);
  CHECK_EQ(*(const uint8_t *)f.view.children[0].data, 3);
  drop(&f);
}

TEST(errors_name_the_path) {
  fixture f;
  make(&f, "struct{a: int64, b: struct{c: list<string>}}", "{1, {['\xff']}}");
  CHECK_EQ(look(&f, false), CST_CORRUPT);
  CHECK_STR(f.error.path, "b.c");
  CHECK_EQ(look(&f, true), CST_OK);
  drop(&f);
}

/* The only child claims a length that needs no memory; its siblings may stand behind it. */
static cst_status look_at_claim(const char *type, const char *rows, int64_t claim) {
  fixture f;
  make(&f, type, rows);
  struct ArrowArray *child = f.array.children[0];
  int64_t length = child->length;
  int64_t rows_made = f.array.length;
  child->length = claim;
  f.array.length = f.array.n_children == 1 ? claim : f.array.length;
  child->null_count = -1;
  cst_status status = look(&f, false);
  if (status == CST_LIMIT) {
    CHECK_CONTAINS(f.error.message, "slots of type");
  }
  child->length = length;
  f.array.length = rows_made;
  drop(&f);
  return status;
}

TEST(lengths_have_memory_behind_them) {
  const int64_t much = INT64_C(1) << 40;
  CHECK_EQ(look_at_claim("struct{a: null}", "{null}", much), CST_LIMIT);
  CHECK_EQ(look_at_claim("struct{a: null}", "{null}", 1 << 24), CST_OK);
  CHECK_EQ(look_at_claim("struct{a: null}", "{null}", (1 << 24) + 1), CST_LIMIT);
  CHECK_EQ(look_at_claim("struct{a: null, b: int64}", "{null, 1}", much), CST_OK); /* one row */
}

TEST(items_of_lists_have_memory_behind_them) {
  fixture f;
  make(&f, "struct{a: large_list<null>}", "{[null]}");
  struct ArrowArray *lists = f.array.children[0];
  ((int64_t *)(uintptr_t)lists->buffers[1])[1] = INT64_C(1) << 40;
  lists->children[0]->length = lists->children[0]->null_count = INT64_C(1) << 40;
  CHECK_EQ(look(&f, false), CST_LIMIT);
  CHECK_STR(f.error.path, "a");
  CHECK_CONTAINS(f.error.message, "1099511627776 slots of type null");
  drop(&f);
}

TEST(wrong_schemas_are_refused) {
  fixture f;
  make(&f, "struct{a: int64}", "{1}");
  struct ArrowSchema sound = f.schema;
  struct ArrowSchema *none[1] = {NULL};
  f.schema.children = none;
  CHECK_EQ(look(&f, false), CST_INVALID_ARGUMENT);
  f.schema.children = NULL;
  CHECK_EQ(look(&f, false), CST_INVALID_ARGUMENT);
  f.schema = sound;
  f.schema.n_children = INT64_MAX;
  CHECK_EQ(look(&f, false), CST_LIMIT);
  f.schema = sound;
  f.schema.format = NULL;
  CHECK_EQ(look(&f, false), CST_INVALID_ARGUMENT);
  f.schema.format = "+l";
  CHECK_EQ(look(&f, false), CST_INVALID_ARGUMENT);
  f.schema.n_children = 0;
  CHECK_EQ(look(&f, false), CST_INVALID_ARGUMENT);
  CHECK_CONTAINS(f.error.message, "has 0 children instead of 1");
  f.schema = sound;
  f.schema = sound;
  struct ArrowSchema *self[1] = {&f.schema};
  struct ArrowArray *own[1] = {&f.array};
  struct ArrowArray whole = f.array;
  f.schema.children = self;
  f.array.children = own;
  CHECK_EQ(look(&f, false), CST_LIMIT);
  CHECK_CONTAINS(f.error.message, "nested deeper than 100");
  f.schema = sound;
  f.array = whole;
  drop(&f);
}

TEST(fixed_sizes_are_parsed_strictly) {
  fixture f;
  const char *wrong[] = {"w:", "w:-1", "w:1x", "w:99999999999", "+w:", "+w:2147483648"};
  make(&f, "int64", "1");
  const char *sound = f.schema.format;
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    f.schema.format = wrong[i];
    CHECK_EQ(look(&f, false), CST_OK);
    CHECK_EQ(f.view.layout, CST__LAYOUT_OTHER);
  }
  f.schema.format = sound;
  drop(&f);
}

TEST(bits_are_counted_in_any_range) {
  uint8_t bits[40];
  for (int i = 0; i < 40; i++) bits[i] = (uint8_t)(i * 37 + 11);
  for (int64_t from = 0; from < 20; from++) {
    for (int64_t count = 0; count < 300; count += 7) {
      int64_t expected = 0;
      for (int64_t at = from; at < from + count; at++) expected += bits[at / 8] >> (at % 8) & 1;
      CHECK_EQ(cst__bitmap_count(bits, from, count), expected);
    }
  }
}

static int look_at(void *context) {
  fixture *f = context;
  int status = cst__view_init(&f->view, &f->schema, &f->array, false, &f->arena, &f->error);
  cst__arena_reset(&f->arena);
  return status;
}

TEST(out_of_memory) {
  fixture f;
  make(&f, "struct{a: list<int64>, b: struct{c: list<string>}}", "{[1], {['x']}}");
  FOR_EACH_ALLOCATION_FAILURE(look_at, &f, CST_NO_MEMORY);
  drop(&f);
}

static int copy_schema(void *context) {
  fixture *f = context;
  struct ArrowSchema copy = {.release = NULL};
  int status = cst__schema_copy(&f->schema, &copy, &f->error);
  if (status == CST_OK) ArrowSchemaRelease(&copy);
  return status;
}

TEST(schemas_are_copied_and_compared) {
  fixture f, other;
  struct ArrowSchema copy = {.release = NULL};
  make(&f, "struct{a: list<int64>, b: string}", "");
  CHECK_EQ(cst__schema_copy(&f.schema, &copy, NULL), CST_OK);
  CHECK(cst__schema_equal(&f.schema, &copy));
  copy.children[1]->flags ^= ARROW_FLAG_NULLABLE;
  CHECK(!cst__schema_equal(&f.schema, &copy));
  ArrowSchemaRelease(&copy);
  const char *different[] = {"struct{a: list<int64>, c: string}", "struct{a: list<int64>}",
                             "struct{a: list<int32>, b: string}",
                             "struct{b: string, a: list<int64>}"};
  for (int i = 0; i < 4; i++) {
    make(&other, different[i], "");
    CHECK(!cst__schema_equal(&f.schema, &other.schema));
    drop(&other);
  }
  FOR_EACH_ALLOCATION_FAILURE(copy_schema, &f, CST_NO_MEMORY);
  CHECK_EQ(cst__schema_copy(NULL, &copy, NULL), CST_INVALID_ARGUMENT);
  drop(&f);
}

TEST(only_what_a_slice_uses_is_checked) {
  fixture f;
  make(&f, "list<string>", "['\xff'] ['a', 'b'] ['\xfe']");
  arrow_text_slice(&f.array, 1, 1);
  CHECK_EQ(look(&f, false), CST_OK);
  CHECK_STR(written(&f.view), "['a', 'b']");
  f.array.length = 2;
  CHECK_EQ(look(&f, false), CST_CORRUPT);
  drop(&f);
}

/* A slice whose own offsets are in order, but lead behind all bytes that there are. */
TEST(offsets_above_the_last_one_are_refused) {
  static const char *const types[] = {"list<binary>", "list<large_binary>"};
  for (int i = 0; i < 2; i++) {
    fixture f;
    make(&f, types[i], "['aa'] ['b']");
    struct ArrowArray *child = f.array.children[0];
    int32_t narrow[] = {0, 1000, 3};
    int64_t wide[] = {0, 1000, 3};
    const void *offsets = child->buffers[1];
    child->buffers[1] = i == 0 ? (const void *)narrow : wide;
    f.array.length = 1;
    CHECK_EQ(look(&f, false), CST_CORRUPT);
    CHECK_CONTAINS(f.error.message, "offset 1000 is above the last one");
    child->buffers[1] = offsets;
    drop(&f);
  }
}

TEST(schemas_without_an_end_are_not_copied) {
  struct ArrowSchema endless = {.format = "+l", .n_children = 1, .release = ArrowSchemaRelease};
  struct ArrowSchema *self[] = {&endless}, copy, *none[] = {NULL};
  endless.children = self;
  CHECK_EQ(cst__schema_copy(&endless, &copy, NULL), CST_LIMIT);
  endless.children = none;
  CHECK_EQ(cst__schema_copy(&endless, &copy, NULL), CST_INVALID_ARGUMENT);
}
