/* Sketches as callers hold them: what comes from outside is checked here, once for all kinds. A new
 * kind is a file in this room, and a line in the list.
 *
 * A saved sketch is a saved state (base/archive.h) called "sketch." and its kind, which begins with
 * the options as texts, the family of the values, whether they are only text, and how many they
 * were.
 */
#include "sketch/sketch.h"

#include <stdio.h>

#include "arrow/accumulator.h"
#include "arrow/findings.h"
#include "base/arguments.h"
#include "base/bytes.h"
#include "base/names.h"
#include "sketch/correlation.h"
#include "sketch/distinct_sketch.h"
#include "sketch/heavy_hitters.h"
#include "sketch/histogram.h"
#include "sketch/kmv.h"
#include "sketch/misra_gries/misra_gries.h"
#include "sketch/moments.h"
#include "sketch/mutual_information.h"
#include "sketch/quantile_summary/summary.h"
#include "sketch/quantiles_sketch.h"

static const cst__sketch_kind *const kinds[] = {
    &cst__distinct_kind,  &cst__heavy_kind,       &cst__kmv_kind,    &cst__moments_kind,
    &cst__histogram_kind, &cst__correlation_kind, &cst__mutual_kind, &cst__quantiles_kind,
    &cst__misra_kind,     &cst__summary_kind,
};

enum { NUM_KINDS = sizeof kinds / sizeof kinds[0] };

struct cst_sketch {
  const cst__sketch_kind *kind;
  cst_allocator allocator;
  cst__arena arena; /* the options */
  void *options;    /* NULL: the kind has none */
  void *state;
  cst__family families[2]; /* of the values; of pairs, those of both columns */
  int64_t num_values, num_nulls;
  bool has_binary; /* some bytes came from columns of another type than strings */
  bool is_broken;  /* a failure in the midst of counting */
};

/* ---- kinds ---- */

static const char *kind_name(const void *items, size_t i) {
  return ((const cst__sketch_kind *const *)items)[i]->name;
}

static const cst__sketch_kind *find_kind(cst_bytes name) {
  for (size_t i = 0; i < NUM_KINDS; i++) {
    if (strlen(kinds[i]->name) == name.size && memcmp(kinds[i]->name, name.data, name.size) == 0) {
      return kinds[i];
    }
  }
  return NULL;
}

static cst_status need_kind(const char *name, const cst__sketch_kind **out, cst_error *error) {
  const cst__name_list names = {kinds, NUM_KINDS, kind_name};
  char hint[CST__NAMES_HINT];
  *out = find_kind((cst_bytes){(const uint8_t *)name, strlen(name)});
  return *out != NULL ? CST_OK
                      : cst__fail(error, CST_INVALID_ARGUMENT,
                                  cst__names_hint(hint, name, "known are", &names),
                                  "unknown sketch '%.60s'", name);
}

cst_status cst_sketches(cst_findings **out, cst_error *error) {
  static const cst__finding_column columns[] = {CST__TEXT("name"), CST__TEXT("summary"),
                                                CST__OPTIONS("options")};
  static const cst__finding_type type = {"sketches", columns, 3};
  cst_findings *found;
  CST__CLEAR(out);
  if (out == NULL) {
    return cst__missing("out", error);
  }
  CST__TRY(cst__findings_new(&type, NULL, &found, error));
  for (size_t i = 0; i < NUM_KINDS; i++) {
    cst__put_text(found, kinds[i]->name);
    cst__put_text(found, kinds[i]->summary);
    cst__put_options(found, kinds[i]->options);
  }
  return cst__findings_finish(found, out, error);
}

/* ---- making ---- */

void cst_sketch_free(cst_sketch *sketch) {
  if (sketch != NULL) {
    sketch->kind->free(sketch->state);
    cst__arena_reset(&sketch->arena);
    cst__delete(sketch);
  }
}

