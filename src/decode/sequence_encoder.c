/* The tf.SequenceExample encoder: the context as a tf.Example's features, and the children of the
 * struct column as feature lists.
 *
 * Source: tensorflow/core/example/{example,feature}.proto.
 *   SequenceExample { Features context = 1; FeatureLists feature_lists = 2; }
 *   FeatureLists    { map<string, FeatureList> feature_list = 1; }  0A len { 0A len key  12 len ..
 * } FeatureList     { repeated Feature feature = 1; }               (0A len Feature)*
 */
#include <columnstone/records.h>
#include <string.h>

#include "arrow/records/encoder.h"
#include "base/bytes.h"
#include "base/error.h"
#include "decode/entry_writer.h"
#include "decode/sequence_decoder.h"

enum {
  TAG_LISTS = 0x12,      /* SequenceExample.feature_lists */
  FEATURE_OVERHEAD = 32, /* tags and lengths around the values of one Feature */
  FEW_VALUES = 8,        /* of a step that takes the short way */
  FEW_BYTES = 80,        /* all of its strings */
  SMALL_STEP = 256       /* no less than such a step takes */
};

typedef struct sequence_encoder {
  cst_encoder base;   /* first */
  cst_schema *schema; /* NULL: types are not checked */
  char *sequence_column;
  cst__out_columns context;
  cst__out_columns lists; /* `view` is the child of the struct column */
  bool has_lists;         /* the batch has the struct column */
} sequence_encoder;

/* ---- the plan of one batch ---- */

static const cst_feature *find_sequence_feature(const cst_schema *schema, const char *name) {
  size_t at = cst__schema_find_feature(schema, name, strlen(name));
  return at != SIZE_MAX ? cst_schema_feature(schema, at) : NULL;
}

static const cst_feature *find_list_feature(const cst_feature *parent, const char *name) {
  return parent != NULL
             ? cst__feature_by_name(parent->children, parent->num_children, cst__bytes_of(name))
             : NULL;
}

static cst_status add_context(sequence_encoder *e, const cst__view *view, cst_error *error) {
  cst__out_column *column;
  CST__TRY(cst__add_out_column(&e->context, view->name, view, &column, error));
  CST__TRY(cst__set_out_values(column, view, error));
  if (e->schema != NULL) {
    CST__TRY(cst__check_out_column(column, find_sequence_feature(e->schema, view->name), error));
  }
  return CST_OK;
}

/* A feature list: a list of lists of values, a list of nulls (features without a kind), or a column
 * of type null (it is in no record). */
static cst_status set_steps(cst__out_column *column, cst_error *error) {
  const cst__view *view = column->view;
  const cst__view *steps = cst__view_is_list(view) ? &view->children[0] : view;
  if (steps->layout == CST__LAYOUT_NULL) {
    column->values = steps;
    return CST_OK;
  }
  if (steps != view && cst__view_is_list(steps)) {
    return cst__set_out_values(column, steps, error);
  }
  char type[64];
  cst__view_type_name(view, type, sizeof type);
  return cst__at_out_column(
      column,
      cst__fail(error, CST_UNSUPPORTED, "make it a list of lists",
                "a feature list is a list of lists of integers, floats or bytes, not %s", type),
      error);
}

static cst_status add_feature_list(sequence_encoder *e, const cst__view *view,
                                   const cst_feature *feature, cst_error *error) {
  cst__out_column *column;
  CST__TRY(cst__add_out_column(&e->lists, view->name, view, &column, error));
  CST__TRY(set_steps(column, error));
  return e->schema == NULL
             ? CST_OK
             : cst__check_out_column(column, find_list_feature(feature, view->name), error);
}

static cst_status check_struct(const sequence_encoder *e, const cst__view *view,
                               const cst_feature **feature, cst_error *error) {
  *feature = NULL;
  if (view->layout != CST__LAYOUT_STRUCT) {
    char type[64];
    cst__view_type_name(view, type, sizeof type);
    return cst__fail(error, CST_UNSUPPORTED, "rename the column, or give sequence_column",
                     "the column of feature lists is a struct, not %s", type);
  }
  CST__TRY(cst__view_refuse_nulls(view, "the struct of feature lists", error));
  if (e->schema == NULL) {
    return CST_OK;
  }
  *feature = find_sequence_feature(e->schema, view->name);
  if (*feature == NULL || (*feature)->type != CST_FEATURE_STRUCT) {
    return cst__fail(error, CST_SCHEMA, "make it a feature of type STRUCT with a struct_domain",
                     *feature == NULL
                         ? "the schema has no feature for the sequence column"
                         : "the schema feature of the sequence column must have type STRUCT");
  }
  return CST_OK;
}

