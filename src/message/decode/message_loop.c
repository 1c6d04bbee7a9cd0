/* The hot loop of the message decoder: fields in the order that writers give them, straight from
 * the bytes into the builders. Compiled once per instruction set (CST_VARIANT names it). What it
 * does not know is left to message_slow.c, record by record.
 */
#include "message/decode/message_loop.h"

#include "proto/fast_wire.h"

typedef const uint8_t *place;

static place read_fields(cst__loop *loop, cst__node *node, place at, place end, uint32_t group);

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

/* The size of what follows, which ends at or before `end`. */
ALWAYS_INLINE bool read_bounded_size(place *at, place end, size_t *size) {
  return read_size(at, size) && LIKELY((ptrdiff_t)*size <= end - *at);
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

ALWAYS_INLINE bool put_bytes(cst__loop *loop, const cst__entry *e, place at, size_t size,
                             int64_t row) {
  cst__builder *b = e->values;
  if (!cst__slot_begin(e, row) || !cst__builder_has_bytes(b, size)) {
    return cst__loop_no_memory(loop);
  }
  copy_values(b->values + b->num_bytes, at, size, true);
  cst__builder_put_string(b, size);
  return cst__slot_end(e, row) || cst__loop_no_memory(loop);
}

ALWAYS_INLINE bool put_bytes_item(cst__loop *loop, const cst__entry *e, place at, size_t size,
                                  int64_t row) {
  cst__builder *b = e->values;
  if (!cst__slot_begin_list(e, row) || !cst__slot_has_room(b, 1) ||
      !cst__builder_has_bytes(b, size)) {
    return cst__loop_no_memory(loop);
  }
  copy_values(b->values + b->num_bytes, at, size, true);
  cst__builder_put_string(b, size);
  return cst__slot_end_list(e, row) || cst__loop_no_memory(loop);
}

ALWAYS_INLINE bool put_fixed(cst__loop *loop, const cst__entry *e, place at, size_t width,
                             int64_t row) {
  if (!cst__slot_begin(e, row)) {
    return cst__loop_no_memory(loop);
  }
  memcpy(cst__builder_next(e->values, width), at, width);
  e->values->length++;
  return cst__slot_end(e, row) || cst__loop_no_memory(loop);
}

ALWAYS_INLINE bool put_packed_varints(cst__loop *loop, const cst__entry *e, place at, size_t size,
                                      int64_t row) {
  cst__builder *b = e->values;
  if (!cst__slot_begin_list(e, row) || !cst__slot_has_room(b, size)) {
    return cst__loop_no_memory(loop);
  }
  int64_t *first = (int64_t *)(void *)b->values + b->length;
  const int64_t *last = unpack(at, at + size, true, first);
  if (UNLIKELY(last == NULL)) {
    return cst__loop_slow(loop);
  }
  b->length += last - first;
  return cst__slot_end_list(e, row) || cst__loop_no_memory(loop);
}

ALWAYS_INLINE bool put_packed_fixed(cst__loop *loop, const cst__entry *e, place at, size_t size,
                                    size_t width, int64_t row) {
  cst__builder *b = e->values;
  size_t count = size / width;
  if (UNLIKELY(size % width != 0)) {
    return cst__loop_slow(loop);
  }
  if (!cst__slot_begin_list(e, row) || !cst__slot_has_room(b, count)) {
    return cst__loop_no_memory(loop);
  }
  copy_values(cst__builder_next(b, width), at, size, true);
  b->length += (int64_t)count;
  return cst__slot_end_list(e, row) || cst__loop_no_memory(loop);
}

/* ---- messages ---- */

static __attribute__((noinline)) place fail_within(cst__loop *loop, const cst__entry *e) {
  if (loop->stop == CST__STOP_FAILED && loop->error->code != CST_NO_MEMORY) {
    const char *name = e->list != NULL ? e->list->type->name : e->values->type->name;
    cst__error_add_path(loop->error, name, strlen(name));
  }
  return NULL;
}

/* What is said of a message as a whole: fields that have to be there or have defaults, and keys of
 * maps, of which none comes twice. */
static __attribute__((noinline)) bool close_message(cst__loop *loop, cst__node *node) {
  int64_t row = node->rows->length;
  for (size_t i = 0; i < node->required.count; i++) {
    const cst__entry *e = node->required.items[i];
    if (e->values->length <= row) {
      return cst__loop_bad_value(loop, e, NULL, "a required field is missing");
    }
  }
  for (size_t i = 0; i < node->fills.count; i++) {
    cst__entry *e = node->fills.items[i];
    if (e->values->length <= row && !cst__put_default(loop, node, e)) {
      return false;
    }
  }
  for (size_t i = 0; i < node->maps.count; i++) {
    const cst__entry *e = node->maps.items[i];
    if (e->list->length > row && !cst__loop_keys_differ(e)) {
      return cst__loop_slow(loop);
    }
  }
  return true;
}

ALWAYS_INLINE place put_message(cst__loop *loop, const cst__entry *e, place at, place end,
                                int64_t row, uint32_t group) {
  cst__builder *b = e->values;
  if (e->list != NULL) {
    if (!cst__slot_begin_list(e, row)) {
      (void)cst__loop_no_memory(loop);
      return NULL;
    }
  } else if (UNLIKELY(b->length != row)) {
    if (b->length > row) {
      (void)cst__loop_slow(loop); /* messages merge */
      return NULL;
    }
    if (!cst__builder_pad_slots(b, row)) {
      (void)cst__loop_no_memory(loop);
      return NULL;
    }
  }
  loop->depth--;
  at = read_fields(loop, e->child, at, end, group);
  loop->depth++;
  if (UNLIKELY(at == NULL)) {
    return fail_within(loop, e);
  }
  if (UNLIKELY(!cst__slot_end(e, row))) {
    (void)cst__loop_no_memory(loop);
    return NULL;
  }
  return at;
}

/* ---- fields ---- */

/* The entry of the tag that begins at `at`; NULL: there is none. */
static __attribute__((noinline)) cst__entry *find_next(const cst__node *node, place at) {
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
  cst__entry *entry = cst__node_find(node, tag);
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
static __attribute__((noinline)) bool note_oneof(cst__node *node, const cst__entry *e) {
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

/* The fields of a message up to `end`, or, of a group, up to its end. */
static place read_fields(cst__loop *loop, cst__node *node, place at, place end, uint32_t group) {
  const int64_t row = node->rows->length;
  cst__entry *e = &node->begin;
  bool is_open = group != 0;
  uint64_t raw;
  size_t size;
  cst_bytes content;
  node->serial++;
  while (at < end) {
    cst__entry *before = e;
    place begin = at;
    e = before->next;
    if (LIKELY(((cst__load64(at) ^ e->head) & e->mask) == 0)) {
      at += e->tag_size;
    } else {
      e = find_next(node, at);
      if (UNLIKELY(e == NULL)) {
        place after = end_of_group(at, end, group);
        if (after != NULL) {
          at = after;
          is_open = false;
          break;
        }
        e = before;
        at = cst__loop_unknown(loop, node, at, end);
        if (at == NULL) {
          return NULL;
        }
        continue;
      }
      before->next = e;
      at += tag_size(at);
    }
    bool ok = true;
    cst__entry_op op = (cst__entry_op)e->op;
  member:
    switch (op) {
      case CST__OP_PACKED_VARINT64:
        ok = read_bounded_size(&at, end, &size) || cst__loop_slow(loop);
        if (LIKELY(ok && size > 0)) {
          ok = put_packed_varints(loop, e, at, size, row);
          at += size;
        }
        break;
      case CST__OP_PACKED_FIXED32:
        ok = read_bounded_size(&at, end, &size) || cst__loop_slow(loop);
        if (LIKELY(ok && size > 0)) {
          ok = put_packed_fixed(loop, e, at, size, 4, row);
          at += size;
        }
        break;
      case CST__OP_PACKED_FIXED64:
        ok = read_bounded_size(&at, end, &size) || cst__loop_slow(loop);
        if (LIKELY(ok && size > 0)) {
          ok = put_packed_fixed(loop, e, at, size, 8, row);
          at += size;
        }
        break;
      case CST__OP_PACKED:
        ok = read_bounded_size(&at, end, &size) || cst__loop_slow(loop);
        if (LIKELY(ok && size > 0)) {
          ok = cst__put_packed(loop, node, e, (cst_bytes){at, size});
          at += size;
        }
        break;
      case CST__OP_VARINT64:
        at = read_varint(at, &raw);
        ok = at != NULL ? put_fixed(loop, e, (place)&raw, 8, row) : cst__loop_slow(loop);
        break;
      case CST__OP_VARINT32:
        at = read_varint(at, &raw);
        ok = at != NULL ? put_fixed(loop, e, (place)&raw, 4, row) : cst__loop_slow(loop);
        break;
      case CST__OP_VARINT:
        at = read_varint(at, &raw);
        ok = at != NULL
                 ? cst__put_varint(loop, node, e, raw, (cst_bytes){begin, (size_t)(at - begin)})
                 : cst__loop_slow(loop);
        break;
      case CST__OP_FIXED64:
        ok = put_fixed(loop, e, at, 8, row);
        at += 8;
        break;
      case CST__OP_FIXED32:
        ok = put_fixed(loop, e, at, 4, row);
        at += 4;
        break;
      case CST__OP_STRING:
        ok = read_bounded_size(&at, end, &size) || cst__loop_slow(loop);
        if (LIKELY(ok)) {
          ok = (is_ascii(at, size) || cst__loop_is_text(loop, e, at, size)) &&
               put_bytes(loop, e, at, size, row);
          at += size;
        }
        break;
      case CST__OP_BYTES:
        ok = read_bounded_size(&at, end, &size) || cst__loop_slow(loop);
        if (LIKELY(ok)) {
          ok = put_bytes(loop, e, at, size, row);
          at += size;
        }
        break;
      case CST__OP_BYTES_ITEM:
        ok = read_bounded_size(&at, end, &size) || cst__loop_slow(loop);
        if (LIKELY(ok)) {
          ok = put_bytes_item(loop, e, at, size, row);
          at += size;
        }
        break;
      case CST__OP_MAP_ENTRY:
        if (UNLIKELY(loop->is_normal)) {
          place after = at;
          if (read_bounded_size(&after, end, &size) &&
              cst__loop_is_unknown_entry(loop, e->child, (cst_bytes){after, size})) {
            at = after + size;
            ok = cst__loop_keep_unknown(loop, node, (cst_bytes){begin, (size_t)(at - begin)});
            break;
          }
        }
        __attribute__((fallthrough));
      case CST__OP_MESSAGE:
        if (UNLIKELY(!read_bounded_size(&at, end, &size))) {
          (void)cst__loop_slow(loop);
          return NULL;
        }
        at = put_message(loop, e, at, at + size, row, 0);
        ok = at != NULL;
        break;
      case CST__OP_GROUP:
        at = put_message(loop, e, at, end, row, e->tag >> 3);
        ok = at != NULL;
        break;
      case CST__OP_OTHER:
        ok = read_bounded_size(&at, end, &size) || cst__loop_slow(loop);
        if (LIKELY(ok)) {
          ok = cst__put_other(loop, node, e, (cst_bytes){at, size});
          at += size;
        }
        break;
      case CST__OP_SKIP_VARINT:
        at = read_varint(at, &raw);
        ok = at != NULL || cst__loop_slow(loop);
        break;
      case CST__OP_SKIP_FIXED64:
        at += 8;
        break;
      case CST__OP_SKIP_FIXED32:
        at += 4;
        break;
      case CST__OP_SKIP_LEN:
        ok = read_bounded_size(&at, end, &size) || cst__loop_slow(loop);
        at += ok ? size : 0;
        break;
      case CST__OP_SKIP_GROUP:
      case CST__OP_OTHER_GROUP:
        at = read_group(loop, begin, end, &content);
        ok = at != NULL && (op == CST__OP_SKIP_GROUP || cst__put_other(loop, node, e, content));
        break;
      case CST__OP_ONEOF:
        if (LIKELY(note_oneof(node, e) || loop->is_normal)) {
          op = (cst__entry_op)e->member_op;
          goto member;
        }
        ok = cst__loop_slow(loop);
        break;
      case CST__OP_WRONG:
        ok = cst__loop_slow(loop);
        break;
      default:
        __builtin_unreachable();
    }
    if (UNLIKELY(!ok)) {
      return NULL;
    }
  }
  if (UNLIKELY(group == 0 ? at != end : is_open)) {
    (void)cst__loop_slow(loop);
    return NULL;
  }
  if (UNLIKELY(node->has_close) && !close_message(loop, node)) {
    return NULL;
  }
  if (!cst__builder_end_struct(node->rows)) {
    (void)cst__loop_no_memory(loop);
    return NULL;
  }
  return at;
}

bool CST__PASTE(cst__loop_run_, CST_VARIANT)(cst__loop *loop, cst__node *node, const uint8_t *at,
                                             const uint8_t *end) {
  return read_fields(loop, node, at, end, 0) != NULL;
}
