/* What is read of CSV files: the names, from the header or the options; which of them are wanted;
 * the type of each, from a schema, from Arrow types or from the data.
 */
#include <stdio.h>
#include <string.h>

#include "arrow/view.h"
#include "base/names.h"
#include "base/utf8.h"
#include "format/csv/csv.h"
#include "format/table/text_crew.h"
#include "format/table/value_text.h"
#include "io/url.h"
#include "schema/schema.h"

enum { BLOCK_SIZE = 1 << 18 };

static size_t block_size_now = BLOCK_SIZE;

void cst__csv_set_block_size(size_t size) { block_size_now = size > 0 ? size : BLOCK_SIZE; }

const char *cst__csv_type_name(const cst__type *type) {
  type = type->dictionary != NULL ? type->dictionary : type;
  bool is_bytes = type->dtype == CST_DTYPE_BYTES;
  return !is_bytes ? cst__layout_name(type->format) : type->is_string ? "string" : "binary";
}

/* ---- the dialect ---- */

/* "a.tsv", "a.tsv.gz", "zip://a.tsv::b.zip". */
static bool is_tsv(const char *path) {
  char file[4096];
  const char *name = cst__url_of_file(path, file, sizeof file);
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

/* The delimiter that the options mean for a file of this name (or NULL): a tab for .tsv. */
static uint8_t csv_delimiter(const cst__csv_options *csv, const char *path) {
  return csv->delimiter != 0 ? (uint8_t)csv->delimiter : path != NULL && is_tsv(path) ? '\t' : ',';
}

static bool is_separator(uint8_t byte) {
  return byte != '"' && byte != '\n' && byte != '\r' && byte != 0 && byte < 0x80;
}

cst_status cst__csv_find_dialect(const cst__csv_options *csv, const char *path,
                                 cst__csv_dialect *out, cst_error *error) {
  *out = (cst__csv_dialect){
      .delimiter = csv_delimiter(csv, path),
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

/* A name that the files do not have, with the hint "did you mean", or another one. */
static cst_status csv_plan_fail_missing(const cst__csv_plan *plan, cst_status code,
                                        const char *name, cst_error *error) {
  char hint[CST__NEAR_HINT];
  cst__name_list list = cst__name_list_of(plan->names, plan->num_names);
  const char *near = cst__near_hint(hint, name, &list);
  cst__fail(error, code, near != NULL ? near : "check the delimiter and the header",
            "the input has no column of this name");
  cst__error_add_path(error, name, strlen(name));
  return code;
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
      cst__fail(error, CST_SCHEMA, "name the columns yourself and skip the header (skip_lines)",
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

static cst_status csv_plan_open_file(const cst__csv_plan *plan, const cst__table_files *files,
                                     size_t i, cst__csv_file *file, cst_error *error) {
  cst__input *input;
  const cst__csv_file_options options = {.dialect = plan->dialect,
                                         .skip_lines = plan->skip_lines,
                                         .block_size = plan->block_size,
                                         .max_row_size = plan->max_record_size};
  *file = (cst__csv_file){0};
  if (files->text != NULL) {
    const cst__table_text text = files->text(files->ctx, i);
    return cst__csv_file_open_text(file, &text, files->name(files->ctx, i), &options,
                                   &plan->allocator, error);
  }
  CST__TRY(files->open(files->ctx, i, &input, error));
  return cst__csv_file_open(file, input, &options, &plan->allocator, error);
}

/* The names of the first file, which stays open. */
static cst_status csv_plan_read_names(cst__csv_plan *plan, cst__csv_file *first, cst_error *error) {
  cst__csv_header header;
  CST__TRY(csv_plan_open_file(plan, plan->files, 0, first, error));
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
      cst__fail(error, CST_SCHEMA, "all files must have the same columns, in any order",
                at == SIZE_MAX ? "a column that the first file does not have"
                               : "two columns have the same name");
      cst__error_add_path(error, name, strlen(name));
      return CST_SCHEMA;
    }
    source[at] = i;
  }
  for (size_t i = 0; i < plan->num_names; i++) {
    if (source[i] == SIZE_MAX) {
      cst__fail(error, CST_SCHEMA, "all files must have the same columns, in any order",
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

cst_status cst__csv_plan_open(const cst__csv_plan *plan, const cst__table_files *files, size_t i,
                              cst__csv_file *file, size_t *source, cst_error *error) {
  CST__TRY(csv_plan_open_file(plan, files, i, file, error));
  cst_status status = find_sources(plan, file, source, error);
  if (status != CST_OK) {
    cst__csv_file_close(file);
  }
  return status;
}

/* ---- parts of files ---- */

cst_status cst__csv_preamble(const void *ptr, const cst__table_files *files, uint64_t *size,
                             cst_error *error) {
  const cst__csv_plan *plan = ptr;
  cst__csv_file file;
  cst__csv_header header = {0};
  CST__TRY(csv_plan_open_file(plan, files, 0, &file, error));
  cst_status status = plan->has_header ? cst__csv_file_header(&file, &header, error) : CST_OK;
  *size = file.block_offset + file.at;
  cst__csv_header_reset(&header);
  cst__csv_file_close(&file);
  return status;
}

/* After the quote that ends a cell; SIZE_MAX: it is not in the text, or the last byte of it, and
 * may be doubled. */
static size_t after_closing_quote(const cst__table_text *text, size_t at) {
  while (at < text->size) {
    const uint8_t *quote = memchr(text->data + at, '"', text->size - at);
    size_t next = quote != NULL ? (size_t)(quote - text->data) + 1 : text->size;
    if (next == text->size) {
      return SIZE_MAX;
    }
    if (text->data[next] != '"') {
      return next;
    }
    at = next + 1;
  }
  return SIZE_MAX;
}

/* Where the last row ends: a line end within quotes is none. 0: nowhere. */
static size_t last_row_end(const cst__csv_plan *plan, const cst__table_text *text) {
  size_t end = 0;
  size_t at = 0;
  while (at < text->size) {
    const uint8_t *found = memchr(text->data + at, '"', text->size - at);
    size_t quote = found != NULL ? (size_t)(found - text->data) : text->size;
    size_t line = cst__text_last_line_end(text->data + at, quote - at);
    end = line > 0 ? at + line : end;
    if (quote == text->size) {
      return end;
    }
    uint8_t before = quote > 0 ? text->data[quote - 1] : '\n';
    bool opens = before == plan->dialect.delimiter || before == '\n' || before == '\r';
    at = opens ? after_closing_quote(text, quote + 1) : quote + 1;
  }
  return end;
}

size_t cst__csv_cut(const void *ptr, const cst__table_text *text) {
  const cst__csv_plan *plan = ptr;
  if (!text->begins && cst__utf8_mark_size(text->data, text->size) >
                           0) { /* a part without a preamble would lose it */
    return SIZE_MAX;
  }
  if (text->ends) {
    return text->size;
  }
  if (plan->dialect.comment >= 0 && memchr(text->data, '"', text->size) != NULL) {
    return SIZE_MAX; /* quotes in comments are none */
  }
  return last_row_end(plan, text);
}

/* ---- columns ---- */

static cst_status csv_plan_add_column(cst__csv_plan *plan, const char *name, cst_status code,
                                      cst__csv_column **out, cst_error *error) {
  size_t at = cst__name_map_find(&plan->name_map, name, strlen(name));
  if (at == SIZE_MAX) {
    (void)csv_plan_fail_missing(plan, code, name, error);
    return code;
  }
  *out = &plan->columns[plan->num_columns];
  **out = (cst__csv_column){.name = plan->names[at],
                            .source = at,
                            .type = &plan->type.children[plan->num_columns],
                            .is_multivalent = plan->is_multivalent[at]};
  (*out)->type->name = plan->names[at];
  plan->num_columns++;
  return CST_OK;
}

/* The rows themselves, after `count` columns. */
static cst_status csv_plan_add_raw(cst__csv_plan *plan, size_t count, cst_error *error) {
  cst__type *type = &plan->type.children[count];
  const char *name = plan->raw_column;
  if (cst__name_map_find(&plan->name_map, name, strlen(name)) != SIZE_MAX) {
    cst__fail(error, CST_INVALID_ARGUMENT, "choose another name for the raw records",
              "the column of raw records has the same name as another column");
    cst__error_add_path(error, name, strlen(name));
    return CST_INVALID_ARGUMENT;
  }
  CST__TRY(cst__type_set(type, "Z", &plan->arena, error));
  CST__TRY(cst__type_enlist(type, -1, false, &plan->arena, error));
  type->name = name;
  return CST_OK;
}

static cst_status take_columns(cst__csv_plan *plan, size_t count, cst_error *error) {
  size_t children = count + (plan->raw_column != NULL);
  CST__TRY(cst__type_set(&plan->type, "+s", &plan->arena, error));
  CST__TRY(cst__type_set_children(&plan->type, children, &plan->arena, error));
  if (plan->raw_column != NULL) {
    CST__TRY(csv_plan_add_raw(plan, count, error));
  }
  plan->columns = cst__arena_take_zero(&plan->arena, (count + 1) * sizeof *plan->columns);
  return plan->columns != NULL ? CST_OK : cst__fail_memory(error, count);
}

/* The format of a feature's values, as tf.Examples have it; NULL: a type that CSV has not. */
static const char *value_format(const cst_feature *feature, uint32_t flags) {
  switch (feature->type) {
    case CST_FEATURE_UNKNOWN:
      return "n";
    case CST_FEATURE_BYTES:
      return flags & CST_COLUMNS_BINARY_VIEWS ? "vz" : flags & CST_COLUMNS_OFFSETS_32 ? "z" : "Z";
    case CST_FEATURE_INT:
      return "l";
    case CST_FEATURE_FLOAT:
      return "f";
    default:
      return NULL;
  }
}

static cst_status csv_plan_add_feature(cst__csv_plan *plan, const cst__table_options *options,
                                       const cst_feature *feature, cst_error *error) {
  cst__csv_column *column = NULL;
  uint32_t flags = options->column_flags;
  bool is_fixed = (flags & CST_COLUMNS_FIXED_SIZE) != 0 && feature->has_fixed_shape;
  CST__TRY(csv_plan_add_column(plan, feature->name, CST_SCHEMA, &column, error));
  const char *value = value_format(feature, flags);
  if (value == NULL) {
    cst__fail(error, CST_SCHEMA, "CSV has features of type INT, FLOAT and BYTES",
              "a feature of type STRUCT");
    cst__error_add_path(error, feature->name, feature->name_size);
    return CST_SCHEMA;
  }
  CST__TRY(cst__type_set(column->type, value, &plan->arena, error));
  return *value == 'n'
             ? CST_OK
             : cst__type_enlist(column->type, is_fixed ? cst__feature_fixed_size(feature) : -1,
                                (flags & CST_COLUMNS_OFFSETS_32) != 0, &plan->arena, error);
}

static cst_status columns_of_schema(cst__csv_plan *plan, const cst__table_options *options,
                                    cst_error *error) {
  size_t count = cst_schema_num_features(options->schema);
  bool all = options->columns == NULL;
  CST__TRY(take_columns(plan, all ? count : options->num_columns, error));
  for (size_t i = 0; all && i < count; i++) {
    CST__TRY(csv_plan_add_feature(plan, options, cst_schema_feature(options->schema, i), error));
  }
  for (size_t i = 0; !all && i < options->num_columns; i++) {
    const char *name = options->columns[i];
    size_t at = cst__schema_find_feature(options->schema, name, strlen(name));
    if (at == SIZE_MAX) {
      cst__fail(error, CST_NOT_FOUND, NULL, "the schema has no feature of this name");
      cst__error_add_path(error, name, strlen(name));
      return CST_NOT_FOUND;
    }
    CST__TRY(csv_plan_add_feature(plan, options, cst_schema_feature(options->schema, at), error));
  }
  return CST_OK;
}

/* A type that a cell's text can be a value of. */
static bool csv_plan_is_value(const struct ArrowSchema *type) {
  int64_t ignored;
  cst__layout layout = cst__layout_find(type->format, &ignored)->layout;
  if (type->dictionary != NULL) {
    return type->dictionary->dictionary == NULL && strcmp(type->dictionary->format, "n") != 0 &&
           csv_plan_is_value(type->dictionary);
  }
  return layout < CST__LAYOUT_LIST ||
         (layout == CST__LAYOUT_OPAQUE && cst__has_value_text(type->format));
}

/* A list of any layout, but no map. */
static bool csv_plan_is_list(const struct ArrowSchema *type) {
  return cst__format_is_list(type->format) && strcmp(type->format, "+m") != 0;
}

static cst_status csv_plan_set_type(cst__csv_plan *plan, cst__csv_column *column,
                                    const struct ArrowSchema *type, cst_error *error) {
  bool is_list = csv_plan_is_list(type);
  const struct ArrowSchema *value = is_list ? type->children[0] : type;
  bool is_null = strcmp(value->format, "n") == 0;
  if (!csv_plan_is_value(value) || (is_list && is_null)) {
    cst__fail(error, CST_UNSUPPORTED,
              "use numbers, bool, strings, binary, times and decimals, and lists of these",
              "CSV cannot be read as the type %s%s%s", is_list ? "list of " : "",
              value->dictionary != NULL ? "dictionary of " : "",
              cst__layout_name((value->dictionary != NULL ? value->dictionary : value)->format));
    cst__error_add_path(error, column->name, strlen(column->name));
    return CST_UNSUPPORTED;
  }
  CST__TRY(cst__type_import(type, &plan->arena, column->type, error));
  if (column->is_multivalent && !is_list && !is_null) {
    cst__fail(error, CST_UNSUPPORTED, "make its type a list", "a multivalent column of type %s",
              cst__csv_type_name(column->type));
    cst__error_add_path(error, column->name, strlen(column->name));
    return CST_UNSUPPORTED;
  }
  return CST_OK;
}

static const struct ArrowSchema *csv_plan_find_child(const struct ArrowSchema *types,
                                                     const char *name) {
  for (int64_t i = 0; i < types->n_children; i++) {
    const char *child = types->children[i]->name;
    if (strcmp(child != NULL ? child : "", name) == 0) {
      return types->children[i];
    }
  }
  return NULL;
}

static const char *csv_plan_child_name(const void *types, size_t i) {
  const char *name = ((const struct ArrowSchema *)types)->children[i]->name;
  return name != NULL ? name : "";
}

static cst_status add_type(cst__csv_plan *plan, const struct ArrowSchema *type, cst_error *error) {
  cst__csv_column *column = NULL;
  CST__TRY(
      csv_plan_add_column(plan, type->name != NULL ? type->name : "", CST_SCHEMA, &column, error));
  return csv_plan_set_type(plan, column, type, error);
}

/* The types of a source's batches have the raw column, too, which is no column of the files. */
static bool is_raw_type(const cst__csv_plan *plan, const struct ArrowSchema *type) {
  return plan->raw_column != NULL && type->name != NULL &&
         strcmp(type->name, plan->raw_column) == 0;
}

static size_t csv_plan_count_types(const cst__csv_plan *plan, const struct ArrowSchema *types) {
  size_t count = 0;
  for (int64_t i = 0; i < types->n_children; i++) {
    count += !is_raw_type(plan, types->children[i]);
  }
  return count;
}

static cst_status columns_of_types(cst__csv_plan *plan, const cst__table_options *options,
                                   cst_error *error) {
  const struct ArrowSchema *types = options->types;
  bool all = options->columns == NULL;
  if (types->format == NULL || strcmp(types->format, "+s") != 0) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "types is not a struct");
  }
  CST__TRY(
      take_columns(plan, all ? csv_plan_count_types(plan, types) : options->num_columns, error));
  for (int64_t i = 0; all && i < types->n_children; i++) {
    if (!is_raw_type(plan, types->children[i])) {
      CST__TRY(add_type(plan, types->children[i], error));
    }
  }
  for (size_t i = 0; !all && i < options->num_columns; i++) {
    const struct ArrowSchema *type = csv_plan_find_child(types, options->columns[i]);
    if (type == NULL) {
      const cst__name_list list = {types, (size_t)types->n_children, csv_plan_child_name};
      return cst__fail_unknown(error, CST_NOT_FOUND, "the types have no column of this name",
                               options->columns[i], &list);
    }
    CST__TRY(add_type(plan, type, error));
  }
  return CST_OK;
}

static cst_status look_at_cells(const cst__csv_plan *plan, const cst__table_options *options,
                                cst__csv_file *first, unsigned *seen, cst_error *error) {
  bool sound = false;
  if (!plan->skip && !plan->is_sampled &&
      cst__text_crew_fits(&cst__csv_table, plan->files, options->threads)) {
    CST__TRY(cst__csv_infer_by_many(plan, options->threads, seen, &sound, error));
    memset(seen, 0, sound ? 0 : plan->num_names * sizeof *seen);
  }
  return sound ? CST_OK : cst__csv_infer(plan, first, seen, error);
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
    CST__TRY(csv_plan_add_column(plan, names[i], CST_NOT_FOUND, &column, error));
  }
  plan->is_inferred = true;
  plan->is_sampled = plan->files->sample_rows < INT64_MAX;
  CST__TRY(look_at_cells(plan, options, first, seen, error));
  for (size_t i = 0; i < count; i++) {
    cst__csv_column *column = &plan->columns[i];
    const char *format = cst__csv_format_seen(seen[column->source]);
    CST__TRY(cst__type_set(column->type, format, &plan->arena, error));
    if (column->is_multivalent && *format != 'n') {
      CST__TRY(cst__type_enlist(column->type, -1, false, &plan->arena, error));
    }
  }
  return CST_OK;
}

static cst_status mark_multivalent(cst__csv_plan *plan, const cst__csv_options *csv,
                                   cst_error *error) {
  for (size_t i = 0; i < csv->num_multivalent; i++) {
    const char *name = csv->multivalent[i];
    size_t at = cst__name_map_find(&plan->name_map, name, strlen(name));
    if (at == SIZE_MAX) {
      return csv_plan_fail_missing(plan, CST_NOT_FOUND, name, error);
    }
    plan->is_multivalent[at] = true;
  }
  return CST_OK;
}

static cst_status keep_raw_column(cst__csv_plan *plan, const cst__table_options *options,
                                  cst_error *error) {
  const char *name = options->raw_column;
  plan->raw_column = name != NULL ? cst__arena_copy(&plan->arena, name, strlen(name)) : NULL;
  return name == NULL || plan->raw_column != NULL ? CST_OK : cst__fail_memory(error, strlen(name));
}

static cst_status make_columns(cst__csv_plan *plan, const cst__table_options *options,
                               cst__csv_file *first, cst_error *error) {
  const cst__csv_options *csv = options->format_options;
  const char *path = plan->files->count > 0 ? plan->files->name(plan->files->ctx, 0) : NULL;
  CST__TRY(cst__csv_find_dialect(csv, path, &plan->dialect, error));
  plan->has_header = csv->names == NULL;
  CST__TRY(plan->has_header ? csv_plan_read_names(plan, first, error)
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
  plan->skip_lines = (uint64_t)((const cst__csv_options *)options->format_options)->skip_lines;
  plan->batch_size = options->batch_size;
  plan->max_record_size = options->max_record_size;
  plan->block_size = block_size_now;
  plan->skip = options->skip;
  cst__arena_init(&plan->arena, &allocator);
  plan->type.name = "";
  cst__csv_file first = {0};
  cst_status status = keep_raw_column(plan, options, error);
  if (status == CST_OK) {
    status = make_columns(plan, options, &first, error);
  }
  cst__csv_file_close(&first);
  if (status == CST_OK) {
    status = cst__type_export(&plan->type, schema, error);
  }
  if (status != CST_OK) {
    cst__csv_plan_free(plan);
    return status;
  }
  *out = plan;
  return CST_OK;
}
