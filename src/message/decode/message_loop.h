/* The tables of one decoder: what its loop is driven by, and the parts of it that are no loop.
 *
 * A node is a message on the way, an entry is a field of it as it stands on the wire: a tag, and
 * what to do with what follows it. A repeated number has two entries, packed and not. Tags of one
 * byte are looked up; for longer ones the order in which fields come is learned: every entry
 * remembers which one came after it.
 *
 * Rows: a field of the message at hand belongs to the slot `rows->length` of the node's struct,
 * which is not there before the message ends. A column that is shorter lacks its last slots; where
 * a field comes, what is missing before it is filled up (see arrow/builder.h). So a field that is
 * not there costs nothing.
 *
 * The loop knows messages in normal form: no field that is not repeated comes twice, but for plain
 * values, of which the last one counts; no two members of a oneof; no key of a map twice. What it
 * does not know, or cannot parse, is brought into that form, or refused, by message_slow.c.
 */
#ifndef MESSAGE_DECODE_MESSAGE_LOOP_H
#define MESSAGE_DECODE_MESSAGE_LOOP_H

#include "arrow/builder.h"
#include "base/hash.h"
#include "message/decode/message_plan.h"
#include "message/text/struct_json.h"
#include "proto/wire.h"

typedef struct cst__loop_entry cst__loop_entry;
typedef struct cst__node cst__node;
typedef struct cst__loop cst__loop;

/* What to do with a field. */
typedef enum cst__entry_op {
  CST__OP_NONE, /* there is no such field */
  /* Repeated and packed. */
  CST__OP_PACKED_VARINT64,
  CST__OP_PACKED_FIXED64,
  CST__OP_PACKED_FIXED32,
  CST__OP_PACKED, /* all others */
  /* One value, of a field that is repeated or not. */
  CST__OP_VARINT64,
  CST__OP_VARINT32,
  CST__OP_VARINT, /* all others */
  CST__OP_FIXED64,
  CST__OP_FIXED32,
  CST__OP_BYTES, /* of a field that is not repeated, */
  CST__OP_STRING,
  CST__OP_BYTES_ITEM, /* or of one that is */
  CST__OP_STRING_ITEM,
  CST__OP_MESSAGE,
  CST__OP_MAP_ENTRY,
  CST__OP_GROUP,
  CST__OP_OTHER, /* of a kind whose values cst__put_other knows */
  CST__OP_OTHER_GROUP,
  /* Not wanted. */
  CST__OP_SKIP_VARINT,
  CST__OP_SKIP_FIXED64,
  CST__OP_SKIP_LEN,
  CST__OP_SKIP_FIXED32,
  CST__OP_SKIP_GROUP,
  CST__OP_ONEOF /* a member: what comes of it says `member_op` */
} cst__entry_op;

/* A column whose dictionary has the names of an enum: the index of each is its place. */
typedef struct cst__enum_table cst__enum_table;
struct cst__enum_table {
  const cst__enum_def *def;
  cst__builder *values;
  size_t num_names;      /* that its dictionary begins with */
  cst__enum_table *next; /* of all tables */
};

struct cst__loop_entry {
  uint64_t head; /* the tag's bytes, as one load gets them, */
  uint64_t mask; /* and which bits of the load they are */
  uint8_t tag_size;
  uint8_t op;           /* cst__entry_op */
  uint8_t kind;         /* cst__message_value_kind */
  uint8_t member_op;    /* cst__entry_op of a member of a oneof */
  bool pads_with_empty; /* a list that is not there is an empty one */
  uint8_t struct_kind;  /* JSON: cst__struct_kind */
  uint32_t tag;
  cst__loop_entry *next; /* that is expected after this one */
  cst__builder *list;    /* NULL: not repeated */
  cst__builder *values;
  cst__node *child; /* MESSAGE, GROUP, MAP, ANY */
  /* The rest is for the rare cases. */
  const cst__field_def *def;
  size_t oneof; /* index into the node's */
};

/* Which member of a oneof came last, in which message. */
typedef struct cst__oneof_state {
  uint64_t serial;
  const cst__field_def *member;
} cst__oneof_state;

/* A cast of an Any. */
typedef struct cst__cast {
  const cst__message_plan_field *field;
  cst__builder *values;
  cst__node *node;
} cst__cast;

typedef struct cst__entry_list {
  cst__loop_entry **items;
  size_t count;
} cst__entry_list;

/* What the loop goes back to at the end of a message. */
typedef struct cst__node_above {
  cst__node *node; /* that it is a field of; NULL: of none */
  cst__loop_entry *entry;
  const uint8_t *end; /* of the message above, which is being read */
  uint32_t group;     /* the number of the message itself, if it is a group; else 0 */
} cst__node_above;

enum { CST__SHORT_TAGS = 128 /* those of one byte */ };

