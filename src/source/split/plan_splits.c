/* The planner: which splits files have, without opening more of them than it must. */
#include <columnstone/split.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "arrow/findings.h"
#include "base/arguments.h"
#include "base/interrupt.h"
#include "io/raw.h"
#include "io/url.h"
#include "source/index/index.h"
#include "source/open/open.h"
#include "source/split/splits.h"

enum {
  USUAL_TARGET = 64 << 20,
  LEAST_COST = 1 << 20 /* of a file, in bytes: it has to be opened */
};

typedef struct split_planner {
  const cst_split_options *options;
  uint64_t target;
  cst_splits *splits;
  uint64_t task;      /* of the last split */
  uint64_t task_cost; /* of its splits, in bytes */
} split_planner;

/* ---- splits ---- */

/* A small split belongs to the task of the one before it, as long as that is below the target. */
static uint64_t choose_task(split_planner *planner, uint64_t begin, uint64_t end) {
  uint64_t cost = end == CST_SPLIT_TO_END ? planner->target : end - begin;
  cost = cost > LEAST_COST ? cost : LEAST_COST;
  if (planner->task_cost > 0 && cost > planner->target - planner->task_cost) {
    planner->task++;
    planner->task_cost = 0;
  }
  planner->task_cost +=
      cost < planner->target - planner->task_cost ? cost : planner->target - planner->task_cost;
  return planner->task;
}

/* index: NULL, or that whose records begin at `begin` and `end`. */
static cst_status plan_split(split_planner *planner, const char *file, uint64_t begin, uint64_t end,
                             const cst_index *index, cst_error *error) {
  cst_splits *splits = planner->splits;
  if (!cst__grow(&splits->allocator, (void **)&splits->items, &splits->capacity, splits->count + 1,
                 sizeof *splits->items)) {
    return cst__fail_memory(error, (splits->count + 1) * sizeof *splits->items);
  }
  splits->items[splits->count++] = (cst_split){file,
                                               begin,
                                               end,
                                               index != NULL,
                                               choose_task(planner, begin, end),
                                               index != NULL ? cst__index_find(index, begin) : 0};
  return CST_OK;
}

/* The i-th of n places that divide the bytes of a file evenly. */
static uint64_t even_place(uint64_t size, uint64_t i, uint64_t n) {
  return (uint64_t)((__uint128_t)size * i / n);
}

/* Cuts a file that is larger than the target; at the records of the index, if it is not NULL. */
static cst_status cut_file(split_planner *planner, const char *file, uint64_t size,
                           const cst_index *index, cst_error *error) {
  uint64_t n = size / planner->target + (size % planner->target != 0);
  uint64_t begin = 0;
  for (uint64_t i = 1; i <= n; i++) {
    uint64_t end = even_place(size, i, n);
    if (index != NULL) {
      end = index->offsets[cst__index_find(index, end)];
    }
    if (begin < end) {
      CST__TRY(plan_split(planner, file, begin, end, index, error));
      begin = end;
    }
    if (i % 1024 == 0) {
      CST__TRY(cst__interrupted(error));
    }
  }
  return CST_OK;
}

/* ---- what a file is ---- */

static bool has_ending(const char *path, const char *const *endings) {
  char file[4096];
  const char *name = cst__url_of_file(path, file, sizeof file);
  size_t size = strlen(name);
  bool has = false;
  for (; *endings != NULL && !has; endings++) {
    size_t ending = strlen(*endings);
    has = size > ending && strcmp(name + size - ending, *endings) == 0;
  }
  return has;
}

/* Parquet: what reads it by row groups divides it. */
static bool has_row_groups(const cst__format *format) {
  return format->name != NULL && strcmp(format->name, "parquet") == 0;
}

/* Opens a file as far as is needed to see whether it can be divided. What nobody recognises is
 * not. */
static cst_status open_large_file(const split_planner *planner, const char *file, cst_source **out,
                                  cst_error *error) {
  const cst_split_options *options = planner->options;
  cst_source_options from = CST_SOURCE_OPTIONS_INIT;
  cst__format format = {0};
  from.format = options->format;
  from.container = options->container;
  from.allocator = options->allocator;
  if (options->format != NULL) {
    CST__TRY(cst__format_find(options->format, &format, error));
  }
  if (format.payload != NULL || options->container != NULL) {
    from.format = "raw"; /* the records need not be understood */
  } else if (format.records != NULL) {
    from.format = NULL; /* the bytes say whether they are records */
  }
  cst_error own = CST_ERROR_INIT;
  cst_status status = cst_source_open(&file, 1, &from, out, &own);
  if (status == CST_FORMAT || status == CST_UNSUPPORTED) {
    *out = NULL;
    return CST_OK;
  }
  if (status != CST_OK) {
    cst__error_copy(error, &own);
  }
  return status;
}