static cst_status add_feature_lists(sequence_encoder *e, const cst__view *view, cst_error *error) {
  const cst_feature *feature = NULL;
  cst_status status = CST_OK;
  if (e->has_lists) {
    status = cst__fail(error, CST_INVALID_ARGUMENT, "rename one of them",
                       "two columns have the same name");
  }
  e->has_lists = true;
  if (status == CST_OK) {
    status = check_struct(e, view, &feature, error);
  }
  for (int64_t i = 0; status == CST_OK && i < view->num_children; i++) {
    status = add_feature_list(e, &view->children[i], feature, error);
  }
  if (status == CST_OK) {
    status = cst__sort_out_columns(&e->lists, error);
  }
  if (status != CST_OK) {
    cst__error_add_path(error, view->name, strlen(view->name));
  }
  return status;
}

static cst_status plan_sequence(cst_encoder *encoder, const cst__viewed *viewed, cst_error *error) {
  const cst__view *batch = viewed->view;
  sequence_encoder *e = (sequence_encoder *)encoder;
  e->context.count = 0;
  e->lists.count = 0;
  e->has_lists = false;
  for (int64_t i = 0; i < batch->num_children; i++) {
    const cst__view *view = &batch->children[i];
    bool is_sequence = strcmp(view->name, e->sequence_column) == 0;
    CST__TRY(is_sequence ? add_feature_lists(e, view, error) : add_context(e, view, error));
  }
  return cst__sort_out_columns(&e->context, error);
}

/* ---- one row ---- */

/* A length of one byte and a tag before what is between `at` and `end`. */
static inline uint8_t *put_short(uint8_t *at, const uint8_t *end, uint8_t tag) {
  ptrdiff_t size = end - at;
  *--at = (uint8_t)size;
  *--at = tag;
  return at;
}

/* The values of a step that has few of them, ending at `at`; NULL: too many bytes. */
static inline uint8_t *put_few(const cst__out_column *column, int64_t begin, int64_t end,
                               uint8_t *at) {
  const cst__view *values = column->values;
  begin += values->offset;
  end += values->offset;
  if (column->single == CST__SINGLE_INT64) {
    for (int64_t i = end; i > begin; i--) {
      at = cst__put_varint_back(at, (uint64_t)((const int64_t *)values->data)[i - 1]);
    }
    return at;
  }
  if (column->single == CST__SINGLE_FLOAT32) {
    size_t size = (size_t)(end - begin) * sizeof(float);
    return memcpy(at - size, (const float *)values->data + begin, size);
  }
  const int64_t *offsets = values->offsets;
  if (offsets[end] - offsets[begin] > FEW_BYTES) {
    return NULL;
  }
  for (int64_t i = end; i > begin; i--) {
    size_t size = (size_t)(offsets[i] - offsets[i - 1]);
    cst__copy_exact(at - size, (const uint8_t *)values->data + offsets[i - 1], size);
    at = put_short(at - size, at, CST__TAG_FIRST);
  }
  return at;
}

/* The Feature of the usual step, null or with so few values that every length is one byte: 0A
 * feature TAG list 0A values VALUES. False: it is another one, nothing is written. */
static inline bool put_small_step(const cst__out_column *column, const cst__view *steps, int64_t i,
                                  cst__back *back) {
  uint8_t *at = back->at;
  if (column->single == CST__SINGLE_NONE || at - back->buffer->data < SMALL_STEP) {
    return false;
  }
  if (!cst__view_is_null(steps, i)) {
    int64_t begin = column->offsets[i];
    int64_t end = column->offsets[i + 1];
    if (begin < end) {
      at = end - begin <= FEW_VALUES ? put_few(column, begin, end, at) : NULL;
      if (at == NULL) {
        return false;
      }
      at = column->tag != CST__TAG_BYTES ? put_short(at, back->at, CST__TAG_FIRST) : at;
    }
    at = put_short(at, back->at, column->tag);
  }
  back->at = put_short(at, back->at, CST__TAG_FIRST);
  return true;
}