struct cst__node {
  cst__builder *rows; /* the struct */
  cst__node_above above;
  cst__loop_entry **by_tag; /* [CST__SHORT_TAGS]; of op NONE where there is no field */
  cst__loop_entry begin;    /* before all fields: its `next` is the first one that is expected */
  uint64_t serial;          /* of the message at hand: no two have the same one */
  cst__loop_entry *entries; /* by number; those of one number beside each other */
  size_t num_entries;
  const uint32_t *index; /* by number, or by its hash: index of its first entry, plus 1; 0: none */
  size_t num_index;      /* by hash: a power of two */
  uint64_t seed;         /* of the hash, as numbers may be chosen; 0: by number */
  cst__entry_list required;  /* that have to be there; */
  cst__entry_list fills;     /* that have a value if they are not there; */
  cst__entry_list maps;      /* whose keys have to differ */
  bool has_close;            /* there are some of these */
  cst__entry_list strangers; /* of fields that the message does not have, and that came before: they
                                are stepped over as fields are that nobody wants */
  cst__oneof_state *oneofs;
  cst__builder *unknown; /* NULL: unknown fields are not wanted */
  const cst__message_plan_node *plan;
  cst__cast *casts;
  size_t num_casts;
};

/* Why the loop has stopped. */
typedef enum cst__stop {
  CST__STOP_SLOW,  /* something that it does not know, or that is wrong */
  CST__STOP_FAILED /* the error is filled */
} cst__stop;

/* Appends one message: [at, end), after which SLACK bytes (proto/fast_wire.h) may be read. False:
 * see loop->stop; the builders are then in whatever state. */
typedef bool (*cst__loop_run)(cst__loop *loop, cst__node *node, const uint8_t *at,
                              const uint8_t *end);

struct cst__loop {
  cst__node *root;
  cst__loop_run run;
  cst__batch_builder *batch;
  const cst__message_plan *plan;
  cst__enum_table *enums;
  cst__stop stop;
  int depth;      /* levels that may still open */
  bool is_normal; /* the record is in normal form: what the loop does not know is wrong */
  cst_error *error;
  cst_allocator allocator;
  cst__arena tables;    /* holds all of the above */
  cst__arena scratch;   /* of one record */
  cst__buffer bytes[2]; /* two records in turns that lack readable bytes after them */
  cst__struct_json json;
  uint8_t no_bytes[64]; /* an empty message, with readable bytes after it */
};

/* ---- tables (message_tables.c) ---- */

/* Makes the tables of a plan for these builders. */
cst_status cst__loop_init(cst__loop *loop, const cst__message_plan *plan, cst__batch_builder *batch,
                          cst_error *error);
void cst__loop_reset(cst__loop *loop);
/* An entry that steps over fields of a tag. */
void cst__loop_entry_skip(cst__loop_entry *entry, uint32_t number, cst__wire_type type);
/* Before a batch: dictionaries have the names of their enums, and nothing of the batches before. */
cst_status cst__loop_begin(cst__loop *loop, cst_error *error);

/* Where the search for a number begins that is looked up by its hash. */
static inline size_t cst__number_hash(const cst__node *node, uint32_t number) {
  return (size_t)cst__fold(number ^ node->seed, UINT64_C(0x9e3779b97f4a7c15)) &
         (node->num_index - 1);
}

/* The entry of a tag; NULL if there is none. */
static inline cst__loop_entry *cst__node_find(const cst__node *node, uint32_t tag) {
  uint32_t number = tag >> 3;
  size_t at = node->seed != 0 ? cst__number_hash(node, number) : number;
  while (at < node->num_index && node->index[at] != 0) {
    cst__loop_entry *entry = &node->entries[node->index[at] - 1];
    bool is_here = entry->tag >> 3 == number;
    for (; entry->tag >> 3 == number; entry++) { /* an entry without a tag ends them */
      if (entry->tag == tag) {
        return entry;
      }
    }
    if (node->seed == 0 || is_here) {
      return NULL;
    }
    at = (at + 1) & (node->num_index - 1);
  }
  return NULL;
}

/* The same among the strangers; most messages have none, and few have many. */
static inline cst__loop_entry *cst__node_find_stranger(const cst__node *node, uint32_t tag) {
  for (size_t i = 0; i < node->strangers.count; i++) {
    if (node->strangers.items[i]->tag == tag) {
      return node->strangers.items[i];
    }
  }
  return NULL;
}

/* ---- slots: where the values of a row go; false: no memory (or too many absent ones) ---- */

/* Fills up what is missing before the row, or takes back what stands there: the last value counts.
 */
bool cst__slot_settle(cst__builder *builder, int64_t row);

enum { CST__PAD_AT_ONCE = 16 };

/* Makes a list that may have items in the row already ready for more. Rows before it that lack are
 * most often empty lists, in room that is there. */
