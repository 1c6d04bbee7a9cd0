/* Patterns: which fields of structs are wanted, or not. */
#include <string.h>

#include "query/plan/planning.h"

/* The patterns of one level of structs, as a tree. */
typedef struct pattern_node pattern_node;
struct pattern_node {
  const char *name;
  cst__text_at at;
  bool is_whole;                     /* named itself: with all that lies below */
  pattern_node *first, *last, *next; /* below */
};

static pattern_node *find_pattern(const pattern_node *above, const char *name) {
  pattern_node *node = above->first;
  while (node != NULL && strcmp(node->name, name) != 0) {
    node = node->next;
  }
  return node;
}

static cst_status add_pattern(cst__planning *p, pattern_node *above, const cst__expr *step,
                              pattern_node **out) {
  *out = find_pattern(above, step->name);
  if (*out != NULL) {
    return CST_OK;
  }
  pattern_node *node = cst__plan_take(p, sizeof *node);
  if (node == NULL) {
    return CST_NO_MEMORY;
  }
  *node = (pattern_node){.name = step->name, .at = step->at};
  if (above->last != NULL) {
    above->last->next = node;
  } else {
    above->first = node;
  }
  above->last = node;
  *out = node;
  return CST_OK;
}

/* Adds the steps of a path: those before the last one first. */
static cst_status add_pattern_path(cst__planning *p, pattern_node *top, const cst__expr *path,
                                   pattern_node **out) {
  pattern_node *above = top;
  if (path->kind == CST__EXPR_STEP && path->args[0]->kind != CST__EXPR_RECORD) {
    CST__TRY(add_pattern_path(p, top, path->args[0], &above));
  } else if (path->kind != CST__EXPR_NAME && path->kind != CST__EXPR_STEP) {
    return cst__plan_refuse(p, path->at, CST_SCHEMA, NULL,
                            "found an expression, expected names of fields (event.*, event.query)");
  }
  return add_pattern(p, above, path, out);
}

/* ---- only ---- */

static cst_status put_chosen_field(cst__planning *p, cst__fields *to, const char *name,
                                   const cst__item *item) {
  const cst__known_field *entry;
  CST__TRY(cst__fields_find(p, to, name, p->now, &entry));
  return entry == NULL ? cst__fields_put(p, to, name, item) : CST_OK;
}

static cst_status put_down_to(cst__planning *p, const cst__fields *from, int depth,
                              cst__fields *to);

/* Structs with all that lies below, as deep as `depth`: of maps their keys and values. */
static cst_status limit_depth(cst__planning *p, const cst__item *item, int depth, cst__item *out) {
  *out = *item;
  CST__TRY(cst__fields_new(p, item->place, &out->fields));
  out->fields->valid = item->fields->valid;
  return put_down_to(p, item->fields, depth, out->fields);
}

/* False for a map whose values lie too deep: keys alone are no map. */
static cst_status has_map_values(cst__planning *p, const cst__item *item, bool *out) {
  const cst__known_field *const *entries;
  size_t count = 2;
  if (item->is_map) {
    CST__TRY(cst__fields_list(p, item->fields, p->now, &entries, &count));
  }
  *out = count == 2;
  return CST_OK;
}

static cst_status put_down_to(cst__planning *p, const cst__fields *from, int depth,
                              cst__fields *to) {
  const cst__known_field *const *entries;
  size_t count;
  CST__TRY(cst__fields_list(p, from, p->now, &entries, &count));
  for (size_t i = 0; i < count; i++) {
    cst__item item = entries[i]->item;
    if (item.fields != NULL && depth == 1) {
      continue;
    }
    bool is_whole = true;
    if (item.fields != NULL) {
      CST__TRY(limit_depth(p, &entries[i]->item, depth - 1, &item));
      CST__TRY(has_map_values(p, &item, &is_whole));
    }
    if (is_whole) {
      CST__TRY(put_chosen_field(p, to, entries[i]->name, &item));
    }
  }
  return CST_OK;
}

static cst_status put_all(cst__planning *p, const cst__fields *from, cst__fields *to) {
  const cst__known_field *const *entries;
  size_t count;
  CST__TRY(cst__fields_list(p, from, p->now, &entries, &count));
  for (size_t i = 0; i < count; i++) {
    CST__TRY(put_chosen_field(p, to, entries[i]->name, &entries[i]->item));
  }
  return CST_OK;
}

