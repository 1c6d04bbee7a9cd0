/* What is read of CSV files: the names, from the header or the options; which of them are wanted;
 * the type of each, from a schema, from Arrow types or from the data.
 */
#include <stdio.h>
#include <string.h>

#include "arrow/view.h"
#include "base/names.h"
#include "format/csv/csv.h"
#include "schema/schema.h"

enum { BLOCK_SIZE = 1 << 18 };

static size_t block_size_now = BLOCK_SIZE;

void cst__csv_set_block_size(size_t size) { block_size_now = size > 0 ? size : BLOCK_SIZE; }

static const struct {
  const char *name;
  const char *format; /* Arrow's letter; strings: with 64-bit offsets */
} types_of[CST__CSV_NUM_TYPES] = {
    {"null", "n"},    {"bool", "b"},    {"int8", "c"},   {"int16", "s"},  {"int32", "i"},
    {"int64", "l"},   {"uint8", "C"},   {"uint16", "S"}, {"uint32", "I"}, {"uint64", "L"},
    {"float32", "f"}, {"float64", "g"}, {"string", "U"}, {"binary", "Z"},
};

const char *cst__csv_type_name(cst__csv_type type) { return types_of[type].name; }

/* ---- the dialect ---- */

/* "a.tsv", "a.tsv.gz". */
static bool is_tsv(const char *name) {
  size_t size = strlen(name);
  static const char *const endings[] = {"", ".gz", ".zlib", ".zz", ".zst"};
  for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
    size_t tail = strlen(endings[i]);
    if (size >= tail + 4 && memcmp(name + size - tail, endings[i], tail) == 0 &&
        memcmp(name + size - tail - 4, ".tsv", 4) == 0) {
      return true;
    }
  }
  return false;
}

uint8_t cst__csv_delimiter(const cst_csv_options *csv, const char *path) {
  return csv->delimiter != 0 ? (uint8_t)csv->delimiter : path != NULL && is_tsv(path) ? '\t' : ',';
}

static bool is_separator(uint8_t byte) {
  return byte != '"' && byte != '\n' && byte != '\r' && byte != 0 && byte < 0x80;
}

cst_status cst__csv_find_dialect(const cst_csv_options *csv, const char *path,
                                 cst__csv_dialect *out, cst_error *error) {
  *out = (cst__csv_dialect){
      .delimiter = cst__csv_delimiter(csv, path),
      .secondary = csv->secondary_delimiter != 0 ? (uint8_t)csv->secondary_delimiter : '|',
      .comment = csv->comment != 0 ? (uint8_t)csv->comment : -1,
      .keep_blank = csv->keep_blank_lines};
  bool has_secondary = csv->secondary_delimiter != 0 || csv->num_multivalent > 0;
  bool ok = is_separator(out->delimiter) && is_separator(out->secondary) &&
            (out->delimiter != out->secondary || !has_secondary) &&
            out->comment != out->delimiter &&
            (out->comment < 0 || is_separator((uint8_t)out->comment));
  return ok ? CST_OK
            : cst__fail(error, CST_INVALID_ARGUMENT, "use ASCII characters that differ",
                        "delimiters and comments of CSV cannot be quotes, line ends or the same");
}

/* ---- names ---- */

/* A name that is not among these, with the hint "did you mean"; or the other one, if none is near.
 */
static cst_status fail_name(const char *const *names, size_t count, cst_status code,
                            const char *name, const char *what, const char *other,
                            cst_error *error) {
  char hint[CST__NEAR_HINT];
  cst__name_list list = cst__name_list_of(names, count);
  const char *near = cst__near_hint(hint, name, &list);
  cst__fail(error, code, near != NULL ? near : other, "%s", what);
  cst__error_add_path(error, name, strlen(name));
  return code;
}

static cst_status fail_missing(const cst__csv_plan *plan, cst_status code, const char *name,
                               cst_error *error) {
  return fail_name(plan->names, plan->num_names, code, name, "the input has no column of this name",
                   "see that the delimiter and the header are right", error);
}

