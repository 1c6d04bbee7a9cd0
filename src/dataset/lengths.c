/* Lengths of rows: the column found, read alone, and its lists or values measured. */
#include "dataset/lengths.h"

#include "arrow/type.h"
#include "arrow/view.h"
#include "source/index/access.h"
#include "source/input/prepare.h"
#include "source/pass/arrow_schema.h"

/* ---- the column ---- */

/* What leads from a batch to the lengths. */
typedef struct way {
  const cst__view *structs[CST__TYPE_MAX_DEPTH]; /* a row is null if it is in one of them */
  size_t num_structs;
  const cst__view *leaf;
} way;

static const cst__view *child_named(const cst__view *view, const char *name) {
  for (int64_t i = 0; view->layout == CST__LAYOUT_STRUCT && i < view->num_children; i++) {
    if (strcmp(view->children[i].name, name) == 0) {
      return &view->children[i];
    }
  }
  return NULL;
}

static bool is_integer(const cst__view *view) {
  return view->layout == CST__LAYOUT_NUMBER && view->dtype >= CST_DTYPE_INT8 &&
         view->dtype <= CST_DTYPE_UINT64;
}

static cst_status fail_column(const cst__lengths *lengths, const cst__view *view,
                              cst_error *error) {
  char type[64];
  const char *name = lengths->path.steps[lengths->path.count - 1];
  cst__view_type_name(view, type, sizeof type);
  cst__fail(error, CST_INVALID_ARGUMENT, "name a column of lists, integers or strings",
            "rows are put together by their length, and a column of type %s has none", type);
  cst__error_add_path(error, name, strlen(name));
  return CST_INVALID_ARGUMENT;
}

static cst_status find_way(const cst__lengths *lengths, const cst__view *root, way *out,
                           cst_error *error) {
  *out = (way){.leaf = root};
  for (size_t i = 0; i < lengths->path.count && !cst__view_is_list(out->leaf); i++) {
    const char *name = lengths->path.steps[i];
    const cst__view *child = child_named(out->leaf, name);
    if (child == NULL) {
      cst__fail(error, CST_NOT_FOUND, NULL, "no such column to take lengths of");
      cst__error_add_path(error, name, strlen(name));
      return CST_NOT_FOUND;
    }
    out->structs[out->num_structs++] = out->leaf; /* types are no deeper */
    out->leaf = child;
  }
  const cst__view *leaf = out->leaf;
  const cst__view *value = cst__view_is_list(leaf) ? &leaf->children[0] : leaf;
  bool by_value = lengths->by_value || value == leaf;
  bool fits = !by_value || is_integer(value) || value->dtype == CST_DTYPE_BYTES ||
              value->layout == CST__LAYOUT_NULL;
  return fits ? CST_OK : fail_column(lengths, leaf, error);
}

/* ---- life ---- */

static cst_status copy_path(cst__lengths *lengths, const cst_path *path,
                            const cst_allocator *allocator, cst_error *error) {
  cst__arena_init(&lengths->arena, allocator);
  const char **steps = cst__arena_take(&lengths->arena, (path->count + 1) * sizeof *steps);
  lengths->path = (cst_path){steps, 0};
  for (size_t i = 0; steps != NULL && i < path->count; i++) {
    steps[i] = cst__arena_copy(&lengths->arena, path->steps[i], strlen(path->steps[i]));
    lengths->path.count += steps[i] != NULL;
  }
  return lengths->path.count == path->count ? CST_OK : cst__fail_memory(error, sizeof *steps);
}