static inline bool cst__slot_begin_list(const cst__loop_entry *entry, int64_t row) {
  cst__builder *list = entry->list;
  int64_t length = list->length;
  if (__builtin_expect(length >= row, 1)) {
    return true;
  }
  if (!entry->pads_with_empty || row + CST__PAD_AT_ONCE > list->capacity) {
    return cst__builder_pad_slots(list, row);
  }
  /* A fixed number of slots first, without a look at how many lack; what is too much is written
   * again later. */
  int64_t *offsets = list->offsets + length + 1;
  const int64_t end = offsets[-1];
  for (int i = 0; i < CST__PAD_AT_ONCE; i++) {
    offsets[i] = end;
  }
  for (int64_t i = CST__PAD_AT_ONCE; i < row - length; i++) {
    offsets[i] = end;
  }
  list->length = row;
  return true;
}

static inline bool cst__slot_has_room(cst__builder *builder, size_t more) {
  return __builtin_expect(more <= (size_t)(builder->capacity - builder->length), 1) ||
         cst__builder_reserve(builder, more);
}

/* Makes room for one value of the row: a column's, or one more of its list. */
static inline bool cst__slot_begin(const cst__loop_entry *entry, int64_t row) {
  bool ok = entry->list != NULL ? cst__slot_begin_list(entry, row)
                                : __builtin_expect(entry->values->length == row, 1) ||
                                      cst__slot_settle(entry->values, row);
  return ok && cst__slot_has_room(entry->values, 1);
}

/* After items were appended: the row's list ends with them. */
static inline bool cst__slot_end_list(const cst__loop_entry *entry, int64_t row) {
  cst__builder *list = entry->list;
  if (__builtin_expect(row >= list->capacity, 0) && !cst__builder_reserve(list, 1)) {
    return false;
  }
  list->offsets[row + 1] = entry->values->length;
  list->length = row + 1;
  return true;
}

/* The same for a field that need not be repeated. */
static inline bool cst__slot_end(const cst__loop_entry *entry, int64_t row) {
  return entry->list == NULL || cst__slot_end_list(entry, row);
}

/* Appends bytes to the last slot of a column of bytes. */
bool cst__slot_extend(cst__builder *builder, cst_bytes more);

/* ---- the loop (message_loop.c), once per instruction set ---- */

bool cst__loop_run_base(cst__loop *loop, cst__node *node, const uint8_t *at, const uint8_t *end);
bool cst__loop_run_v3(cst__loop *loop, cst__node *node, const uint8_t *at, const uint8_t *end);
cst__loop_run cst__loop_best(void);

/* ---- rare values (message_values.c); false: see loop->stop ---- */

/* One value that stands alone, of the kinds that are varints; `field`: its bytes with the tag. */
bool cst__put_varint(cst__loop *loop, cst__node *node, cst__loop_entry *entry, uint64_t raw,
                     cst_bytes field);
/* All values of a packed field. */
bool cst__put_packed(cst__loop *loop, cst__node *node, cst__loop_entry *entry, cst_bytes packed);
/* A message that is one value. */
bool cst__put_other(cst__loop *loop, cst__node *node, cst__loop_entry *entry, cst_bytes message);
/* The value of an absent field that is not null and not zero. */
bool cst__put_default(cst__loop *loop, cst__node *node, cst__loop_entry *entry);

/* ---- rare cases (message_slow.c) ---- */

/* A value cannot be what the column holds: slow at first, since another value may count. */
bool cst__loop_bad_value(cst__loop *loop, const cst__loop_entry *entry, const char *hint,
                         const char *what);
/* The same with an error that is filled. */
bool cst__loop_fail(cst__loop *loop, const cst__loop_entry *entry);
bool cst__loop_no_memory(cst__loop *loop);
static inline bool cst__loop_slow(cst__loop *loop) {
  loop->stop = CST__STOP_SLOW;
  return false;
}

/* A field whose tag has no entry: unknown, or malformed. `begin`: where its tag begins. NULL: see
 * loop->stop. */
const uint8_t *cst__loop_unknown(cst__loop *loop, cst__node *node, const uint8_t *begin,
                                 const uint8_t *end);
/* True if an entry of a map has something unknown in it, which makes all of it an unknown field:
 * only in normal form, where that is all that the tree has left of such an entry. */
bool cst__loop_is_unknown_entry(const cst__loop *loop, const cst__node *entry, cst_bytes content);
/* True if the number is one that the closed enum of the entry does not have. */
bool cst__is_unknown_number(const cst__loop_entry *entry, uint64_t raw);
/* True if a text that is not ASCII is UTF-8; else see loop->stop. */
bool cst__loop_is_text(cst__loop *loop, const cst__loop_entry *entry, const uint8_t *text,
                       size_t size);
/* Keeps the bytes of an unknown field, if they are wanted. */
bool cst__loop_keep_unknown(cst__loop *loop, cst__node *node, cst_bytes field);
/* True if the keys of a map's last slot differ. */
bool cst__loop_keys_differ(const cst__loop_entry *map);

/* The message in normal form, with readable bytes after it; `bytes` may be what an earlier call
 * gave. Fails for what is malformed. */
cst_status cst__loop_normalise(cst__loop *loop, const cst__message_plan_node *node,
                               cst_bytes message, cst_bytes *out);

#endif /* MESSAGE_DECODE_MESSAGE_LOOP_H */