/* One Feature of a list: nothing but its tag and length for null. */
static cst_status put_step(const cst__out_column *column, const cst__view *steps, int64_t i,
                           bool lossy, cst__back *back, cst_error *error) {
  size_t before = cst__back_used(back);
  int64_t begin;
  int64_t end;
  if (!cst__view_is_null(steps, i)) {
    cst__view_list(steps, i, &begin, &end);
    CST__TRY(cst__put_kind(column, begin, end, lossy, back, error));
  } else if (!cst__back_room(back, FEATURE_OVERHEAD)) {
    return cst__fail_memory(error, FEATURE_OVERHEAD);
  }
  cst__put_size(back, cst__back_used(back) - before, CST__TAG_FIRST);
  return CST_OK;
}

/* The map entry of one feature list; none for null. */
static cst_status put_list_entry(const cst__out_column *column, int64_t row, bool lossy,
                                 cst__back *back, cst_error *error) {
  size_t before = cst__back_used(back);
  size_t bound = column->name_size + CST__ENTRY_OVERHEAD;
  int64_t begin;
  int64_t end;
  if (cst__view_is_null(column->view, row)) {
    return CST_OK;
  }
  cst__view_list(column->view, row, &begin, &end);
  const cst__view *steps = &column->view->children[0];
  for (int64_t i = end; i > begin; i--) {
    if (!put_small_step(column, steps, i - 1, back)) {
      CST__TRY(put_step(column, steps, i - 1, lossy, back, error));
    }
  }
  if (!cst__back_room(back, bound)) {
    return cst__fail_memory(error, bound);
  }
  cst__put_size(back, cst__back_used(back) - before, CST__TAG_VALUE);
  cst__put_name(column, back);
  cst__put_size(back, cst__back_used(back) - before, CST__TAG_FIRST);
  return CST_OK;
}

static cst_status put_feature_lists(const sequence_encoder *e, int64_t row, cst__back *back,
                                    cst_error *error) {
  size_t before = cst__back_used(back);
  for (size_t i = e->lists.count; i > 0; i--) {
    cst_status status = put_list_entry(&e->lists.items[i - 1], row, e->base.lossy, back, error);
    if (status != CST_OK) {
      cst__error_add_path(error, e->sequence_column, strlen(e->sequence_column));
      return status;
    }
  }
  if (!cst__back_room(back, FEATURE_OVERHEAD)) {
    return cst__fail_memory(error, FEATURE_OVERHEAD);
  }
  cst__put_size(back, cst__back_used(back) - before, TAG_LISTS);
  return CST_OK;
}

static cst_status put_sequence(cst_encoder *encoder, int64_t row, cst__back *back,
                               cst_error *error) {
  const sequence_encoder *e = (const sequence_encoder *)encoder;
  if (e->has_lists) {
    CST__TRY(put_feature_lists(e, row, back, error));
  }
  return cst__put_features(&e->context, row, e->base.lossy, back, error);
}

static void free_sequences(cst_encoder *encoder) {
  sequence_encoder *e = (sequence_encoder *)encoder;
  cst__encoder_reset(&e->base);
  cst_schema_release(e->schema);
  cst__delete(e->sequence_column);
  cst__delete(e->context.items);
  cst__delete(e->lists.items);
  cst__delete(e);
}

static const cst__encoder_type sequence_type = {
    .plan = plan_sequence, .put_record = put_sequence, .free = free_sequences};

cst_status cst__sequence_encoder_new(const char *sequence_column, const cst_encode_options *options,
                                     cst_encoder **out, cst_error *error) {
  const char *name = sequence_column != NULL ? sequence_column : CST_SEQUENCE_COLUMN;
  sequence_encoder *e = cst__new_zero(options->allocator, sizeof *e);
  if (e == NULL) {
    return cst__fail_memory(error, sizeof *e);
  }
  e->context.allocator = e->lists.allocator = &e->base.allocator;
  e->sequence_column = cst__new_copy(options->allocator, name, strlen(name));
  cst_status status =
      e->sequence_column != NULL
          ? cst__encoder_init(&e->base, &sequence_type, options->flags, options->allocator, error)
          : cst__fail_memory(error, strlen(name));
  if (status != CST_OK) {
    cst__delete(e->sequence_column);
    cst__delete(e);
    return status;
  }
  e->schema = options->schema != NULL ? cst_schema_retain(options->schema) : NULL;
  *out = &e->base;
  return CST_OK;
}
