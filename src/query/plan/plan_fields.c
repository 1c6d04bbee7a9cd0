/* Fields of structs: found in the input, in other structs that these are made of, or among what has
 * been added. Each is looked for once. */
#include <stdio.h>
#include <string.h>

#include "base/names.h"
#include "query/plan/planning.h"
#include "query/text/query_words.h"

static cst__known_field *first_entry(const cst__planning *p, const cst__fields *fields,
                                     const char *name) {
  size_t found = cst__name_map_find_of(&p->entries, fields, name, strlen(name));
  return found != SIZE_MAX ? (cst__known_field *)(uintptr_t)found : NULL;
}

static cst_status add_entry(cst__planning *p, cst__fields *fields, const char *name,
                            const cst__item *item, uint32_t since, cst__known_field **out) {
  if (p->entries.count == CST__MOST_ENTRIES) {
    return cst__plan_refuse(p, p->at, CST_LIMIT, "name the fields you need",
                            "the statements have more than %d fields together", CST__MOST_ENTRIES);
  }
  cst__known_field *same = first_entry(p, fields, name);
  cst__known_field *entry = cst__plan_take(p, sizeof *entry);
  if (entry == NULL) {
    return CST_NO_MEMORY;
  }
  *entry = (cst__known_field){.name = name, .item = *item, .since = since, .until = UINT32_MAX};
  if (same == NULL &&
      !cst__name_map_add_of(&p->entries, fields, name, strlen(name), (size_t)(uintptr_t)entry)) {
    return cst__fail_memory(p->error, sizeof *entry);
  }
  if (same != NULL) {
    entry->same = same->same;
    same->same = entry;
  }
  if (fields->last != NULL) {
    fields->last->next = entry;
  } else {
    fields->first = entry;
  }
  fields->last = entry;
  *out = entry;
  return CST_OK;
}

cst_status cst__fields_new(cst__planning *p, const cst__item_place *place, cst__fields **out) {
  cst__fields *fields = cst__plan_take(p, sizeof *fields);
  if (fields == NULL) {
    return CST_NO_MEMORY;
  }
  *fields = (cst__fields){.place = place,
                          .valid = CST__NO_STEP,
                          .node = CST__NO_STEP,
                          .index = CST__NO_STEP,
                          .as_of = UINT32_MAX};
  *out = fields;
  return CST_OK;
}

/* ---- fields of the input ---- */

/* Level `num_lists` are the elements. */
static bool level_is_nullable(const cst__source_field *field, size_t level) {
  return level < field->num_lists ? field->nullable_lists[level] : field->is_nullable;
}

static cst_status find_input_lists(cst__planning *p, const cst__source_field *field,
                                   const cst__item_place **place, uint32_t *node) {
  for (size_t i = 0; i < field->num_lists; i++) {
    const cst__step lists = {
        .kind = CST__STEP_LIST, .num_args = 1, .args = {(*place)->lists}, .node = *node};
    const cst__input_node items = {.parent = *node, .never_null = !level_is_nullable(field, i + 1)};
    CST__TRY(cst__plan_place_step(p, &lists, *place, place));
    CST__TRY(cst__plan_add_node(p, &items, field->below, node));
  }
  return CST_OK;
}

/* Also a struct that is never null itself is null in one that is: item->is_nullable tells. */
static cst_status find_input_structs(cst__planning *p, const cst__source_field *field,
                                     uint32_t node, cst__item *item) {
  const cst__item_place *place = item->place;
  cst__fields **out = &item->fields;
  CST__TRY(cst__fields_new(p, place, out));
  (*out)->below = field->below;
  (*out)->node = node;
  if (!item->is_nullable) {
    return CST_OK;
  }
  const cst__step valid = {.kind = CST__STEP_VALID,
                           .num_args = 1,
                           .args = {place->lists},
                           .node = node,
                           .type = {"b"},
                           .parent = CST__NO_STEP};
  return cst__plan_add_step(p, &valid, &(*out)->valid);
}

