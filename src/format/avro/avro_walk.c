/* Opening the files of a source one after the other, and what stands in them. */
#include "format/avro/avro_walk.h"

#include "base/bytes.h"

/* ---- schemas ---- */

cst__avro_written *cst__avro_written_retain(cst__avro_written *written) {
  cst__refcount_up(&written->owners);
  return written;
}

void cst__avro_written_release(cst__avro_written *written) {
  if (written != NULL && cst__refcount_down(&written->owners)) {
    cst__avro_schema_reset(&written->schema);
    cst__text_free(&written->text);
    cst__delete(written);
  }
}

static cst_status new_written(const cst__avro_plan *plan, cst_bytes text, cst__avro_written **out,
                              cst_error *error) {
  cst__avro_written *written = cst__new_zero(&plan->allocator, sizeof *written);
  if (written == NULL) {
    return cst__fail_memory(error, sizeof *written);
  }
  cst__refcount_init(&written->owners);
  written->text.allocator = plan->allocator;
  written->schema.document.allocator = plan->allocator;
  cst__text_append(&written->text, text.data, text.size);
  cst_status status = written->text.failed ? cst__fail_memory(error, text.size) : CST_OK;
  if (status == CST_OK) {
    status = cst__avro_schema_parse(&written->schema, text, &plan->allocator, error);
  }
  if (status != CST_OK) {
    cst__avro_written_release(written);
    return status;
  }
  *out = written;
  return CST_OK;
}

/* That of the open file; that of the file before, if it is the same. */
static cst_status find_written(cst__avro_walk *walk, cst_error *error) {
  cst__avro_written *old = walk->opened.written;
  cst_bytes text = cst__avro_file_schema(walk->file);
  if (old != NULL &&
      cst__bytes_equal(text, (cst_bytes){(const uint8_t *)old->text.data, old->text.size})) {
    return CST_OK;
  }
  walk->opened.written = NULL;
  cst__avro_written_release(old);
  return new_written(walk->plan, text, &walk->opened.written, error);
}

/* ---- files ---- */

/* Bytes of what is read of the open file. */
static uint64_t taken_of_file(const cst__avro_walk *walk) {
  uint64_t at = cst__input_consumed(walk->input);
  return at > walk->begin ? at - walk->begin : 0;
}

uint64_t cst__avro_walk_consumed(const cst__avro_walk *walk) {
  return walk->consumed + (walk->input != NULL ? taken_of_file(walk) : 0);
}

static void close_file(cst__avro_walk *walk) {
  cst__avro_file_close(walk->file);
  if (walk->input != NULL) {
    walk->consumed += taken_of_file(walk);
    cst__input_close(walk->input);
  }
  walk->file = NULL;
  walk->input = NULL;
}

void cst__avro_walk_reset(cst__avro_walk *walk) {
  close_file(walk);
  cst__avro_written_release(walk->opened.written);
  walk->opened.written = NULL;
}

static const char *walk_name(const cst__avro_walk *walk) {
  const cst__table_files *files = walk->plan->files;
  return files->name(files->ctx, walk->next_file - 1);
}

static cst_status open_next(cst__avro_walk *walk, cst_error *error) {
  const cst__avro_plan *plan = walk->plan;
  const cst__table_files *files = plan->files;
  size_t i = walk->next_file++;
  cst__table_range range = {0};
  if (files->range != NULL) {
    range = files->range(files->ctx, i);
  }
  walk->opened.number = i;
  walk->opened.record = range.record;
  walk->begin = range.begin;
  CST__TRY(files->open(files->ctx, i, &walk->input, error));
  CST__TRY(cst__avro_file_open(walk->input, &plan->limits, &plan->allocator, &walk->file, error));
  walk->opened.codec = cst__avro_file_codec(walk->file);
  CST__TRY(
      cst__avro_file_limit(walk->file, range.begin, range.end > 0 ? range.end : UINT64_MAX, error));
  return find_written(walk, error);
}

/* ---- blocks ---- */

static cst_status next_block(cst__avro_walk *walk, cst__avro_found *found, cst__avro_block *block,
                             cst_error *why) {
  bool ended;
  cst_status status = cst__avro_file_next(walk->file, block, &ended, why);
  *found = CST__AVRO_BLOCK;
  if (status == CST_OK && ended) {
    close_file(walk);
    *found = CST__AVRO_CLOSED;
  } else if (walk->skips && cst__is_fault(status) && !cst__avro_file_is_misplaced(walk->file)) {
    *found = CST__AVRO_LOST;
    cst__error_add_file(why, walk_name(walk));
    return cst__avro_file_recover(walk->file, &block->size, why);
  }
  return status;
}

cst_status cst__avro_walk_next(cst__avro_walk *walk, cst__avro_found *found, cst__avro_block *block,
                               cst_error *why) {
  cst_status status;
  if (walk->file == NULL) {
    *found = CST__AVRO_OPENED;
    status = open_next(walk, why);
  } else {
    status = next_block(walk, found, block, why);
  }
  if (status != CST_OK) {
    cst__error_add_file(why, walk_name(walk));
  }
  return status;
}
