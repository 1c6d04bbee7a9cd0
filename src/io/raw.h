/* Raw bytes in, as they lie in a file, a pipe or behind a caller's reader: what input.c undresses.
 */
#ifndef IO_RAW_H
#define IO_RAW_H

#include <columnstone/source.h>

#include "base/alloc.h"

typedef struct cst__raw {
  char *name; /* owned */
  int fd;     /* -1: a caller's reader */
  bool owns_fd;
  bool at_any_offset; /* a regular file or a reader that can seek */
  cst_reader reader;
  uint64_t offset; /* of the next byte */
  int64_t size;    /* -1: unknown */
  void *map;       /* or NULL */
  size_t map_size;
} cst__raw;

cst_status cst__raw_open(cst__raw *raw, const char *path, const cst_allocator *allocator,
                         cst_error *error);
cst_status cst__raw_open_reader(cst__raw *raw, const cst_reader *reader,
                                const cst_allocator *allocator, cst_error *error);

/* Waits for at least one byte, and takes what comes up to `size`; 0 is the end. */
cst_status cst__raw_read(cst__raw *raw, void *buffer, size_t size, size_t *got, cst_error *error);

/* Fills the buffer with the bytes from `offset` on, wherever reading is; *got is smaller only at
 * the end. Only with at_any_offset; of a file by any number of threads at once. */
cst_status cst__raw_read_at(const cst__raw *raw, uint64_t offset, void *buffer, size_t size,
                            size_t *got, cst_error *error);

/* Maps a regular file; without success there is no map, and reading goes on by cst__raw_read. */
void cst__raw_map(cst__raw *raw);
void cst__raw_close(cst__raw *raw);

/* How many files one owner may keep open for later: a quarter of those that the system allows the
 * process, and 128 at least. */
size_t cst__raw_most_open(void);

/* CST_IO or CST_NOT_FOUND with the system's text for `code` (errno) and a hint. */
cst_status cst__fail_system(cst_error *error, int code, const char *what);

#endif /* IO_RAW_H */
