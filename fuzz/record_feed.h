/* Feeds a text to the reader of one form of protobuf records: what is read and printed says the
 * same when it is read again.
 */
#ifndef FUZZ_RECORD_FEED_H
#define FUZZ_RECORD_FEED_H

#include "../tests/unit/message_sample.h"
#include "base/utf8.h"
#include "fuzz.h"
#include "message/text/record_text.h"

static void check_record_error(cst_status status, const cst_error *error) {
  char text[4096 + 512];
  FUZZ_ASSERT(error->code == status && error->message[0] != '\0');
  size_t size = cst_error_format(error, text, sizeof text);
  FUZZ_ASSERT(size > 0 && size <= 256);
  FUZZ_ASSERT(cst__utf8_valid((const uint8_t *)text, size));
}

/* Messages in maps nest twice as deeply on the wire. */
static bool is_too_deep(const cst_error *error) { return strstr(error->message, "deeper") != NULL; }

/* Prints what was read, reads that, and prints it again. */
static void check_round_trip(cst__record_text *first, cst__record_text *second, cst_bytes wire) {
  cst_error error = CST_ERROR_INIT;
  cst_bytes text;
  cst_bytes again;
  cst_status status = cst__record_text_write(first, wire, &text, &error);
  if (status != CST_OK) {
    FUZZ_ASSERT(is_too_deep(&error));
    return;
  }
  FUZZ_ASSERT(text.size == 0 || memchr(text.data, '\n', text.size) == NULL);
  FUZZ_ASSERT(cst__record_text_read(second, text, 0, &wire, &error) == CST_OK);
  FUZZ_ASSERT(cst__record_text_write(second, wire, &again, &error) == CST_OK);
  FUZZ_ASSERT(again.size == text.size);
  FUZZ_ASSERT(text.size == 0 || memcmp(again.data, text.data, text.size) == 0);
}

static void feed_record(cst_message_form form, const uint8_t *data, size_t size) {
  static cst_descriptors *set;
  cst_error error = CST_ERROR_INIT;
  cst__record_text first;
  cst__record_text second;
  cst_bytes wire = {NULL, 0};
  set = set != NULL ? set : sample_descriptors();
  cst_message_options options = CST_MESSAGE_OPTIONS_INIT;
  options.form = form;
  options.descriptors = set;
  options.unknown_fields = form == CST_MESSAGE_TEXT ? "rest" : NULL; /* all is written */
  cst__record_text_init(&first, &options, sample_message(set), NULL);
  cst__record_text_init(&second, &options, sample_message(set), NULL);
  cst_status status = cst__record_text_read(&first, (cst_bytes){data, size}, 32, &wire, &error);
  if (status == CST_OK) {
    check_round_trip(&first, &second, wire);
  } else {
    FUZZ_ASSERT(status == CST_CORRUPT);
    check_record_error(status, &error);
  }
  fuzz_outcome(cst_status_name(status));
  cst__record_text_reset(&first);
  cst__record_text_reset(&second);
}

#endif /* FUZZ_RECORD_FEED_H */
