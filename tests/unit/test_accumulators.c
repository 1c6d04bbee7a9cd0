/* Every accumulator gives the same for every split of its input: rows are dealt to any number of
 * states, in order, these are merged in any grouping, and saved and loaded in between.
 */
#include <inttypes.h>
#include <math.h>
#include <nanoarrow/nanoarrow.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "findings_text.h"
#include "harness.h"
#include "schema/inference.h"
#include "validate/counts.h"
#include "validate/proposal.h"
#include "validate/validation.h"

/* ---- chance ---- */

static uint64_t seed;
static int direction; /* of the numbers of "t" */

static int random_below(int end) {
  seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (int)((seed >> 33) % (uint64_t)end);
}

/* ---- rows ---- */

enum { MAX_BATCHES = 10, MAX_COLUMNS = 8, MAX_LOST = 6, MAX_PARTS = 12 };

typedef struct batch {
  struct ArrowSchema schema;
  struct ArrowArray array;
  int64_t first_row; /* among all */
} batch;

typedef struct lost_record {
  int64_t before; /* this row */
  int64_t number;
} lost_record;

typedef struct input {
  batch batches[MAX_BATCHES];
  int num_batches;
  int64_t num_rows;
  lost_record lost[MAX_LOST];
  int num_lost;
} input;

typedef struct column_kind {
  const char *name;
  enum ArrowType type;
} column_kind;

/* Names that belong together, some that the schema does not have, and numbers that rise. */
static const column_kind kinds[MAX_COLUMNS] = {{"a", NANOARROW_TYPE_INT64},
                                               {"a_lengths", NANOARROW_TYPE_INT64},
                                               {"s", NANOARROW_TYPE_LARGE_BINARY},
                                               {"f", NANOARROW_TYPE_FLOAT},
                                               {"p_index", NANOARROW_TYPE_INT64},
                                               {"p_value", NANOARROW_TYPE_FLOAT},
                                               {"other", NANOARROW_TYPE_LARGE_BINARY},
                                               {"t", NANOARROW_TYPE_INT64}};

static void append_value(struct ArrowArray *items, const column_kind *kind, int64_t row, int i) {
  char text[8];
  if (kind->type == NANOARROW_TYPE_LARGE_BINARY) {
    int size = snprintf(text, sizeof text, "%c", 'v' + random_below(3) + (row % 7 == 6 ? 2 : 0));
    struct ArrowBufferView bytes = {{.data = row % 31 == 30 ? "\xff" : text}, size};
    CHECK_EQ(ArrowArrayAppendBytes(items, bytes), 0);
  } else if (kind->type == NANOARROW_TYPE_FLOAT) {
    CHECK_EQ(ArrowArrayAppendDouble(items, row % 13 == 12 ? (double)NAN : random_below(9)), 0);
  } else {
    int64_t value = strcmp(kind->name, "t") == 0         ? direction * row
                    : strcmp(kind->name, "p_index") == 0 ? i
                                                         : random_below(3);
    CHECK_EQ(ArrowArrayAppendInt(items, value), 0);
  }
}

static void append_column(struct ArrowArray *array, const column_kind *kind, int64_t first_row,
                          int rows, bool is_regular) {
  for (int row = 0; row < rows; row++) {
    bool is_pair = kind->name[0] == 'p'; /* a sparse tensor, which two indexes show */
    int count = is_regular ? 1 + is_pair : random_below(4) - 1;
    if (count < 0) {
      CHECK_EQ(ArrowArrayAppendNull(array, 1), 0);
      continue;
    }
    for (int i = 0; i < count; i++) {
      append_value(array->children[0], kind, first_row + row, i);
    }
    CHECK_EQ(ArrowArrayFinishElement(array), 0);
  }
}