static cst_status find_input_values(cst__planning *p, const cst__source_field *field,
                                    const cst__item_place *place, uint32_t node, cst__item *out) {
  p->plan->nodes[node].format = field->format;
  out->type.format = field->format;
  const cst__step column = {.kind = CST__STEP_COLUMN,
                            .num_args = 1,
                            .args = {place->lists},
                            .node = node,
                            .type = out->type,
                            .parent = CST__NO_STEP};
  return cst__plan_add_step(p, &column, &out->values);
}

static cst_status find_input_item(cst__planning *p, const cst__fields *fields,
                                  const cst__source_field *field, cst__item *out) {
  const cst__item_place *place = fields->place;
  const cst__input_node own = {
      .parent = fields->node, .name = field->name, .never_null = !level_is_nullable(field, 0)};
  uint32_t node;
  CST__TRY(cst__plan_add_node(p, &own, field->below, &node));
  CST__TRY(find_input_lists(p, field, &place, &node));
  *out = (cst__item){
      .place = place,
      .values = CST__NO_STEP,
      .is_nullable = field->is_nullable || (field->num_lists == 0 && fields->valid != CST__NO_STEP),
      .is_map = field->is_map};
  return field->is_struct || field->is_map ? find_input_structs(p, field, node, out)
                                           : find_input_values(p, field, place, node, out);
}

static cst_status find_in_input(cst__planning *p, cst__fields *fields, const char *name,
                                const cst__known_field **out) {
  cst__source_field field;
  cst__item item;
  CST__TRY(p->source.tree->find(&p->source, fields->below, name, &field));
  if (field.name == NULL) {
    return CST_OK;
  }
  CST__TRY(find_input_item(p, fields, &field, &item));
  cst__known_field *entry = NULL;
  CST__TRY(add_entry(p, fields, field.name, &item, 0, &entry));
  *out = entry;
  return CST_OK;
}

/* ---- fields of others ---- */

cst_status cst__fields_move(cst__planning *p, const cst__fields *base, const cst__item_way *way,
                            cst__fields **out) {
  CST__TRY(cst__fields_new(p, way->to, out));
  cst__fields *fields = *out;
  fields->base = base;
  fields->base_place = way->from;
  fields->index = way->index;
  fields->as_of = p->now > 0 ? p->now - 1 : 0;
  if (way->index == CST__NO_STEP) {
    fields->valid = base->valid;
    return CST_OK;
  }
  const cst__step chosen = {.kind = CST__STEP_CHOSEN,
                            .num_args = 1,
                            .args = {way->index},
                            .type = {"b"},
                            .parent = CST__NO_STEP,
                            .node = CST__NO_STEP};
  cst__step take = {.kind = CST__STEP_TAKE,
                    .num_args = 2,
                    .args = {base->valid, way->index},
                    .type = {"b"},
                    .parent = CST__NO_STEP,
                    .node = CST__NO_STEP};
  if (base->valid != CST__NO_STEP) {
    return cst__plan_add_step(p, &take, &fields->valid);
  }
  return cst__index_misses(p, way->index) ? cst__plan_add_step(p, &chosen, &fields->valid) : CST_OK;
}

static cst_status move_entry(cst__planning *p, cst__fields *fields, const cst__known_field *found,
                             const cst__known_field **out) {
  const cst__item_way way = {
      .from = fields->base_place, .to = fields->place, .index = fields->index};
  cst__item item;
  cst__known_field *entry = NULL;
  CST__TRY(cst__item_move(p, &found->item, &way, &item));
  if (item.fields != NULL) { /* all that lies below is of the same time */
    item.fields->as_of = fields->as_of;
  }
  CST__TRY(add_entry(p, fields, found->name, &item, 0, &entry));
  entry->is_added = found->is_added;
  *out = entry;
  return CST_OK;
}

/* ---- looking up ---- */

/* The entry that has the name then. */
static const cst__known_field *known_entry(const cst__known_field *first, uint32_t as_of) {
  for (; first != NULL; first = first->same) {
    if (first->since <= as_of && as_of < first->until) {
      return first;
    }
  }
  return NULL;
}

