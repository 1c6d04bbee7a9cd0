/* Heavy hitters as a kind of sketches, and their values as Arrow data. */
#include <stddef.h>
#include <string.h>

#include "arrow/builder.h"
#include "base/arguments.h"
#include "base/utf8.h"
#include "sketch/heavy_hitters.h"
#include "sketch/misra_gries/misra_gries.h"
#include "sketch/sketch.h"

typedef struct heavy_options {
  int64_t size, longest, seed;
} heavy_options;

#define NUMBER(name_, member_, least_, most_, usual_, help_)    \
  {                                                             \
    .info = {.name = name_,                                     \
             .kind = CST_OPTION_NUMBER,                         \
             .least = least_,                                   \
             .most = most_,                                     \
             .usual = usual_,                                   \
             .help = help_},                                    \
    .offset = offsetof(heavy_options, member_), .is_wide = true \
  }

static const cst__option option_list[] = {
    NUMBER("size", size, 1, CST__HEAVY_SIZE_MOST, "1000",
           "no interval is wider than the weight of all values / (size + 1)"),
    NUMBER("longest", longest, 16, CST__HEAVY_LONGEST_MOST, "4096",
           "bytes of a value to keep; a hash replaces the rest"),
    NUMBER("seed", seed, 0, INT64_MAX, "0", "of the hashes"),
};

static const cst__option_table option_table = {
    .owner = "heavy_hitters",
    .options = option_list,
    .count = sizeof option_list / sizeof option_list[0],
    .stride = sizeof option_list[0],
    .size = sizeof(heavy_options),
};

static cst_status create(const void *options, const cst_allocator *allocator, void **state,
                         cst_error *error) {
  const heavy_options *given = options;
  const cst__heavy_options own = {(size_t)given->size, (size_t)given->longest,
                                  given->seed > 0 ? (uint64_t)given->seed : 0};
  cst__heavy *made = cst__new(allocator, sizeof *made);
  if (made == NULL) {
    return cst__fail_memory(error, sizeof *made);
  }
  cst__heavy_init(made, &own, allocator);
  *state = made;
  return CST_OK;
}

static void free_state(void *state) {
  if (state != NULL) {
    cst__heavy_reset(state);
    cst__delete(state);
  }
}

static cst_status add(void *state, const cst__value_block *values, cst_error *error) {
  return cst__heavy_add(state, values, error);
}

static cst_status merge(void *into, const void *from, cst_error *error) {
  return cst__heavy_merge(into, from, error);
}

static void archive(void *state, cst__archive *a) { cst__heavy_archive(state, a); }

static size_t memory(const void *state) { return cst__heavy_memory(state); }

const cst__sketch_kind cst__heavy_kind = {
    .name = "heavy_hitters",
    .version = 1,
    .summary = "the values with the largest weights, with bounds",
    .options = &option_table,
    .families = 1u << CST__FAMILY_INT | 1u << CST__FAMILY_UINT | 1u << CST__FAMILY_FLOAT |
                1u << CST__FAMILY_BYTES,
    .create = create,
    .free = free_state,
    .add = add,
    .merge = merge,
    .archive = archive,
    .memory = memory,
};

/* ---- the table of values ---- */

enum { VALUE, LOWER, UPPER, NUM_COLUMNS };

static cst_status make_type(const char *value_format, cst__arena *arena, cst__type *type,
                            cst_error *error) {
  static const char *const names[] = {"value", "lower", "upper"};
  *type = (cst__type)CST__TYPE_INIT;
  type->flags = 0;
  CST__TRY(cst__type_set(type, "+s", arena, error));
  CST__TRY(cst__type_set_children(type, NUM_COLUMNS, arena, error));
  for (size_t i = 0; i < NUM_COLUMNS; i++) {
    type->children[i].name = names[i];
    type->children[i].flags = 0;
    CST__TRY(cst__type_set(&type->children[i], i == VALUE ? value_format : "g", arena, error));
  }
  return CST_OK;
}