static void make_batch(batch *b, int64_t first_row, int rows, bool is_regular) {
  const column_kind *chosen[MAX_COLUMNS];
  int count = 0;
  for (int i = 0; i < MAX_COLUMNS; i++) {
    if (is_regular || random_below(4) > 0) {
      chosen[count++] = &kinds[i];
    }
  }
  ArrowSchemaInit(&b->schema);
  CHECK_EQ(ArrowSchemaSetTypeStruct(&b->schema, count), 0);
  for (int i = 0; i < count; i++) {
    struct ArrowSchema *list = b->schema.children[i];
    CHECK_EQ(ArrowSchemaSetType(list, NANOARROW_TYPE_LARGE_LIST), 0);
    CHECK_EQ(ArrowSchemaSetName(list, chosen[i]->name), 0);
    CHECK_EQ(ArrowSchemaSetType(list->children[0], chosen[i]->type), 0);
  }
  CHECK_EQ(ArrowArrayInitFromSchema(&b->array, &b->schema, NULL), 0);
  CHECK_EQ(ArrowArrayStartAppending(&b->array), 0);
  for (int i = 0; i < count; i++) {
    append_column(b->array.children[i], chosen[i], first_row, rows, is_regular);
  }
  b->array.length = rows;
  CHECK_EQ(ArrowArrayFinishBuildingDefault(&b->array, NULL), 0);
  b->first_row = first_row;
}

static void make_input(input *in) {
  bool is_regular = random_below(3) == 0;
  direction = random_below(3) - 1;
  *in = (input){.num_batches = 1 + random_below(MAX_BATCHES)};
  for (int i = 0; i < in->num_batches; i++) {
    int rows = random_below(9);
    make_batch(&in->batches[i], in->num_rows, rows, is_regular);
    in->num_rows += rows;
  }
  in->num_lost = random_below(MAX_LOST + 1);
  int64_t before = 0;
  for (int i = 0; i < in->num_lost; i++) {
    before += random_below(6);
    before = before < in->num_rows ? before : in->num_rows;
    in->lost[i] = (lost_record){before, i};
  }
}

static void release_input(input *in) {
  for (int i = 0; i < in->num_batches; i++) {
    in->batches[i].schema.release(&in->batches[i].schema);
    in->batches[i].array.release(&in->batches[i].array);
  }
}

/* ---- states ---- */

typedef struct tested {
  const cst__accumulator *accumulator;
  const void *plan;
  char *(*text)(const struct tested *t, const void *state); /* of what it finishes as; free */
} tested;

static cst__place place_of_row(const void *ctx, int64_t row) {
  int64_t number = *(const int64_t *)ctx + row;
  return (cst__place){number < 20 ? "one" : "two", number, 10 * number};
}

/* Adds rows [begin, end) of a batch. */
static void add_slice(const tested *t, void *state, const batch *b, int64_t begin, int64_t end) {
  struct ArrowArray slice = b->array;
  int64_t first_row = b->first_row + begin;
  cst__origin origin = {place_of_row, &first_row};
  slice.offset += begin;
  slice.length = end - begin;
  slice.null_count = 0;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst__accumulator_add(t->accumulator, state, &b->schema, &slice, &origin, &error),
           CST_OK);
}

static void add_lost(const tested *t, void *state, const lost_record *record) {
  static const char *const lost_kinds[] = {"record", "data-crc"};
  cst_error why = CST_ERROR_INIT;
  const cst__lost lost = {.kind = lost_kinds[record->number % 2], .error = &why};
  if (t->accumulator->add_lost != NULL) {
    (void)cst__fail(&why, CST_CORRUPT, NULL, "lost %d", (int)record->number);
    cst__error_add_file(&why, "two");
    cst__error_add_record(&why, 100 + record->number, 7);
    CHECK_EQ(t->accumulator->add_lost(state, &lost, NULL), CST_OK);
  }
}

/* Adds rows [begin, end) of all, in slices of any size, with what was lost before them; that which
 * was lost at the end goes with the last state. */
