/* Buckets that are in use: sorted once each, and kept as long as makers may want them. */
#include "dataset/buckets.h"

#include "base/interrupt.h"
#include "dataset/epoch_order.h"

typedef enum state { STATE_EMPTY, STATE_READING, STATE_READY } state;

typedef struct entry {
  state state;
  uint64_t number;
  cst__bucket *bucket; /* if it is ready */
} entry;

struct cst__buckets {
  const cst_dataset *dataset;
  uint64_t epoch;
  cst__mutex lock; /* guards all below */
  cst__condition changed;
  size_t num_entries; /* one more than there are makers, so that one is never being read */
  entry *entries;
};

cst_status cst__buckets_new(cst_dataset *dataset, uint64_t epoch, cst__buckets **out,
                            cst_error *error) {
  size_t count = (size_t)dataset->options.threads + 2; /* the caller may be a maker, too */
  cst__buckets *buckets = cst__new_zero(&dataset->allocator, sizeof *buckets);
  entry *entries = cst__new_zero(&dataset->allocator, count * sizeof *entries);
  if (buckets == NULL || entries == NULL) {
    cst__delete(buckets);
    cst__delete(entries);
    return cst__fail_memory(error, count * sizeof *entries);
  }
  buckets->dataset = dataset;
  buckets->epoch = epoch;
  buckets->num_entries = count;
  buckets->entries = entries;
  cst__mutex_init(&buckets->lock);
  cst__condition_init(&buckets->changed);
  *out = buckets;
  return CST_OK;
}

void cst__buckets_free(cst__buckets *buckets) {
  if (buckets == NULL) {
    return;
  }
  for (size_t i = 0; i < buckets->num_entries; i++) {
    cst__bucket_release(buckets->entries[i].bucket);
  }
  cst__condition_destroy(&buckets->changed);
  cst__mutex_destroy(&buckets->lock);
  cst__delete(buckets->entries);
  cst__delete(buckets);
}

/* ---- one bucket ---- */

void cst__bucket_release(cst__bucket *bucket) {
  if (bucket != NULL && cst__refcount_down(&bucket->owners)) {
    cst__delete(bucket->rows);
    cst__delete(bucket);
  }
}

static cst__bucket *bucket_new(const cst_allocator *allocator, uint64_t number, size_t count) {
  cst__bucket *bucket = cst__new_zero(allocator, sizeof *bucket);
  if (bucket != NULL) {
    cst__refcount_init(&bucket->owners);
    bucket->number = number;
    bucket->count = count;
    bucket->rows = cst__new(allocator, (count + 1) * sizeof *bucket->rows);
    if (bucket->rows == NULL) {
      cst__bucket_release(bucket);
      bucket = NULL;
    }
  }
  return bucket;
}

typedef struct measured {
  int64_t length;
  size_t place;
} measured;

/* What it takes to sort a bucket. */
typedef struct sorting {
  uint64_t *rows;
  int64_t *lengths;
  measured *order;
  measured *spare;
} sorting;

static bool sorting_init(sorting *s, const cst_allocator *allocator, size_t count) {
  *s = (sorting){cst__new(allocator, (count + 1) * sizeof *s->rows),
                 cst__new(allocator, (count + 1) * sizeof *s->lengths),
                 cst__new(allocator, (count + 1) * sizeof *s->order),
                 cst__new(allocator, (count + 1) * sizeof *s->spare)};
  return s->rows != NULL && s->lengths != NULL && s->order != NULL && s->spare != NULL;
}

static void sorting_reset(const sorting *s) {
  cst__delete(s->rows);
  cst__delete(s->lengths);
  cst__delete(s->order);
  cst__delete(s->spare);
}

/* Merges two sorted runs that follow each other: from[0 .. middle) and from[middle .. end). */
static void merge_runs(const measured *from, size_t middle, size_t end, measured *to) {
  size_t left = 0;
  size_t right = middle;
  for (size_t i = 0; i < end; i++) {
    bool takes_left = left < middle && (right == end || from[left].length <= from[right].length);
    to[i] = takes_left ? from[left++] : from[right++];
  }
}

static size_t lesser(size_t a, size_t b) { return a < b ? a : b; }

/* Sorts s->order by length, stably (qsort is not, and cannot be told to stop). */
static cst_status sort_by_length(sorting *s, size_t count, cst_error *error) {
  for (size_t run = 1; run < count; run *= 2) {
    CST__TRY(cst__interrupted(error));
    for (size_t begin = 0; begin < count; begin += 2 * run) {
      size_t rest = count - begin;
      merge_runs(s->order + begin, lesser(run, rest), lesser(2 * run, rest), s->spare + begin);
    }
    measured *sorted = s->spare;
    s->spare = s->order;
    s->order = sorted;
  }
  return CST_OK;
}

