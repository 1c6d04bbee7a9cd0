/* A table's reader behind one way of calling it, of one thread or of a crew
 * (format/table/text_crew.h), and the sizes of parts that tests try.
 */
#ifndef TESTS_UNIT_CREW_SUPPORT_H
#define TESTS_UNIT_CREW_SUPPORT_H

#include <string.h>

#include "format/table/text_crew.h"
#include "harness.h"

static const size_t crew_part_sizes[] = {0, 1, 7, 20, 64, 200};
enum { CREW_THREADS = 3, CREW_SIZES = sizeof crew_part_sizes / sizeof crew_part_sizes[0] };

typedef struct crew_reader {
  const cst__table_format *format;
  void *alone;
  cst__text_crew *crew; /* NULL: alone */
} crew_reader;

static inline cst_status crew_open(crew_reader *r, const cst__table_files *files, const void *plan,
                                   int32_t threads, const cst__table_reading *reading,
                                   cst_error *error) {
  const cst__text_crew_options options = {.format = r->format,
                                          .plan = plan,
                                          .files = files,
                                          .threads = threads,
                                          .drop = reading->drop,
                                          .drop_ctx = reading->drop_ctx,
                                          .allocator = &cst__default_allocator};
  return cst__text_crew_fits(r->format, files, threads)
             ? cst__text_crew_new(&options, &r->crew, error)
             : r->format->open(plan, reading, &r->alone, error);
}

static inline cst_status crew_next(crew_reader *r, struct ArrowArray *out, cst_error *error) {
  return r->crew != NULL ? cst__text_crew_next(r->crew, out, error)
                         : r->format->next(r->alone, out, error);
}

static inline uint64_t crew_consumed(const crew_reader *r) {
  return r->crew != NULL ? cst__text_crew_consumed(r->crew) : r->format->consumed(r->alone);
}

static inline bool crew_is_alone(const crew_reader *r) {
  return r->crew != NULL && cst__text_crew_is_alone(r->crew);
}

static inline void crew_close(crew_reader *r) {
  cst__text_crew_free(r->crew);
  if (r->alone != NULL) {
    r->format->close(r->alone);
  }
}

/* True if `whole` begins with `part`, both without the lines that are `mark`. */
static inline bool crew_begins_with(const char *whole, const char *part, const char *mark) {
  const size_t size = strlen(mark);
  for (;;) {
    while (strncmp(whole, mark, size) == 0) {
      whole += size;
    }
    while (strncmp(part, mark, size) == 0) {
      part += size;
    }
    if (*part == '\0') {
      return true;
    }
    size_t line = strcspn(part, "\n") + 1;
    if (strncmp(whole, part, line) != 0) {
      return false;
    }
    whole += line;
    part += line;
  }
}

static inline uint32_t crew_any_number(uint32_t *state) {
  *state = *state * 1664525 + 1013904223;
  return *state >> 16;
}

/* Lines that texts for all sizes of parts are made of: the first `usual` ones, and now and then one
 * of the others. */
typedef struct crew_lines {
  const char *const *items;
  uint32_t usual;
  uint32_t count;
} crew_lines;

/* Up to 40 lines in any order; one text of three has no line end at its end. */
static inline void crew_any_text(const crew_lines *lines, char *out, size_t room, uint32_t *state) {
  size_t used = 0;
  uint32_t count = crew_any_number(state) % 40;
  for (uint32_t i = 0; i < count; i++) {
    bool odd = crew_any_number(state) % 60 == 0;
    const char *line = lines->items[crew_any_number(state) % (odd ? lines->count : lines->usual)];
    size_t size = strlen(line);
    if (used + size < room) {
      memcpy(out + used, line, size);
      used += size;
    }
  }
  used -= used > 0 && crew_any_number(state) % 3 == 0;
  out[used] = '\0';
}

#endif /* TESTS_UNIT_CREW_SUPPORT_H */
