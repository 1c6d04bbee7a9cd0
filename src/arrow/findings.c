/* Findings: cells in columns, which become a record batch when somebody asks for it.
 *
 * The cells are kept, and not the batch: texts are C strings for whoever prints them, and a batch
 * is a copy that its consumer may take apart.
 */
#include "arrow/findings.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "arrow/builder.h"
#include "arrow/type.h"
#include "base/arguments.h"
#include "base/utf8.h"

typedef struct cst__found_cell {
  bool is_null;
  uint32_t size; /* of a text, which may hold a NUL */
  union {
    int64_t number; /* also of a bool */
    double real;
    const char *text;
    size_t end; /* of a list: its items end there, and begin where those of the cell before end */
  } as;
} cst__found_cell;

typedef struct cst__found_column {
  const cst__finding_column *spec;
  cst__found_cell *cells;
  size_t count, capacity;
  struct cst__found_column *items; /* of a list, as its spec has them */
} cst__found_column;

typedef struct cst__found_total {
  const char *name;
  int64_t number;
} cst__found_total;

/* Where the next value goes. */
typedef struct cst__found_level {
  cst__found_column *columns;
  size_t count, at;
} cst__found_level;

enum { CST__MAX_TOTALS = 8 };

struct cst_findings {
  cst_allocator allocator;
  cst__arena arena; /* columns and texts */
  cst__arena kept;  /* the type, where it is not static */
  const cst__finding_type *type;
  cst__found_level levels[CST__MAX_FOUND_DEPTH];
  size_t depth; /* lists that are open */
  cst__found_total totals[CST__MAX_TOTALS];
  size_t num_totals;
  bool failed; /* no memory */
};

/* ---- making ---- */

static cst__found_column *new_columns(cst__arena *arena, const cst__finding_column *specs,
                                      size_t count) {
  cst__found_column *columns = cst__arena_take_zero(arena, (count + 1) * sizeof *columns);
  for (size_t i = 0; columns != NULL && i < count; i++) {
    columns[i].spec = &specs[i];
    if (specs[i].num_items > 0) {
      columns[i].items = new_columns(arena, specs[i].items, specs[i].num_items);
      columns = columns[i].items != NULL ? columns : NULL;
    }
  }
  return columns;
}

cst_status cst__findings_new(const cst__finding_type *type, const cst_allocator *allocator,
                             cst_findings **out, cst_error *error) {
  cst_findings *made = cst__new_zero(allocator, sizeof *made);
  if (made == NULL) {
    return cst__fail_memory(error, sizeof *made);
  }
  made->allocator = cst__allocator_of(allocator);
  made->type = type;
  cst__arena_init(&made->arena, allocator);
  cst__arena_init(&made->kept, allocator);
  cst__found_column *columns = new_columns(&made->arena, type->columns, type->num_columns);
  if (columns == NULL) {
    cst_findings_free(made);
    return cst__fail_memory(error, type->num_columns * sizeof *columns);
  }
  made->levels[0] = (cst__found_level){columns, type->num_columns, 0};
  *out = made;
  return CST_OK;
}

static void free_cells(cst__found_column *columns, size_t count) {
  for (size_t i = 0; i < count; i++) {
    cst__delete(columns[i].cells);
    free_cells(columns[i].items, columns[i].items != NULL ? columns[i].spec->num_items : 0);
  }
}

void cst_findings_free(cst_findings *findings) {
  if (findings != NULL) {
    free_cells(findings->levels[0].columns, findings->levels[0].count);
    cst__arena_reset(&findings->arena);
    cst__arena_reset(&findings->kept);
    cst__delete(findings);
  }
}

void cst__findings_keep(cst_findings *findings, cst__arena *arena) {
  findings->kept = *arena;
  cst__arena_init(arena, &findings->allocator);
}

cst_status cst__findings_finish(cst_findings *findings, cst_findings **out, cst_error *error) {
  if (findings->failed) {
    cst_findings_free(findings);
    return cst__fail_memory(error, sizeof(cst__found_cell));
  }
  *out = findings;
  return CST_OK;
}

/* ---- putting ---- */

static void put_cell(cst_findings *f, cst__found_cell cell) {
  cst__found_level *level = &f->levels[f->depth];
  cst__found_column *column = &level->columns[level->at];
  void *cells = column->cells;
  bool grown =
      cst__grow(&f->allocator, &cells, &column->capacity, column->count + 1, sizeof *column->cells);
  column->cells = cells;
  level->at = level->at + 1 < level->count ? level->at + 1 : 0;
  if (!grown) {
    f->failed = true;
    return;
  }
  column->cells[column->count++] = cell;
}