/* Reads a batch's rows at a time, so that no more records are in memory than for a batch. */
static cst_status read_bucket(const cst__buckets *buckets, const cst__bucket_source *source,
                              const sorting *s, cst_error *error) {
  size_t batch_size = (size_t)buckets->dataset->options.batch_size;
  for (size_t begin = 0; begin < source->count; begin += batch_size) {
    size_t rest = source->count - begin;
    size_t count = lesser(rest, batch_size);
    CST__TRY(cst__interrupted(error));
    CST__TRY(source->read(source->ctx, begin, count, s->rows + begin, s->lengths + begin, error));
  }
  return CST_OK;
}

static cst_status sort_bucket(const cst__buckets *buckets, sorting *s, cst__bucket *out,
                              cst_error *error) {
  const cst_dataset_options *o = &buckets->dataset->options;
  size_t batch_size = (size_t)o->batch_size;
  size_t num_batches = out->count / batch_size;
  size_t sorted = num_batches * batch_size;
  bool is_shuffled = buckets->dataset->shuffle != CST_SHUFFLE_NONE && num_batches > 0;
  cst__permutation batches;
  cst__order_of_bucket(&batches, num_batches, o->seed, buckets->epoch, out->number);
  for (size_t i = 0; i < sorted; i++) {
    s->order[i] = (measured){s->lengths[i], i};
  }
  CST__TRY(sort_by_length(s, sorted, error));
  for (size_t i = 0; i < num_batches; i++) {
    size_t to = (is_shuffled ? (size_t)cst__permutation_find(&batches, i) : i) * batch_size;
    for (size_t k = 0; k < batch_size; k++) {
      out->rows[to + k] = s->rows[s->order[i * batch_size + k].place];
    }
  }
  for (size_t i = sorted; i < out->count; i++) {
    out->rows[i] = s->rows[i];
  }
  return CST_OK;
}

static cst_status bucket_make(const cst__buckets *buckets, const cst__bucket_source *source,
                              cst__bucket **out, cst_error *error) {
  const cst_allocator *allocator = &buckets->dataset->allocator;
  sorting s;
  cst__bucket *made = bucket_new(allocator, source->number, source->count);
  cst_status status = sorting_init(&s, allocator, source->count) && made != NULL
                          ? read_bucket(buckets, source, &s, error)
                          : cst__fail_memory(error, source->count * sizeof *s.order);
  if (status == CST_OK) {
    status = sort_bucket(buckets, &s, made, error);
  }
  if (status == CST_OK) {
    *out = made;
  } else {
    cst__bucket_release(made);
  }
  sorting_reset(&s);
  return status;
}

/* ---- those that are kept ---- */

/* The entry of a bucket, or the one to put it into: of those that nobody reads the one with the
 * lowest number, since makers go on. */
static entry *find_entry(cst__buckets *buckets, uint64_t number) {
  entry *found = NULL;
  for (size_t i = 0; i < buckets->num_entries; i++) {
    entry *one = &buckets->entries[i];
    if (one->state != STATE_EMPTY && one->number == number) {
      return one;
    }
    bool is_free = one->state != STATE_READING;
    if (is_free && (found == NULL || one->state == STATE_EMPTY || one->number < found->number)) {
      found = one;
    }
  }
  return found;
}

/* Holds the lock, but not while it reads. */
static cst_status fill_entry(cst__buckets *buckets, entry *into, const cst__bucket_source *source,
                             cst_error *error) {
  cst__bucket *made = NULL;
  cst__bucket_release(into->bucket);
  *into = (entry){STATE_READING, source->number, NULL};
  cst__mutex_unlock(&buckets->lock);
  cst_status status = bucket_make(buckets, source, &made, error);
  cst__mutex_lock(&buckets->lock);
  *into = (entry){status == CST_OK ? STATE_READY : STATE_EMPTY, source->number, made};
  cst__condition_broadcast(&buckets->changed);
  return status;
}

cst_status cst__buckets_get(cst__buckets *buckets, const cst__bucket_source *source,
                            cst__bucket **out, cst_error *error) {
  cst_status status = CST_OK;
  cst__mutex_lock(&buckets->lock);
  entry *at = find_entry(buckets, source->number);
  while (status == CST_OK && (at == NULL || at->state == STATE_READING)) {
    status = cst__interruptible_wait(&buckets->changed, &buckets->lock, error);
    at = find_entry(buckets, source->number);
  }
  if (status == CST_OK && (at->state != STATE_READY || at->number != source->number)) {
    status = fill_entry(buckets, at, source, error);
  }
  if (status == CST_OK) {
    cst__refcount_up(&at->bucket->owners);
    *out = at->bucket;
  }
  cst__mutex_unlock(&buckets->lock);
  return status;
}
