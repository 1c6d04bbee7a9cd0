/* Finding the begin of a record from any byte of a file. */
#include "source/index/boundary.h"

#include "base/hash.h"

enum { WINDOW = 256 << 10, FRAMES = 512 };

typedef struct search {
  const cst_source *source;
  cst__raw raw;
  uint64_t end;    /* of what is searched */
  bool trusting;   /* data CRCs are not to be checked */
  uint8_t *window; /* WINDOW bytes: where a record is looked for */
  uint8_t *ahead;  /* WINDOW bytes: the chain behind it */
  cst__frame frames[FRAMES];
} search;

/* Reads what there is up to the end. A file that has become shorter reads as one that ends. */
static cst_status read_window(const search *s, uint64_t offset, uint8_t *buffer, size_t *got,
                              cst_error *error) {
  size_t size = s->end - offset < WINDOW ? (size_t)(s->end - offset) : WINDOW;
  return cst__raw_read_at(&s->raw, offset, buffer, size, got, error);
}

/* True if these are the bytes of a header, whose record ends within `room` bytes. */
static bool is_header(const search *s, const uint8_t *header, uint64_t room) {
  const cst__container *container = s->source->inputs->container;
  size_t found;
  size_t consumed;
  uint64_t needed;
  cst__frame frame;
  return cst__load64(header) < room &&
         container->scan(header, container->header_size, s->source->options.max_record_size, &frame,
                         1, &found, &consumed, &needed, NULL) == CST_OK &&
         needed <= room;
}

/* Checks the data CRC of a record that does not fit the window. */
static cst_status check_large(const search *s, uint64_t offset, uint64_t size, bool *sound,
                              cst_error *error) {
  const cst__container *container = s->source->inputs->container;
  cst__frame frame = {container->header_size,
                      (size_t)size - container->header_size - container->footer_size};
  size_t got = 0;
  uint8_t *record = cst__new(&s->source->allocator, (size_t)size);
  if (record == NULL) {
    return cst__fail_memory(error, (size_t)size);
  }
  cst_status status = cst__raw_read_at(&s->raw, offset, record, (size_t)size, &got, error);
  *sound = status == CST_OK && got == size && container->check(record, &frame, NULL) == CST_OK;
  cst__delete(record);
  return status;
}

/* The number of the first `count` frames of `ahead` in front of one whose data are not sound. */
static size_t count_sound(const search *s, size_t count) {
  size_t i = 0;
  while (i < count && (s->trusting || s->source->inputs->container->check(s->ahead, &s->frames[i],
                                                                          NULL) == CST_OK)) {
    i++;
  }
  return i;
}

/* A record that does not fit the window, or none at all. */
static cst_status step_large(search *s, uint64_t needed, uint64_t *at, bool *sound,
                             cst_error *error) {
  *sound = needed > s->source->inputs->container->header_size && needed <= s->end - *at;
  if (*sound && !s->trusting) {
    CST__TRY(check_large(s, *at, needed, sound, error));
  }
  *at += *sound ? needed : 0;
  return CST_OK;
}

/* Takes one step along the records: those of a window, or one that is larger. *at: behind them,
 * *last: where the first damaged
 * one begins, or else the last one whose header is right. */
static cst_status step(search *s, uint64_t *at, uint64_t *last, size_t *records, bool *sound,
                       cst_error *error) {
  const cst__container *container = s->source->inputs->container;
  size_t got;
  size_t found;
  size_t consumed;
  uint64_t needed;
  CST__TRY(read_window(s, *at, s->ahead, &got, error));
  cst_status status = container->scan(s->ahead, got, s->source->options.max_record_size, s->frames,
                                      FRAMES, &found, &consumed, &needed, NULL);
  if (found == 0) {
    *last = needed > container->header_size ? *at : *last;
    *records += 1;
    *sound = status == CST_OK;
    return *sound ? step_large(s, needed, at, sound, error) : CST_OK;
  }
  size_t good = count_sound(s, found);
  *last = *at + s->frames[good < found ? good : found - 1].begin - container->header_size;
  *sound = status == CST_OK && good == found;
  *records += found;
  *at += consumed;
  return CST_OK;
}

/* Looks at a candidate at `at`. *next: where to go on if it is none. */
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

/* Searches the window's `size` bytes from `at` on. *next: the boundary, or where the next window
 * begins. */
static cst_status search_window(search *s, uint64_t at, size_t size, bool *found, uint64_t *next,
                                cst_error *error) {
  size_t header = s->source->inputs->container->header_size;
  for (size_t i = 0; i + header <= size; i++) {
    if (!is_header(s, s->window + i, s->end - at - i)) {
      continue;
    }
    CST__TRY(try_candidate(s, at + i, found, next, error));
    if (*found) {
      *next = at + i;
      return CST_OK;
    }
    if (*next - at >= size) {
      return CST_OK;
    }
    i = (size_t)(*next - at) - 1;
  }
  *next = at + size - (header - 1);
  return CST_OK;
}

static cst_status run(search *s, uint64_t from, uint64_t *out, cst_error *error) {
  size_t header = s->source->inputs->container->header_size;
  bool found = false;
  uint64_t at = from;
  while (!found && at < s->end) {
    size_t got;
    CST__TRY(read_window(s, at, s->window, &got, error));
    if (got < header) {
      break;
    }
    CST__TRY(search_window(s, at, got, &found, &at, error));
  }
  *out = found ? at : s->end;
  return CST_OK;
}

static cst_status run_open(search *s, uint64_t from, uint64_t *out, cst_error *error) {
  s->window = cst__new(&s->source->allocator, WINDOW);
  s->ahead = cst__new(&s->source->allocator, WINDOW);
  cst_status status = s->window != NULL && s->ahead != NULL ? run(s, from, out, error)
                                                            : cst__fail_memory(error, WINDOW);
  cst__delete(s->window);
  cst__delete(s->ahead);
  return status;
}

cst_status cst__boundary_find(const cst_source *source, size_t file, uint64_t from, uint64_t end,
                              uint64_t *out, cst_error *error) {
  search *s = cst__new_zero(&source->allocator, sizeof *s);
  if (s == NULL) {
    return cst__fail_memory(error, sizeof *s);
  }
  s->source = source;
  s->end = end;
  s->trusting = source->options.flags & CST_SOURCE_SKIP_CRC;
  cst_status status = cst__source_open_raw(source, file, &s->raw, error);
  if (status == CST_OK) {
    status = run_open(s, from, out, error);
    cst__raw_close(&s->raw);
  }
  if (status != CST_OK) {
    cst__error_add_file(error, cst__source_name(source, file));
  }
  cst__delete(s);
  return status;
}
