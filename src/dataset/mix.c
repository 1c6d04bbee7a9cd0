/* Mixes: datasets that agree, and the shares in which their rows are dealt out. */
#include <math.h>
#include <string.h>

#include "arrow/view.h"
#include "base/arguments.h"
#include "dataset/dataset.h"
#include "source/pass/arrow_schema.h"

enum { MOST_PREFETCH = 4096, MOST_THREADS = 1024 };

static cst_status check_mix_options(const cst_mix_options *o, size_t count, cst_error *error) {
  if (count < 1 || count > CST__MOST_MIXED) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "%zu datasets to mix, expected 1 to %d",
                     count, CST__MOST_MIXED);
  }
  if ((unsigned)o->stop > CST_MIX_REPEAT) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "unknown stop %d", (int)o->stop);
  }
  if (o->prefetch < 0 || o->prefetch > MOST_PREFETCH || o->threads < 0 ||
      o->threads > MOST_THREADS) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                     "prefetch is %d and threads %d, they must be 0 to %d and 0 to %d",
                     (int)o->prefetch, (int)o->threads, MOST_PREFETCH, MOST_THREADS);
  }
  for (size_t i = 0; o->weights != NULL && i < count; i++) {
    if (!isfinite(o->weights[i]) || o->weights[i] <= 0) {
      return cst__fail(error, CST_INVALID_ARGUMENT, "leave out what is not to be mixed",
                       "weight %zu is %g, expected a number above 0", i, o->weights[i]);
    }
  }
  return CST_OK;
}

/* ---- datasets that agree ---- */

static cst_status check_numbers(const cst_dataset *first, const cst_dataset *other, size_t number,
                                cst_error *error) {
  const cst_dataset_options *a = &first->options;
  const cst_dataset_options *b = &other->options;
  const struct {
    const char *what;
    uint64_t expected;
    uint64_t found;
  } all[] = {{"batch_size", (uint64_t)a->batch_size, (uint64_t)b->batch_size},
             {"drop_last", a->drop_last, b->drop_last},
             {"shard", a->shard, b->shard},
             {"num_shards", a->num_shards, b->num_shards}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    if (all[i].expected != all[i].found) {
      return cst__fail(
          error, CST_INVALID_ARGUMENT, "create the datasets of a mix with the same one",
          "dataset %zu of the mix has %s %llu, and the first one %llu", number, all[i].what,
          (unsigned long long)all[i].found, (unsigned long long)all[i].expected);
    }
  }
  return CST_OK;
}

static cst_status check_kind(const cst_dataset *dataset, size_t number, cst_error *error) {
  if (cst__dataset_is_mix(dataset)) {
    return cst__fail(error, CST_INVALID_ARGUMENT,
                     "mix all datasets in one call, with their weights multiplied",
                     "dataset %zu of the mix is a mix itself", number);
  }
  if (dataset->options.bucket_by != NULL) {
    return cst__fail(error, CST_INVALID_ARGUMENT, "instead, pad to a few lengths",
                     "dataset %zu has buckets, whose rows a mix would put beside others", number);
  }
  return CST_OK;
}

static const char same_columns[] = "the datasets of a mix have the same columns: select them, cast "
                                   "them in a view, or open the sources with one schema";

/* The first column that the other schema has not; NULL: it has all. */
static const char *find_missing(const struct ArrowSchema *columns,
                                const struct ArrowSchema *other) {
  for (int64_t i = 0; i < columns->n_children; i++) {
    bool is_there = false;
    for (int64_t k = 0; k < other->n_children; k++) {
      is_there = is_there || strcmp(columns->children[i]->name, other->children[k]->name) == 0;
    }
    if (!is_there) {
      return columns->children[i]->name;
    }
  }
  return NULL;
}