static cst_status set_names(cst__csv_plan *plan, const char *const *names, size_t count,
                            cst_error *error) {
  plan->names = cst__arena_take_zero(&plan->arena, (count + 1) * sizeof *plan->names);
  plan->is_multivalent = cst__arena_take_zero(&plan->arena, count + 1);
  if (plan->names == NULL || plan->is_multivalent == NULL) {
    return cst__fail_memory(error, count * sizeof *plan->names);
  }
  plan->num_names = count;
  for (size_t i = 0; i < count; i++) {
    size_t size = strlen(names[i]);
    plan->names[i] = cst__arena_copy(&plan->arena, names[i], size);
    if (plan->names[i] == NULL) {
      return cst__fail_memory(error, size);
    }
    if (cst__name_map_find(&plan->name_map, names[i], size) != SIZE_MAX) {
      cst__fail(error, CST_SCHEMA, "give names of your own, and pass over the header (skip_lines)",
                "two columns have the same name");
      cst__error_add_path(error, names[i], size);
      return CST_SCHEMA;
    }
    if (!cst__name_map_add(&plan->name_map, plan->names[i], size, i)) {
      return cst__fail_memory(error, size);
    }
  }
  return CST_OK;
}

static cst_status open_file(const cst__csv_plan *plan, size_t i, cst__csv_file *file,
                            cst_error *error) {
  cst__input *input;
  *file = (cst__csv_file){0};
  CST__TRY(plan->files->open(plan->files->ctx, i, &input, error));
  return cst__csv_file_open(file, input, &plan->dialect, plan->skip_lines, plan->block_size,
                            plan->max_record_size, &plan->allocator, error);
}

/* The names of the first file, which stays open. */
static cst_status read_names(cst__csv_plan *plan, cst__csv_file *first, cst_error *error) {
  cst__csv_header header;
  CST__TRY(open_file(plan, 0, first, error));
  CST__TRY(cst__csv_file_header(first, &header, error));
  cst_status status = set_names(plan, (const char *const *)header.names, header.count, error);
  cst__csv_header_reset(&header);
  if (status != CST_OK) {
    cst__error_add_file(error, first->name);
    return status;
  }
  return cst__csv_file_set_width(first, plan->num_names, error);
}

/* The places of the plan's names in a later header. */
static cst_status match_header(const cst__csv_plan *plan, const cst__csv_header *header,
                               size_t *source, cst_error *error) {
  memset(source, 0xff, plan->num_names * sizeof *source);
  for (size_t i = 0; i < header->count; i++) {
    const char *name = header->names[i];
    size_t at = cst__name_map_find(&plan->name_map, name, strlen(name));
    if (at == SIZE_MAX || source[at] != SIZE_MAX) {
      cst__fail(error, CST_SCHEMA, "every file has to have the same columns, in any order",
                at == SIZE_MAX ? "a column that the first file does not have"
                               : "two columns have the same name");
      cst__error_add_path(error, name, strlen(name));
      return CST_SCHEMA;
    }
    source[at] = i;
  }
  for (size_t i = 0; i < plan->num_names; i++) {
    if (source[i] == SIZE_MAX) {
      cst__fail(error, CST_SCHEMA, "every file has to have the same columns, in any order",
                "a column of the first file is missing");
      cst__error_add_path(error, plan->names[i], strlen(plan->names[i]));
      return CST_SCHEMA;
    }
  }
  return CST_OK;
}

static cst_status find_sources(const cst__csv_plan *plan, cst__csv_file *file, size_t *source,
                               cst_error *error) {
  for (size_t k = 0; k < plan->num_names; k++) {
    source[k] = k;
  }
  if (plan->has_header) {
    cst__csv_header header;
    CST__TRY(cst__csv_file_header(file, &header, error));
    cst_status status = match_header(plan, &header, source, error);
    cst__csv_header_reset(&header);
    if (status != CST_OK) {
      cst__error_add_file(error, file->name);
      return status;
    }
  }
  return cst__csv_file_set_width(file, plan->num_names, error);
}

cst_status cst__csv_plan_open(const cst__csv_plan *plan, size_t i, cst__csv_file *file,
                              size_t *source, cst_error *error) {
  CST__TRY(open_file(plan, i, file, error));
  cst_status status = find_sources(plan, file, source, error);
  if (status != CST_OK) {
    cst__csv_file_close(file);
  }
  return status;
}

/* ---- columns ---- */

static cst_status add_column(cst__csv_plan *plan, const char *name, cst_status code,
                             cst__csv_column **out, cst_error *error) {
  size_t at = cst__name_map_find(&plan->name_map, name, strlen(name));
  if (at == SIZE_MAX) {
    (void)fail_missing(plan, code, name, error);
    return code;
  }
  *out = &plan->columns[plan->num_columns++];
  **out = (cst__csv_column){.name = plan->names[at],
                            .source = at,
                            .is_multivalent = plan->is_multivalent[at],
                            .is_list = plan->is_multivalent[at],
                            .is_nullable = true,
                            .fixed_size = -1};
  return CST_OK;
}