/* A copy in which each byte that is not UTF-8 is U+FFFD, and its size; NULL: no memory. */
static char *copy_as_utf8(cst__arena *arena, const uint8_t *bytes, size_t *copy_size) {
  size_t size = *copy_size;
  if (size > SIZE_MAX / 4) {
    return NULL;
  }
  if (size > 0 && cst__utf8_valid(bytes, size)) {
    return cst__arena_copy(arena, bytes, size);
  }
  char *copy = cst__arena_take(arena, 3 * size + 1);
  char *to = copy;
  while (copy != NULL && size > 0) {
    size_t good = cst__utf8_valid_prefix(bytes, size);
    memcpy(to, bytes, good);
    to += good;
    if (good < size) {
      memcpy(to, "\xef\xbf\xbd", 3);
      to += 3;
      good++;
    }
    bytes += good;
    size -= good;
  }
  if (copy != NULL) {
    *to = '\0';
    *copy_size = (size_t)(to - copy);
  }
  return copy;
}

/* What a file is called: one copy for all rows that follow each other. */
static const char *copy_file(cst_findings *f, const cst__found_column *column, const char *name,
                             size_t size) {
  const cst__found_cell *last = column->count > 0 ? &column->cells[column->count - 1] : NULL;
  const char *before = last != NULL ? last->as.text : NULL;
  return before != NULL && last->size == size && memcmp(before, name, size) == 0
             ? before
             : cst__arena_copy(&f->arena, name, size);
}

void cst__put_bytes(cst_findings *findings, const void *text, size_t size) {
  const cst__found_level *level = &findings->levels[findings->depth];
  const cst__found_column *column = &level->columns[level->at];
  const char *copy = column->spec->format[0] == 'z' ? copy_file(findings, column, text, size)
                                                    : copy_as_utf8(&findings->arena, text, &size);
  findings->failed = findings->failed || copy == NULL || size > UINT32_MAX;
  put_cell(findings, (cst__found_cell){.size = (uint32_t)size, .as.text = copy});
}

void cst__put_text(cst_findings *findings, const char *text) {
  if (text == NULL) {
    cst__put_null(findings);
    return;
  }
  cst__put_bytes(findings, text, strlen(text));
}

static int64_t at_most_int64(uint64_t number) {
  return number < INT64_MAX ? (int64_t)number : INT64_MAX;
}

void cst__put_number(cst_findings *findings, uint64_t number) {
  cst__put_signed(findings, at_most_int64(number));
}

void cst__put_signed(cst_findings *findings, int64_t number) {
  put_cell(findings, (cst__found_cell){.as.number = number});
}

void cst__put_real(cst_findings *findings, double number) {
  put_cell(findings, (cst__found_cell){.as.real = number});
}

/* How many items the lists of a column have together. */
static size_t count_items(const cst__found_column *list) { return list->items[0].count; }

void cst__put_null(cst_findings *findings) {
  const cst__found_level *level = &findings->levels[findings->depth];
  const cst__found_column *column = &level->columns[level->at];
  cst__found_cell cell = {.is_null = true};
  if (column->items != NULL) {
    cell.as.end = count_items(column);
  }
  put_cell(findings, cell);
}

void cst__open_list(cst_findings *findings) {
  const cst__found_level *level = &findings->levels[findings->depth];
  const cst__found_column *list = &level->columns[level->at];
  findings->levels[++findings->depth] = (cst__found_level){list->items, list->spec->num_items, 0};
}

void cst__close_list(cst_findings *findings) {
  size_t end = findings->levels[findings->depth--].columns[0].count;
  put_cell(findings, (cst__found_cell){.as.end = end});
}

const cst__finding_column cst__option_columns[4] = {
    CST__TEXT("name"), CST__TEXT("kind"), CST__TEXT_OR_NULL("default"), CST__TEXT("help")};

void cst__put_options(cst_findings *findings, const cst__option_table *options) {
  static const char *const kinds[] = {"word",      "switch", "text", "number",
                                      "character", "names",  "real"};
  cst__open_list(findings);
  for (size_t i = 0; options != NULL && i < options->count; i++) {
    const cst_option_info *option = &cst__option_at(options, i)->info;
    bool is_schema = strcmp(option->name, "schema") == 0;
    cst__put_text(findings, option->name);
    cst__put_text(findings, is_schema ? "schema" : kinds[option->kind]);
    cst__put_text(findings, option->usual);
    cst__put_text(findings, option->help);
  }
  cst__close_list(findings);
}

void cst__put_total(cst_findings *findings, const char *name, uint64_t number) {
  if (findings->num_totals < CST__MAX_TOTALS) {
    findings->totals[findings->num_totals++] = (cst__found_total){name, at_most_int64(number)};
  }
}

