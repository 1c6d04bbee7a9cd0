/* The tables of a decoder: the entries and nodes of a plan, with its builders in them. */
#include <stdlib.h>
#include <string.h>

#include "message/decode/message_loop.h"
#include "proto/message.h"

typedef struct table_maker {
  cst__loop *loop;
  cst_error *error;
} table_maker;

static void *take_table(table_maker *t, size_t count, size_t size) {
  size_t bytes = 0;
  void *out =
      cst__mul(count, size, &bytes) ? cst__arena_take_zero(&t->loop->tables, bytes + 1) : NULL;
  if (out == NULL) {
    (void)cst__fail_memory(t->error, bytes);
  }
  return out;
}

static cst_status make_tables(table_maker *t, const cst__message_plan_node *plan,
                              cst__builder *rows, cst__node **out);

/* ---- tags ---- */

/* The bytes of a tag as a load of eight gets them. */
static void set_tag(cst__loop_entry *entry, uint32_t number, cst__wire_type type) {
  uint64_t rest = (uint64_t)number << 3 | (uint64_t)type;
  entry->tag = (uint32_t)rest;
  entry->head = 0;
  entry->tag_size = 0;
  do {
    uint64_t byte = (rest & 0x7f) | (rest > 0x7f ? 0x80 : 0);
    entry->head |= byte << (8 * entry->tag_size++);
    rest >>= 7;
  } while (rest > 0);
  entry->mask = (UINT64_C(1) << (8 * entry->tag_size)) - 1;
}

/* ---- what to do with a field ---- */

static cst__entry_op skip_op(cst__wire_type type) {
  switch (type) {
    case CST__WIRE_FIXED64:
      return CST__OP_SKIP_FIXED64;
    case CST__WIRE_FIXED32:
      return CST__OP_SKIP_FIXED32;
    case CST__WIRE_LEN:
      return CST__OP_SKIP_LEN;
    case CST__WIRE_GROUP:
    case CST__WIRE_GROUP_END:
      return CST__OP_SKIP_GROUP;
    case CST__WIRE_VARINT:
      break;
  }
  return CST__OP_SKIP_VARINT;
}

static cst__entry_op packed_op(cst__message_value_kind kind) {
  switch (kind) {
    case CST__KIND_VARINT64:
      return CST__OP_PACKED_VARINT64;
    case CST__KIND_FIXED64:
      return CST__OP_PACKED_FIXED64;
    case CST__KIND_FIXED32:
      return CST__OP_PACKED_FIXED32;
    default:
      return CST__OP_PACKED;
  }
}

static cst__entry_op value_op(cst__message_value_kind kind, bool is_group) {
  switch (kind) {
    case CST__KIND_VARINT64:
      return CST__OP_VARINT64;
    case CST__KIND_VARINT32:
      return CST__OP_VARINT32;
    case CST__KIND_ZIGZAG64:
    case CST__KIND_ZIGZAG32:
    case CST__KIND_BOOL:
    case CST__KIND_ENUM:
      return CST__OP_VARINT;
    case CST__KIND_FIXED64:
      return CST__OP_FIXED64;
    case CST__KIND_FIXED32:
      return CST__OP_FIXED32;
    case CST__KIND_STRING:
      return CST__OP_STRING;
    case CST__KIND_BYTES:
      return CST__OP_BYTES;
    case CST__KIND_MAP:
      return CST__OP_MAP_ENTRY;
    case CST__KIND_MESSAGE:
      return is_group ? CST__OP_GROUP : CST__OP_MESSAGE;
    case CST__KIND_RAW:
    case CST__KIND_ANY:
    case CST__KIND_TIMESTAMP:
    case CST__KIND_DURATION:
    case CST__KIND_WRAPPER:
    case CST__KIND_DATE:
    case CST__KIND_TIME_OF_DAY:
    case CST__KIND_JSON:
      break;
  }
  return is_group ? CST__OP_OTHER_GROUP : CST__OP_OTHER;
}

/* ---- enums ---- */