static void add_rows(const tested *t, void *state, const input *in, int64_t begin, int64_t end,
                     bool is_last) {
  int next = 0;
  while (next < in->num_lost && in->lost[next].before < begin) {
    next++;
  }
  for (int i = 0; i < in->num_batches; i++) {
    const batch *b = &in->batches[i];
    int64_t at = begin > b->first_row ? begin - b->first_row : 0;
    int64_t stop = b->array.length < end - b->first_row ? b->array.length : end - b->first_row;
    while (at < stop) {
      while (next < in->num_lost && in->lost[next].before <= b->first_row + at) {
        add_lost(t, state, &in->lost[next++]);
      }
      int64_t step = 1 + random_below(5);
      int64_t until = at + step < stop ? at + step : stop;
      if (next < in->num_lost && in->lost[next].before < b->first_row + until) {
        until = in->lost[next].before - b->first_row;
      }
      add_slice(t, state, b, at, until);
      at = until;
    }
  }
  while (is_last && next < in->num_lost) {
    add_lost(t, state, &in->lost[next++]);
  }
}

static void *new_state(const tested *t) {
  void *state = NULL;
  CHECK_EQ(t->accumulator->create(t->plan, NULL, &state, NULL), CST_OK);
  return state;
}

static void *save_and_load(const tested *t, void *state) {
  char *bytes = NULL;
  size_t size = 0;
  void *loaded = NULL;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst__accumulator_save(t->accumulator, NULL, state, &bytes, &size, &error), CST_OK);
  t->accumulator->free(state);
  cst_bytes saved = {(const uint8_t *)bytes, size};
  CHECK_EQ(cst__accumulator_load(t->accumulator, t->plan, saved, NULL, &loaded, &error), CST_OK);
  cst_free(bytes);
  return loaded;
}

/* Divides the rows among states, and merges neighbours until one is left. */
static void *fold_in_parts(const tested *t, const input *in) {
  void *states[MAX_PARTS];
  int count = 1 + random_below(MAX_PARTS);
  int64_t begin = 0;
  for (int i = 0; i < count; i++) {
    int64_t rest = in->num_rows - begin;
    int64_t end = begin + (rest > 1 ? random_below((int)rest) : 0); /* some are for the last */
    end = i + 1 == count ? in->num_rows : end;
    states[i] = new_state(t);
    add_rows(t, states[i], in, begin, end, i + 1 == count);
    begin = end;
    states[i] = random_below(2) ? save_and_load(t, states[i]) : states[i];
  }
  while (count > 1) {
    int at = random_below(count - 1);
    CHECK_EQ(t->accumulator->merge(states[at], states[at + 1], NULL), CST_OK);
    t->accumulator->free(states[at + 1]);
    memmove(&states[at + 1], &states[at + 2], (size_t)(count - at - 2) * sizeof states[0]);
    states[at] = random_below(3) ? states[at] : save_and_load(t, states[at]);
    count--;
  }
  return states[0];
}

/* Adds the rows part by part to one state, which is merged and restarted after each. */
static void *fold_recycled(const tested *t, const input *in) {
  void *into = new_state(t);
  void *part = new_state(t);
  int64_t end;
  for (int64_t begin = 0; begin < in->num_rows || begin == 0; begin = end) {
    end = begin + 1 + random_below(6);
    bool is_last = end >= in->num_rows;
    end = is_last ? in->num_rows + 1 : end;
    add_rows(t, part, in, begin, is_last ? in->num_rows : end, is_last);
    CHECK_EQ(t->accumulator->merge(into, part, NULL), CST_OK);
    CHECK(t->accumulator->restart(part));
  }
  t->accumulator->free(part);
  return into;
}

