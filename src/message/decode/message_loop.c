/* The hot loop of the message decoder: fields in the order that writers give them, straight from
 * the bytes into the builders. Compiled once per instruction set (CST_VARIANT names it). What it
 * does not know is left to message_slow.c, record by record.
 */
#include "message/decode/message_loop.h"

#include "proto/fast_wire.h"

typedef const uint8_t *place;

/* ---- values ---- */

ALWAYS_INLINE place read_varint(place at, uint64_t *out) {
  uint64_t word = cst__load64(at);
  if (LIKELY((word & 0x80) == 0)) {
    *out = word & 0x7f;
    return at + 1;
  }
  uint64_t stops = ~word & UINT64_C(0x8080808080808080);
  if (UNLIKELY(stops == 0)) {
    return long_varint(at, at + 10, (int64_t *)out);
  }
  uint64_t mask = stops ^ (stops - 1);
  *out = close_up(word & mask);
  return at + (__builtin_ctzll(stops) >> 3) + 1;
}

/* A length that has more than two bytes, or is wrong (data NULL), and what follows it. By value, so
 * that the loop keeps its own in registers. */
static __attribute__((noinline)) cst_bytes read_long_content(place at, place end) {
  size_t size;
  bool ok = read_size(&at, &size) && (ptrdiff_t)size <= end - at;
  return ok ? (cst_bytes){at, size} : (cst_bytes){NULL, 0};
}

/* What a length at `at` speaks of, which ends at or before `end`. */
ALWAYS_INLINE bool read_content(place at, place end, cst_bytes *out) {
  size_t size = at[0];
  place data = at + 1;
  if (UNLIKELY(size >= 0x80)) {
    size = (size & 0x7f) | (size_t)at[1] << 7; /* 0x4000 or more: a third byte follows */
    data = at + 2;
  }
  if (LIKELY(size < 0x4000 && data + size <= end)) {
    *out = (cst_bytes){data, size};
    return true;
  }
  *out = read_long_content(at, end);
  return out->data != NULL;
}

ALWAYS_INLINE bool is_ascii(place at, size_t size) {
  uint64_t high = 0;
  if (size == 0) {
    return true;
  }
  for (; size > 8; size -= 8, at += 8) {
    high |= cst__load64(at);
  }
  high |= cst__load64(at) << (64 - size * 8); /* the bytes after it fall away */
  return (high & UINT64_C(0x8080808080808080)) == 0;
}

/* Rows before this one that the list of a field lacks, and room for it and `more` items. */
static __attribute__((noinline)) bool make_room(cst__loop *loop, const cst__loop_entry *e,
                                                int64_t row, size_t more) {
  cst__builder *list = e->list;
  bool ok =
      cst__slot_begin_list(e, row) &&
      (row < list->capacity || cst__builder_reserve(list, (size_t)(row + 1 - list->length))) &&
      cst__slot_has_room(e->values, more);
  return ok || cst__loop_no_memory(loop);
}

ALWAYS_INLINE bool has_room(const cst__loop_entry *e, int64_t row, size_t more) {
  const cst__builder *list = e->list;
  const cst__builder *b = e->values;
  return LIKELY(list->length >= row && row < list->capacity &&
                (ptrdiff_t)more <= b->capacity - b->length);
}

/* The items of a field end at `length`, and so does the row's list, for which there is room. */
ALWAYS_INLINE void end_items(const cst__loop_entry *e, int64_t row, int64_t length) {
  cst__builder *list = e->list;
  e->values->length = length;
  list->offsets[row + 1] = length;
  list->length = row + 1;
}

ALWAYS_INLINE bool put_bytes(cst__loop *loop, const cst__loop_entry *e, cst_bytes bytes,
                             int64_t row) {
  cst__builder *b = e->values;
  bool is_ready = LIKELY(b->length == row && row < b->capacity) || cst__slot_begin(e, row);
  if (UNLIKELY(!is_ready) || !cst__builder_has_bytes(b, bytes.size)) {
    return cst__loop_no_memory(loop);
  }
  size_t used = b->num_bytes;
  copy_values(b->values + used, bytes.data, bytes.size, true);
  b->num_bytes = used + bytes.size;
  b->offsets[row + 1] = (int64_t)(used + bytes.size);
  b->length = row + 1;
  return true;
}