/* The options were checked for NULL. */
static cst_status new_sketch(const cst__sketch_kind *kind, cst__option_list options,
                             const cst_allocator *allocator, cst_sketch **out, cst_error *error) {
  cst_sketch *made = cst__new_zero(allocator, sizeof *made);
  if (made == NULL) {
    return cst__fail_memory(error, sizeof *made);
  }
  made->kind = kind;
  made->allocator = cst__allocator_of(allocator);
  cst__arena_init(&made->arena, allocator);
  cst_status status =
      cst__options_read(kind->options, kind->name, options, &made->arena, &made->options, error);
  if (status == CST_OK) {
    status = kind->create(made->options, &made->allocator, &made->state, error);
  }
  if (status != CST_OK) {
    cst_sketch_free(made);
    return status;
  }
  *out = made;
  return CST_OK;
}

cst_status cst_sketch_new(const char *kind, const cst_option *options, size_t num_options,
                          const cst_allocator *allocator, cst_sketch **out, cst_error *error) {
  const cst__sketch_kind *found;
  CST__CLEAR(out);
  CST__TRY(cst__check_given(kind, "kind", out, error));
  CST__TRY(cst__options_check_given(options, num_options, error));
  CST__TRY(cst__check_allocator(allocator, error));
  CST__TRY(need_kind(kind, &found, error));
  return new_sketch(found, (cst__option_list){options, num_options}, allocator, out, error);
}

static cst_status check_unbroken(const cst_sketch *sketch, cst_error *error) {
  return !sketch->is_broken
             ? CST_OK
             : cst__fail(error, CST_STATE, "create a new sketch and add all values again",
                         "the sketch failed in an earlier call");
}

/* ---- adding ---- */

