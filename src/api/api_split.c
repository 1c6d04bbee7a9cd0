/* <columnstone/split.h>: argument checks and hand-over. */
#include "base/arguments.h"
#include "source/split/splits.h"

cst_status cst_splits_plan(const char *const *paths, size_t num_paths,
                           const cst_split_options *options, cst_splits **out, cst_error *error) {
  cst_split_options own = CST_SPLIT_OPTIONS_INIT;
  CST__CLEAR(out);
  if (out == NULL || (paths == NULL && num_paths > 0)) {
    return cst__missing(out == NULL ? "out" : "paths", error);
  }
  for (size_t i = 0; i < num_paths; i++) {
    if (paths[i] == NULL) {
      return cst__missing("paths[i]", error);
    }
  }
  CST__TRY(cst__read_options(&own, sizeof own, options, error));
  CST__TRY(cst__check_allocator(own.allocator, error));
  if ((unsigned)own.cut > CST_SPLIT_CUT_NONE) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "cut is %d, it must be a cst_split_cut",
                     (int)own.cut);
  }
  return cst__splits_plan(paths, num_paths, &own, out, error);
}

size_t cst_splits_count(const cst_splits *splits) { return splits != NULL ? splits->count : 0; }

const cst_split *cst_splits_get(const cst_splits *splits, size_t i) {
  return splits != NULL && i < splits->count ? &splits->items[i] : NULL;
}

void cst_splits_free(cst_splits *splits) { cst__splits_free(splits); }

cst_status cst_source_read_splits(cst_source *source, const cst_split *splits, size_t num_splits,
                                  cst_source **out, cst_error *error) {
  CST__CLEAR(out);
  if (source == NULL || out == NULL) {
    return cst__missing(source == NULL ? "source" : "out", error);
  }
  if (splits == NULL && num_splits > 0) {
    return cst__missing("splits", error);
  }
  for (size_t i = 0; i < num_splits; i++) {
    if (splits[i].file == NULL) {
      return cst__missing("splits[i].file", error);
    }
  }
  return cst__source_read_splits(source, splits, num_splits, out, error);
}