static void check_splits(const tested *t, uint64_t first_seed, int inputs) {
  for (int i = 0; i < inputs; i += EVERY) {
    input in;
    seed = first_seed + (uint64_t)i;
    make_input(&in);
    void *whole = new_state(t);
    add_rows(t, whole, &in, 0, in.num_rows, true);
    char *expected = t->text(t, whole);
    for (int k = 0; k < 5; k++) {
      bool recycles = k == 4 && t->accumulator->restart != NULL;
      void *merged = recycles ? fold_recycled(t, &in) : fold_in_parts(t, &in);
      char *found = t->text(t, merged);
      CHECK_STR(found, expected);
      free(found);
      t->accumulator->free(merged);
    }
    free(expected);
    t->accumulator->free(whole);
    release_input(&in);
  }
}

/* ---- what comes out, as text ---- */

static char *schema_text(const tested *t, const void *state) {
  cst_schema *schema = NULL;
  char *text = NULL;
  size_t size;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(t->accumulator->finish_schema(state, &schema, &error), CST_OK);
  CHECK_EQ(cst_schema_to_text(schema, &text, &size, NULL), CST_OK);
  cst_schema_release(schema);
  return text;
}

/* All that was found. */
static char *found_text(const tested *t, const void *state) {
  cst_findings *found = NULL;
  CHECK_EQ(t->accumulator->finish(state, &found, NULL), CST_OK);
  char *text = findings_text(found);
  cst_findings_free(found);
  return text;
}

/* ---- the accumulators ---- */

TEST(inference_of_any_split) {
  tested t = {&cst__inference_accumulator, NULL, schema_text};
  check_splits(&t, 1, 60);
}

TEST(proposals_of_any_split) {
  cst_propose_options options = CST_PROPOSE_OPTIONS_INIT;
  options.max_domain = 3;
  options.group = "";
  tested t = {&cst__proposal_accumulator, &options, schema_text};
  check_splits(&t, 1000, 120);
}

TEST(counts_of_any_split) {
  tested t = {&cst__counts_accumulator, NULL, found_text};
  check_splits(&t, 7000, 60);
}

/* Of all columns. */
static cst__owned_plan plan_lengths(void) {
  const struct {
    const char *const *columns;
    size_t num_columns;
  } none = {NULL, 0};
  cst__owned_plan plan = {NULL, NULL, 0};
  CHECK_EQ(cst__lengths_accumulator.plan(&none, NULL, &plan, NULL), CST_OK);
  return plan;
}

TEST(lengths_of_any_split) {
  cst__owned_plan plan = plan_lengths();
  tested t = {&cst__lengths_accumulator, plan.plan, found_text};
  check_splits(&t, 9000, 60);
  plan.free(plan.plan);
}

static const char schema_source[] =
    "feature { name: 'a' type: INT value_count { min: 1 max: 2 } int_domain { min: 0 max: 1 }"
    "  presence { min_fraction: 1 } }"
    "feature { name: 's' type: BYTES string_domain { value: 'v' value: 'w' } }"
    "feature { name: 'f' type: FLOAT float_domain { max: 4 disallow_nan: true } }"
    "feature { name: 'p_index' type: INT int_domain { min: 0 max: 1 } }"
    "feature { name: 'p_value' type: FLOAT }"
    "feature { name: 't' type: FLOAT presence { min_fraction: 1 } shape { dim { size: 1 } } }"
    "feature { name: 'missing' type: INT presence { min_count: 3 } }"
    "sparse_feature { name: 'p' index_feature { name: 'p_index' } is_sorted: true"
    "  value_feature { name: 'p_value' } }"
    "tensor_representation_group { key: '' value { tensor_representation { key: 'd' value {"
    "  dense_tensor { column_name: 'a' shape { dim { size: 2 } } } } } } }";

typedef struct validation_case {
  cst_schema *schema;
  cst_validate_options options;
  cst__validation_plan plan;
} validation_case;