/* The sum of two counts of which none is negative. */
static int64_t count_sum(int64_t a, int64_t b) {
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static bool is_integer(cst__family family) {
  return family == CST__FAMILY_INT || family == CST__FAMILY_UINT;
}

/* `column`: 1 of the second one of pairs, else 0. */
static cst_status check_family(const cst_sketch *sketch, int column, cst__family family,
                               cst_error *error) {
  const cst__family before = sketch->families[column];
  if (family == CST__FAMILY_NONE) {
    return CST_OK;
  }
  if ((sketch->kind->families & 1u << family) == 0) {
    return cst__fail(error, CST_SCHEMA, NULL, "a sketch of %s does not take %s", sketch->kind->name,
                     cst__family_name(family));
  }
  return before == CST__FAMILY_NONE || before == family ||
                 (sketch->kind->mixes_integers && is_integer(before) && is_integer(family))
             ? CST_OK
             : cst__fail(error, CST_SCHEMA, "make a sketch for each, or cast the values before",
                         "a sketch of %s cannot take %s as well", cst__family_name(before),
                         cst__family_name(family));
}

static void note_family(cst_sketch *sketch, int column, cst__family family) {
  cst__family *place = &sketch->families[column];
  *place = family != CST__FAMILY_NONE ? family : *place;
}

static cst_status add_block(void *ctx, const cst__value_block *values, cst_error *error) {
  cst_sketch *sketch = ctx;
  sketch->num_values = count_sum(sketch->num_values, (int64_t)values->count);
  return sketch->kind->add(sketch->state, values, error);
}

typedef struct column_add {
  cst_sketch *sketch;
  const struct ArrowSchema *weights_schema;
  const struct ArrowArray *weights; /* NULL: 1 each */
} column_add;

/* The caller's weights, in the arena. */
static cst_status read_weights(const column_add *add, int64_t num_rows, cst__arena *arena,
                               const double **out, cst_error *error) {
  cst__view view;
  *out = NULL;
  if (add->weights == NULL) {
    return CST_OK;
  }
  CST__TRY(cst__view_init(&view, add->weights_schema, add->weights, false, arena, error));
  if (view.length != num_rows) {
    return cst__fail(error, CST_INVALID_ARGUMENT, "give one weight for each row",
                     "there are %lld weights for %lld rows", (long long)view.length,
                     (long long)num_rows);
  }
  const cst__slots slots = cst__slots_all(&view);
  return cst__weights_of(&slots, arena, out, error);
}

static cst_status add_values(const column_add *add, const cst__view *column, cst__arena *arena,
                             cst_error *error) {
  cst_sketch *sketch = add->sketch;
  cst__slots slots = cst__slots_all(column);
  const double *weights;
  cst__family family;
  int64_t num_nulls = 0;
  CST__TRY(read_weights(add, column->length, arena, &weights, error));
  CST__TRY(cst__values_descend(&slots, &weights, arena, &num_nulls, error));
  CST__TRY(cst__family_of(slots.view, &family, error));
  CST__TRY(check_family(sketch, 0, family, error));
  note_family(sketch, 0, family);
  sketch->has_binary =
      sketch->has_binary || (family == CST__FAMILY_BYTES && !slots.view->is_string);
  cst_status status = cst__values_each(&slots, weights, add_block, sketch, &num_nulls, error);
  sketch->is_broken = status != CST_OK;
  sketch->num_nulls = count_sum(sketch->num_nulls, num_nulls);
  return status;
}

static cst_status add_pair_block(void *ctx, const cst__value_block *x, const cst__value_block *y,
                                 cst_error *error) {
  cst_sketch *sketch = ctx;
  sketch->num_values = count_sum(sketch->num_values, (int64_t)x->count);
  return sketch->kind->add_pairs(sketch->state, x, y, error);
}

static cst_status add_pairs(const column_add *add, const cst__view *column, cst__arena *arena,
                            cst_error *error) {
  cst_sketch *sketch = add->sketch;
  const double *weights;
  cst__family families[2];
  int64_t num_nulls = 0;
  CST__TRY(cst__pairs_families(column, families, error));
  CST__TRY(read_weights(add, column->length, arena, &weights, error));
  CST__TRY(check_family(sketch, 0, families[0], error));
  CST__TRY(check_family(sketch, 1, families[1], error));
  note_family(sketch, 0, families[0]);
  note_family(sketch, 1, families[1]);
  cst_status status = cst__pairs_each(column, weights, add_pair_block, sketch, &num_nulls, error);
  sketch->is_broken = status != CST_OK;
  sketch->num_nulls = count_sum(sketch->num_nulls, num_nulls);
  return status;
}

static cst_status add_column(void *ctx, const cst__view *column, cst_error *error) {
  const column_add *add = ctx;
  cst__arena arena;
  cst__arena_init(&arena, &add->sketch->allocator);
  cst_status status = add->sketch->kind->add_pairs != NULL ? add_pairs(add, column, &arena, error)
                                                           : add_values(add, column, &arena, error);
  cst__arena_reset(&arena);
  return status;
}

cst_status cst_sketch_add(cst_sketch *sketch, const struct ArrowSchema *schema,
                          const struct ArrowArray *column, const struct ArrowSchema *weights_schema,
                          const struct ArrowArray *weights, cst_error *error) {
  if (sketch == NULL || schema == NULL || column == NULL ||
      (weights == NULL) != (weights_schema == NULL)) {
    return cst__missing(sketch == NULL    ? "sketch"
                        : schema == NULL  ? "schema"
                        : column == NULL  ? "column"
                        : weights == NULL ? "weights"
                                          : "weights_schema",
                        error);
  }
  column_add add = {sketch, weights_schema, weights};
  const cst__batch_look look = {
      .any_type = true, .allocator = &sketch->allocator, .use = add_column, .ctx = &add};
  CST__TRY(check_unbroken(sketch, error));
  CST__TRY(cst__schema_check_whole(schema, error));
  CST__TRY(cst__schema_check_types(schema, error));
  return cst__batch_view(&look, schema, column, error);
}

/* ---- merging ---- */

cst_status cst_sketch_merge(cst_sketch *sketch, const cst_sketch *other, cst_error *error) {
  if (sketch == NULL || other == NULL) {
    return cst__missing(sketch == NULL ? "sketch" : "other", error);
  }
  CST__TRY(check_unbroken(sketch, error));
  CST__TRY(check_unbroken(other, error));
  if (sketch == other) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "a sketch cannot be merged with itself");
  }
  if (sketch->kind != other->kind) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                     "cannot merge sketches of different kinds: found %s, expected %s",
                     other->kind->name, sketch->kind->name);
  }
  const char *differs = cst__options_differ(sketch->kind->options, sketch->options, other->options);
  if (differs != NULL) {
    return cst__fail(error, CST_INVALID_ARGUMENT, "create both with the same options",
                     "cannot merge sketches (%s) with different options: %s differs",
                     sketch->kind->name, differs);
  }
  CST__TRY(check_family(sketch, 0, other->families[0], error));
  CST__TRY(check_family(sketch, 1, other->families[1], error));
  cst_status status = sketch->kind->merge(sketch->state, other->state, error);
  sketch->is_broken = status != CST_OK;
  note_family(sketch, 0, other->families[0]);
  note_family(sketch, 1, other->families[1]);
  sketch->has_binary = sketch->has_binary || other->has_binary;
  sketch->num_values = count_sum(sketch->num_values, other->num_values);
  sketch->num_nulls = count_sum(sketch->num_nulls, other->num_nulls);
  return status;
}