/* Of text that was cut within a character, that one goes. */
static bool append_item(cst__builder *root, const cst__heavy_item *item, bool has_bytes,
                        bool is_text) {
  cst__builder *columns = root->children;
  size_t size =
      is_text ? cst__utf8_valid_prefix(item->bytes.data, item->bytes.size) : item->bytes.size;
  return (has_bytes ? cst__builder_append_bytes(&columns[VALUE], item->bytes.data, size)
                    : cst__builder_append(&columns[VALUE], &item->bits, sizeof item->bits)) &&
         cst__builder_append(&columns[LOWER], &item->lower, sizeof item->lower) &&
         cst__builder_append(&columns[UPPER], &item->upper, sizeof item->upper) &&
         cst__builder_end_struct(root);
}

static const char *format_of(cst__family family, bool is_text) {
  return family == CST__FAMILY_BYTES   ? (is_text ? "U" : "Z")
         : family == CST__FAMILY_FLOAT ? "g"
         : family == CST__FAMILY_UINT  ? "L"
         : family == CST__FAMILY_INT   ? "l"
                                       : "n";
}

static cst_status build_top(const cst__type *type, const cst__heavy_item *items, size_t count,
                            cst__batch_builder **out, cst_error *error) {
  const bool has_bytes = type->children[VALUE].layout == CST__LAYOUT_BINARY;
  const bool is_text = type->children[VALUE].is_string;
  bool appended = true;
  CST__TRY(cst__batch_builder_new(type, NULL, out, error));
  for (size_t i = 0; appended && i < count; i++) {
    appended = append_item((*out)->root, &items[i], has_bytes, is_text);
  }
  return appended ? CST_OK : cst__batch_builder_fail(*out, error);
}

/* The items of a sketch of either kind, and the format of their values. */
static cst_status find_items(const cst_sketch *sketch, cst__heavy_item **items, size_t *count,
                             const char **format, cst_error *error) {
  const char *kind = cst_sketch_kind(sketch);
  const void *state;
  if (kind != NULL && strcmp(kind, cst__misra_kind.name) == 0) {
    CST__TRY(cst__sketch_state(sketch, &cst__misra_kind, &state, error));
    *format =
        cst__sketch_family(sketch) == CST__FAMILY_BYTES && !cst__sketch_is_text(sketch) ? "Z" : "U";
    return cst__misra_items(state, items, count, error);
  }
  CST__TRY(cst__sketch_state(sketch, &cst__heavy_kind, &state, error));
  *format = format_of(((const cst__heavy *)state)->family, cst__sketch_is_text(sketch));
  return cst__heavy_items(state, items, count, error);
}

cst_status cst_sketch_top(const cst_sketch *sketch, int64_t most, struct ArrowSchema *schema,
                          struct ArrowArray *array, cst_error *error) {
  const char *format;
  cst__heavy_item *items;
  cst__batch_builder *batch = NULL;
  cst__arena arena;
  cst__type type;
  size_t count;
  if (schema == NULL || array == NULL) {
    return cst__missing(schema == NULL ? "schema" : "array", error);
  }
  schema->release = NULL;
  array->release = NULL;
  if (most < 0) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "found %lld values, expected 0 or more",
                     (long long)most);
  }
  CST__TRY(find_items(sketch, &items, &count, &format, error));
  count = (uint64_t)most < count ? (size_t)most : count;
  cst__arena_init(&arena, NULL);
  cst_status status = make_type(format, &arena, &type, error);
  if (status == CST_OK) {
    status = build_top(&type, items, count, &batch, error);
  }
  if (status == CST_OK) {
    status = cst__batch_builder_deliver(batch, schema, array, error);
  }
  cst__batch_builder_free(batch);
  cst__arena_reset(&arena);
  cst__delete(items);
  return status;
}
