/* Finding where a record begins from any byte of a stream. */
#include "source/index/boundary.h"

enum { WINDOW = 256 << 10, FRAMES = 512 };

typedef struct search {
  const cst_source *source;
  cst__input *input;
  uint64_t end;    /* of what is searched; UINT64_MAX: of the file, which has not been met yet */
  bool trusting;   /* data CRCs are not to be checked */
  uint8_t *window; /* WINDOW bytes: where a record is looked for */
  size_t window_size;
  uint8_t *ahead; /* WINDOW bytes: the chain after it */
  cst__frame frames[FRAMES];
} search;

/* Fills the buffer from `offset` on; *got is smaller only at the end of the stream. */
static cst_status read_bytes_at(const search *s, uint64_t offset, uint8_t *buffer, size_t size,
                                size_t *got, cst_error *error) {
  *got = 0;
  if (!cst__input_seek(s->input, offset)) {
    return cst__fail(error, CST_IO, "open it again",
                     "the file changed after it was split: its bytes can no longer be read");
  }
  return cst__input_fill(s->input, buffer, size, got, error);
}

/* Reads what there is up to the end, if it is known. A file that has become shorter reads as one
 * that ends. */
static cst_status read_window(search *s, uint64_t offset, uint8_t *buffer, size_t *got,
                              cst_error *error) {
  size_t size = s->end - offset < WINDOW ? (size_t)(s->end - offset) : WINDOW;
  CST__TRY(read_bytes_at(s, offset, buffer, size, got, error));
  if (*got < size && s->end == UINT64_MAX) {
    s->end = offset + *got;
  }
  return CST_OK;
}

static bool is_payload_sound(const search *s, const uint8_t *data, const cst__frame *frame) {
  const cst__container *container = s->source->inputs->container;
  return s->trusting || container->check == NULL || container->check(data, frame, NULL) == CST_OK;
}

/* Checks the data CRC of a record that does not fit the window. */
static cst_status check_large(const search *s, uint64_t offset, const cst__frame *frame,
                              bool *sound, cst_error *error) {
  const size_t size = cst__frame_end(frame);
  size_t got = 0;
  uint8_t *record = cst__new(&s->source->allocator, size);
  if (record == NULL) {
    return cst__fail_memory(error, size);
  }
  cst_status status = read_bytes_at(s, offset, record, size, &got, error);
  *sound = status == CST_OK && got == size && is_payload_sound(s, record, frame);
  cst__delete(record);
  return status;
}

/* True in *there if the file has so many bytes from `offset` on, which is known if its end is. */
static cst_status has_bytes(const search *s, uint64_t offset, uint64_t size, bool *there,
                            cst_error *error) {
  uint8_t last;
  size_t got = 1;
  if (s->end == UINT64_MAX) {
    CST__TRY(read_bytes_at(s, offset + size - 1, &last, 1, &got, error));
  }
  *there = got == 1 && size <= s->end - offset;
  return CST_OK;
}

/* A record that does not fit the window, or none at all. */
static cst_status step_large(search *s, const cst__framed *framed, uint64_t *at, bool *sound,
                             cst_error *error) {
  *sound = framed->known && framed->needed <= s->end - *at;
  if (*sound && s->trusting) {
    CST__TRY(has_bytes(s, *at, framed->needed, sound, error));
  } else if (*sound) {
    CST__TRY(check_large(s, *at, &framed->next, sound, error));
  }
  *at += *sound ? framed->needed : 0;
  return CST_OK;
}

/* Takes one step along the records: those of a window, or one that is larger. *at: after them,
 * *last: where the first damaged
 * one begins, or else the last one whose header is right. */
static cst_status step(search *s, uint64_t *at, uint64_t *last, size_t *records, bool *sound,
                       cst_error *error) {
  size_t got;
  CST__TRY(read_window(s, *at, s->ahead, &got, error));
  if (got == 0 && *at == s->end) { /* which has just been met */
    return CST_OK;
  }
  const cst__chunk chunk = {s->ahead, got, *at + got == s->end};
  cst__framed framed = {.frames = s->frames, .max = FRAMES};
  cst_status status = s->source->inputs->container->scan(
      &chunk, s->source->options.values.max_record_size, &framed, NULL);
  if (framed.count == 0) {
    *last = framed.known ? *at : *last;
    *records += 1;
    *sound = status == CST_OK;
    return *sound ? step_large(s, &framed, at, sound, error) : CST_OK;
  }
  size_t good = 0; /* frames before one whose data are not sound */
  while (good < framed.count && is_payload_sound(s, s->ahead, &s->frames[good])) {
    good++;
  }
  *last = *at + cst__frame_start(&s->frames[good < framed.count ? good : framed.count - 1]);
  *sound = status == CST_OK && good == framed.count;
  *records += framed.count;
  *at += framed.consumed;
  return CST_OK;
}