ALWAYS_INLINE bool put_bytes_item(cst__loop *loop, const cst__loop_entry *e, cst_bytes bytes,
                                  int64_t row) {
  cst__builder *b = e->values;
  if (!has_room(e, row, 1) && !make_room(loop, e, row, 1)) {
    return false;
  }
  if (!cst__builder_has_bytes(b, bytes.size)) {
    return cst__loop_no_memory(loop);
  }
  int64_t length = b->length + 1;
  size_t used = b->num_bytes;
  copy_values(b->values + used, bytes.data, bytes.size, true);
  b->num_bytes = used + bytes.size;
  b->offsets[length] = (int64_t)(used + bytes.size);
  end_items(e, row, length);
  return true;
}

ALWAYS_INLINE bool put_fixed(cst__loop *loop, const cst__loop_entry *e, place at, size_t width,
                             int64_t row) {
  if (!cst__slot_begin(e, row)) {
    return cst__loop_no_memory(loop);
  }
  memcpy(cst__builder_next(e->values, width), at, width);
  e->values->length++;
  return cst__slot_end(e, row) || cst__loop_no_memory(loop);
}

/* One value is a usual case. */
ALWAYS_INLINE bool put_packed_varints(cst__loop *loop, const cst__loop_entry *e, cst_bytes packed,
                                      int64_t row) {
  cst__builder *b = e->values;
  uint64_t word = cst__load64(packed.data);
  uint64_t stops = ~word & UINT64_C(0x8080808080808080);
  bool is_one = stops != 0 && (size_t)__builtin_ctzll(stops) + 1 == 8 * packed.size;
  if (LIKELY(is_one) && has_room(e, row, 1)) {
    int64_t length = b->length;
    ((int64_t *)(void *)b->values)[length] = (int64_t)close_up(word & (stops ^ (stops - 1)));
    end_items(e, row, length + 1);
    return true;
  }
  if (packed.size == 0) {
    return true;
  }
  if (!has_room(e, row, packed.size) && !make_room(loop, e, row, packed.size)) {
    return false;
  }
  int64_t *first = (int64_t *)(void *)b->values + b->length;
  const int64_t *last = unpack(packed.data, packed.data + packed.size, true, first);
  if (UNLIKELY(last == NULL)) {
    return cst__loop_slow(loop);
  }
  end_items(e, row, b->length + (last - first));
  return true;
}

ALWAYS_INLINE bool put_packed_fixed(cst__loop *loop, const cst__loop_entry *e, cst_bytes packed,
                                    size_t width, int64_t row) {
  cst__builder *b = e->values;
  if (LIKELY(packed.size == width) && has_room(e, row, 1)) {
    int64_t length = b->length;
    memcpy(b->values + (size_t)length * width, packed.data, width);
    end_items(e, row, length + 1);
    return true;
  }
  if (packed.size == 0) {
    return true;
  }
  size_t count = packed.size / width;
  if (UNLIKELY(packed.size % width != 0)) {
    return cst__loop_slow(loop);
  }
  if (!has_room(e, row, count) && !make_room(loop, e, row, count)) {
    return false;
  }
  copy_values(cst__builder_next(b, width), packed.data, packed.size, true);
  end_items(e, row, b->length + (int64_t)count);
  return true;
}

/* ---- messages ---- */

/* What is said of a message as a whole: fields that have to be there or have defaults, and keys of
 * maps, of which none comes twice. */
static __attribute__((noinline)) bool close_message(cst__loop *loop, cst__node *node) {
  int64_t row = node->rows->length;
  for (size_t i = 0; i < node->required.count; i++) {
    const cst__loop_entry *e = node->required.items[i];
    if (e->values->length <= row) {
      return cst__loop_bad_value(loop, e, NULL, "a required field is missing");
    }
  }
  for (size_t i = 0; i < node->fills.count; i++) {
    cst__loop_entry *e = node->fills.items[i];
    if (e->values->length <= row && !cst__put_default(loop, node, e)) {
      return false;
    }
  }
  for (size_t i = 0; i < node->maps.count; i++) {
    const cst__loop_entry *e = node->maps.items[i];
    if (e->list->length > row && !cst__loop_keys_differ(e)) {
      return cst__loop_slow(loop);
    }
  }
  return true;
}

/* Makes the next value of a field of messages ready. */
ALWAYS_INLINE bool begin_message(cst__loop *loop, const cst__loop_entry *e, int64_t row) {
  cst__builder *b = e->values;
  if (e->list != NULL) {
    return cst__slot_begin_list(e, row) || cst__loop_no_memory(loop);
  }
  if (LIKELY(b->length == row)) {
    return true;
  }
  if (b->length > row) {
    return cst__loop_slow(loop); /* messages merge */
  }
  return cst__builder_pad_slots(b, row) || cst__loop_no_memory(loop);
}

