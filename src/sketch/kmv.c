/* Counts of different values by their smallest hashes. */
#include "sketch/kmv.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/fingerprint.h"
#include "sketch/tfx_text.h"

enum { SLOTS_LEAST = 16 };

static const uint64_t no_hash = UINT64_MAX;

void cst__kmv_init(cst__kmv *kmv, size_t buckets, const cst_allocator *allocator) {
  *kmv = (cst__kmv){
      .allocator = cst__allocator_of(allocator), .limit = UINT64_MAX, .buckets = buckets};
}

void cst__kmv_reset(cst__kmv *kmv) {
  cst__delete(kmv->slots);
  cst__kmv_init(kmv, kmv->buckets, &kmv->allocator);
}

size_t cst__kmv_memory(const cst__kmv *kmv) {
  return sizeof *kmv + kmv->num_slots * sizeof *kmv->slots;
}

/* ---- the table ---- */

static uint64_t *slot_of(uint64_t *slots, size_t num_slots, uint64_t hash) {
  size_t i = (size_t)hash & (num_slots - 1);
  while (slots[i] != no_hash && slots[i] != hash) {
    i = (i + 1) & (num_slots - 1);
  }
  return &slots[i];
}

/* A table of another size, of the hashes up to `last`. */
static cst_status rebuild(cst__kmv *kmv, size_t num_slots, uint64_t last, cst_error *error) {
  uint64_t *slots = cst__new(&kmv->allocator, num_slots * sizeof *slots);
  if (slots == NULL) {
    return cst__fail_memory(error, num_slots * sizeof *slots);
  }
  memset(slots, 0xff, num_slots * sizeof *slots);
  kmv->count = 0;
  for (size_t i = 0; i < kmv->num_slots; i++) {
    if (kmv->slots[i] != no_hash && kmv->slots[i] <= last) {
      *slot_of(slots, num_slots, kmv->slots[i]) = kmv->slots[i];
      kmv->count++;
    }
  }
  cst__delete(kmv->slots);
  kmv->slots = slots;
  kmv->num_slots = num_slots;
  return CST_OK;
}

static int compare(const void *a, const void *b) {
  uint64_t x;
  uint64_t y;
  memcpy(&x, a, sizeof x);
  memcpy(&y, b, sizeof y);
  return (x > y) - (x < y);
}

uint64_t *cst__kmv_hashes(const cst__kmv *kmv, size_t *count) {
  uint64_t *hashes = cst__new(&kmv->allocator, (kmv->count + 1) * sizeof *hashes);
  *count = 0;
  if (hashes == NULL) {
    return NULL;
  }
  for (size_t i = 0; i < kmv->num_slots; i++) {
    if (kmv->slots[i] != no_hash) {
      hashes[(*count)++] = kmv->slots[i];
    }
  }
  qsort(hashes, *count, sizeof *hashes, compare);
  *count = *count < kmv->buckets ? *count : kmv->buckets;
  return hashes;
}

/* Drops all but the smallest. */
static cst_status trim(cst__kmv *kmv, cst_error *error) {
  size_t count;
  uint64_t *hashes = cst__kmv_hashes(kmv, &count);
  if (hashes == NULL) {
    return cst__fail_memory(error, kmv->count * sizeof *hashes);
  }
  kmv->limit = hashes[count - 1];
  cst__delete(hashes);
  return rebuild(kmv, kmv->num_slots, kmv->limit, error);
}

cst_status cst__kmv_add_hash(cst__kmv *kmv, uint64_t hash, cst_error *error) {
  if (hash >= kmv->limit) {
    return CST_OK;
  }
  if (kmv->num_slots == 0) {
    CST__TRY(rebuild(kmv, SLOTS_LEAST, no_hash, error));
  }
  uint64_t *slot = slot_of(kmv->slots, kmv->num_slots, hash);
  if (*slot == hash) {
    return CST_OK;
  }
  *slot = hash;
  kmv->count++;
  if (kmv->count == 2 * kmv->buckets) {
    return trim(kmv, error);
  }
  return kmv->count * 2 > kmv->num_slots ? rebuild(kmv, kmv->num_slots * 2, no_hash, error)
                                         : CST_OK;
}

/* ---- adding ---- */

cst_status cst__kmv_add(cst__kmv *kmv, const cst__value_block *values, cst_error *error) {
  for (size_t i = 0; i < values->count; i++) {
    char room[CST__VALUE_TEXT_ROOM];
    cst_bytes text = cst__value_text(values, i, room);
    CST__TRY(cst__kmv_add_hash(kmv, cst__fingerprint64(text.data, text.size), error));
  }
  return CST_OK;
}

cst_status cst__kmv_merge(cst__kmv *into, const cst__kmv *from, cst_error *error) {
  for (size_t i = 0; i < from->num_slots; i++) {
    if (from->slots[i] != no_hash) {
      CST__TRY(cst__kmv_add_hash(into, from->slots[i], error));
    }
  }
  return CST_OK;
}