static cst_status take_columns(cst__csv_plan *plan, size_t count, cst_error *error) {
  plan->columns = cst__arena_take_zero(&plan->arena, (count + 1) * sizeof *plan->columns);
  return plan->columns != NULL ? CST_OK : cst__fail_memory(error, count);
}

/* The type of a feature, as tf.Examples have it. */
static cst_status set_feature(cst__csv_column *column, const cst_feature *feature, uint32_t flags,
                              cst_error *error) {
  static const cst__csv_type types[] = {[CST_FEATURE_UNKNOWN] = CST__CSV_NULL,
                                        [CST_FEATURE_BYTES] = CST__CSV_BINARY,
                                        [CST_FEATURE_INT] = CST__CSV_INT64,
                                        [CST_FEATURE_FLOAT] = CST__CSV_FLOAT32};
  if (feature->type > CST_FEATURE_FLOAT) {
    cst__fail(error, CST_SCHEMA, "CSV has features of type INT, FLOAT and BYTES",
              "a feature of type STRUCT");
    cst__error_add_path(error, feature->name, feature->name_size);
    return CST_SCHEMA;
  }
  column->type = types[feature->type];
  column->is_list = column->type != CST__CSV_NULL;
  column->list_offsets_32 = column->value_offsets_32 = flags & CST_COLUMNS_OFFSETS_32;
  column->is_view = column->type == CST__CSV_BINARY && (flags & CST_COLUMNS_BINARY_VIEWS);
  if ((flags & CST_COLUMNS_FIXED_SIZE) && feature->has_fixed_shape) {
    column->fixed_size = 1;
    for (size_t i = 0; i < feature->num_dims; i++) {
      if (__builtin_mul_overflow(column->fixed_size, feature->dims[i], &column->fixed_size) ||
          column->fixed_size > INT32_MAX) {
        return cst__fail(error, CST_UNSUPPORTED, NULL,
                         "a fixed shape of more than 2147483647 values");
      }
    }
  }
  return CST_OK;
}

static cst_status add_feature(cst__csv_plan *plan, const cst__table_options *options,
                              const cst_feature *feature, cst_error *error) {
  cst__csv_column *column = NULL;
  CST__TRY(add_column(plan, feature->name, CST_SCHEMA, &column, error));
  return set_feature(column, feature, options->column_flags, error);
}

static cst_status columns_of_schema(cst__csv_plan *plan, const cst__table_options *options,
                                    cst_error *error) {
  size_t count = cst__schema_num_features(options->schema);
  bool all = options->columns == NULL;
  CST__TRY(take_columns(plan, all ? count : options->num_columns, error));
  for (size_t i = 0; all && i < count; i++) {
    CST__TRY(add_feature(plan, options, cst__schema_feature(options->schema, i), error));
  }
  for (size_t i = 0; !all && i < options->num_columns; i++) {
    const char *name = options->columns[i];
    size_t at = cst__schema_find_feature(options->schema, name, strlen(name));
    if (at == SIZE_MAX) {
      cst__fail(error, CST_NOT_FOUND, NULL, "the schema has no feature of this name");
      cst__error_add_path(error, name, strlen(name));
      return CST_NOT_FOUND;
    }
    CST__TRY(add_feature(plan, options, cst__schema_feature(options->schema, at), error));
  }
  return CST_OK;
}

static bool find_value_type(const char *format, cst__csv_column *column) {
  if (strcmp(format, "u") == 0 || strcmp(format, "z") == 0) {
    column->value_offsets_32 = true;
    column->type = *format == 'u' ? CST__CSV_STRING : CST__CSV_BINARY;
    return true;
  }
  for (int i = 0; i < CST__CSV_NUM_TYPES; i++) {
    if (strcmp(format, types_of[i].format) == 0) {
      column->type = (cst__csv_type)i;
      return true;
    }
  }
  return false;
}

static cst_status set_type(cst__csv_column *column, const struct ArrowSchema *type,
                           cst_error *error) {
  const struct ArrowSchema *value = type;
  column->is_nullable = type->flags & ARROW_FLAG_NULLABLE;
  column->is_list = strcmp(type->format, "+l") == 0 || strcmp(type->format, "+L") == 0;
  if (column->is_list) {
    column->list_offsets_32 = type->format[1] == 'l';
    value = type->children[0];
  }
  if (value->dictionary != NULL || !find_value_type(value->format, column) ||
      (column->is_list && column->type == CST__CSV_NULL)) {
    cst__fail(error, CST_UNSUPPORTED,
              "use integers, float32, float64, bool, strings and binary, and lists of these",
              "CSV cannot be read as the Arrow type '%s'", value->format);
  } else if (column->is_multivalent && !column->is_list && column->type != CST__CSV_NULL) {
    cst__fail(error, CST_UNSUPPORTED, "make its type a list", "a multivalent column of type %s",
              cst__csv_type_name(column->type));
  } else {
    return CST_OK;
  }
  cst__error_add_path(error, column->name, strlen(column->name));
  return CST_UNSUPPORTED;
}