/* ---- looking ---- */

const char *cst_findings_name(const cst_findings *findings) {
  return findings != NULL ? findings->type->name : NULL;
}

size_t cst_findings_num_rows(const cst_findings *findings) {
  return findings != NULL ? findings->levels[0].columns[0].count : 0;
}

int64_t cst_findings_total(const cst_findings *findings, const char *name) {
  for (size_t i = 0; findings != NULL && name != NULL && i < findings->num_totals; i++) {
    if (strcmp(findings->totals[i].name, name) == 0) {
      return findings->totals[i].number;
    }
  }
  return -1;
}

const char *cst_findings_total_name(const cst_findings *findings, size_t i) {
  return findings != NULL && i < findings->num_totals ? findings->totals[i].name : NULL;
}

static const cst__found_column *find_found(const cst__found_column *columns, size_t count,
                                           const char *name) {
  const char *dot = strchr(name, '.');
  size_t size = dot != NULL ? (size_t)(dot - name) : strlen(name);
  for (size_t i = 0; i < count; i++) {
    const cst__finding_column *spec = columns[i].spec;
    const char *known = spec->name != NULL ? spec->name : "";
    if (strncmp(known, name, size) == 0 && known[size] == '\0') {
      return dot == NULL ? &columns[i] : find_found(columns[i].items, spec->num_items, dot + 1);
    }
  }
  return NULL;
}

/* The column of a name if it has this format and the row; else NULL. */
static const cst__found_column *look_up(const cst_findings *findings, const char *column,
                                        const char *formats, size_t row) {
  if (findings == NULL || column == NULL) {
    return NULL;
  }
  const cst__found_level *top = &findings->levels[0];
  const cst__found_column *found = find_found(top->columns, top->count, column);
  return found != NULL && strchr(formats, found->spec->format[0]) != NULL && row < found->count
             ? found
             : NULL;
}

const char *cst_findings_text(const cst_findings *findings, const char *column, size_t row) {
  const cst__found_column *found = look_up(findings, column, "uz", row);
  return found != NULL && !found->cells[row].is_null ? found->cells[row].as.text : NULL;
}

int64_t cst_findings_number(const cst_findings *findings, const char *column, size_t row) {
  const cst__found_column *found = look_up(findings, column, "lb", row);
  return found != NULL && !found->cells[row].is_null ? found->cells[row].as.number : -1;
}

double cst_findings_real(const cst_findings *findings, const char *column, size_t row) {
  const cst__found_column *found = look_up(findings, column, "g", row);
  return found != NULL && !found->cells[row].is_null ? found->cells[row].as.real : (double)NAN;
}

bool cst_findings_items(const cst_findings *findings, const char *column, size_t row, size_t *begin,
                        size_t *end) {
  const cst__found_column *found = look_up(findings, column, "+", row);
  found = found != NULL && !found->cells[row].is_null ? found : NULL;
  size_t last = found != NULL ? found->cells[row].as.end : 0;
  if (begin != NULL) {
    *begin = found != NULL && row > 0 ? found->cells[row - 1].as.end : 0;
  }
  if (end != NULL) {
    *end = last;
  }
  return found != NULL;
}

/* ---- the batch ---- */

static cst_status type_columns(const cst__finding_column *specs, size_t count, cst__type *parent,
                               cst__arena *arena, cst_error *error);

/* The items of a list are one column without a name, or structs. */
static cst_status type_items(const cst__finding_column *list, cst__type *type, cst__arena *arena,
                             cst_error *error) {
  CST__TRY(cst__type_set_children(type, 1, arena, error));
  cst__type *item = &type->children[0];
  if (list->items[0].name != NULL) {
    CST__TRY(cst__type_set(item, "+s", arena, error));
    CST__TRY(type_columns(list->items, list->num_items, item, arena, error));
  } else {
    CST__TRY(cst__type_set(item, list->items[0].format, arena, error));
  }
  item->flags = 0;
  return cst__type_set_name(item, "item", 4, arena, error);
}

static cst_status type_columns(const cst__finding_column *specs, size_t count, cst__type *parent,
                               cst__arena *arena, cst_error *error) {
  CST__TRY(cst__type_set_children(parent, count, arena, error));
  for (size_t i = 0; i < count; i++) {
    cst__type *type = &parent->children[i];
    CST__TRY(cst__type_set(type, specs[i].format, arena, error));
    CST__TRY(cst__type_set_name(type, specs[i].name, strlen(specs[i].name), arena, error));
    type->flags = specs[i].is_nullable ? ARROW_FLAG_NULLABLE : 0;
    if (specs[i].num_items > 0) {
      CST__TRY(type_items(&specs[i], type, arena, error));
    }
  }
  return CST_OK;
}