/* Looks among the fields that structs have by themselves. */
static cst_status find_own(cst__planning *p, cst__fields *fields, const char *name,
                           const cst__known_field **out) {
  if (fields->below != NULL) {
    return find_in_input(p, fields, name, out);
  }
  if (fields->base == NULL) {
    return CST_OK;
  }
  const cst__known_field *found = NULL;
  CST__TRY(cst__fields_find(p, fields->base, name, fields->as_of, &found));
  return found != NULL ? move_entry(p, fields, found, out) : CST_OK;
}

cst_status cst__fields_find(cst__planning *p, const cst__fields *fields, const char *name,
                            uint32_t as_of, const cst__known_field **out) {
  const cst__known_field *first = first_entry(p, fields, name);
  *out = known_entry(first, as_of);
  for (; *out == NULL && first != NULL; first = first->same) {
    if (first->since == 0) {
      return CST_OK; /* it was there by itself, and has been dropped */
    }
  }
  return *out != NULL ? CST_OK : find_own(p, (cst__fields *)fields, name, out);
}

cst_status cst__fields_put(cst__planning *p, cst__fields *fields, const char *name,
                           const cst__item *item) {
  cst__known_field *entry = NULL;
  CST__TRY(add_entry(p, fields, name, item, 0, &entry));
  entry->is_added = true;
  return CST_OK;
}

cst_status cst__fields_add(cst__planning *p, cst__fields *fields, const char *name,
                           const cst__item *item) {
  cst__known_field *entry = NULL;
  CST__TRY(add_entry(p, fields, name, item, p->now, &entry));
  entry->is_added = true;
  return CST_OK;
}

/* ---- in order ---- */

typedef struct entry_list {
  const cst__known_field **items;
  size_t count;
  size_t capacity;
} entry_list;

static cst_status push_entry(cst__planning *p, entry_list *list, const cst__known_field *entry) {
  if (list->count == CST__MOST_FIELDS) {
    return cst__plan_refuse(p, p->at, CST_LIMIT, "name the fields you need",
                            "there are more than %d fields", CST__MOST_FIELDS);
  }
  if (list->count == list->capacity) {
    size_t capacity = list->capacity == 0 ? 16 : 2 * list->capacity;
    const cst__known_field **items = cst__plan_take(p, capacity * sizeof *items);
    if (items == NULL) {
      return CST_NO_MEMORY;
    }
    if (list->count > 0) {
      memcpy(items, list->items, list->count * sizeof *items);
    }
    list->items = items;
    list->capacity = capacity;
  }
  list->items[list->count++] = entry;
  return CST_OK;
}

static cst_status list_field(cst__planning *p, const cst__fields *fields, const char *name,
                             uint32_t as_of, entry_list *list) {
  const cst__known_field *entry;
  CST__TRY(cst__fields_find(p, fields, name, as_of, &entry));
  return entry != NULL && entry->since == 0 ? push_entry(p, list, entry) : CST_OK;
}

static cst_status list_input(cst__planning *p, const cst__fields *fields, uint32_t as_of,
                             entry_list *list) {
  for (size_t i = 0;; i++) {
    cst__source_field field;
    CST__TRY(p->source.tree->nth(&p->source, fields->below, i, &field));
    if (field.name == NULL) {
      return CST_OK;
    }
    CST__TRY(list_field(p, fields, field.name, as_of, list));
  }
}

/* Fields that were not declared (extensions, casts), and were asked for, are not listed. */
cst_status cst__fields_list(cst__planning *p, const cst__fields *fields, uint32_t as_of,
                            const cst__known_field *const **out, size_t *count) {
  entry_list list = {0};
  if (fields->below != NULL) {
    CST__TRY(list_input(p, fields, as_of, &list));
  } else if (fields->base != NULL) {
    const cst__known_field *const *base;
    size_t num_base;
    CST__TRY(cst__fields_list(p, fields->base, fields->as_of, &base, &num_base));
    for (size_t i = 0; i < num_base; i++) {
      CST__TRY(list_field(p, fields, base[i]->name, as_of, &list));
    }
  }
  bool is_made = fields->below == NULL && fields->base == NULL;
  for (const cst__known_field *entry = fields->first; entry != NULL; entry = entry->next) {
    bool is_added = entry->since != 0 || is_made;
    if (is_added && entry->since <= as_of && as_of < entry->until) {
      CST__TRY(push_entry(p, &list, entry));
    }
  }
  *out = list.items;
  *count = list.count;
  return CST_OK;
}