static const struct ArrowSchema *find_child(const struct ArrowSchema *types, const char *name) {
  for (int64_t i = 0; i < types->n_children; i++) {
    const char *child = types->children[i]->name;
    if (strcmp(child != NULL ? child : "", name) == 0) {
      return types->children[i];
    }
  }
  return NULL;
}

static cst_status fail_untyped(cst__csv_plan *plan, const struct ArrowSchema *types,
                               const char *name, cst_error *error) {
  size_t count = (size_t)types->n_children;
  const char **names = cst__arena_take_zero(&plan->arena, (count + 1) * sizeof *names);
  if (names == NULL) {
    return cst__fail_memory(error, count * sizeof *names);
  }
  for (size_t i = 0; i < count; i++) {
    const char *child = types->children[i]->name;
    names[i] = child != NULL ? child : "";
  }
  return fail_name(names, count, CST_NOT_FOUND, name, "the types have no column of this name", NULL,
                   error);
}

static cst_status add_type(cst__csv_plan *plan, const struct ArrowSchema *type, cst_error *error) {
  cst__csv_column *column = NULL;
  CST__TRY(add_column(plan, type->name != NULL ? type->name : "", CST_SCHEMA, &column, error));
  return set_type(column, type, error);
}

static cst_status columns_of_types(cst__csv_plan *plan, const cst__table_options *options,
                                   cst_error *error) {
  const struct ArrowSchema *types = options->types;
  bool all = options->columns == NULL;
  if (types->format == NULL || strcmp(types->format, "+s") != 0) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "types is no struct");
  }
  CST__TRY(take_columns(plan, all ? (size_t)types->n_children : options->num_columns, error));
  for (int64_t i = 0; all && i < types->n_children; i++) {
    CST__TRY(add_type(plan, types->children[i], error));
  }
  for (size_t i = 0; !all && i < options->num_columns; i++) {
    const struct ArrowSchema *type = find_child(types, options->columns[i]);
    if (type == NULL) {
      return fail_untyped(plan, types, options->columns[i], error);
    }
    CST__TRY(add_type(plan, type, error));
  }
  return CST_OK;
}

static cst_status columns_of_data(cst__csv_plan *plan, const cst__table_options *options,
                                  cst__csv_file *first, cst_error *error) {
  size_t count = options->columns != NULL ? options->num_columns : plan->num_names;
  const char *const *names = options->columns != NULL ? options->columns : plan->names;
  unsigned *seen = cst__arena_take_zero(&plan->arena, (plan->num_names + 1) * sizeof *seen);
  if (seen == NULL) {
    return cst__fail_memory(error, plan->num_names * sizeof *seen);
  }
  CST__TRY(take_columns(plan, count, error));
  for (size_t i = 0; i < count; i++) {
    cst__csv_column *column;
    CST__TRY(add_column(plan, names[i], CST_NOT_FOUND, &column, error));
  }
  plan->is_inferred = true;
  plan->is_sampled = !plan->files->rereadable;
  CST__TRY(cst__csv_infer(plan, first, seen, error));
  for (size_t i = 0; i < count; i++) {
    cst__csv_column *column = &plan->columns[i];
    column->type = cst__csv_type_seen(seen[column->source]);
    column->is_list = column->is_list && column->type != CST__CSV_NULL;
  }
  return CST_OK;
}

static cst_status mark_multivalent(cst__csv_plan *plan, const cst_csv_options *csv,
                                   cst_error *error) {
  for (size_t i = 0; i < csv->num_multivalent; i++) {
    const char *name = csv->multivalent[i];
    size_t at = cst__name_map_find(&plan->name_map, name, strlen(name));
    if (at == SIZE_MAX) {
      return fail_missing(plan, CST_NOT_FOUND, name, error);
    }
    plan->is_multivalent[at] = true;
  }
  return CST_OK;
}

static cst_status make_columns(cst__csv_plan *plan, const cst__table_options *options,
                               cst__csv_file *first, cst_error *error) {
  const cst_csv_options *csv = options->csv;
  const char *path = plan->files->count > 0 ? plan->files->name(plan->files->ctx, 0) : NULL;
  CST__TRY(cst__csv_find_dialect(csv, path, &plan->dialect, error));
  plan->has_header = csv->names == NULL;
  CST__TRY(plan->has_header ? read_names(plan, first, error)
                            : set_names(plan, csv->names, csv->num_names, error));
  CST__TRY(mark_multivalent(plan, csv, error));
  return options->types != NULL    ? columns_of_types(plan, options, error)
         : options->schema != NULL ? columns_of_schema(plan, options, error)
                                   : columns_of_data(plan, options, first, error);
}

