/* Decoding dictionaries: the values are concatenated in the order of the indices. */
#include "arrow/dictionary.h"

#include <errno.h>
#include <nanoarrow/nanoarrow.h>
#include <string.h>

#include "arrow/concat.h"
#include "arrow/owned.h"

enum { MAX_RATIO = 200 };
#define FREE_BYTES ((uint64_t)1 << 30) /* up to which no proportion is asked for */

/* ---- schemas ---- */

bool cst__schema_has_dictionary(const struct ArrowSchema *schema) {
  bool found = schema->dictionary != NULL;
  for (int64_t i = 0; i < schema->n_children && !found; i++) {
    found = cst__schema_has_dictionary(schema->children[i]);
  }
  return found;
}

/* Puts the type of the values in the place of the field's own. */
static cst_status take_value_type(struct ArrowSchema *field, cst_error *error) {
  struct ArrowSchema value;
  ArrowSchemaMove(field->dictionary, &value);
  value.flags &= ~(int64_t)ARROW_FLAG_NULLABLE;
  value.flags |= field->flags & ARROW_FLAG_NULLABLE;
  int code = ArrowSchemaSetName(&value, field->name);
  if (code == NANOARROW_OK && field->metadata != NULL) {
    code = ArrowSchemaSetMetadata(&value, field->metadata);
  }
  ArrowSchemaRelease(field);
  ArrowSchemaMove(&value, field);
  return code == NANOARROW_OK ? CST_OK : cst__fail_memory(error, 0);
}

cst_status cst__schema_make_plain(struct ArrowSchema *schema, cst_error *error) {
  while (schema->dictionary != NULL) {
    CST__TRY(take_value_type(schema, error));
  }
  for (int64_t i = 0; i < schema->n_children; i++) {
    CST__TRY(cst__schema_make_plain(schema->children[i], error));
  }
  return CST_OK;
}

/* ---- one column ---- */

typedef struct decoding {
  const cst_allocator *allocator;
  bool trusted; /* the values have been validated */
  cst__view indices;
  cst__view values;
  cst__view null_value;
  cst__piece *pieces; /* runs of values */
  size_t num_pieces;
  size_t capacity;
  uint64_t bytes; /* of the strings that the runs hold */
  cst__arena arena;
} decoding;

static cst_status add_slot(decoding *d, const cst__view *view, int64_t slot, cst_error *error) {
  cst__piece *last = d->num_pieces > 0 ? &d->pieces[d->num_pieces - 1] : NULL;
  if (last != NULL && last->view == view && last->begin + last->length == slot) {
    last->length++;
    return CST_OK;
  }
  void *items = d->pieces;
  if (!cst__grow(d->allocator, &items, &d->capacity, d->num_pieces + 1, sizeof *d->pieces)) {
    return cst__fail_memory(error, (d->num_pieces + 1) * sizeof *d->pieces);
  }
  d->pieces = items;
  d->pieces[d->num_pieces++] = (cst__piece){view, slot, 1};
  return CST_OK;
}

static uint64_t value_bytes(const cst__view *values, int64_t i) {
  return values->dtype == CST_DTYPE_BYTES ? cst__view_bytes(values, i).size : 0;
}

static cst_status add_index(decoding *d, int64_t i, cst_error *error) {
  if (cst__view_is_null(&d->indices, i)) {
    return add_slot(d, &d->null_value, 0, error);
  }
  int64_t index = cst__view_int(&d->indices, i);
  if (index < 0 || index >= d->values.length) {
    return cst__fail(error, CST_CORRUPT, NULL,
                     "slot %lld: index %lld of a dictionary of %lld values", (long long)i,
                     (long long)index, (long long)d->values.length);
  }
  d->bytes += value_bytes(&d->values, index);
  return add_slot(d, &d->values, index, error);
}

/* An attacker's dictionary has one large value, to which very many indices refer. */
static cst_status check_proportion(const decoding *d, uint64_t given, cst_error *error) {
  if (d->bytes > FREE_BYTES && d->bytes / MAX_RATIO > given) {
    return cst__fail(error, CST_LIMIT, "cast the column to its values before it is written",
                     "a dictionary of %llu bytes stands for %llu bytes of values",
                     (unsigned long long)given, (unsigned long long)d->bytes);
  }
  return CST_OK;
}

/* The bytes that all values take, shared ones once. */
static uint64_t dictionary_bytes(const cst__view *v) {
  uint64_t sum = 0;
  if (v->layout == CST__LAYOUT_BINARY && v->length > 0) {
    sum = (uint64_t)(cst__view_entry(v->offsets, v->offset_width, v->offset + v->length) -
                     cst__view_entry(v->offsets, v->offset_width, v->offset));
  } else if (v->layout == CST__LAYOUT_FIXED_BINARY) {
    sum = (uint64_t)v->length * (uint64_t)v->fixed_size;
  }
  for (int64_t i = 0; i < v->num_variadic; i++) {
    sum += (uint64_t)cst__view_block_size(v, i);
  }
  return sum;
}

static cst_status gather(decoding *d, cst_error *error) {
  uint64_t given = (uint64_t)d->indices.length + dictionary_bytes(&d->values);
  for (int64_t i = 0; i < d->indices.length; i++) {
    CST__TRY(add_index(d, i, error));
    if ((i & 0xfff) == 0) {
      CST__TRY(check_proportion(d, given, error));
    }
  }
  return check_proportion(d, given, error);
}