cst_status cst__kmv_estimate(const cst__kmv *kmv, double *out, cst_error *error) {
  *out = (double)kmv->count;
  if (kmv->count < kmv->buckets) {
    return CST_OK;
  }
  size_t count;
  uint64_t *hashes = cst__kmv_hashes(kmv, &count);
  if (hashes == NULL) {
    return cst__fail_memory(error, kmv->count * sizeof *hashes);
  }
  double last = (double)hashes[count - 1];
  *out = round(((double)kmv->buckets - 1) * ldexp(1, 64) / (last > 0 ? last : 1));
  cst__delete(hashes);
  return CST_OK;
}

void cst__kmv_bounds(const cst__kmv *kmv, double deviations, double estimate, double *lower,
                     double *upper) {
  bool is_exact = kmv->count < kmv->buckets;
  double buckets = kmv->buckets > 2 ? (double)kmv->buckets : 3;
  double factor = is_exact ? 1 : exp(deviations / sqrt(buckets - 2));
  *lower = estimate / factor;
  *upper = estimate * factor;
}

/* ---- saving ---- */

static void save(const cst__kmv *kmv, cst__archive *a) {
  size_t count;
  uint64_t *hashes = cst__kmv_hashes(kmv, &count);
  if (hashes == NULL) {
    a->out->failed = true;
    return;
  }
  cst__archive_count(a, &count);
  for (size_t i = 0; i < count; i++) {
    uint64_t step = hashes[i] - (i > 0 ? hashes[i - 1] : 0);
    cst__archive_u64(a, &step);
  }
  cst__delete(hashes);
}

static void load(cst__kmv *kmv, cst__archive *a) {
  size_t count = 0;
  uint64_t hash = 0;
  cst__archive_count(a, &count);
  cst__archive_check(a, count <= kmv->buckets);
  for (size_t i = 0; i < count && !a->bad; i++) {
    uint64_t step = 0;
    cst__archive_u64(a, &step);
    cst__archive_check(a, (step > 0 || i == 0) && step < UINT64_MAX - hash);
    hash += step;
    if (!a->bad && cst__kmv_add_hash(kmv, hash, NULL) != CST_OK) {
      cst__archive_fail_memory(a);
    }
  }
}

void cst__kmv_archive(cst__kmv *kmv, cst__archive *a) {
  if (cst__archive_loads(a)) {
    load(kmv, a);
  } else {
    save(kmv, a);
  }
}

/* ---- the kind ---- */

typedef struct kmv_options {
  int64_t buckets;
} kmv_options;

static const cst__option option_list[] = {
    {.info = {.name = "buckets",
              .kind = CST_OPTION_NUMBER,
              .least = 1,
              .most = CST__KMV_BUCKETS_MOST,
              .usual = "16384",
              .help = "number of hashes to keep; the relative error is about 1 / sqrt(buckets)"},
     .offset = offsetof(kmv_options, buckets),
     .is_wide = true},
};

static const cst__option_table option_table = {
    .owner = "kmv",
    .options = option_list,
    .count = sizeof option_list / sizeof option_list[0],
    .stride = sizeof option_list[0],
    .size = sizeof(kmv_options),
};

static cst_status create(const void *options, const cst_allocator *allocator, void **state,
                         cst_error *error) {
  cst__kmv *made = cst__new(allocator, sizeof *made);
  if (made == NULL) {
    return cst__fail_memory(error, sizeof *made);
  }
  cst__kmv_init(made, (size_t)((const kmv_options *)options)->buckets, allocator);
  *state = made;
  return CST_OK;
}

static void free_state(void *state) {
  if (state != NULL) {
    cst__kmv_reset(state);
    cst__delete(state);
  }
}

static cst_status add(void *state, const cst__value_block *values, cst_error *error) {
  return cst__kmv_add(state, values, error);
}

static cst_status merge(void *into, const void *from, cst_error *error) {
  return cst__kmv_merge(into, from, error);
}

static void archive(void *state, cst__archive *a) { cst__kmv_archive(state, a); }

static size_t memory(const void *state) { return cst__kmv_memory(state); }

const cst__sketch_kind cst__kmv_kind = {
    .name = "kmv",
    .version = 1,
    .summary = "the number of distinct values, like tfx_bsl's KmvSketch",
    .options = &option_table,
    .families = 1u << CST__FAMILY_INT | 1u << CST__FAMILY_UINT | 1u << CST__FAMILY_FLOAT |
                1u << CST__FAMILY_BYTES,
    .mixes_integers = true,
    .create = create,
    .free = free_state,
    .add = add,
    .merge = merge,
    .archive = archive,
    .memory = memory,
};