static cst_status put_named(cst__planning *p, const cst__fields *from, const pattern_node *node,
                            int depth, cst__fields *to);

/* What lies directly below `above`. Beside `**` names are for the order. */
static cst_status put_patterns(cst__planning *p, const cst__fields *from, const pattern_node *above,
                               int depth, cst__fields *to) {
  bool is_all = depth == 0 && find_pattern(above, "**") != NULL;
  for (pattern_node *node = above->first; node != NULL; node = node->next) {
    node->is_whole |= is_all;
    if (strcmp(node->name, "*") == 0) {
      CST__TRY(put_down_to(p, from, 1, to));
    } else if (strcmp(node->name, "**") == 0) {
      CST__TRY(depth > 0 ? put_down_to(p, from, depth, to) : put_all(p, from, to));
    } else {
      CST__TRY(put_named(p, from, node, depth, to));
    }
  }
  return CST_OK;
}

static cst_status find_pattern_field(cst__planning *p, const cst__fields *from,
                                     const pattern_node *node, const cst__known_field **out) {
  CST__TRY(cst__fields_find(p, from, node->name, p->now, out));
  if (*out == NULL) {
    return cst__fields_fail(p, from, node->name, node->at);
  }
  return node->first == NULL || (*out)->item.fields != NULL
             ? CST_OK
             : cst__plan_refuse(p, node->first->at, CST_SCHEMA, NULL,
                                "cannot read field '%.80s' of %s: only structs have fields",
                                node->first->name, cst__item_type_name(&(*out)->item));
}

static cst_status put_named(cst__planning *p, const cst__fields *from, const pattern_node *node,
                            int depth, cst__fields *to) {
  const cst__known_field *entry;
  CST__TRY(find_pattern_field(p, from, node, &entry));
  cst__item item = entry->item;
  if (node->first != NULL) { /* also if it is there as a whole: names that there are not */
    item.is_map = false;
    CST__TRY(cst__fields_new(p, item.place, &item.fields));
    item.fields->valid = entry->item.fields->valid;
    CST__TRY(put_patterns(p, entry->item.fields, node, depth, item.fields));
  }
  return put_chosen_field(p, to, entry->name, node->is_whole ? &entry->item : &item);
}

/* ---- without ---- */

static bool is_without(const pattern_node *above, const cst__known_field *entry) {
  const pattern_node *node = find_pattern(above, entry->name);
  return (node != NULL && node->is_whole) || find_pattern(above, "**") != NULL ||
         (entry->item.fields == NULL && find_pattern(above, "*") != NULL);
}

static cst_status put_others(cst__planning *p, const cst__fields *from, const pattern_node *above,
                             cst__fields *to) {
  const cst__known_field *const *entries;
  size_t count;
  for (const pattern_node *node = above->first; node != NULL; node = node->next) {
    const cst__known_field *entry;
    if (strcmp(node->name, "*") != 0 && strcmp(node->name, "**") != 0) {
      CST__TRY(find_pattern_field(p, from, node, &entry));
    }
  }
  CST__TRY(cst__fields_list(p, from, p->now, &entries, &count));
  for (size_t i = 0; i < count; i++) {
    cst__item item = entries[i]->item;
    const pattern_node *node = find_pattern(above, entries[i]->name);
    if (is_without(above, entries[i])) {
      continue;
    }
    if (node != NULL) {
      item.is_map = false;
      CST__TRY(cst__fields_new(p, item.place, &item.fields));
      item.fields->valid = entries[i]->item.fields->valid;
      CST__TRY(put_others(p, entries[i]->item.fields, node, item.fields));
    }
    CST__TRY(cst__fields_put(p, to, entries[i]->name, &item));
  }
  return CST_OK;
}

cst_status cst__fields_choose(cst__planning *p, const cst__fields *fields,
                              const cst__pattern_list *patterns, cst__fields **out) {
  pattern_node top = {.name = ""};
  for (size_t i = 0; i < patterns->count; i++) {
    pattern_node *node;
    CST__TRY(add_pattern_path(p, &top, patterns->items[i], &node));
    node->is_whole = true;
  }
  CST__TRY(cst__fields_new(p, fields->place, out));
  (*out)->valid = fields->valid;
  return patterns->without ? put_others(p, fields, &top, *out)
                           : put_patterns(p, fields, &top, patterns->depth, *out);
}