/* Names in the order of their declaration: the index of each is its place. */
static cst_status intern_names(cst__builder *values, const cst__enum_def *def, cst_error *error) {
  for (size_t i = 0; i < def->num_values; i++) {
    int64_t index;
    const char *name = def->values[i].name;
    CST__TRY(cst__builder_intern(values, name, strlen(name), &index, error));
  }
  return CST_OK;
}

cst_status cst__loop_begin(cst__loop *loop, cst_error *error) {
  for (cst__enum_table *table = loop->enums; table != NULL; table = table->next) {
    if (cst__builder_dictionary_size(table->values) != table->num_names) {
      cst__builder_clear_dictionary(table->values);
      CST__TRY(intern_names(table->values, table->def, error));
    }
  }
  return CST_OK;
}

static cst_status make_enum(table_maker *t, cst__loop_entry *entry) {
  cst__enum_table *table = take_table(t, 1, sizeof *table);
  if (table == NULL) {
    return CST_NO_MEMORY;
  }
  *table = (cst__enum_table){.def = entry->def->values, .values = entry->values};
  CST__TRY(intern_names(table->values, table->def, t->error));
  table->num_names = cst__builder_dictionary_size(table->values);
  table->next = t->loop->enums;
  t->loop->enums = table;
  return CST_OK;
}

/* ---- entries ---- */

/* The column of a field of the node; NULL: nobody wants it. */
typedef struct column {
  const cst__message_plan_field *field;
  cst__builder *builder;
} column;

static cst_status fill_entry(table_maker *t, cst__node *node, cst__loop_entry *entry,
                             const column *col) {
  const cst__message_plan_field *field = col->field;
  const cst__field_def *def = entry->def;
  bool is_list = cst__field_is_repeated(def);
  entry->kind = (uint8_t)field->kind;
  entry->op = (uint8_t)value_op(field->kind, def->type == CST__FIELD_GROUP);
  if (is_list && (entry->op == CST__OP_BYTES || entry->op == CST__OP_STRING)) {
    entry->op = entry->op == CST__OP_BYTES ? CST__OP_BYTES_ITEM : CST__OP_STRING_ITEM;
  }
  entry->list = is_list ? col->builder : NULL;
  entry->values = is_list ? &col->builder->children[0] : col->builder;
  if (is_list) {
    entry->list->absent_is_null = field->absent_is_null;
    entry->pads_with_empty = !field->absent_is_null;
  }
  entry->values->absent_is_null = !is_list && field->absent_is_null;
  if (field->kind == CST__KIND_ENUM && entry->values->dictionary != NULL) {
    CST__TRY(make_enum(t, entry));
  }
  if (field->kind == CST__KIND_JSON) {
    cst__struct_kind kind = CST__STRUCT_OBJECT;
    (void)cst__struct_kind_of(def->message, &kind);
    entry->struct_kind = (uint8_t)kind;
  }
  if (field->child == NULL) {
    return CST_OK;
  }
  CST__TRY(make_tables(t, field->child, entry->values, &entry->child));
  cst__node_above *above = &entry->child->above;
  *above = (cst__node_above){.node = node, .entry = entry};
  above->group = entry->op == CST__OP_GROUP ? (uint32_t)def->number : 0; /* an Any has its bytes */
  return CST_OK;
}

void cst__loop_entry_skip(cst__loop_entry *entry, uint32_t number, cst__wire_type type) {
  set_tag(entry, number, type);
  entry->op = (uint8_t)skip_op(type);
  entry->next = entry;
}

