/* Keeping what has been read, for a second reading. */
#include "io/replay.h"

#include <string.h>

#include "io/raw.h"

struct cst__replay {
  cst__raw raw;
  cst_allocator allocator;
  uint8_t *kept;
  size_t size; /* bytes kept, from offset 0 on */
  size_t capacity;
  bool forgetful;
};

cst_status cst__replay_open(const char *path, const cst_reader *reader,
                            const cst_allocator *allocator, cst__replay **out, cst_error *error) {
  cst__replay *replay = cst__new_zero(allocator, sizeof *replay);
  if (replay == NULL) {
    return cst__fail_memory(error, sizeof *replay);
  }
  replay->raw.fd = -1;
  replay->allocator = cst__allocator_of(allocator);
  cst_status status = reader != NULL
                          ? cst__raw_open_reader(&replay->raw, reader, &replay->allocator, error)
                          : cst__raw_open(&replay->raw, path, &replay->allocator, error);
  if (status != CST_OK) {
    cst__replay_free(replay);
    return status;
  }
  *out = replay;
  return CST_OK;
}

void cst__replay_forget(cst__replay *replay) { replay->forgetful = true; }

static cst_status keep_replayed(cst__replay *replay, const void *bytes, size_t size,
                                cst_error *error) {
  void *kept = replay->kept;
  bool ok = size <= SIZE_MAX - replay->size &&
            cst__grow(&replay->allocator, &kept, &replay->capacity, replay->size + size, 1);
  replay->kept = kept;
  if (!ok) {
    return cst__fail_memory(error, size);
  }
  memcpy(replay->kept + replay->size, bytes, size);
  replay->size += size;
  return CST_OK;
}

static cst_status replay_at(void *ctx, uint64_t offset, void *buffer, size_t size, size_t *got,
                            cst_error *error) {
  cst__replay *replay = ctx;
  if (offset < replay->size) {
    size_t there = replay->size - (size_t)offset;
    *got = size < there ? size : there;
    memcpy(buffer, replay->kept + offset, *got);
    return CST_OK;
  }
  if (replay->forgetful && replay->kept != NULL) {
    cst__delete(replay->kept);
    replay->kept = NULL;
    replay->size = 0;
  }
  CST__TRY(cst__raw_read(&replay->raw, buffer, size, got, error));
  return replay->forgetful ? CST_OK : keep_replayed(replay, buffer, *got, error);
}

cst_reader cst__replay_reader(cst__replay *replay) {
  return (cst_reader){
      .size = sizeof(cst_reader), .name = replay->raw.name, .read_at = replay_at, .ctx = replay};
}

void cst__replay_free(cst__replay *replay) {
  if (replay != NULL) {
    cst__raw_close(&replay->raw);
    cst__delete(replay->kept);
    cst__delete(replay);
  }
}
