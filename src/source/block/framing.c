/* What framing with and without recovery have in common. */
#include "source/block/framing.h"

#include <stdio.h>
#include <string.h>

#include "format/guess.h"
#include "format/payload/payload.h"

enum { HEAD_SIZE = 64, SNIFFED_SIZE = 32 << 10 };

void cst__framing_recover(cst__framing *framing, bool check) {
  uint64_t limit = framing->source->options.values.max_record_size;
  uint64_t longest = limit > CST__RESYNC_WINDOW ? limit : CST__RESYNC_WINDOW;
  longest =
      longest < UINT64_MAX / 4 ? longest : UINT64_MAX / 4; /* sums with it are numbers still */
  const cst__part *part = &framing->source->parts[framing->file];
  framing->recover = true;
  framing->recovery.resync = (cst__resync){.longest = longest,
                                           .ignore_data = !check,
                                           .divided = !cst__part_ends_file(part),
                                           .credit = 2 * longest};
}

void cst__framing_fail(cst__framing *framing, cst_status failure, const char *fault) {
  framing->failure = failure;
  framing->fault = fault;
  framing->of_compression = false;
  framing->ended = true;
}

void cst__framing_fail_memory(cst__framing *framing, size_t wanted) {
  cst__framing_fail(framing, cst__fail_memory(&framing->error, wanted), NULL);
}

void cst__framing_fail_crossing(cst__framing *framing, uint64_t needed, size_t size) {
  static const char hint[] = "the file is damaged, has changed, or was split where no record "
                             "begins: `columnstone index` makes splitting exact";
  cst__framing_fail(framing,
                    cst__fail(&framing->error, CST_CORRUPT, hint,
                              "the last record of this part of the file takes %llu bytes, %zu are "
                              "left",
                              (unsigned long long)needed, size),
                    "truncated");
}

/* Fails: the bytes are of something else than the source's container. */
static void fail_format(cst__framing *framing, const char *hint) {
  cst__framing_fail(framing,
                    cst__fail(&framing->error, CST_FORMAT, hint, "the file is not a %s file",
                              framing->source->inputs->container->info.name),
                    "format");
}

/* The same where messages are wanted, and `hint` may say that the bytes are a table, or JSON:
 * tables have them in a column, and JSON may be a message a line. */
static void fail_messages(cst__framing *framing, const char *hint) {
  static const char table[] = "read it with the format";
  static const char json[] = "json";
  char text[192];
  size_t size = strlen(hint);
  if (strstr(hint, table) != NULL) {
    bool is_json = size >= sizeof json && strcmp(hint + size + 1 - sizeof json, json) == 0;
    snprintf(text, sizeof text, "%s and the column of its messages (message_column)%s", hint,
             is_json ? "; a message a line: container lines, form json" : "");
    hint = text;
  }
  fail_format(framing, hint);
}

/* The same for bytes of another container. */
static void fail_container(cst__framing *framing, const cst__container *other) {
  char hint[128];
  snprintf(hint, sizeof hint,
           "this seems to be %s: name that container, and read files of others by themselves",
           other->info.name);
  fail_format(framing, hint);
}

bool cst__framing_judge(cst__framing *framing, const uint8_t *data, size_t size) {
  const cst__chunk head = {data, size < SNIFFED_SIZE ? size : SNIFFED_SIZE, false};
  const char *hint = cst__guess_format(data, size < HEAD_SIZE ? size : HEAD_SIZE);
  if (hint != NULL) {
    bool of_messages = framing->source->inputs->format.payload == &cst__message_payload;
    (of_messages ? fail_messages : fail_format)(framing, hint);
    return true;
  }
  const cst__container *other = cst__container_sniff(&head, false);
  if (other == NULL || other == framing->source->inputs->container) {
    return false;
  }
  fail_container(framing, other);
  return true;
}

bool cst__framing_is_proven_other(cst__framing *framing, const uint8_t *data, size_t size) {
  const cst__chunk head = {data, size, false};
  const cst__container *other = cst__container_sniff(&head, true);
  if (other == NULL || other == framing->source->inputs->container) {
    return false;
  }
  fail_container(framing, other);
  return true;
}

cst_status cst__framing_scan_chunk(const cst_source *source, const cst__chunk *chunk,
                                   cst__framed *framed, cst_error *error) {
  const cst__container *container = source->inputs->container;
  const cst_source_options *o = &source->options.values;
  cst_status status = container->scan(chunk, o->max_record_size, framed, error);
  if ((o->flags & CST_SOURCE_KEEP_RETURNS) && container == &cst__lines_container) {
    /* The "\r" of a line's end belongs to the record. */
    for (size_t i = 0; i < framed->count; i++) {
      cst__frame *frame = &framed->frames[i];
      bool has_return = frame->after == 2;
      frame->size += has_return;
      frame->after = (uint8_t)(frame->after - has_return);
    }
  }
  return status;
}

/* Recovery checks every payload. A few records are scanned at a time, so that short ones are still
 * in the cache when they are checked. */
enum { CHECKED_AT_ONCE = 16 };

cst_status cst__framing_scan(const cst__framing *framing, cst__block *block, const cst__chunk *rest,
                             cst__framed *framed, cst_error *error) {
  cst__frame *frames = block->frames + block->num_frames;
  size_t room = block->frames_capacity - block->num_frames;
  bool checked = framing->recover && framing->source->inputs->container->check != NULL;
  *framed = (cst__framed){.frames = frames,
                          .max = checked && room > CHECKED_AT_ONCE ? CHECKED_AT_ONCE : room};
  cst_status status = cst__framing_scan_chunk(framing->source, rest, framed, error);
  for (size_t i = 0; i < framed->count; i++) {
    frames[i].begin += block->size;
  }
  framed->next.begin += block->size;
  return status;
}