/* Numbers of the same field stand beside each other: a value alone first, then all in one. */
static cst_status make_entries(table_maker *t, cst__node *node, const column *columns) {
  const cst__message_def *def = node->plan->def;
  cst__loop_entry *entry = node->entries;
  for (size_t i = 0; i < def->num_fields; i++) {
    const cst__field_def *field = &def->fields[i];
    cst__wire_type type = cst__field_wire_type(field);
    cst__loop_entry_skip(entry, (uint32_t)field->number, type);
    entry->def = field;
    if (columns[i].field != NULL) {
      CST__TRY(fill_entry(t, node, entry, &columns[i]));
    }
    if (field->oneof != 0) {
      entry->oneof = field->oneof;
      entry->member_op = entry->op;
      entry->op = CST__OP_ONEOF;
    }
    cst__loop_entry *single = entry++;
    if (cst__field_is_repeated(field) && type != CST__WIRE_LEN && type != CST__WIRE_GROUP) {
      *entry = *single;
      set_tag(entry, (uint32_t)field->number, CST__WIRE_LEN);
      bool is_wanted = columns[i].field != NULL;
      entry->op = (uint8_t)(is_wanted ? packed_op(columns[i].field->kind) : CST__OP_SKIP_LEN);
      entry->next = entry;
      entry++;
    }
  }
  entry->op = CST__OP_NONE;
  entry->mask = 0xff; /* no long tag is that */
  entry->next = entry;
  node->num_entries = (size_t)(entry - node->entries);
  /* As a rule, fields come in the order of their numbers, and repeated ones packed. */
  for (size_t i = 0; i < node->num_entries; i++) {
    size_t next = i + 1;
    next += next < node->num_entries && node->entries[next].def == node->entries[i].def;
    bool has_packed =
        next + 1 < node->num_entries && node->entries[next + 1].def == node->entries[next].def;
    node->entries[i].next = &node->entries[next < node->num_entries ? next + has_packed : 0];
  }
  node->begin.next = node->entries;
  return CST_OK;
}

static cst_status make_number_index(table_maker *t, cst__node *node) {
  const cst__message_def *def = node->plan->def;
  size_t most = def->num_fields > 0 ? (size_t)def->fields[def->num_fields - 1].number + 1 : 0;
  node->seed = most > def->num_fields * 8 + 256 ? cst__random_seed() : 0;
  node->num_index = most;
  if (node->seed != 0) {
    for (node->num_index = 8; node->num_index < def->num_fields * 2;) {
      node->num_index *= 2;
    }
  }
  uint32_t *index = take_table(t, node->num_index, sizeof *index);
  if (index == NULL) {
    return CST_NO_MEMORY;
  }
  node->by_tag = take_table(t, CST__SHORT_TAGS, sizeof *node->by_tag);
  if (node->by_tag == NULL) {
    return CST_NO_MEMORY;
  }
  for (size_t i = 0; i < CST__SHORT_TAGS; i++) {
    node->by_tag[i] = &node->entries[node->num_entries];
  }
  for (size_t i = 0; i < node->num_entries; i++) {
    uint32_t number = node->entries[i].tag >> 3;
    if (node->entries[i].tag < CST__SHORT_TAGS) {
      node->by_tag[node->entries[i].tag] = &node->entries[i];
    }
    if (i > 0 && node->entries[i - 1].tag >> 3 == number) {
      continue;
    }
    size_t at = number;
    if (node->seed != 0) {
      for (at = cst__number_hash(node, number); index[at] != 0;) {
        at = (at + 1) & (node->num_index - 1);
      }
    }
    index[at] = (uint32_t)i + 1;
  }
  node->index = index;
  return CST_OK;
}

/* ---- what is said of the message as a whole ---- */

/* True if an absent value is another one than what builders fill in. */
static bool needs_fill(const cst__loop *loop, const cst__loop_entry *entry) {
  const cst__field_def *def = entry->def;
  if (entry->list != NULL || entry->values->absent_is_null || cst__field_is_message(def)) {
    return false;
  }
  if (entry->kind == CST__KIND_ENUM) {
    cst_message_enums enums = loop->plan->options.enums;
    return enums == CST_ENUMS_TEXT || enums == CST_ENUMS_BINARY || def->default_value != NULL ||
           (def->values->num_values > 0 && def->values->values[0].number != 0);
  }
  return def->default_value != NULL;
}

/* A value of a map is always there, and so, on the wire, is its message: else an absent one would
 * have to be made as a whole. */
static bool is_needed(const cst__node *node, const cst__loop_entry *entry) {
  return (entry->def->flags & CST__FIELD_REQUIRED) != 0 ||
         (node->plan->def->is_map_entry && cst__field_is_message(entry->def));
}