/* The index beside a file, if it is sound and that of the file's container. */
static cst_status load_split_index(const cst_source *source, const char *file, cst_index **out,
                                   cst_error *error) {
  cst_status status = cst_index_open(file, &source->allocator, out, NULL);
  if (status == CST_NO_MEMORY) {
    return cst__fail_memory(error, sizeof **out);
  }
  if (status != CST_OK || (*out)->container != source->inputs->container) {
    cst_index_free(status == CST_OK ? *out : NULL);
    *out = NULL;
  }
  return CST_OK;
}

static cst_status plan_by_bytes(split_planner *planner, const char *file, uint64_t size,
                                cst_error *error) {
  cst_source *source = NULL;
  cst_index *index = NULL;
  cst__division division = CST__UNDIVIDED;
  CST__TRY(open_large_file(planner, file, &source, error));
  cst_status status = CST_OK;
  if (source != NULL) {
    status = cst__source_division(source, 0, &division, error);
  }
  if (status == CST_OK && division != CST__UNDIVIDED) {
    status = load_split_index(source, file, &index, error);
  }
  bool cuts = index != NULL || division == CST__BY_BYTES ||
              (source != NULL && has_row_groups(&source->inputs->format));
  if (status == CST_OK) {
    status = cuts ? cut_file(planner, file, size, index, error)
                  : plan_split(planner, file, 0, size, NULL, error);
  }
  cst_index_free(index);
  cst_source_release(source);
  return status;
}

/* The same by what is said of a file, and its name. */
static bool is_named_whole(const split_planner *planner, const char *file) {
  const cst_split_options *options = planner->options;
  const cst__container *container = cst__container_find_by_path(file);
  cst__format format = {0};
  if (options->container != NULL) {
    container = NULL;
    (void)cst__container_find(options->container, &container, NULL);
  }
  if (container != NULL) {
    return container->find_begin == NULL;
  }
  cst_status status = options->format != NULL ? cst__format_find(options->format, &format, NULL)
                                              : cst__format_find_by_ending(file, &format, NULL);
  bool divides =
      has_row_groups(&format) || (format.table != NULL && format.table->find_begin != NULL);
  return status == CST_OK && cst__format_is_tabular(&format) && !divides;
}

static cst_status plan_large_file(split_planner *planner, const char *file, uint64_t size,
                                  cst_error *error) {
  static const char *const compressed[] = {".gz", ".zz", ".zlib", NULL};
  static const char *const zstd[] = {".zst", NULL};
  static const char *const parquet[] = {".parquet", NULL};
  bool by_name = planner->options->cut == CST_SPLIT_CUT_BY_NAME || cst__is_url(file) ||
                 (planner->options->format == NULL && has_ending(file, parquet));
  if (planner->options->cut == CST_SPLIT_CUT_NONE || has_ending(file, compressed) ||
      (by_name && (has_ending(file, zstd) || is_named_whole(planner, file)))) {
    return plan_split(planner, file, 0, size, NULL, error);
  }
  return by_name ? cut_file(planner, file, size, NULL, error)
                 : plan_by_bytes(planner, file, size, error);
}

/* UINT64_MAX: not known. */
static cst_status find_file_size(const char *file, uint64_t *size, cst_error *error) {
  struct stat info;
  *size = UINT64_MAX;
  if (cst__is_url(file)) {
    return CST_OK;
  }
  if (strcmp(file, "-") == 0) {
    return cst__fail(error, CST_UNSUPPORTED, "save it to a file first",
                     "standard input has no splits: it is read once");
  }
  if (stat(file, &info) != 0) {
    cst_status status = cst__fail_system(error, errno, "the file cannot be looked at");
    cst__error_add_file(error, file);
    return status;
  }
  if (!S_ISREG(info.st_mode)) {
    (void)cst__fail(error, CST_UNSUPPORTED, "save it to a file first",
                    "it is not a regular file: it has no splits");
    cst__error_add_file(error, file);
    return CST_UNSUPPORTED;
  }
  *size = (uint64_t)info.st_size;
  return CST_OK;
}

