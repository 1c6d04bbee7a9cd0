/* What comes in: the plan's nodes in the type of the batches, and in each batch; the steps that
 * look at it.
 */
#include "arrow/field.h"
#include "arrow/owned.h"
#include "query/run/steps_run.h"
#include "table/rows.h"

/* ---- binding ---- */

static void input_add_path(const cst__query_plan *plan, uint32_t node, cst_error *error) {
  for (; node > 0; node = plan->nodes[node].parent) {
    if (plan->nodes[node].name != NULL) {
      cst__error_add_path(error, plan->nodes[node].name, strlen(plan->nodes[node].name));
    }
  }
}

/* Entries of maps have a key and a value, whatever their columns are called. */
static int64_t find_entry(const struct ArrowSchema *entries, const char *name) {
  int64_t at = strcmp(name, "key") == 0 ? 0 : strcmp(name, "value") == 0 ? 1 : -1;
  return at < entries->n_children ? at : -1;
}

/* 't' and 'b' for the layouts of text and of bytes; 0: neither. */
static char text_of_format(const char *format) {
  int64_t ignored;
  const cst__layout_info *info = cst__layout_find(format, &ignored);
  bool is_text = info->layout == CST__LAYOUT_BINARY || info->layout == CST__LAYOUT_BINARY_VIEW;
  return !is_text ? 0 : info->is_string ? 't' : 'b';
}

static cst_status input_bind_leaf(const struct ArrowSchema *schema, const char *format,
                                  cst__node_place *out, cst_error *error) {
  out->is_encoded = schema->dictionary != NULL;
  const char *found = out->is_encoded ? schema->dictionary->format : schema->format;
  if (out->is_encoded && schema->dictionary->dictionary != NULL) {
    found = "dictionary";
  }
  int64_t ignored;
  char text = text_of_format(format);
  bool is_copied = text != 0 && text == text_of_format(found) &&
                   cst__layout_find(format, &ignored)->layout == CST__LAYOUT_BINARY;
  out->copy = CST__LEAF_SAME;
  if (strcmp(found, format) == 0) {
    return CST_OK;
  }
  if (is_copied || strcmp(found, "n") == 0) {
    out->copy = is_copied ? CST__LEAF_TEXT : CST__LEAF_NULL;
    return CST_OK;
  }
  return cst__fail(error, CST_SCHEMA, "cast the column, or build the view for this type",
                   "values of type %s (%s), where the view was built for %s (%s)",
                   cst__layout_name(found), found, cst__layout_name(format), format);
}

/* The types of the nodes, found one after the other. */
typedef struct node_types {
  const cst__query_plan *plan;
  const struct ArrowSchema **schemas; /* [num_nodes] */
  cst__field_names names;
} node_types;

static cst_status input_find_node(node_types *types, uint32_t number, cst__node_place *out,
                                  cst_error *error) {
  const cst__query_plan *plan = types->plan;
  const struct ArrowSchema **schemas = types->schemas;
  const cst__input_node *node = &plan->nodes[number];
  const struct ArrowSchema *parent = schemas[node->parent];
  bool is_entry = plan->nodes[node->parent].name == NULL && node->parent > 0 &&
                  strcmp(schemas[plan->nodes[node->parent].parent]->format, "+m") == 0;
  if (node->name != NULL) {
    bool is_struct = strcmp(parent->format, "+s") == 0 && parent->dictionary == NULL;
    out->child = is_struct && is_entry ? find_entry(parent, node->name) : -1;
    if (is_struct && !is_entry) {
      bool is_twice;
      CST__TRY(
          cst__field_names_find(&types->names, parent, node->name, &out->child, &is_twice, error));
    }
    if (out->child < 0) {
      return cst__fail(error, CST_SCHEMA, "the view was built for batches that contain it",
                       "there is no such field");
    }
  } else if (!cst__format_is_list(parent->format) || parent->dictionary != NULL) {
    return cst__fail(error, CST_SCHEMA, "build the view for this type",
                     "a value of type %s, but the view was built for lists",
                     cst__layout_name(parent->format));
  }
  schemas[number] = parent->children[out->child];
  out->is_list =
      cst__format_is_list(schemas[number]->format) && schemas[number]->dictionary == NULL;
  return node->format == NULL ? CST_OK : input_bind_leaf(schemas[number], node->format, out, error);
}

static void input_mark_used(const cst__query_plan *plan, cst__node_place *places) {
  for (size_t i = 0; i < plan->num_steps; i++) {
    const cst__step *step = &plan->steps[i];
    if (step->kind == CST__STEP_LIST || step->kind == CST__STEP_COLUMN ||
        step->kind == CST__STEP_VALID) {
      places[step->node].is_used = true;
    }
  }
  for (size_t i = plan->num_nodes; i-- > 1;) {
    places[plan->nodes[i].parent].is_used |= places[i].is_used;
  }
}