/* ---- errors ---- */

/* The names of fields, parameters among those of the record. */
static cst_status collect_field_names(cst__planning *p, const cst__fields *fields,
                                      const char ***out, size_t *num_out) {
  const cst__known_field *const *entries;
  size_t count;
  CST__TRY(cst__fields_list(p, fields, p->now, &entries, &count));
  const char **names = cst__plan_take(p, (count + p->num_params + 1) * sizeof *names);
  if (names == NULL) {
    return CST_NO_MEMORY;
  }
  for (size_t i = 0; i < count; i++) {
    names[i] = entries[i]->name;
  }
  for (size_t i = 0; fields == p->record && i < p->num_params; i++) {
    names[count++] = p->params[i].name;
  }
  *out = names;
  *num_out = count;
  return CST_OK;
}

/* Structs whose fields are looked through for a name, and how they are reached from the record. */
typedef struct struct_path {
  const cst__fields *fields;
  const char *path; /* "" for the record */
} struct_path;

enum { MOST_STRUCTS = 64 /* are looked through: those of messages have no end */ };

static const char *path_of_field(cst__planning *p, const char *above, const char *name) {
  bool is_plain = cst__query_is_plain(name, strlen(name)) || name[0] == '(';
  size_t size = strlen(above) + strlen(name) + 4;
  char *path = cst__plan_take(p, size);
  if (path != NULL) {
    snprintf(path, size, "%s%s%s%s%s", above, above[0] != '\0' ? "." : "", is_plain ? "" : "`",
             name, is_plain ? "" : "`");
  }
  return path;
}

/* The path of a field that has the name, nearest to the record, in other structs than these; NULL:
 * there is none, or it was not found. */
static const char *find_elsewhere(cst__planning *p, const cst__fields *fields, const char *name) {
  struct_path all[MOST_STRUCTS] = {{p->record, ""}};
  size_t count = 1;
  for (size_t i = 0; i < count; i++) {
    const cst__known_field *const *entries;
    size_t num_entries;
    if (cst__fields_list(p, all[i].fields, p->now, &entries, &num_entries) != CST_OK) {
      return NULL;
    }
    for (size_t k = 0; k < num_entries; k++) {
      const char *path = path_of_field(p, all[i].path, entries[k]->name);
      if (path == NULL || (all[i].fields != fields && strcmp(entries[k]->name, name) == 0)) {
        return path;
      }
      if (entries[k]->item.fields != NULL && count < MOST_STRUCTS) {
        all[count++] = (struct_path){entries[k]->item.fields, path};
      }
    }
  }
  return NULL;
}

cst_status(cst__fields_fail)(cst__planning *p, const cst__fields *fields, const char *name,
                             cst__text_at at) {
  const char **names;
  size_t count;
  char hint[CST__NEAR_HINT];
  CST__TRY(collect_field_names(p, fields, &names, &count));
  const cst__name_list list = cst__name_list_of(names, count);
  const char *lack =
      name[0] == '(' ? "unknown extension or message" : "there is no field of this name";
  const char *path = name[0] != '(' ? find_elsewhere(p, fields, name) : NULL;
  if (path == NULL) {
    return cst__plan_refused(p, at, cst__fail_unknown(p->error, CST_NOT_FOUND, lack, name, &list));
  }
  snprintf(hint, sizeof hint, "there is one at another level: %.100s", path);
  cst_status status = cst__fail(p->error, CST_NOT_FOUND, hint, "%s", lack);
  cst__error_add_path(p->error, name, strlen(name));
  return cst__plan_refused(p, at, status);
}

cst_status(cst__names_fail)(cst__planning *p, const cst__fields *fields, const char *name,
                            cst__text_at at) {
  const char **names;
  size_t count;
  CST__TRY(collect_field_names(p, fields, &names, &count));
  const cst__name_list list = cst__name_list_of(names, count);
  bool is_near = cst__nearest_name(name, &list) != SIZE_MAX;
  return cst__fields_fail(p, is_near ? fields : p->record, name, at);
}