void cst__csv_plan_free(void *ptr) {
  cst__csv_plan *plan = ptr;
  if (plan != NULL) {
    cst__name_map_reset(&plan->name_map);
    cst__arena_reset(&plan->arena);
    cst__delete(plan);
  }
}

cst_status cst__csv_plan_new(const cst__table_files *files, const cst__table_options *options,
                             void **out, struct ArrowSchema *schema, cst_error *error) {
  cst_allocator allocator = cst__allocator_of(options->allocator);
  cst__csv_plan *plan = cst__new_zero(&allocator, sizeof *plan);
  if (plan == NULL) {
    return cst__fail_memory(error, sizeof *plan);
  }
  plan->allocator = allocator;
  plan->files = files;
  plan->skip_lines = options->csv->skip_lines;
  plan->batch_size = options->batch_size;
  plan->max_record_size = options->max_record_size;
  plan->block_size = block_size_now;
  plan->skip = options->skip;
  cst__arena_init(&plan->arena, &allocator);
  cst__csv_file first = {0};
  cst_status status = make_columns(plan, options, &first, error);
  cst__csv_file_close(&first);
  if (status == CST_OK) {
    status = cst__csv_make_schema(plan, options->types, schema, error);
  }
  if (status != CST_OK) {
    cst__csv_plan_free(plan);
    return status;
  }
  *out = plan;
  return CST_OK;
}

/* ---- the schema of the batches ---- */

static void keep(struct ArrowSchema *schema) { (void)schema; }

static struct ArrowSchema field(const char *format, const char *name) {
  return (struct ArrowSchema){
      .format = format, .name = name, .flags = ARROW_FLAG_NULLABLE, .release = keep};
}

/* The pieces of a schema of our own, which is copied and never released. */
typedef struct pieces {
  struct ArrowSchema *columns;
  struct ArrowSchema *items;
  struct ArrowSchema **children; /* of the columns, and then the root's */
  char (*formats)[16];
} pieces;

static void set_piece(const pieces *p, size_t i, const cst__csv_column *column) {
  const char *format = column->is_view ? "vz" : types_of[column->type].format;
  if (!column->is_view && column->value_offsets_32 && column->type >= CST__CSV_STRING) {
    format = column->type == CST__CSV_STRING ? "u" : "z";
  }
  p->columns[i] = field(format, column->name);
  if (column->is_list) {
    p->items[i] = field(format, "item");
    p->children[i] = &p->items[i];
    snprintf(p->formats[i], sizeof p->formats[i], "+w:%d", (int)column->fixed_size);
    p->columns[i].format = column->fixed_size >= 0   ? p->formats[i]
                           : column->list_offsets_32 ? "+l"
                                                     : "+L";
    p->columns[i].n_children = 1;
    p->columns[i].children = &p->children[i];
  }
}

cst_status cst__csv_make_schema(const cst__csv_plan *plan, const struct ArrowSchema *types,
                                struct ArrowSchema *out, cst_error *error) {
  size_t count = plan->num_columns;
  cst__arena arena;
  cst__arena_init(&arena, &plan->allocator);
  pieces p = {.columns = cst__arena_take(&arena, (count + 1) * sizeof *p.columns),
              .items = cst__arena_take(&arena, (count + 1) * sizeof *p.items),
              .children = cst__arena_take(&arena, (2 * count + 1) * sizeof *p.children),
              .formats = cst__arena_take(&arena, (count + 1) * sizeof *p.formats)};
  cst_status status = CST_OK;
  if (p.columns == NULL || p.items == NULL || p.children == NULL || p.formats == NULL) {
    status = cst__fail_memory(error, count * sizeof *p.columns);
  } else {
    for (size_t i = 0; i < count; i++) {
      if (types != NULL) {
        p.columns[i] = *find_child(types, plan->columns[i].name);
      } else {
        set_piece(&p, i, &plan->columns[i]);
      }
      p.children[count + i] = &p.columns[i];
    }
    struct ArrowSchema root = field("+s", "");
    root.flags = 0;
    root.n_children = (int64_t)count;
    root.children = p.children + count;
    status = cst__schema_copy(&root, out, error);
  }
  cst__arena_reset(&arena);
  return status;
}