/* A list step needs a list. */
static cst_status input_check_lists(const cst__query_run *run, cst_error *error) {
  const cst__query_plan *plan = run->plan;
  for (size_t i = 0; i < plan->num_steps; i++) {
    const cst__step *step = &plan->steps[i];
    if (step->kind == CST__STEP_LIST && !run->places[step->node].is_list) {
      cst__fail(error, CST_SCHEMA, "build the view for this type",
                "no lists, but the view was built for lists");
      input_add_path(plan, step->node, error);
      return CST_SCHEMA;
    }
  }
  return CST_OK;
}

cst_status cst__input_bind(cst__query_run *run, const struct ArrowSchema *input, cst_error *error) {
  const cst__query_plan *plan = run->plan;
  size_t size = (plan->num_nodes + 1) * sizeof(struct ArrowSchema *);
  node_types types = {.plan = plan, .schemas = cst__new(&run->allocator, size)};
  if (types.schemas == NULL) {
    return cst__fail_memory(error, size);
  }
  types.schemas[0] = input;
  input_mark_used(plan, run->places);
  cst_status status = CST_OK;
  for (uint32_t i = 1; i < plan->num_nodes && status == CST_OK; i++) {
    status = input_find_node(&types, i, &run->places[i], error);
    if (status != CST_OK) {
      input_add_path(plan, i, error);
    }
  }
  cst__field_names_reset(&types.names);
  cst__delete(types.schemas);
  return status == CST_OK ? input_check_lists(run, error) : status;
}

/* ---- nulls that are not to be there ---- */

static bool slot_is_null(const cst__view *view, int64_t slot) {
  if (cst__view_is_null(view, slot)) {
    return true;
  }
  int64_t at = view->dictionary != NULL ? cst__view_int(view, slot) : -1;
  return at >= 0 && at < view->dictionary->length && cst__view_is_null(view->dictionary, at);
}

/* The first null that no null struct above explains, counted among the slots; -1: there is none. */
static int64_t find_null(const cst__slots *slots) {
  const cst__view *view = slots->view;
  bool may_have = view->null_count > 0 || view->layout == CST__LAYOUT_NULL ||
                  (view->dictionary != NULL && view->dictionary->null_count > 0);
  int64_t before = 0;
  for (int64_t i = 0; may_have && i < cst__chosen_num_runs(&slots->chosen); i++) {
    cst__range run = cst__chosen_run(&slots->chosen, i);
    for (int64_t slot = run.begin; slot < run.begin + run.count; slot++) {
      if (slot_is_null(view, slot) && !cst__mask_hides(slots->mask, slot)) {
        return before + slot - run.begin;
      }
    }
    before += run.count;
  }
  return -1;
}

/* Data that breaks the type that the view was built for, whatever the type of the batches allows:
 * outputs have no place for a null there. */
static cst_status check_no_null(const cst__query_run *run, uint32_t number, cst_error *error) {
  int64_t at = find_null(&run->nodes[number].slots);
  if (at < 0) {
    return CST_OK;
  }
  cst_status status =
      cst__fail(error, CST_SCHEMA, "build the view for a nullable field, or fill the nulls before",
                "a null, but the view was built for data without nulls");
  cst__error_add_record(error, cst__node_row(run, number, at), -1);
  return status;
}

/* ---- walking ---- */

static cst_status walk_node(cst__query_run *run, uint32_t number, cst_error *error) {
  const cst__input_node *node = &run->plan->nodes[number];
  const cst__node_slots *parent = &run->nodes[node->parent];
  cst__node_slots *out = &run->nodes[number];
  const uint8_t *nulls;
  if (node->name == NULL) {
    out->slots = parent->items;
  } else {
    out->slots = parent->slots;
    CST__TRY(cst__slots_enter(&out->slots, run->places[number].child, &run->arena, error));
  }
  if (node->never_null) {
    CST__TRY(check_no_null(run, number, error));
  }
  if (!run->places[number].is_list) {
    return CST_OK;
  }
  CST__TRY(cst__slots_nulls(&out->slots, &run->arena, &nulls, error));
  out->items = out->slots;
  CST__TRY(cst__slots_open(&out->items, &run->arena, &out->lists, error));
  out->lists.nulls = nulls;
  return CST_OK;
}

cst_status cst__input_walk(cst__query_run *run, cst_error *error) {
  cst__slots *rows = &run->nodes[0].slots;
  *rows = cst__slots_all(&run->batch.view);
  rows->chosen = run->batch.rows;
  rows->chosen.at = NULL; /* there are spans as well */
  for (uint32_t i = 1; i < run->plan->num_nodes; i++) {
    cst_status status = run->places[i].is_used ? walk_node(run, i, error) : CST_OK;
    if (status != CST_OK) {
      input_add_path(run->plan, i, error);
      return status;
    }
  }
  return CST_OK;
}

