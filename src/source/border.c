/* Finding the begin of a record from any byte of a file. */
#include "source/border.h"

#include "base/hash.h"

enum { WINDOW = 256 << 10, FRAMES = 512 };

typedef struct search {
  const cst_source *source;
  cst__raw raw;
  uint64_t end;    /* of what is searched */
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

/* The size of the record whose header this is, with its framing; 0: it is none. */
static uint64_t framed_size(const search *s, const uint8_t *header, uint64_t room) {
  const cst__container *container = s->source->container;
  size_t found;
  size_t consumed;
  uint64_t needed;
  cst__frame frame;
  if (cst__load64(header) > room ||
      container->scan(header, container->header_size, s->source->max_record_size, &frame, 1, &found,
                      &consumed, &needed, NULL) != CST_OK) {
    return 0;
  }
  return needed <= room ? needed : 0;
}

/* Checks the record's data CRC. */
static cst_status check_data(const search *s, uint64_t offset, size_t size, bool *sound,
                             cst_error *error) {
  const cst__container *container = s->source->container;
  cst__frame frame = {container->header_size,
                      size - container->header_size - container->footer_size};
  size_t got = 0;
  uint8_t *record = cst__new(&s->source->allocator, size);
  if (record == NULL) {
    return cst__fail_memory(error, size);
  }
  cst_status status = cst__raw_read_at(&s->raw, offset, record, size, &got, error);
  *sound = status == CST_OK && got == size && container->check(record, &frame, NULL) == CST_OK;
  cst__delete(record);
  return status;
}

/* Follows the headers from `at` on. *last: where the last good one is. *sound: they go on to the
 * end, or far enough. */
static cst_status follow(search *s, uint64_t begin, uint64_t *last, bool *sound, cst_error *error) {
  const cst__container *container = s->source->container;
  uint64_t at = begin;
  size_t headers = 0;
  *last = begin;
  *sound = false;
  while (at < s->end && (headers <= CST__BORDER_HEADERS || at - begin < CST__BORDER_BYTES)) {
    size_t got;
    size_t found;
    size_t consumed;
    uint64_t needed;
    CST__TRY(read_window(s, at, s->ahead, &got, error));
    cst_status status = container->scan(s->ahead, got, s->source->max_record_size, s->frames,
                                        FRAMES, &found, &consumed, &needed, NULL);
    if (found > 0) {
      *last = at + s->frames[found - 1].begin - container->header_size;
    }
    headers += found;
    at += consumed;
    if (status != CST_OK || (found == 0 && needed <= container->header_size)) {
      return CST_OK;
    }
    if (found == 0) {
      *last = at;
      headers++;
      if (needed > s->end - at) {
        return CST_OK;
      }
      at += needed;
    }
  }
  *sound = true;
  return CST_OK;
}

/* Looks at a candidate at `at`. *next: where to go on if it is none. */
static cst_status try_candidate(search *s, uint64_t at, uint64_t size, bool *sound, uint64_t *next,
                                cst_error *error) {
  uint64_t last = at;
  CST__TRY(check_data(s, at, (size_t)size, sound, error));
  if (*sound) {
    CST__TRY(follow(s, at, &last, sound, error));
  }
  *next = last + 1;
  return CST_OK;
}

/* Searches the window's `size` bytes from `at` on. *next: the border, or where the next window
 * begins. */
static cst_status search_window(search *s, uint64_t at, size_t size, bool *found, uint64_t *next,
                                cst_error *error) {
  size_t header = s->source->container->header_size;
  for (size_t i = 0; i + header <= size; i++) {
    uint64_t framed = framed_size(s, s->window + i, s->end - at - i);
    if (framed == 0) {
      continue;
    }
    CST__TRY(try_candidate(s, at + i, framed, found, next, error));
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
  size_t header = s->source->container->header_size;
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

cst_status cst__border_find(const cst_source *source, size_t file, uint64_t from, uint64_t end,
                            uint64_t *out, cst_error *error) {
  search *s = cst__new_zero(&source->allocator, sizeof *s);
  if (s == NULL) {
    return cst__fail_memory(error, sizeof *s);
  }
  s->source = source;
  s->end = end;
  cst_status status = cst__source_open_raw(source, file, &s->raw, error);
  if (status == CST_OK) {
    status = run_open(s, from, out, error);
    cst__raw_close(&s->raw);
  }
  if (status != CST_OK) {
    cst__error_add_file(error, source->files[file].name);
  }
  cst__delete(s);
  return status;
}