static cst_status make_closing(table_maker *t, cst__node *node) {
  size_t count = node->num_entries;
  node->required.items = take_table(t, count, sizeof *node->required.items);
  node->fills.items = take_table(t, count, sizeof *node->fills.items);
  node->maps.items = take_table(t, count, sizeof *node->maps.items);
  if (node->required.items == NULL || node->fills.items == NULL || node->maps.items == NULL) {
    return CST_NO_MEMORY;
  }
  for (size_t i = 0; i < count; i++) {
    cst__loop_entry *entry = &node->entries[i];
    if (entry->values == NULL) {
      continue;
    }
    if (is_needed(node, entry)) {
      node->required.items[node->required.count++] = entry;
    }
    if (needs_fill(t->loop, entry)) {
      node->fills.items[node->fills.count++] = entry;
    }
    if (entry->kind == CST__KIND_MAP) {
      node->maps.items[node->maps.count++] = entry;
    }
  }
  node->has_close = node->required.count + node->fills.count + node->maps.count > 0;
  return CST_OK;
}

/* ---- nodes ---- */

static cst_status make_casts(table_maker *t, cst__node *node) {
  const cst__message_plan_node *plan = node->plan;
  node->casts = take_table(t, plan->num_fields, sizeof *node->casts);
  if (node->casts == NULL) {
    return CST_NO_MEMORY;
  }
  for (size_t i = 0; i < plan->num_fields; i++) {
    if (plan->fields[i].def == NULL) {
      cst__cast *cast = &node->casts[node->num_casts++];
      *cast = (cst__cast){&plan->fields[i], &node->rows->children[i], NULL};
      CST__TRY(make_tables(t, plan->fields[i].child, cast->values, &cast->node));
    }
  }
  return CST_OK;
}

static cst_status make_tables(table_maker *t, const cst__message_plan_node *plan,
                              cst__builder *rows, cst__node **out) {
  const cst__message_def *def = plan->def;
  cst__node *node = take_table(t, 1, sizeof *node);
  column *columns = take_table(t, def->num_fields, sizeof *columns);
  if (node == NULL || columns == NULL) {
    return CST_NO_MEMORY;
  }
  node->plan = plan;
  node->rows = rows;
  for (size_t i = 0; i < plan->num_fields; i++) {
    const cst__field_def *field = plan->fields[i].def;
    if (field != NULL) {
      columns[field - def->fields] = (column){&plan->fields[i], &rows->children[i]};
    }
  }
  if (plan->has_unknown) {
    node->unknown = &rows->children[plan->num_fields];
    node->unknown->absent_is_null = false;
  }
  node->oneofs = take_table(t, def->num_oneofs + 1, sizeof *node->oneofs);
  /* One more ends the search for a number. It is what a message without fields expects. */
  node->entries = take_table(t, 2 * def->num_fields + 1, sizeof *node->entries);
  if (node->oneofs == NULL || node->entries == NULL) {
    return CST_NO_MEMORY;
  }
  CST__TRY(make_entries(t, node, columns));
  CST__TRY(make_number_index(t, node));
  CST__TRY(make_closing(t, node));
  CST__TRY(make_casts(t, node));
  *out = node;
  return CST_OK;
}

cst_status cst__loop_init(cst__loop *loop, const cst__message_plan *plan, cst__batch_builder *batch,
                          cst_error *error) {
  *loop = (cst__loop){
      .plan = plan, .batch = batch, .run = cst__loop_best(), .allocator = plan->allocator};
  cst__arena_init(&loop->tables, &plan->allocator);
  cst__arena_init(&loop->scratch, &plan->allocator);
  cst__struct_json_init(&loop->json, &plan->allocator);
  table_maker t = {loop, error};
  return make_tables(&t, plan->root, batch->root, &loop->root);
}

void cst__loop_reset(cst__loop *loop) {
  cst__arena_reset(&loop->tables);
  cst__arena_reset(&loop->scratch);
  cst__struct_json_reset(&loop->json);
  cst__buffer_free(&loop->allocator, &loop->bytes[0]);
  cst__buffer_free(&loop->allocator, &loop->bytes[1]);
}
