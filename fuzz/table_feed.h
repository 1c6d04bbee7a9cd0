/* A file in memory, as table formats open it. */
#ifndef FUZZ_TABLE_FEED_H
#define FUZZ_TABLE_FEED_H

#include <stdbool.h>
#include <string.h>

#include "format/table/table.h"

typedef struct source {
  cst_bytes bytes;
  const char *name;
  cst_reader reader;
} source;

static cst_status read_at(void *ctx, uint64_t offset, void *buffer, size_t size, size_t *got,
                          cst_error *error) {
  const source *s = ctx;
  (void)error;
  size_t there = offset < s->bytes.size ? s->bytes.size - (size_t)offset : 0;
  *got = size < there ? size : there;
  if (*got > 0) {
    memcpy(buffer, s->bytes.data + offset, *got);
  }
  return CST_OK;
}

static cst_status open_source(void *ctx, size_t i, cst__input **out, cst_error *error) {
  source *s = ctx;
  (void)i;
  s->reader = (cst_reader){
      .size = sizeof(cst_reader), .name = "fuzz", .read_at = read_at, .ctx = s, .can_seek = true};
  return cst__input_open_reader(&s->reader, NULL, out, error);
}

static const char *name_source(void *ctx, size_t i) {
  const source *s = ctx;
  (void)i;
  return s->name;
}

static cst__table_files files_of(source *s) {
  return (cst__table_files){.count = 1,
                            .open = open_source,
                            .name = name_source,
                            .ctx = s,
                            .rereadable = true,
                            .sample_rows = INT64_MAX,
                            .sample_bytes = UINT64_MAX};
}

#endif /* FUZZ_TABLE_FEED_H */