static void open_case(validation_case *c, const char *text) {
  cst__validation_source source = {.group = ""};
  cst_error error = CST_ERROR_INIT;
  c->options = (cst_validate_options)CST_VALIDATE_OPTIONS_INIT;
  c->options.places = 3;
  CHECK_EQ(cst_schema_from_text(text, strlen(text), &c->schema, &error), CST_OK);
  cst_status status =
      cst__validation_plan_init(&c->plan, c->schema, &c->options, &source, NULL, &error);
  CHECK_STR(error.message, "");
  CHECK_EQ(status, CST_OK);
}

static void close_case(validation_case *c) {
  cst__validation_plan_reset(&c->plan);
  cst_schema_release(c->schema);
}

TEST(validation_of_any_split) {
  validation_case c;
  open_case(&c, schema_source);
  tested t = {&cst__validation_accumulator, &c.plan, found_text};
  check_splits(&t, 5000, 120);
  close_case(&c);
}

/* Batches of many names that the schema does not have, each other ones. */
TEST(features_that_are_too_many_are_the_same_in_any_split) {
  enum { BATCHES = 6, NAMES = 450, DISTINCT = 1300 };
  validation_case c;
  char names[NAMES][16];
  input in = {.num_batches = BATCHES};
  open_case(&c, "");
  seed = 77;
  for (int i = 0; i < BATCHES; i++) {
    batch *b = &in.batches[i];
    ArrowSchemaInit(&b->schema);
    CHECK_EQ(ArrowSchemaSetTypeStruct(&b->schema, NAMES), 0);
    int first = random_below(DISTINCT);
    for (int k = 0; k < NAMES; k++) {
      struct ArrowSchema *child = b->schema.children[k];
      (void)snprintf(names[k], sizeof names[k], "n%d", (first + k) * 7919 % DISTINCT);
      CHECK_EQ(ArrowSchemaSetType(child, k % 3 ? NANOARROW_TYPE_INT64 : NANOARROW_TYPE_FLOAT), 0);
      CHECK_EQ(ArrowSchemaSetName(child, names[k]), 0);
    }
    CHECK_EQ(ArrowArrayInitFromSchema(&b->array, &b->schema, NULL), 0);
    CHECK_EQ(ArrowArrayStartAppending(&b->array), 0);
    for (int row = 0; row < 3; row++) {
      for (int k = 0; k < NAMES; k++) {
        CHECK_EQ(ArrowArrayAppendInt(b->array.children[k], row), 0);
      }
      CHECK_EQ(ArrowArrayFinishElement(&b->array), 0);
    }
    CHECK_EQ(ArrowArrayFinishBuildingDefault(&b->array, NULL), 0);
    b->first_row = in.num_rows;
    in.num_rows += 3;
  }
  tested t = {&cst__validation_accumulator, &c.plan, found_text};
  void *whole = new_state(&t);
  add_rows(&t, whole, &in, 0, in.num_rows, true);
  char *expected = found_text(&t, whole);
  CHECK_CONTAINS(expected, "more than 1000 features");
  for (int k = 0; k < 6; k++) {
    void *merged = fold_in_parts(&t, &in);
    char *found = found_text(&t, merged);
    CHECK(strcmp(found, expected) == 0);
    free(found);
    t.accumulator->free(merged);
  }
  free(expected);
  t.accumulator->free(whole);
  release_input(&in);
  close_case(&c);
}

/* ---- saved states ---- */