cst_status cst__lengths_init(cst__lengths *lengths, cst_source *source, const cst_path *path,
                             bool by_value, const cst_allocator *allocator, cst_error *error) {
  struct ArrowSchema schema;
  cst__view root;
  cst__arena views;
  way found;
  lengths->by_value = by_value;
  CST__TRY(copy_path(lengths, path, allocator, error));
  CST__TRY(cst_source_arrow_schema(source, &schema, error));
  cst__arena_init(&views, allocator);
  cst_status status = cst__view_init_schema(&root, &schema, &views, error);
  if (status == CST_OK) {
    status = find_way(lengths, &root, &found, error);
  }
  lengths->is_alone = schema.n_children == 1;
  cst__arena_reset(&views);
  schema.release(&schema);
  return status;
}

void cst__lengths_reset(cst__lengths *lengths) {
  cst_source_release(lengths->source);
  if (lengths->schema.release != NULL) {
    lengths->schema.release(&lengths->schema);
  }
  cst__arena_reset(&lengths->arena);
  *lengths = (cst__lengths){.source = NULL};
}

/* True if records can be decoded into the column alone. */
static bool is_separable(const cst__lengths *lengths, const cst_source *source) {
  const cst__reading_options *o = &source->options;
  const char *name = lengths->path.steps[0];
  const char *raw = o->values.raw_column;
  const char *offsets = o->values.offset_column;
  return source->inputs->format.payload != NULL && !lengths->is_alone &&
         !cst__reading_options_staged(o) && (raw == NULL || strcmp(raw, name) != 0) &&
         (offsets == NULL || strcmp(offsets, name) != 0);
}

static cst_status open_alone(const cst__lengths *lengths, cst_source *source, cst_source **out,
                             cst_error *error) {
  cst__reading_options options = source->options;
  CST__TRY(cst__source_prepare(source, error));
  options.values.schema = cst__source_known_schema(source);
  options.values.columns = lengths->path.steps;
  options.values.num_columns = 1;
  options.values.raw_column = NULL;
  options.values.offset_column = NULL;
  CST__TRY(cst__source_with(source, NULL, 0, &options, out, error));
  cst__source_share_indexes(source, *out);
  return CST_OK;
}

cst_status cst__lengths_open(cst__lengths *lengths, cst_source *source, cst_error *error) {
  cst_source *opened = NULL;
  if (is_separable(lengths, source)) {
    CST__TRY(open_alone(lengths, source, &opened, error));
  } else {
    opened = cst_source_retain(source);
  }
  cst_status status = cst_source_arrow_schema(opened, &lengths->schema, error);
  if (status == CST_OK) {
    lengths->source = opened;
  } else {
    cst_source_release(opened);
  }
  return status;
}

/* ---- measuring ---- */

static int64_t measure_value(const cst__view *value, int64_t i) {
  if (cst__view_is_null(value, i)) {
    return 0;
  }
  return is_integer(value) ? cst__view_int(value, i) : (int64_t)cst__view_bytes(value, i).size;
}

static int64_t measure(const cst__lengths *lengths, const way *to, int64_t row) {
  const cst__view *leaf = to->leaf;
  int64_t begin;
  int64_t end;
  for (size_t i = 0; i < to->num_structs; i++) {
    if (cst__view_is_null(to->structs[i], row)) {
      return 0;
    }
  }
  if (!cst__view_is_list(leaf)) {
    return measure_value(leaf, row);
  }
  cst__view_list(leaf, row, &begin, &end);
  return !lengths->by_value ? end - begin : begin < end ? measure_value(leaf->children, begin) : 0;
}

cst_status cst__lengths_of(const cst__lengths *lengths, const cst__batch_rows *of, int64_t *out,
                           cst_error *error) {
  cst__view root;
  cst__arena views;
  way found;
  cst__arena_init(&views, &lengths->arena.allocator);
  cst_status status = cst__view_init(&root, of->schema, of->batch, true, &views, error);
  if (status == CST_OK) {
    status = find_way(lengths, &root, &found, error);
  }
  for (size_t i = 0; status == CST_OK && i < of->count; i++) {
    out[i] = measure(lengths, &found, (int64_t)(of->rows != NULL ? of->rows[i] : i));
  }
  cst__arena_reset(&views);
  return status;
}