/* ---- lists ---- */

cst_status cst__step_list(const cst__step_call *c) {
  const cst__node_slots *node = &c->run->nodes[c->step->node];
  c->out->count = node->items.chosen.count;
  c->out->lists = node->lists;
  c->out->index = cst__index_all(c->out->count);
  return cst__step_check_count(c, c->out->count);
}

/* ---- values ---- */

/* The slots of a dictionary that encoded ones stand for. */
static cst_status encoded_slots(const cst__step_call *c, const cst__slots *slots,
                                cst__chosen *chosen) {
  const cst__view *view = slots->view;
  int64_t *at = cst__step_numbers(c, slots->chosen.count);
  if (at == NULL) {
    return CST_NO_MEMORY;
  }
  *chosen = (cst__chosen){.count = slots->chosen.count, .at = at};
  size_t work = 0;
  for (int64_t i = 0; i < cst__chosen_num_runs(&slots->chosen); i++) {
    cst__range run = cst__chosen_run(&slots->chosen, i);
    for (int64_t slot = run.begin; slot < run.begin + run.count; slot++) {
      bool is_null = cst__slots_hide(slots, slot);
      if (cst__stretch_is_over(&work, sizeof *at)) {
        CST__TRY(cst__interrupted(c->error));
      }
      int64_t index = is_null ? -1 : cst__view_int(view, slot);
      if (!is_null && (index < 0 || index >= view->dictionary->length)) {
        return cst__fail(c->error, CST_CORRUPT, NULL,
                         "slot %lld: index %lld of a dictionary of %lld values", (long long)slot,
                         (long long)index, (long long)view->dictionary->length);
      }
      chosen->has_null |= is_null;
      *at++ = index;
    }
  }
  return CST_OK;
}

static cst_status column_decode(const cst__step_call *c, const cst__slots *slots,
                                struct ArrowArray *out) {
  const cst__owner owner = cst__array_owner(c->run->batch.array);
  cst__chosen chosen;
  if (slots->view->dictionary == NULL) {
    return cst__fail(c->error, CST_UNSUPPORTED, NULL, "a dictionary without integer indices");
  }
  CST__TRY(encoded_slots(c, slots, &chosen));
  return cst__take(&owner, slots->view->dictionary, &chosen, false, out, c->error);
}

/* Text or bytes of any layout, with offsets of `width` bytes. */
static cst_status text_copy(const cst__step_call *c, const cst__view *from, int width,
                            struct ArrowArray *out) {
  size_t total = 0;
  size_t work = 0;
  for (int64_t i = 0; i < from->length; i++) {
    if (cst__stretch_is_over(&work, sizeof(int64_t))) {
      CST__TRY(cst__interrupted(c->error));
    }
    if (!cst__add(total, cst__view_bytes(from, i).size, &total)) {
      return cst__fail_memory(c->error, SIZE_MAX);
    }
  }
  if (width == 4 && total > INT32_MAX) {
    return cst__gather_fail_limit("bytes", width, c->error);
  }
  uint8_t *offsets = cst__owned_buffer(out, 1, (size_t)(from->length + 1) * (size_t)width);
  uint8_t *to = cst__owned_buffer(out, 2, total);
  if (offsets == NULL || to == NULL) {
    return cst__fail_memory(c->error, total);
  }
  memset(offsets, 0, (size_t)width);
  total = 0;
  for (int64_t i = 0; i < from->length; i++) {
    cst_bytes bytes = cst__view_bytes(from, i);
    if (bytes.size > 0) {
      memcpy(to + total, bytes.data, bytes.size);
    }
    if (cst__stretch_is_over(&work, bytes.size + sizeof(int64_t))) {
      CST__TRY(cst__interrupted(c->error));
    }
    total += bytes.size;
    if (width == 8) {
      ((int64_t *)(void *)offsets)[i + 1] = (int64_t)total;
    } else {
      ((int32_t *)(void *)offsets)[i + 1] = (int32_t)total;
    }
  }
  return CST_OK;
}

/* Replaces an array of text by one of the plan's layout. */
static cst_status column_lay_out(const cst__step_call *c, const struct ArrowSchema *schema,
                                 struct ArrowArray *array) {
  cst__view from;
  struct ArrowArray made;
  int64_t ignored;
  int width = cst__layout_find(c->step->type.format, &ignored)->offset_width;
  cst_status status = cst__view_init(&from, schema, array, true, &c->run->arena, c->error);
  if (status == CST_OK) {
    status = cst__owned_new(&c->run->allocator, 3, 0, false, &made, c->error);
  }
  if (status != CST_OK) {
    cst__array_release(array);
    return status;
  }
  made.length = from.length;
  status = text_copy(c, &from, width, &made);
  if (status == CST_OK && from.null_count > 0) {
    size_t size = cst__bits_size(from.length);
    uint8_t *bits = cst__owned_buffer(&made, 0, size);
    if (bits == NULL) {
      status = cst__fail_memory(c->error, size);
    } else {
      cst__bits_copy(bits, 0, from.validity, from.offset, from.length);
      made.null_count = from.null_count;
    }
  }
  cst__array_release(array);
  *array = made;
  if (status != CST_OK) {
    cst__array_release(array);
  }
  return status;
}