TEST(a_saved_state_is_loaded_for_nothing_else) {
  validation_case c;
  validation_case other;
  open_case(&c, schema_source);
  open_case(&other, "feature { name: 'a' type: INT }");
  tested t = {&cst__validation_accumulator, &c.plan, found_text};
  input in;
  char *bytes = NULL;
  size_t size;
  void *loaded = NULL;
  cst_error error = CST_ERROR_INIT;
  seed = 3;
  make_input(&in);
  void *state = new_state(&t);
  add_rows(&t, state, &in, 0, in.num_rows, true);
  CHECK_EQ(cst__accumulator_save(t.accumulator, NULL, state, &bytes, &size, NULL), CST_OK);
  cst_bytes saved = {(const uint8_t *)bytes, size};
  CHECK_EQ(cst__accumulator_load(&cst__inference_accumulator, NULL, saved, NULL, &loaded, &error),
           CST_INVALID_ARGUMENT);
  CHECK_CONTAINS(error.message, "another accumulator, expected inference");
  CHECK_EQ(cst__accumulator_load(t.accumulator, &other.plan, saved, NULL, &loaded, &error),
           CST_INVALID_ARGUMENT);
  CHECK_CONTAINS(error.message, "does not fit what it is loaded for");
  for (size_t i = 0; i < size; i++) {
    bytes[i] ^= 4;
    CHECK_EQ(cst__accumulator_load(t.accumulator, &c.plan, saved, NULL, &loaded, NULL),
             CST_CORRUPT);
    bytes[i] ^= 4;
    cst_bytes part = {saved.data, i};
    CHECK_EQ(cst__accumulator_load(t.accumulator, &c.plan, part, NULL, &loaded, NULL), CST_CORRUPT);
  }
  cst_free(bytes);
  t.accumulator->free(state);
  release_input(&in);
  close_case(&other);
  close_case(&c);
}

/* ---- out of memory ---- */

typedef struct memory_case {
  const tested *t;
  const input *in;
} memory_case;

static cst_status add_all(const tested *t, void *state, const input *in) {
  for (int i = 0; i < in->num_batches; i++) {
    int64_t first_row = in->batches[i].first_row;
    cst__origin origin = {place_of_row, &first_row};
    CST__TRY(cst__accumulator_add(t->accumulator, state, &in->batches[i].schema,
                                  &in->batches[i].array, &origin, NULL));
  }
  return CST_OK;
}

/* Two states, filled, merged, saved and loaded. */
static int run_all(void *context) {
  const memory_case *m = context;
  const cst__accumulator *a = m->t->accumulator;
  void *states[3] = {NULL, NULL, NULL};
  char *bytes = NULL;
  size_t size = 0;
  cst_status status = a->create(m->t->plan, NULL, &states[0], NULL);
  if (status == CST_OK) {
    status = a->create(m->t->plan, NULL, &states[1], NULL);
  }
  for (int i = 0; i < 2 && status == CST_OK; i++) {
    status = add_all(m->t, states[i], m->in);
  }
  if (status == CST_OK) {
    status = a->merge(states[0], states[1], NULL);
  }
  if (status == CST_OK) {
    status = cst__accumulator_save(a, NULL, states[0], &bytes, &size, NULL);
  }
  if (status == CST_OK) {
    cst_bytes saved = {(const uint8_t *)bytes, size};
    status = cst__accumulator_load(a, m->t->plan, saved, NULL, &states[2], NULL);
  }
  cst_free(bytes);
  for (int i = 0; i < 3; i++) {
    a->free(states[i]);
  }
  return (int)status;
}

TEST(out_of_memory) {
  cst_propose_options options = CST_PROPOSE_OPTIONS_INIT;
  validation_case c;
  input in;
  options.max_domain = 3;
  options.group = "";
  cst__owned_plan lengths = plan_lengths();
  open_case(&c, schema_source);
  seed = 11;
  make_input(&in);
  tested all[] = {{&cst__inference_accumulator, NULL, schema_text},
                  {&cst__proposal_accumulator, &options, schema_text},
                  {&cst__validation_accumulator, &c.plan, found_text},
                  {&cst__counts_accumulator, NULL, found_text},
                  {&cst__lengths_accumulator, lengths.plan, found_text}};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
    memory_case m = {&all[i], &in};
    FOR_EACH_ALLOCATION_FAILURE(run_all, &m, CST_NO_MEMORY);
  }
  release_input(&in);
  lengths.free(lengths.plan);
  close_case(&c);
}
