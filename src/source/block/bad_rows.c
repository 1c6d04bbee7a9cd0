/* Rows of nulls in the place of records that do not decode: told of as dropped records are. */
#include <stdlib.h>

#include "source/block/unit.h"

/* Says where a row of the unit lies, of a bad row that has its number. */
static void place_bad_row(const cst__unit *unit, cst__drop *bad) {
  size_t at = bad->before;
  const cst__run *run = unit->runs;
  while (at >= run->count) {
    at -= run->count;
    run++;
  }
  const cst__frame *frame = &run->block->frames[run->first + at];
  bad->file = run->file;
  bad->record = run->record + at;
  bad->offset = run->block->offset + cst__frame_start(frame);
  bad->bytes = cst__frame_end(frame) - cst__frame_start(frame);
}

/* Moves an item to the end of a list that has room for it. */
static void move_drop(cst__drops *to, cst__drop *from) {
  to->items[to->count++] = *from;
  from->error = NULL;
}

static int compare_bad_rows(const void *a, const void *b) {
  const cst__drop *x = a;
  const cst__drop *y = b;
  return (x->before > y->before) - (x->before < y->before);
}

cst_status cst__unit_take_bad(cst__unit *unit, cst__decoding *decoding, cst_error *error) {
  cst__drops *bad = &decoding->bad;
  cst__drops all = {0};
  void *items = NULL;
  size_t count = unit->drops.count + bad->count;
  size_t next = 0; /* of the unit's */
  if (decoding->bad_lost) {
    return cst__fail_memory(error, sizeof *all.items);
  }
  if (bad->count == 0) {
    return CST_OK;
  }
  if (!cst__grow(&decoding->source->allocator, &items, &all.capacity, count, sizeof *all.items)) {
    return cst__fail_memory(error, count * sizeof *all.items);
  }
  all.items = items;
  /* Those of the payload come before those of stages. */
  qsort(bad->items, bad->count, sizeof *bad->items, compare_bad_rows);
  for (size_t i = 0; i < bad->count; i++) {
    place_bad_row(unit, &bad->items[i]);
    while (next < unit->drops.count && unit->drops.items[next].before <= bad->items[i].before) {
      move_drop(&all, &unit->drops.items[next++]);
    }
    move_drop(&all, &bad->items[i]);
  }
  while (next < unit->drops.count) {
    move_drop(&all, &unit->drops.items[next++]);
  }
  cst__drops_reset(&unit->drops);
  unit->drops = all;
  cst__drops_clear(bad, 0);
  return CST_OK;
}
