/* Are bytes text? */
#include "arrow/text.h"

#include "base/utf8.h"

/* True if all bytes of the slots [begin, end) are ASCII; false also where that is not told at once.
 */
static bool text_is_ascii(const cst__view *v, int64_t begin, int64_t end) {
  while (v->layout == CST__LAYOUT_LIST && end > begin) {
    int64_t first = cst__view_entry(v->offsets, v->offset_width, v->offset + begin);
    end = cst__view_entry(v->offsets, v->offset_width, v->offset + end);
    begin = first;
    v = &v->children[0];
  }
  if (v->layout != CST__LAYOUT_BINARY || end <= begin) {
    return end <= begin;
  }
  int64_t first = cst__view_entry(v->offsets, v->offset_width, v->offset + begin);
  int64_t last = cst__view_entry(v->offsets, v->offset_width, v->offset + end);
  const uint8_t *bytes = v->data;
  uint8_t all = 0;
  for (int64_t i = first; i < last; i++) {
    all |= bytes[i];
  }
  return all < 0x80;
}

static bool text_is_valid(const cst__view *v, int64_t slot) {
  int64_t begin;
  int64_t end;
  if (cst__view_is_null(v, slot)) {
    return true;
  }
  if (!cst__view_is_list(v)) {
    cst_bytes bytes = cst__view_bytes(v, slot);
    return cst__utf8_valid(bytes.data, bytes.size);
  }
  cst__view_list(v, slot, &begin, &end);
  while (begin < end && text_is_valid(&v->children[0], begin)) {
    begin++;
  }
  return begin >= end;
}

int64_t cst__view_find_not_text(const cst__view *view, int64_t limit) {
  int64_t slot = 0;
  if (text_is_ascii(view, 0, limit)) {
    return limit;
  }
  while (slot < limit && text_is_valid(view, slot)) {
    slot++;
  }
  return slot;
}