/* ---- saving ---- */

static const char saved_prefix[] = "sketch.";
enum { PREFIX_SIZE = sizeof saved_prefix - 1, NAME_ROOM = 64 };

static void archive_counts(cst_sketch *sketch, cst__archive *a) {
  const int num_columns = sketch->kind->add_pairs != NULL ? 2 : 1;
  for (int i = 0; i < num_columns; i++) {
    int family = (int)sketch->families[i];
    cst__archive_enum(a, &family, CST__NUM_FAMILIES);
    sketch->families[i] = (cst__family)family;
  }
  cst__archive_bool(a, &sketch->has_binary);
  cst__archive_i64(a, &sketch->num_values);
  cst__archive_i64(a, &sketch->num_nulls);
  cst__archive_check(a, sketch->num_values >= 0 && sketch->num_nulls >= 0 &&
                            (!sketch->has_binary || sketch->families[0] == CST__FAMILY_BYTES));
  for (int i = 0; i < num_columns; i++) {
    const cst__family family = sketch->families[i];
    cst__archive_check(a, family == CST__FAMILY_NONE
                              ? sketch->num_values == 0
                              : (sketch->kind->families & 1u << family) != 0);
  }
}

static void save_sketch(void *ctx, cst__archive *a) {
  cst_sketch *sketch = ctx;
  cst__options_save(sketch->kind->options, sketch->options, a);
  archive_counts(sketch, a);
  sketch->kind->archive(sketch->state, a);
}

cst_status cst_sketch_to_bytes(const cst_sketch *sketch, char **bytes, size_t *size,
                               cst_error *error) {
  CST__CLEAR(bytes);
  CST__CLEAR(size);
  if (sketch == NULL || bytes == NULL || size == NULL) {
    return cst__missing(sketch == NULL ? "sketch" : bytes == NULL ? "bytes" : "size", error);
  }
  char name[NAME_ROOM];
  CST__TRY(check_unbroken(sketch, error));
  snprintf(name, sizeof name, "%s%s", saved_prefix, sketch->kind->name);
  const cst__state_form form = {name, sketch->kind->version};
  return cst__state_save(&form, save_sketch,
                         (cst_sketch *)(uintptr_t)sketch, /* which is only read */
                         bytes, size, error);
}

static cst_status fail_saved(const cst__archive *a, cst_bytes bytes, cst_error *error) {
  return a->no_memory ? cst__fail_memory(error, bytes.size)
                      : cst__fail(error, CST_CORRUPT, "pass the saved bytes",
                                  "the saved sketch is invalid: it contradicts itself");
}

/* The sketch, which may be wrong as long as the archive is bad. */
static cst_status load_sketch(const cst__sketch_kind *kind, cst__archive *a,
                              const cst_allocator *allocator, cst_sketch **out, cst_error *error) {
  cst__option_list options;
  cst__arena arena;
  cst__arena_init(&arena, allocator);
  cst_status status = cst__options_load(a, &arena, &options, error);
  if (status == CST_OK) {
    status = new_sketch(kind, options, allocator, out, error);
  }
  cst__arena_reset(&arena);
  if (status == CST_OK) {
    archive_counts(*out, a);
    if (!a->bad) {
      kind->archive((*out)->state, a);
    }
  }
  return status;
}