static cst_status plan_file(split_planner *planner, size_t i, cst_error *error) {
  const char *file = planner->splits->files.items[i];
  uint64_t size;
  if (planner->options->file_sizes != NULL) {
    size = planner->options->file_sizes[i];
  } else {
    CST__TRY(find_file_size(file, &size, error));
  }
  if (size >= CST_SPLIT_TO_END || size <= planner->target) {
    return plan_split(planner, file, 0, size < CST_SPLIT_TO_END ? size : CST_SPLIT_TO_END, NULL,
                      error);
  }
  return plan_large_file(planner, file, size, error);
}

/* ---- all files ---- */

/* A wrong name is told even if no file is opened for it. Names alone promise nothing: whoever
 * divides by them may have formats of its own. */
static cst_status check_split_names(const cst_split_options *options, cst_error *error) {
  const cst__container *container;
  cst__format format;
  if (options->cut != CST_SPLIT_CUT_BY_BYTES) {
    return CST_OK;
  }
  if (options->container != NULL) {
    CST__TRY(cst__container_find(options->container, &container, error));
  }
  return options->format != NULL ? cst__format_find(options->format, &format, error) : CST_OK;
}

static cst_status plan_files(split_planner *planner, const char *const *paths, size_t num_paths,
                             cst_error *error) {
  cst__paths *files = &planner->splits->files;
  for (size_t i = 0; i < num_paths; i++) {
    CST__TRY(cst__interrupted(error));
    CST__TRY(planner->options->file_sizes != NULL ? cst__paths_add(files, paths[i], error)
                                                  : cst__source_expand(files, paths[i], 0, error));
  }
  for (size_t i = 0; i < files->count; i++) {
    CST__TRY(cst__interrupted(error));
    CST__TRY(plan_file(planner, i, error));
  }
  return CST_OK;
}

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
  CST__TRY(check_split_names(&own, error));
  cst_splits *splits = cst__new_zero(own.allocator, sizeof *splits);
  if (splits == NULL) {
    return cst__fail_memory(error, sizeof *splits);
  }
  splits->allocator = cst__allocator_of(own.allocator);
  split_planner planner = {.options = &own,
                           .target = own.target_bytes != 0 ? own.target_bytes : USUAL_TARGET,
                           .splits = splits};
  cst_status status = plan_files(&planner, paths, num_paths, error);
  if (status != CST_OK) {
    cst_splits_free(splits);
    return status;
  }
  *out = splits;
  return CST_OK;
}

size_t cst_splits_num_splits(const cst_splits *splits) {
  return splits != NULL ? splits->count : 0;
}

cst_status cst_splits_findings(const cst_splits *splits, cst_findings **out, cst_error *error) {
  static const cst__finding_column columns[] = {
      CST__FILE("file"),  CST__NUMBER("begin"), CST__NUMBER_OR_NULL("end"),
      CST__BOOL("exact"), CST__NUMBER("task"),  CST__NUMBER_OR_NULL("record")};
  static const cst__finding_type type = {"splits", columns, 6};
  cst_findings *found;
  CST__CLEAR(out);
  CST__TRY(cst__check_given(splits, "splits", out, error));
  CST__TRY(cst__findings_new(&type, &splits->allocator, &found, error));
  for (size_t i = 0; i < splits->count; i++) {
    const cst_split *split = &splits->items[i];
    cst__put_text(found, split->file);
    cst__put_number(found, split->begin);
    if (split->end == CST_SPLIT_TO_END) {
      cst__put_null(found);
    } else {
      cst__put_number(found, split->end);
    }
    cst__put_number(found, split->exact);
    cst__put_number(found, split->task);
    if (split->record == 0 && split->begin > 0) {
      cst__put_null(found);
    } else {
      cst__put_number(found, split->record);
    }
  }
  cst__put_total(found, "tasks", splits->count > 0 ? splits->items[splits->count - 1].task + 1 : 0);
  return cst__findings_finish(found, out, error);
}

const cst_split *cst_splits_get(const cst_splits *splits, size_t i) {
  return splits != NULL && i < splits->count ? &splits->items[i] : NULL;
}

void cst_splits_free(cst_splits *splits) {
  if (splits != NULL) {
    cst__paths_reset(&splits->files);
    cst__delete(splits->items);
    cst__delete(splits);
  }
}