/* Leaves all messages up to `base`, after a failure whose path these are. */
static __attribute__((noinline)) place fail_within(cst__loop *loop, const cst__node *node,
                                                   const cst__node *base) {
  bool is_told = loop->stop == CST__STOP_FAILED && loop->error->code != CST_NO_MEMORY;
  for (; node != base; node = node->above.node) {
    const cst__loop_entry *e = node->above.entry;
    const char *name = e->list != NULL ? e->list->type->name : e->values->type->name;
    if (is_told) {
      cst__error_add_path(loop->error, name, strlen(name));
    }
    loop->depth++;
  }
  return NULL;
}

/* ---- fields ---- */

/* The entry of the tag that begins at `at`; NULL: there is none. */
static __attribute__((noinline)) cst__loop_entry *find_next(const cst__node *node, place at) {
  uint32_t tag = at[0];
  if (UNLIKELY(tag >= 0x80)) {
    size_t wide;
    place after = at;
    if (at[1] >= 0x80 && at[2] >= 0x80 && at[3] >= 0x80) { /* a size has no 32nd bit */
      if (at[4] > 15) {
        return NULL;
      }
      tag = (uint32_t)(at[0] & 127) | (uint32_t)(at[1] & 127) << 7 | (uint32_t)(at[2] & 127) << 14 |
            (uint32_t)(at[3] & 127) << 21 | (uint32_t)at[4] << 28;
    } else if (read_size(&after, &wide)) {
      tag = (uint32_t)wide;
    } else {
      return NULL;
    }
  }
  cst__loop_entry *entry = cst__node_find(node, tag);
  return entry != NULL ? entry : cst__node_find_stranger(node, tag);
}

/* The bytes of a tag that an entry has been found by, which need not be the shortest. */
ALWAYS_INLINE size_t tag_size(place at) {
  size_t size = 1;
  while (at[size - 1] >= 0x80) {
    size++;
  }
  return size;
}

/* Notes which member of a oneof has come; false: another one came before, which in normal form can
 * only be a number that its closed enum does not have. */
static __attribute__((noinline)) bool note_oneof(cst__node *node, const cst__loop_entry *e) {
  cst__oneof_state *state = &node->oneofs[e->oneof];
  if (state->serial == node->serial && state->member != e->def) {
    return false;
  }
  *state = (cst__oneof_state){node->serial, e->def};
  return true;
}

/* What stands in a group, whose start is at `begin`; the place after its end, or NULL. */
static __attribute__((noinline)) place read_group(cst__loop *loop, place begin, place end,
                                                  cst_bytes *content) {
  cst__wire wire = cst__wire_of(begin, (size_t)(end - begin));
  cst__wire_field field;
  if (!cst__wire_next(&wire, loop->depth, &field)) {
    (void)cst__loop_slow(loop);
    return NULL;
  }
  *content = field.bytes;
  return wire.at;
}

/* The place after the end of a group, if that is what stands at `at`; else NULL. */
static __attribute__((noinline)) place end_of_group(place at, place end, uint32_t group) {
  cst__wire wire = cst__wire_of(at, (size_t)(end - at));
  uint64_t tag;
  return group != 0 && cst__wire_varint(&wire, &tag) &&
                 tag == ((uint64_t)group << 3 | CST__WIRE_GROUP_END)
             ? wire.at
             : NULL;
}

/* The fields of a message up to `end`, and of those in it.
 *
 * It is one function with labels, and longer than a screen, because each of its parts was slower
 * in another form. The figures are of DeepProto (15 leaves on 5 levels), FlatProto (15 leaves) and
 * sessions (optional fields, three levels) of bench/message_data.py and query_data.py; 0.95 means
 * that the other form has 0.95 times the speed.
 *
 * No recursion. The first form was a function for the fields of a message, which called itself:
 * each message saved and restored registers, and a message of a few bytes cost less than that. Now
 * one within another is a jump (`enter`), its end another (`leave`), and the way back stands in
 * node->above, for which one place per node is enough: a type within itself has a node for every
 * level. With the lookup of tags and the conditions below, which came together with it, DeepProto
 * went from 1.70 to 1.98 GB/s, and one leaf of it from 8.8 to 12.2.
 *
 * Tags of one byte are looked up. At first the field that came last foresaw the next one, and only
 * what it did not foresee was looked for, as it is still for longer tags (`unforeseen`). That is
 * as fast while all records have the same fields, and 0.9 for sessions, or where half of the
 * fields of DeepProto are there.
 *
 * Usual kinds are asked for one by one, before the switch has all others. A switch for all kinds
 * has one jump that has to be foreseen by what came before; it takes 3 % fewer instructions and is
 * 0.94 where one leaf of many is read, 0.97 with half of the fields, and the same where all are
 * there.
 *
 * One value in a packed field has a way of its own (put_packed_varints, put_packed_fixed), for a
 * repeated field with one value is what many writers make of an optional one. Without it for
 * varints: 0.92 for DeepProto and FlatProto.
 *
 * What is rare is out of line and gives its result by value, so that `at`, `end`, `row` and
 * `content` stay in registers; a group, whose reader wants an address, has a variable of its own.
 * With one variable for both: 0.98.
 *
 * A member of a oneof is an operation of its own, which goes on as the kind of the member
 * (`member`): other fields do not ask whether they are in a oneof. Whatever the tables do not
 * allow for (messages to merge, a key that comes twice) or cannot be parsed ends at `slow`: the
 * record is taken back, and message_slow.c brings it into a form that this loop knows. */