cst_status cst_sketch_from_bytes(const void *bytes, size_t size, const cst_allocator *allocator,
                                 cst_sketch **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(bytes, "bytes", out, error));
  CST__TRY(cst__check_allocator(allocator, error));
  const cst_bytes all = {bytes, size};
  cst__archive a;
  cst_bytes name;
  uint64_t version;
  CST__TRY(cst__state_open(all, &name, &version, &a, error));
  bool is_sketch =
      !a.bad && name.size > PREFIX_SIZE && memcmp(name.data, saved_prefix, PREFIX_SIZE) == 0;
  const cst__sketch_kind *kind =
      is_sketch ? find_kind((cst_bytes){name.data + PREFIX_SIZE, name.size - PREFIX_SIZE}) : NULL;
  if (kind == NULL) {
    return cst__fail(error, CST_CORRUPT, "pass the bytes of a saved sketch",
                     "saved state of an unknown sketch");
  }
  if (version != kind->version) {
    return cst__fail(error, CST_UNSUPPORTED,
                     "save and load it with the same version of the library",
                     "a saved sketch (%s) has version %llu, expected %llu", kind->name,
                     (unsigned long long)version, (unsigned long long)kind->version);
  }
  CST__TRY(load_sketch(kind, &a, allocator, out, error));
  if (!a.bad && a.at == a.end) {
    return CST_OK;
  }
  cst_sketch_free(*out);
  *out = NULL;
  return fail_saved(&a, all, error);
}

/* ---- looking ---- */

const char *cst_sketch_kind(const cst_sketch *sketch) {
  return sketch != NULL ? sketch->kind->name : NULL;
}

const char *cst_sketch_option(const cst_sketch *sketch, const char *name, char text[32]) {
  if (sketch == NULL || name == NULL || sketch->kind->options == NULL) {
    return NULL;
  }
  const cst__option *option = cst__option_find(sketch->kind->options, name);
  return option != NULL ? cst__option_text(option, sketch->options, text) : NULL;
}

int64_t cst_sketch_num_values(const cst_sketch *sketch) {
  return sketch != NULL ? sketch->num_values : -1;
}

int64_t cst_sketch_num_nulls(const cst_sketch *sketch) {
  return sketch != NULL ? sketch->num_nulls : -1;
}

size_t cst_sketch_memory(const cst_sketch *sketch) {
  return sketch != NULL ? sizeof *sketch + sketch->kind->memory(sketch->state) : 0;
}

cst_status cst__sketch_state(const cst_sketch *sketch, const cst__sketch_kind *kind,
                             const void **state, cst_error *error) {
  *state = NULL;
  if (sketch == NULL) {
    return cst__missing("sketch", error);
  }
  CST__TRY(check_unbroken(sketch, error));
  if (sketch->kind != kind) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                     "a sketch of %s was asked, expected one of %s", sketch->kind->name,
                     kind->name);
  }
  *state = sketch->state;
  return CST_OK;
}

cst__family cst__sketch_family(const cst_sketch *sketch) { return sketch->families[0]; }

void *cst__sketch_fill(cst_sketch *sketch, cst__family family) {
  sketch->families[0] = family;
  sketch->has_binary = family == CST__FAMILY_BYTES;
  return sketch->state;
}

cst_status cst__sketch_load(cst_sketch *sketch, const cst__sketch_filling *filling,
                            cst_error *error) {
  cst__archive a = cst__archive_from(filling->state.data, filling->state.size);
  sketch->families[0] = filling->family;
  sketch->has_binary = filling->is_binary;
  sketch->num_values = filling->num_values;
  sketch->kind->archive(sketch->state, &a);
  return !a.bad && a.at == a.end ? CST_OK : fail_saved(&a, filling->state, error);
}

bool cst__sketch_is_text(const cst_sketch *sketch) {
  return sketch->families[0] == CST__FAMILY_BYTES && !sketch->has_binary;
}
