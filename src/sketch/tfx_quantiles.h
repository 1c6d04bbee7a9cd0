/* The parts of tfx_bsl's messages of quantiles: columns of doubles. */
#ifndef SKETCH_TFX_QUANTILES_H
#define SKETCH_TFX_QUANTILES_H

#include "proto/wire.h"
#include "sketch/quantiles.h"

enum {
  CST__TFX_COLUMNS = 4,
  CST__TFX_VALUES = 0,
  CST__TFX_WEIGHTS = 1,
  CST__TFX_MIN_RANKS = 2,
  CST__TFX_MAX_RANKS = 3
};
enum {
  CST__TFX_STREAM_SUMMARIES = 1,
  CST__TFX_STREAM_BUFFER = 2,
  CST__TFX_STREAM_EPS = 3,
  CST__TFX_STREAM_MOST = 4,
  CST__TFX_STREAM_COMPACTED = 5
};

typedef struct cst__tfx_doubles {
  double *items;
  size_t count;
  size_t capacity;
} cst__tfx_doubles;

/* A summary, or a buffer, which has no ranks. Zeros, with the allocator set: empty. */
typedef struct cst__tfx_entries {
  cst_allocator allocator;
  cst__tfx_doubles columns[CST__TFX_COLUMNS];
} cst__tfx_entries;

void cst__tfx_entries_reset(cst__tfx_entries *e);
/* Appends what a message has in its first columns: CST_NO_MEMORY, CST_CORRUPT. The columns need not
 * be of the same length. */
cst_status cst__tfx_entries_read(cst__tfx_entries *e, cst_bytes bytes, uint32_t num_columns,
                                 cst_error *error);
cst_status cst__tfx_fail_bytes(cst_error *error);

/* Back to front: the head of a message that was put from there on. */
void cst__tfx_put_message(cst__wire_out *out, uint32_t number, size_t from);
void cst__tfx_put_double(cst__wire_out *out, double value);

#endif /* SKETCH_TFX_QUANTILES_H */
