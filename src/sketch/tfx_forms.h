/* Sketches as tfx_bsl serialises its own: protobuf messages of the package tfx_bsl.sketches.
 *
 *   Kmv         1 num_buckets (int32), 2 hashes (packed fixed64, rising), 3 max_limit (fixed64),
 *               4 input_type
 *   MisraGries  1 num_buckets (int32), 2 items (bytes), 3 weights (packed double), 4 delta
 *               (double), 5 replace_invalid_utf8_values (bool), 6 invalid_utf8_placeholder
 *               (string), 7 large_string_threshold (int32, -1: none), 8 large_string_placeholder
 *               (string), 9 extra_items (bytes), 11 input_type, 12 order_on_tie (2: the largest
 *               first)
 *
 * input_type: 1 strings, 2 floats, 3 integers; values are texts (tfx_text.h).
 */
#ifndef SKETCH_TFX_FORMS_H
#define SKETCH_TFX_FORMS_H

#include <columnstone/options.h>

#include "proto/wire.h"
#include "sketch/values.h"

enum {
  CST__MG_BUCKETS = 1,
  CST__MG_ITEMS = 2,
  CST__MG_WEIGHTS = 3,
  CST__MG_DELTA = 4,
  CST__MG_REPLACES_INVALID = 5,
  CST__MG_INVALID_TEXT = 6,
  CST__MG_THRESHOLD = 7,
  CST__MG_LONG_TEXT = 8,
  CST__MG_EXTRAS = 9,
  CST__MG_TYPE = 11,
  CST__MG_ORDER = 12
};

enum { CST__TFX_OPTIONS_MOST = 4 };

/* What a message says. Bytes are borrowed, the arrays lie in the arena. */
typedef struct cst__tfx_sketch {
  int64_t buckets;
  cst__family family;
  const uint64_t *hashes; /* of a Kmv, */
  const cst_bytes *items; /* or of a MisraGries, with weights */
  const double *weights;
  size_t count;
  uint64_t limit;
  double delta;
  const cst_bytes *extras;
  size_t num_extras;
  cst_option options[CST__TFX_OPTIONS_MOST]; /* but that of the buckets */
  size_t num_options;
} cst__tfx_sketch;

/* ---- writing, back to front ---- */

static inline void cst__tfx_put_number(cst__wire_out *out, uint32_t number, uint64_t value) {
  cst__wire_put_varint(out, value);
  cst__wire_put_tag(out, number, CST__WIRE_VARINT);
}

static inline void cst__tfx_put_fixed(cst__wire_out *out, uint32_t number, uint64_t value) {
  cst__wire_put_fixed64(out, value);
  cst__wire_put_tag(out, number, CST__WIRE_FIXED64);
}

static inline void cst__tfx_end_bytes(cst__wire_out *out, uint32_t number, size_t size) {
  cst__wire_put_varint(out, size);
  cst__wire_put_tag(out, number, CST__WIRE_LEN);
}

void cst__tfx_put_type(cst__wire_out *out, uint32_t number, cst__family family);

/* ---- reading ---- */

/* CST_CORRUPT. */
cst_status cst__tfx_fail(const char *what, cst_error *error);

/* ---- MisraGries, with all that it says: misra_gries/misra_form.c ---- */

cst_status cst__tfx_misra_to(const void *state, cst__family family, char **bytes, size_t *size,
                             cst_error *error);
/* Adds the options and the extras to the rest. */
cst_status cst__tfx_misra_parse(cst_bytes bytes, cst__arena *arena, cst__tfx_sketch *out,
                                cst_error *error);
cst_status cst__tfx_misra_fill(void *state, const cst__tfx_sketch *from, cst_error *error);

#endif /* SKETCH_TFX_FORMS_H */
