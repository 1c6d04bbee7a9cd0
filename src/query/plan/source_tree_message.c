/* The fields of messages, as the decoder gives them. */
#include <string.h>

#include "base/names.h"
#include "base/sized.h"
#include "message/decode/message_fields.h"
#include "message/message_options.h"
#include "message/text/well_known.h"
#include "query/plan/source_tree.h"

/* ---- one field ---- */

static cst_status make_message_field(const cst__source_lookup *lookup,
                                     const cst__message_def *above, const cst__field_def *def,
                                     cst__source_field *out) {
  const cst_message_options *options = &lookup->tree->message;
  cst__arena *arena = lookup->arena;
  cst__message_value_kind kind = cst__message_kind(options, def);
  bool is_map = kind == CST__KIND_MAP;
  bool is_struct = is_map || kind == CST__KIND_MESSAGE || kind == CST__KIND_ANY;
  bool is_repeated = cst__field_is_repeated(def);
  bool has_null = !above->is_map_entry && cst__message_has_null(options, def);
  static const bool nullable_lists[] = {false, true};
  *out = (cst__source_field){.name = cst__message_path_name(def, arena),
                             .num_lists = is_repeated,
                             .is_nullable = has_null && !is_repeated,
                             .nullable_lists = &nullable_lists[has_null && is_repeated],
                             .is_struct = is_struct,
                             .is_map = is_map,
                             .format = "+s",
                             .below = is_struct ? def->message : NULL};
  if (!is_struct) {
    char room[CST__MESSAGE_FORMAT_SIZE];
    const char *format = cst__message_value_format(options, 0, def, kind, room);
    out->format = cst__arena_copy(arena, format, strlen(format));
  }
  return out->name != NULL && out->format != NULL ? CST_OK : cst__fail_memory(lookup->error, 1);
}

/* ---- the tree ---- */

/* A field, or what an Any holds if it is of the type that is named. */
static cst_status find_message_field(cst__source_lookup *lookup, const void *below,
                                     const char *name, cst__source_field *out) {
  const cst__source_tree *tree = lookup->tree;
  const cst__message_def *def = below;
  *out = (cst__source_field){.name = NULL};
  CST__TRY(cst__message_readable(def, lookup->error));
  const cst__field_def *field = cst__message_path_field(def, name);
  if (field != NULL) {
    return make_message_field(lookup, def, field, out);
  }
  bool is_any = below != tree->top && cst__well_known_of(def) == CST__WELL_KNOWN_ANY;
  if (!is_any || !cst__message_is_cast(name) ||
      cst__message_cast(tree->message.descriptors, name, &def, NULL) != CST_OK) {
    return CST_OK;
  }
  *out = (cst__source_field){.name = cst__arena_copy(lookup->arena, name, strlen(name)),
                             .is_nullable = true,
                             .is_struct = true,
                             .format = "+s",
                             .below = def};
  return out->name != NULL ? CST_OK : cst__fail_memory(lookup->error, strlen(name));
}

/* Fields are sorted by their numbers, which mostly is the order that they are declared in. */
static const cst__field_def *field_at_place(const cst__message_def *def, size_t place) {
  if (place >= def->num_fields || def->fields[place].place == place) {
    return place < def->num_fields ? &def->fields[place] : NULL;
  }
  size_t i = 0;
  while (i < def->num_fields && def->fields[i].place != place) {
    i++;
  }
  return i < def->num_fields ? &def->fields[i] : NULL;
}

static cst_status nth_message_field(cst__source_lookup *lookup, const void *below, size_t i,
                                    cst__source_field *out) {
  const cst__message_def *def = below;
  CST__TRY(cst__message_readable(def, lookup->error));
  const cst__field_def *field = field_at_place(def, i);
  *out = (cst__source_field){.name = NULL};
  return field != NULL ? make_message_field(lookup, def, field, out) : CST_OK;
}

cst_status cst__source_tree_of_message(const cst_message_options *options, cst__source_tree *out,
                                       cst_error *error) {
  const cst__message_def *def;
  cst_message_options own = CST_MESSAGE_OPTIONS_INIT;
  cst__sized_copy(&own, sizeof own, options);
  CST__TRY(cst__message_options_settle(&own, error));
  CST__TRY(cst__descriptors_need(own.descriptors, own.message, &def, error));
  *out = (cst__source_tree){
      .top = def, .find = find_message_field, .nth = nth_message_field, .message = own};
  return CST_OK;
}
