/* Whether a record goes on after the part of a file in which it begins. */
#include "source/block/crossing.h"

#include "base/interrupt.h"

enum { FIRST_STEP = 1 << 20 };

/* The bytes of a stream from a place on. */
typedef struct lookahead {
  cst__input *input;
  uint8_t *data;
  size_t size;
  bool ends; /* the stream does */
} lookahead;

/* Reads on until there are `size` bytes, or the stream ends. Room grows as bytes come. */
static cst_status look_on(lookahead *ahead, const cst_allocator *allocator, uint64_t size,
                          cst_error *error) {
  while (ahead->size < size && !ahead->ends) {
    uint64_t want = ahead->size < FIRST_STEP ? FIRST_STEP : 2 * (uint64_t)ahead->size;
    size_t room = (size_t)(want < size ? want : size);
    size_t got = 0;
    uint8_t *data =
        ahead->data == NULL ? cst__new(allocator, room) : cst__renew(allocator, ahead->data, room);
    if (data == NULL) {
      return cst__fail_memory(error, room);
    }
    ahead->data = data;
    CST__TRY(cst__interrupted(error));
    CST__TRY(cst__input_read(ahead->input, data + ahead->size, room - ahead->size, &got, error));
    ahead->size += got;
    ahead->ends = ahead->size < room;
  }
  return CST_OK;
}

/* A record of `size` bytes whose payload is wrong: does it take them? */
static cst_status is_whole_damage(const cst__framing *framing, lookahead *ahead, uint64_t size,
                                  bool *whole, cst__damage *damage, cst_error *error) {
  const cst__container *container = framing->source->inputs->container;
  cst__resync trial = framing->recovery.resync;
  size_t passed = 0;
  uint64_t needed = size;
  bool found = false;
  bool more = true;
  trial.kind = CST__DAMAGE_DATA;
  trial.first = 1;
  trial.searching = false;
  while (more) {
    CST__TRY(look_on(ahead, &framing->source->allocator, needed, error));
    const cst__chunk chunk = {ahead->data, ahead->size, ahead->ends};
    container->inspect(CST__DAMAGE_DATA, &chunk, 0, damage);
    trial.length = damage->length;
    found = container->find_end(&trial, &chunk, &passed, &needed);
    more = !found && !ahead->ends && !trial.searching && needed > ahead->size;
  }
  *whole = found && !trial.searching && passed == size;
  return CST_OK;
}

static cst_status look_at_record(const cst__framing *framing, lookahead *ahead,
                                 const cst__framed *framed, cst__crossing *out, cst__damage *damage,
                                 cst_error *error) {
  const cst__container *container = framing->source->inputs->container;
  cst__frame frame = framed->next;
  frame.begin = frame.before;
  CST__TRY(look_on(ahead, &framing->source->allocator, framed->needed, error));
  if (ahead->size < framed->needed) {
    *out = CST__CROSSING_FILE;
    return CST_OK;
  }
  if (!framed->known) {
    const cst__chunk chunk = {ahead->data, ahead->size, ahead->ends};
    container->inspect(CST__DAMAGE_FRAMING, &chunk, 0, damage);
    *out = damage->stored != damage->computed ? CST__CROSSING_NOT : CST__CROSSING_FILE;
    return CST_OK;
  }
  bool is_whole = container->check == NULL || framing->recovery.resync.ignore_data ||
                  container->check(ahead->data, &frame, NULL) == CST_OK;
  if (!is_whole) {
    CST__TRY(is_whole_damage(framing, ahead, framed->needed, &is_whole, damage, error));
  }
  *out = is_whole ? CST__CROSSING_PART : CST__CROSSING_NOT;
  return CST_OK;
}

cst_status cst__framing_cross(const cst__framing *framing, uint64_t offset,
                              const cst__framed *framed, cst__crossing *out, cst__damage *damage,
                              cst_error *error) {
  lookahead ahead = {.data = NULL};
  CST__TRY(cst__source_open_input(framing->source, framing->file, &ahead.input, error));
  cst_status status =
      cst__input_seek(ahead.input, offset)
          ? look_at_record(framing, &ahead, framed, out, damage, error)
          : cst__fail(error, CST_IO, "open it again", "the file changed after it was split");
  cst__delete(ahead.data);
  cst__input_close(ahead.input);
  return status;
}
