/* Samples: reading the first blocks of a source, and looking at its first record. */
#include "source/scan/sample.h"

#include "source/input/choose.h"

/* Reads blocks until the sample is full. Where the input fails, the sample ends: the pass will come
 * to the failure in its turn. */
static cst_status read_sample(cst__feed *feed, cst_error *error) {
  for (size_t i = 0; i < feed->source->num_parts; i++) {
    while (!feed->files[i].ended) {
      if (feed->framed >= cst__source_sample_records(feed->source) ||
          feed->ready_bytes >= cst__source_sample_bytes(feed->source)) {
        return CST_OK;
      }
      cst__block *block;
      cst__feed_begin(feed, i);
      cst__feed_fill(feed, i, &block);
      cst__feed_end(feed, i, block);
    }
    const cst__cursor *cursor = feed->files[i].cursor;
    if (cursor == NULL || cursor->framing.failure == CST_NO_MEMORY) {
      return cst__fail_memory(error, CST__BLOCK_TARGET);
    }
    if (cursor->framing.failure != CST_OK) {
      return CST_OK;
    }
  }
  return CST_OK;
}

static void look_at_first(cst_source *source, const cst__feed *feed) {
  for (size_t i = 0; i < source->num_parts; i++) {
    const cst__block *block = feed->files[i].first;
    if (block != NULL && block->num_frames > 0) {
      cst__inputs_choose_by_record(source->inputs, block->data + block->frames[0].begin,
                                   block->frames[0].size);
      return;
    }
  }
}

cst_status cst__source_begin_sample(cst_source *source, cst__feed **feed, cst_error *error) {
  *feed = cst__feed_new(source);
  if (*feed == NULL) {
    return cst__fail_memory(error, sizeof **feed);
  }
  CST__TRY(read_sample(*feed, error));
  look_at_first(source, *feed);
  return CST_OK;
}