/* Columns that are missing, or too many, are named as such. */
static cst_status compare_columns(const struct ArrowSchema *found,
                                  const struct ArrowSchema *expected, cst_error *error) {
  cst_status status = cst__schema_check_equal(found, expected, same_columns, error);
  const char *missing = status == CST_OK ? NULL : find_missing(expected, found);
  const char *more = status == CST_OK || missing != NULL ? NULL : find_missing(found, expected);
  if (missing != NULL || more != NULL) {
    const char *name = missing != NULL ? missing : more;
    cst__fail(error, CST_SCHEMA, same_columns, "%s",
              missing != NULL ? "no such column, and the first dataset of the mix has it"
                              : "a column that the first dataset of the mix lacks");
    cst__error_add_path(error, name, strlen(name));
  }
  return status;
}

static cst_status check_columns(const cst_dataset *first, const cst_dataset *other,
                                cst_error *error) {
  struct ArrowSchema expected;
  struct ArrowSchema found;
  CST__TRY(cst_source_arrow_schema(first->source, &expected, error));
  cst_status status = cst_source_arrow_schema(other->source, &found, error);
  if (status == CST_OK) {
    status = compare_columns(&found, &expected, error);
    found.release(&found);
    if (status != CST_OK && other->source->num_parts > 0) {
      cst__error_add_file(error, cst__source_name(other->source, 0));
    }
  }
  expected.release(&expected);
  return status;
}

static cst_status check_mixed(cst_dataset *const *datasets, size_t count, cst_error *error) {
  for (size_t i = 0; i < count; i++) {
    if (datasets[i] == NULL) {
      return cst__missing("a dataset", error);
    }
    CST__TRY(check_kind(datasets[i], i, error));
    CST__TRY(check_numbers(datasets[0], datasets[i], i, error));
  }
  for (size_t i = 1; i < count; i++) {
    CST__TRY(check_columns(datasets[0], datasets[i], error));
  }
  return CST_OK;
}

/* ---- the mix ---- */

static cst_status fill_mix(cst_dataset *mix, cst_dataset *const *datasets, size_t count,
                           const cst_mix_options *o, cst_error *error) {
  cst__schedule *schedule = &mix->mix.schedule;
  size_t bytes = count * sizeof *schedule->parts;
  double *alike = cst__new(&mix->allocator, count * sizeof *alike);
  schedule->parts = cst__new_zero(&mix->allocator, bytes);
  mix->mix.datasets = cst__new_zero(&mix->allocator, count * sizeof *mix->mix.datasets);
  if (alike == NULL || schedule->parts == NULL || mix->mix.datasets == NULL) {
    cst__delete(alike);
    return cst__fail_memory(error, bytes);
  }
  for (size_t i = 0; i < count; i++) {
    alike[i] = 1;
    mix->mix.datasets[i] = cst_dataset_retain(datasets[i]);
  }
  schedule->count = count;
  schedule->stop = o->stop;
  cst__shares_of(o->weights != NULL ? o->weights : alike, count, schedule->parts);
  cst__delete(alike);
  return CST_OK;
}

cst_status cst_dataset_mix(cst_dataset *const *datasets, size_t count,
                           const cst_mix_options *options, cst_dataset **out, cst_error *error) {
  CST__CLEAR(out);
  cst_mix_options own = CST_MIX_OPTIONS_INIT;
  CST__TRY(cst__check_given(datasets, "datasets", out, error));
  CST__TRY(cst__read_options(&own, sizeof own, options, error));
  CST__TRY(check_mix_options(&own, count, error));
  CST__TRY(check_mixed(datasets, count, error));
  cst_dataset *first = datasets[0];
  cst_dataset *mix = cst__new_zero(&first->allocator, sizeof *mix);
  if (mix == NULL) {
    return cst__fail_memory(error, sizeof *mix);
  }
  cst__refcount_init(&mix->owners);
  cst__mutex_init(&mix->lock);
  mix->source = cst_source_retain(first->source);
  mix->allocator = first->allocator;
  mix->options = first->options;
  mix->options.allocator = &mix->allocator;
  mix->options.prefetch = own.prefetch;
  mix->options.threads = own.threads > 0 ? own.threads : 1;
  cst_status status = fill_mix(mix, datasets, count, &own, error);
  if (status != CST_OK) {
    cst_dataset_release(mix);
    return status;
  }
  *out = mix;
  return CST_OK;
}