static cst_status dictionary_look(decoding *d, const struct ArrowSchema *schema,
                                  const struct ArrowArray *array,
                                  const struct ArrowSchema *value_schema,
                                  const struct ArrowArray *values, cst_error *error) {
  struct ArrowSchema index_schema = *schema;
  struct ArrowArray index_array = *array;
  index_schema.dictionary = NULL;
  index_array.dictionary = NULL;
  CST__TRY(cst__view_init(&d->indices, &index_schema, &index_array, false, &d->arena, error));
  if (d->indices.layout != CST__LAYOUT_NUMBER || d->indices.dtype == CST_DTYPE_FLOAT32 ||
      d->indices.dtype == CST_DTYPE_FLOAT64) {
    char type[64];
    cst__view_type_name(&d->indices, type, sizeof type);
    return cst__fail(error, CST_CORRUPT, NULL, "the indices of a dictionary are %s", type);
  }
  CST__TRY(cst__view_init(&d->values, value_schema, values, d->trusted, &d->arena, error));
  return cst__view_nulls(&d->values, 1, &d->arena, &d->null_value, error);
}

static cst_status dictionary_decode(const struct ArrowSchema *schema,
                                    const struct ArrowArray *array,
                                    const struct ArrowSchema *value_schema,
                                    const struct ArrowArray *values, const cst_allocator *allocator,
                                    bool trusted, struct ArrowArray *out, cst_error *error) {
  cst_allocator own = cst__allocator_of(allocator);
  decoding d = {.allocator = &own, .trusted = trusted};
  cst__arena_init(&d.arena, &own);
  cst_status status = dictionary_look(&d, schema, array, value_schema, values, error);
  if (status == CST_OK) {
    status = gather(&d, error);
  }
  if (status == CST_OK) {
    status = cst__concat(value_schema, d.pieces, d.num_pieces, &own, out, error);
  }
  cst__delete(d.pieces);
  cst__arena_reset(&d.arena);
  return status;
}

/* Replaces an encoded array; its values may be encoded themselves, or hold what is. */
static cst_status make_column_plain(const struct ArrowSchema *schema,
                                    const cst_allocator *allocator, bool trusted,
                                    struct ArrowArray *array, cst_error *error) {
  struct ArrowSchema value_schema;
  struct ArrowArray plain;
  if (array->dictionary == NULL || array->dictionary->release == NULL) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                     "a dictionary-encoded array has no dictionary");
  }
  struct ArrowArray values = *array->dictionary;
  array->dictionary->release = NULL;
  cst_status status =
      cst__array_make_plain_as(schema->dictionary, allocator, trusted, &values, error);
  if (status == CST_OK) {
    status = cst__schema_copy(schema->dictionary, &value_schema, error);
    if (status == CST_OK) {
      status = cst__schema_make_plain(&value_schema, error);
      if (status == CST_OK) {
        status = dictionary_decode(schema, array, &value_schema, &values, allocator, trusted,
                                   &plain, error);
      }
      value_schema.release(&value_schema);
    }
  }
  cst__array_release(&values);
  if (status == CST_OK) {
    array->release(array);
    *array = plain;
  }
  return status;
}

/* ---- the walk ---- */

static void release_kept(void *owner) {
  cst__array_release(owner);
  cst__delete(owner);
}

/* Puts an array of our own in the place of a caller's, with its buffers and children, because only
 * in ours may children be replaced. */
static cst_status wrap(const cst_allocator *allocator, struct ArrowArray *array, cst_error *error) {
  struct ArrowArray twin;
  struct ArrowArray *kept = cst__new(allocator, sizeof *kept);
  if (kept == NULL) {
    return cst__fail_memory(error, sizeof *kept);
  }
  cst_status status = cst__owned_new(allocator, 0, array->n_children, false, &twin, error);
  if (status != CST_OK) {
    cst__delete(kept);
    return status;
  }
  *kept = *array;
  twin.length = kept->length;
  twin.null_count = kept->null_count;
  twin.offset = kept->offset;
  twin.n_buffers = kept->n_buffers;
  twin.buffers = kept->buffers;
  for (int64_t i = 0; i < kept->n_children; i++) {
    *twin.children[i] = *kept->children[i];
    kept->children[i]->release = NULL;
  }
  cst__owned_keep(&twin, kept, release_kept);
  *array = twin;
  return CST_OK;
}

static cst_status dictionary_check_children(const struct ArrowSchema *schema,
                                            const struct ArrowArray *array, cst_error *error) {
  bool is_whole = array->n_children == schema->n_children &&
                  (array->n_children == 0 || array->children != NULL);
  for (int64_t i = 0; is_whole && i < array->n_children; i++) {
    is_whole = array->children[i] != NULL && array->children[i]->release != NULL;
  }
  return is_whole ? CST_OK
                  : cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                              "the array's children do not match its schema");
}

cst_status cst__array_make_plain_as(const struct ArrowSchema *schema,
                                    const cst_allocator *allocator, bool trusted,
                                    struct ArrowArray *array, cst_error *error) {
  if (!cst__schema_has_dictionary(schema)) {
    return CST_OK;
  }
  if (schema->dictionary != NULL) {
    return make_column_plain(schema, allocator, trusted, array, error);
  }
  CST__TRY(dictionary_check_children(schema, array, error));
  CST__TRY(wrap(allocator, array, error));
  for (int64_t i = 0; i < schema->n_children; i++) {
    const struct ArrowSchema *child = schema->children[i];
    cst_status status =
        cst__array_make_plain_as(child, allocator, trusted, array->children[i], error);
    if (status != CST_OK) {
      if (strcmp(schema->format, "+s") == 0 && child->name != NULL) {
        cst__error_add_path(error, child->name, strlen(child->name));
      }
      return status;
    }
  }
  return CST_OK;
}

cst_status cst__array_make_plain(const struct ArrowSchema *schema, const cst_allocator *allocator,
                                 struct ArrowArray *array, cst_error *error) {
  CST__TRY(cst__array_check_whole(schema, array, error));
  return cst__array_make_plain_as(schema, allocator, false, array, error);
}