static place read_nested(cst__loop *loop, cst__node *base, place at, place end) {
  cst__node *node = base;
  cst__loop_entry *e = &node->begin;
  int64_t row = node->rows->length;
  uint64_t raw;
  cst_bytes content;
  cst_bytes group; /* not `content`, which stays in registers */
  node->serial++;
  for (;;) {
    if (UNLIKELY(at >= end)) {
      if (UNLIKELY(at != end || node->above.group != 0)) {
        goto slow;
      }
    leave:
      if (UNLIKELY(node->has_close) && !close_message(loop, node)) {
        goto failed;
      }
      if (UNLIKELY(!cst__builder_end_struct(node->rows))) {
        goto no_memory;
      }
      if (node == base) {
        return at;
      }
      e = node->above.entry;
      end = node->above.end;
      node = node->above.node;
      row = node->rows->length;
      loop->depth++;
      if (UNLIKELY(!cst__slot_end(e, row))) {
        goto no_memory;
      }
      continue;
    }
    place begin = at;
    uint8_t first = at[0];
    cst__loop_entry *next = first < 0x80 ? node->by_tag[first] : e->next;
    if (LIKELY(first < 0x80)) {
      e = next;
      at += 1;
    } else if (LIKELY(((cst__load64(at) ^ next->head) & next->mask) == 0)) {
      e = next;
      at += e->tag_size;
    } else {
    unforeseen:
      next = find_next(node, at);
      if (UNLIKELY(next == NULL)) {
        place after = end_of_group(at, end, node->above.group);
        if (after != NULL) {
          at = after;
          goto leave;
        }
        at = cst__loop_unknown(loop, node, at, end);
        if (at == NULL) {
          goto failed;
        }
        continue;
      }
      e->next = next;
      e = next;
      at += tag_size(at);
    }
    cst__entry_op op = (cst__entry_op)e->op;
  member:
    /* Usual kinds first: conditions are foreseen sooner than the target of a switch. */
    if (op == CST__OP_SKIP_LEN) {
      if (!read_content(at, end, &content)) {
        goto slow;
      }
      at = content.data + content.size;
      continue;
    }
    if (op == CST__OP_BYTES_ITEM || op == CST__OP_STRING_ITEM) {
      if (!read_content(at, end, &content)) {
        goto slow;
      }
      at = content.data + content.size;
      bool is_text = op == CST__OP_BYTES_ITEM || is_ascii(content.data, content.size) ||
                     cst__loop_is_text(loop, e, content.data, content.size);
      if (is_text && put_bytes_item(loop, e, content, row)) {
        continue;
      }
      goto failed;
    }
    if (op == CST__OP_BYTES || op == CST__OP_STRING) {
      if (!read_content(at, end, &content)) {
        goto slow;
      }
      at = content.data + content.size;
      bool is_text = op == CST__OP_BYTES || is_ascii(content.data, content.size) ||
                     cst__loop_is_text(loop, e, content.data, content.size);
      if (is_text && put_bytes(loop, e, content, row)) {
        continue;
      }
      goto failed;
    }
    if (op == CST__OP_PACKED_FIXED32) {
      if (!read_content(at, end, &content)) {
        goto slow;
      }
      at = content.data + content.size;
      if (put_packed_fixed(loop, e, content, 4, row)) {
        continue;
      }
      goto failed;
    }
    if (op == CST__OP_PACKED_VARINT64) {
      if (!read_content(at, end, &content)) {
        goto slow;
      }
      at = content.data + content.size;
      if (put_packed_varints(loop, e, content, row)) {
        continue;
      }
      goto failed;
    }
    if (op == CST__OP_MESSAGE) {
    message:
      if (!read_content(at, end, &content)) {
        goto slow;
      }
      if (UNLIKELY(!begin_message(loop, e, row))) {
        goto failed;
      }
      at = content.data;
      node = e->child;
      node->above.end = end;
      end = at + content.size;
    enter:
      e = &node->begin;
      row = node->rows->length;
      node->serial++;
      loop->depth--;
      continue;
    }
    switch (op) {
      case CST__OP_PACKED_FIXED64:
        if (!read_content(at, end, &content)) {
          goto slow;
        }
        at = content.data + content.size;
        if (!put_packed_fixed(loop, e, content, 8, row)) {
          goto failed;
        }
        continue;
      case CST__OP_PACKED:
        if (!read_content(at, end, &content)) {
          goto slow;
        }
        at = content.data + content.size;
        if (LIKELY(content.size > 0) && !cst__put_packed(loop, node, e, content)) {
          goto failed;
        }
        continue;
      case CST__OP_VARINT64:
        at = read_varint(at, &raw);
        if (UNLIKELY(at == NULL)) {
          goto slow;
        }
        if (!put_fixed(loop, e, (place)&raw, 8, row)) {
          goto failed;
        }
        continue;
      case CST__OP_VARINT32:
        at = read_varint(at, &raw);
        if (UNLIKELY(at == NULL)) {
          goto slow;
        }
        if (!put_fixed(loop, e, (place)&raw, 4, row)) {
          goto failed;
        }
        continue;
      case CST__OP_VARINT:
        at = read_varint(at, &raw);
        if (UNLIKELY(at == NULL)) {
          goto slow;
        }
        if (!cst__put_varint(loop, node, e, raw, (cst_bytes){begin, (size_t)(at - begin)})) {
          goto failed;
        }
        continue;
      case CST__OP_FIXED64:
        if (!put_fixed(loop, e, at, 8, row)) {
          goto failed;
        }
        at += 8;
        continue;
      case CST__OP_FIXED32:
        if (!put_fixed(loop, e, at, 4, row)) {
          goto failed;
        }
        at += 4;
        continue;
      case CST__OP_MAP_ENTRY:
        if (UNLIKELY(loop->is_normal) && read_content(at, end, &content) &&
            cst__loop_is_unknown_entry(loop, e->child, content)) {
          at = content.data + content.size;
          if (!cst__loop_keep_unknown(loop, node, (cst_bytes){begin, (size_t)(at - begin)})) {
            goto failed;
          }
          continue;
        }
        goto message;
      case CST__OP_GROUP:
        if (UNLIKELY(!begin_message(loop, e, row))) {
          goto failed;
        }
        node = e->child;
        node->above.end = end;
        goto enter;
      case CST__OP_OTHER:
        if (!read_content(at, end, &content)) {
          goto slow;
        }
        at = content.data + content.size;
        if (!cst__put_other(loop, node, e, content)) {
          goto failed;
        }
        continue;
      case CST__OP_SKIP_VARINT:
        at = read_varint(at, &raw);
        if (UNLIKELY(at == NULL)) {
          goto slow;
        }
        continue;
      case CST__OP_SKIP_FIXED64:
        at += 8;
        continue;
      case CST__OP_SKIP_FIXED32:
        at += 4;
        continue;
      case CST__OP_SKIP_GROUP:
      case CST__OP_OTHER_GROUP:
        at = read_group(loop, begin, end, &group);
        if (at == NULL || (op != CST__OP_SKIP_GROUP && !cst__put_other(loop, node, e, group))) {
          goto failed;
        }
        continue;
      case CST__OP_ONEOF:
        if (LIKELY(note_oneof(node, e) || loop->is_normal)) {
          op = (cst__entry_op)e->member_op;
          goto member;
        }
        goto slow;
      case CST__OP_NONE:
        at = begin;
        goto unforeseen;
      default:
        __builtin_unreachable();
    }
  }
slow:
  (void)cst__loop_slow(loop);
  return fail_within(loop, node, base);
no_memory:
  (void)cst__loop_no_memory(loop);
failed:
  return fail_within(loop, node, base);
}

bool CST__PASTE(cst__loop_run_, CST_VARIANT)(cst__loop *loop, cst__node *node, const uint8_t *at,
                                             const uint8_t *end) {
  return read_nested(loop, node, at, end) != NULL;
}