/* Looks at a candidate at `at`. *next: where to go on if it is not a boundary. */
static cst_status try_candidate(search *s, uint64_t at, bool *sound, uint64_t *next,
                                cst_error *error) {
  uint64_t begin = at;
  uint64_t last = at;
  size_t records = 0;
  *sound = true;
  while (*sound && at < s->end &&
         (records <= CST__BOUNDARY_RECORDS || at - begin < CST__BOUNDARY_BYTES)) {
    CST__TRY(step(s, &at, &last, &records, sound, error));
  }
  *next = last + 1;
  return CST_OK;
}

/* Searches the window, whose first byte is that at `base`, from its byte `at` on. *next: the
 * border, or where the next window begins. */
static cst_status search_window(search *s, uint64_t base, size_t at, bool *found, uint64_t *next,
                                cst_error *error) {
  const cst__container *container = s->source->inputs->container;
  const size_t size = s->window_size;
  const cst__chunk chunk = {s->window, size, base + size == s->end};
  for (;;) {
    at =
        container->find_begin(&chunk, at, s->end - base, s->source->options.values.max_record_size);
    if (at == SIZE_MAX) {
      *next = base + size + 1 - container->begin_size;
      return CST_OK;
    }
    *found = container->begin_is_sure;
    *next = base + at;
    if (!*found) {
      CST__TRY(try_candidate(s, base + at, found, next, error));
    }
    if (*found) {
      *next = base + at;
      return CST_OK;
    }
    if (*next - base > size) {
      return CST_OK;
    }
    at = (size_t)(*next - base);
  }
}

static cst_status search_file(search *s, uint64_t from, uint64_t *out, cst_error *error) {
  const uint64_t end = s->end;
  bool found = false;
  uint64_t at = from;
  while (!found && at < s->end) {
    size_t before = at > 0; /* the byte before a record may tell that it begins */
    CST__TRY(read_window(s, at - before, s->window, &s->window_size, error));
    if (end == UINT64_MAX && at == from && s->window_size < before) {
      return cst__fail(error, CST_STATE, "plan it again",
                       "the file changed since it was planned: it ends before byte %llu",
                       (unsigned long long)from);
    }
    if (s->window_size <= before ||
        s->window_size < before + s->source->inputs->container->begin_size) {
      break;
    }
    CST__TRY(search_window(s, at - before, before, &found, &at, error));
  }
  *out = found ? at : end;
  return CST_OK;
}

static cst_status run_open(search *s, uint64_t from, uint64_t *out, cst_error *error) {
  s->window = cst__new(&s->source->allocator, WINDOW);
  s->ahead = cst__new(&s->source->allocator, WINDOW);
  cst_status status = s->window != NULL && s->ahead != NULL ? search_file(s, from, out, error)
                                                            : cst__fail_memory(error, WINDOW);
  cst__delete(s->window);
  cst__delete(s->ahead);
  return status;
}

/* Tables know it themselves. */
static cst_status find_in_table(const cst_source *source, size_t file, uint64_t from, uint64_t end,
                                uint64_t *out, cst_error *error) {
  const cst__table_cut cut = {from, end, source->options.values.max_record_size,
                              &source->allocator};
  cst__input *input;
  CST__TRY(cst__source_open_input(source, file, &input, error));
  cst_status status = source->inputs->format.table->find_begin(input, &cut, out, error);
  cst__input_close(input);
  return status;
}

static cst_status find_among_records(const cst_source *source, size_t file, uint64_t from,
                                     uint64_t end, uint64_t *out, cst_error *error) {
  search *s = cst__new_zero(&source->allocator, sizeof *s);
  if (s == NULL) {
    return cst__fail_memory(error, sizeof *s);
  }
  s->source = source;
  s->end = end;
  s->trusting = source->options.values.flags & CST_SOURCE_SKIP_CRC;
  cst_status status = cst__source_open_input(source, file, &s->input, error);
  if (status == CST_OK) {
    status = run_open(s, from, out, error);
    cst__file_give_back(source->parts[file].file, s->input);
  }
  cst__delete(s);
  return status;
}

cst_status cst__boundary_find(const cst_source *source, size_t file, uint64_t from, uint64_t end,
                              uint64_t *out, cst_error *error) {
  cst_status status = source->inputs->format.table != NULL
                          ? find_in_table(source, file, from, end, out, error)
                          : find_among_records(source, file, from, end, out, error);
  if (status != CST_OK) {
    cst__error_add_file(error, cst__source_name(source, file));
  }
  return status;
}