static void append_entry(cst__text *out, const char *bytes) {
  int32_t size = (int32_t)strlen(bytes);
  cst__text_append(out, &size, sizeof size);
  cst__text_puts(out, bytes);
}

/* Name and totals, as the C data interface encodes metadata. */
static void append_metadata(const cst_findings *f, cst__text *out) {
  char number[24];
  int32_t count = (int32_t)f->num_totals + 1;
  cst__text_append(out, &count, sizeof count);
  append_entry(out, "findings");
  append_entry(out, f->type->name);
  for (size_t i = 0; i < f->num_totals; i++) {
    (void)snprintf(number, sizeof number, "%" PRId64, f->totals[i].number);
    append_entry(out, f->totals[i].name);
    append_entry(out, number);
  }
}

static bool build_cells(const cst__found_column *column, size_t begin, size_t end,
                        cst__builder *to);

/* The items of a list, which follow those of the list before. */
static bool build_items(const cst__found_column *list, size_t begin, size_t end, cst__builder *to) {
  if (list->items[0].spec->name == NULL) {
    return build_cells(&list->items[0], begin, end, to);
  }
  bool ok = true;
  for (size_t i = 0; i < list->spec->num_items; i++) {
    ok = ok && build_cells(&list->items[i], begin, end, &to->children[i]);
  }
  return ok && cst__builder_end_structs(to, end - begin);
}

static bool build_cell(const cst__found_column *column, size_t at, cst__builder *to) {
  const cst__found_cell *cell = &column->cells[at];
  size_t begin = at > 0 && column->items != NULL ? column->cells[at - 1].as.end : 0;
  if (cell->is_null) {
    return cst__builder_append_null(to);
  }
  switch (column->spec->format[0]) {
    case 'u':
    case 'z':
      return cst__builder_append_bytes(to, cell->as.text, cell->size);
    case 'b':
      return cst__builder_append_bool(to, cell->as.number != 0);
    case '+':
      return build_items(column, begin, cell->as.end, &to->children[0]) &&
             cst__builder_end_list(to);
    default: /* "l", "g" */
      return cst__builder_append(to, &cell->as, sizeof(int64_t));
  }
}

static bool build_cells(const cst__found_column *column, size_t begin, size_t end,
                        cst__builder *to) {
  bool ok = true;
  for (size_t i = begin; ok && i < end; i++) {
    ok = build_cell(column, i, to);
  }
  return ok;
}

static cst_status build_batch(const cst_findings *f, const cst__type *type, struct ArrowArray *out,
                              cst_error *error) {
  cst__batch_builder *batch;
  size_t rows = cst_findings_num_rows(f);
  bool ok = true;
  CST__TRY(cst__batch_builder_new(type, &f->allocator, &batch, error));
  for (size_t i = 0; ok && i < f->levels[0].count; i++) {
    ok = build_cells(&f->levels[0].columns[i], 0, rows, &batch->root->children[i]);
  }
  ok = ok && cst__builder_end_structs(batch->root, rows);
  cst_status status =
      ok ? cst__batch_builder_finish(batch, out, error) : cst__batch_builder_fail(batch, error);
  cst__batch_builder_free(batch);
  return status;
}

static cst_status export_findings(const cst_findings *f, cst__arena *arena,
                                  struct ArrowSchema *schema, struct ArrowArray *array,
                                  cst_error *error) {
  cst__text metadata = {.allocator = f->allocator};
  cst__type root = CST__TYPE_INIT;
  CST__TRY(cst__type_set(&root, "+s", arena, error));
  CST__TRY(type_columns(f->type->columns, f->type->num_columns, &root, arena, error));
  root.flags = 0;
  append_metadata(f, &metadata);
  root.metadata = metadata.data;
  cst_status status = metadata.failed ? cst__fail_memory(error, metadata.size)
                                      : cst__type_export(&root, schema, error);
  cst__text_free(&metadata);
  CST__TRY(status);
  status = build_batch(f, &root, array, error);
  if (status != CST_OK) {
    schema->release(schema);
  }
  return status;
}

cst_status cst_findings_batch(const cst_findings *findings, struct ArrowSchema *schema,
                              struct ArrowArray *array, cst_error *error) {
  cst__arena arena;
  CST__CLEAR(schema);
  CST__CLEAR(array);
  if (findings == NULL || schema == NULL || array == NULL) {
    return cst__missing(findings == NULL ? "findings" : schema == NULL ? "schema" : "array", error);
  }
  cst__arena_init(&arena, &findings->allocator);
  cst_status status = export_findings(findings, &arena, schema, array, error);
  cst__arena_reset(&arena);
  return status;
}
