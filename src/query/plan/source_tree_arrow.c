/* The fields of Arrow types. */
#include <string.h>

#include "arrow/layout.h"
#include "base/names.h"
#include "query/plan/source_tree.h"

/* ---- one field ---- */

static bool is_map_format(const char *format) { return strcmp(format, "+m") == 0; }

static bool is_list_format(const char *format) {
  return cst__format_is_list(format) && !is_map_format(format);
}

static const char *arrow_name(const struct ArrowSchema *field) {
  return field->name != NULL ? field->name : "";
}

static bool is_nullable_field(const struct ArrowSchema *field) {
  return (field->flags & ARROW_FLAG_NULLABLE) != 0;
}

/* One more than the levels of a field at most. */
static size_t count_levels(const struct ArrowSchema *at) {
  size_t count = 1;
  for (; at->dictionary != NULL || (is_list_format(at->format) && at->n_children == 1); count++) {
    at = at->dictionary != NULL ? at->dictionary : at->children[0];
  }
  return count;
}

static cst_status fail_arrow_field(const char *name, const struct ArrowSchema *at,
                                   cst_error *error) {
  cst_status status =
      cst__fail(error, CST_UNSUPPORTED, "leave the column out, or convert it before",
                "a query cannot look into a column of the Arrow format '%.40s'", at->format);
  cst__error_add_path(error, name, strlen(name));
  return status;
}

static cst_status make_arrow_field(const cst__source_lookup *lookup, const struct ArrowSchema *at,
                                   const char *name, cst__source_field *out) {
  cst__arena *arena = lookup->arena;
  cst_error *error = lookup->error;
  *out = (cst__source_field){.name = cst__arena_copy(arena, name, strlen(name))};
  bool *nullable_lists = cst__arena_take_zero(arena, count_levels(at) * sizeof *nullable_lists);
  bool has_null = false;
  if (nullable_lists == NULL) {
    return cst__fail_memory(error, sizeof *nullable_lists);
  }
  out->nullable_lists = nullable_lists;
  for (; at->dictionary != NULL || is_list_format(at->format);) {
    has_null = has_null || is_nullable_field(at);
    if (at->dictionary != NULL) {
      at = at->dictionary; /* one level with its indices */
      continue;
    }
    if (at->n_children != 1) {
      return fail_arrow_field(name, at, error);
    }
    nullable_lists[out->num_lists++] = has_null;
    has_null = false;
    at = at->children[0];
  }
  has_null = has_null || is_nullable_field(at);
  out->is_map = is_map_format(at->format);
  if (out->is_map) {
    nullable_lists[out->num_lists++] = has_null;
  }
  out->is_nullable = has_null && !out->is_map;
  out->is_struct = out->is_map || strcmp(at->format, "+s") == 0;
  bool is_entries = out->is_map && at->n_children == 1 && at->children[0]->n_children == 2;
  if (out->is_map ? !is_entries : at->format[0] == '+' && !out->is_struct) {
    return fail_arrow_field(name, at, error);
  }
  const char *format = out->is_struct ? "+s" : at->format;
  out->format = cst__arena_copy(arena, format, strlen(format));
  out->below = out->is_struct ? at : NULL;
  return out->name != NULL && out->format != NULL ? CST_OK : cst__fail_memory(error, 1);
}

/* ---- the tree ---- */

/* Entries of maps have names of ours, because everybody has his own. */
static const char *const entry_names[] = {"key", "value"};

static cst_status find_arrow_field(cst__source_lookup *lookup, const void *below, const char *name,
                                   cst__source_field *out) {
  const struct ArrowSchema *level = below;
  int64_t at = -1;
  bool is_twice = false;
  if (is_map_format(level->format)) {
    level = level->children[0];
    at = strcmp(name, entry_names[0]) == 0 ? 0 : strcmp(name, entry_names[1]) == 0 ? 1 : -1;
  } else {
    CST__TRY(cst__field_names_find(&lookup->names, level, name, &at, &is_twice, lookup->error));
  }
  *out = (cst__source_field){.name = NULL};
  if (is_twice) {
    return cst__fail_twice(lookup->error, name, strlen(name));
  }
  return at >= 0 ? make_arrow_field(lookup, level->children[at], name, out) : CST_OK;
}

static cst_status nth_arrow_field(cst__source_lookup *lookup, const void *below, size_t i,
                                  cst__source_field *out) {
  const struct ArrowSchema *level = below;
  bool is_map = is_map_format(level->format);
  level = is_map ? level->children[0] : level;
  *out = (cst__source_field){.name = NULL};
  if (i >= (size_t)level->n_children) {
    return CST_OK;
  }
  const struct ArrowSchema *field = level->children[i];
  return make_arrow_field(lookup, field, is_map ? entry_names[i] : arrow_name(field), out);
}

cst__source_tree cst__source_tree_of_arrow(const struct ArrowSchema *type) {
  return (cst__source_tree){.top = type,
                            .find = find_arrow_field,
                            .nth = nth_arrow_field,
                            .message = CST_MESSAGE_OPTIONS_INIT};
}