static cst_status column_of_nulls(const cst__step_call *c, int64_t count) {
  int64_t *at = cst__step_numbers(c, count);
  cst_array *nulls;
  if (at == NULL) {
    return CST_NO_MEMORY;
  }
  cst__numbers_writer w = {at, 0, c->error};
  CST__TRY(cst__numbers_put(&w, -1, 0, count));
  const cst__chosen chosen = {.count = count, .at = at, .has_null = true};
  const cst_array *like = c->run->likes[c->step - c->run->plan->steps];
  CST__TRY(cst__array_choose(like, &chosen, &nulls, c->error));
  cst_status status = cst__step_share(c, nulls);
  cst_array_release(nulls);
  return status;
}

cst_status cst__step_column(const cst__step_call *c) {
  const cst__node_place *place = &c->run->places[c->step->node];
  const cst__slots *slots = &c->run->nodes[c->step->node].slots;
  const cst__owner owner = cst__array_owner(c->run->batch.array);
  const struct ArrowSchema *schema = slots->view->schema;
  struct ArrowArray made;
  if (place->copy == CST__LEAF_NULL) {
    return column_of_nulls(c, slots->chosen.count);
  }
  if (place->is_encoded) {
    CST__TRY(column_decode(c, slots, &made));
    schema = schema->dictionary;
  } else {
    CST__TRY(cst__slots_array(slots, &owner, &made, c->error));
  }
  if (place->copy == CST__LEAF_TEXT) {
    CST__TRY(column_lay_out(c, schema, &made));
  }
  return cst__step_keep(c, &made);
}

/* ---- nulls ---- */

/* Bools of `count` elements, all bits unset; NULL: no memory. */
static uint8_t *bools_new(const cst__step_call *c, int64_t count, struct ArrowArray *out) {
  size_t size = cst__bits_size(count);
  if (cst__owned_new(&c->run->allocator, 2, 0, false, out, c->error) != CST_OK) {
    return NULL;
  }
  out->length = count;
  uint8_t *bits = cst__owned_buffer(out, 1, size);
  if (bits == NULL) {
    cst__array_release(out);
    cst__fail_memory(c->error, size);
    return NULL;
  }
  memset(bits, 0, size);
  return bits;
}

cst_status cst__step_valid(const cst__step_call *c) {
  const cst__slots *slots = &c->run->nodes[c->step->node].slots;
  struct ArrowArray made;
  uint8_t *bits = bools_new(c, slots->chosen.count, &made);
  if (bits == NULL) {
    return CST_NO_MEMORY;
  }
  cst__slots_valid_bits(slots, bits, 0);
  return cst__step_keep(c, &made);
}

cst_status cst__step_not_null(const cst__step_call *c) {
  const cst__lists *lists = &cst__step_arg(c, 0)->lists;
  struct ArrowArray made;
  uint8_t *bits = bools_new(c, lists->count, &made);
  if (bits == NULL) {
    return CST_NO_MEMORY;
  }
  if (lists->nulls != NULL) {
    cst__bytes_to_bits(lists->nulls, lists->count, 1, bits);
  } else {
    cst__bits_set(bits, 0, lists->count);
  }
  return cst__step_keep(c, &made);
}

static cst_status chosen_bits(const cst__step_call *c, const cst__chosen *chosen, uint8_t *bits) {
  for (int64_t i = 0, end = 0; i < chosen->count;) {
    CST__TRY(cst__next_stretch(&end, chosen->count, c->error));
    for (; i < end; i++) {
      bits[i >> 3] = (uint8_t)(bits[i >> 3] | (chosen->at[i] >= 0) << (i & 7));
    }
  }
  return CST_OK;
}

cst_status cst__step_chosen(const cst__step_call *c) {
  cst__step_result *chosen = &c->run->slots[c->step->args[0]];
  int64_t count = chosen->count;
  struct ArrowArray made;
  uint8_t *bits = bools_new(c, count, &made);
  if (bits == NULL) {
    return CST_NO_MEMORY;
  }
  cst_status status = CST_OK;
  if (chosen->index.has_null) {
    status = chosen_bits(c, &chosen->index, bits);
  } else {
    cst__bits_set(bits, 0, count);
  }
  if (status != CST_OK) {
    cst__array_release(&made);
    return status;
  }
  return cst__step_keep(c, &made);
}
