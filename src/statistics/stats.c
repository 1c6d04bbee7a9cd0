/* One feature: types, blocks of values, merging and saving. */
#include "statistics/stats.h"

#include "base/hash.h"
#include "base/utf8.h"
#include "sketch/hashes.h"

/* ---- types ---- */

static const char *const type_names[] = {"NULL", "BOOL",   "INT",   "UINT",   "FLOAT",
                                         "TIME", "STRING", "BYTES", "STRUCT", "OTHER"};

const char *cst__stats_type_name(cst__stats_type type) { return type_names[type]; }

cst__stats_type cst__stats_type_of(const cst__view *values) {
  cst__family family;
  if (values->layout == CST__LAYOUT_STRUCT) {
    return CST__STATS_STRUCT;
  }
  if (cst__family_of(values, &family, NULL) != CST_OK) {
    return CST__STATS_OTHER;
  }
  switch (family) {
    case CST__FAMILY_INT:
      return values->layout == CST__LAYOUT_BOOL     ? CST__STATS_BOOL
             : values->layout == CST__LAYOUT_OPAQUE ? CST__STATS_TIME
                                                    : CST__STATS_INT;
    case CST__FAMILY_UINT:
      return CST__STATS_UINT;
    case CST__FAMILY_FLOAT:
      return CST__STATS_FLOAT;
    case CST__FAMILY_BYTES:
      return values->is_string ? CST__STATS_STRING : CST__STATS_BYTES;
    default:
      return CST__STATS_NULL;
  }
}

cst__family cst__stats_family(cst__stats_type type) {
  static const cst__family families[] = {
      CST__FAMILY_NONE, CST__FAMILY_INT,   CST__FAMILY_INT,   CST__FAMILY_UINT, CST__FAMILY_FLOAT,
      CST__FAMILY_INT,  CST__FAMILY_BYTES, CST__FAMILY_BYTES, CST__FAMILY_NONE, CST__FAMILY_NONE};
  return families[type];
}

bool cst__stats_types_join(cst__stats_type a, cst__stats_type b, cst__stats_type *out) {
  if (a == b || b == CST__STATS_NULL) {
    *out = a;
  } else if (a == CST__STATS_NULL) {
    *out = b;
  } else if (cst__stats_family(a) == CST__FAMILY_INT && cst__stats_family(b) == CST__FAMILY_INT) {
    *out = CST__STATS_INT;
  } else if (cst__stats_family(a) == CST__FAMILY_BYTES &&
             cst__stats_family(b) == CST__FAMILY_BYTES) {
    *out = CST__STATS_BYTES;
  } else {
    return false;
  }
  return true;
}

/* ---- making ---- */

static void init_sketches(cst__stats_sketches *sketches, const cst__stats_plan *plan) {
  cst__quantiles_init(&sketches->quantiles, &plan->quantiles);
  cst__heavy_init(&sketches->heavy, &plan->heavy, &plan->allocator);
}

void cst__stats_prepare(cst__stats *feature, const cst__stats_plan *plan) {
  if (!feature->is_ready) {
    cst__quantiles_init(&feature->lengths, &plan->quantiles);
    cst__moments_init(&feature->moments, &plan->allocator);
    cst__distinct_sketch_init(&feature->distinct, plan->precision, plan->seed, &plan->allocator);
    init_sketches(&feature->plain, plan);
    init_sketches(&feature->weighted, plan);
    feature->is_ready = true;
  }
}

static void reset_sketches(cst__stats_sketches *sketches) {
  cst__quantiles_reset(&sketches->quantiles);
  cst__heavy_reset(&sketches->heavy);
}

void cst__stats_reset(cst__stats *feature) {
  if (feature->is_ready) {
    cst__quantiles_reset(&feature->lengths);
    cst__moments_reset(&feature->moments);
    cst__distinct_sketch_reset(&feature->distinct);
    reset_sketches(&feature->plain);
    reset_sketches(&feature->weighted);
  }
  cst__exact_sum_reset(&feature->weights[0]);
  cst__exact_sum_reset(&feature->weights[1]);
  cst__stats_reset_levels(feature);
}

static size_t memory_of(const cst__stats_sketches *sketches) {
  return cst__quantiles_memory(&sketches->quantiles) + cst__heavy_memory(&sketches->heavy) -
         sizeof *sketches;
}

size_t cst__stats_memory(const cst__stats *feature) {
  return cst__stats_lists_memory(feature) + cst__exact_sum_memory(&feature->weights[0]) +
         cst__exact_sum_memory(&feature->weights[1]) + cst__moments_memory(&feature->moments) -
         sizeof feature->moments + cst__distinct_sketch_memory(&feature->distinct) -
         sizeof feature->distinct + memory_of(&feature->plain) + memory_of(&feature->weighted);
}

void cst__stats_join(cst__stats *feature, cst__stats_type type) {
  (void)cst__stats_types_join(feature->type, type, &feature->type);
  feature->tokens = feature->type == CST__STATS_STRING ? feature->tokens : 0;
}

/* ---- values ---- */

#define EACH_BYTE(byte) (UINT64_C(0x0101010101010101) * (byte))

/* The highest bit of each byte that is no white space of ASCII: blank, or from tab to return. */
static uint64_t letters_of(uint64_t bytes) {
  const uint64_t low = bytes & EACH_BYTE(0x7f);
  const uint64_t blanks = ~((low ^ EACH_BYTE(' ')) + EACH_BYTE(0x7f));
  const uint64_t from_tab = low + EACH_BYTE(0x80 - '\t');
  const uint64_t above_return = low + EACH_BYTE(0x7f - '\r');
  const uint64_t white = (blanks | (from_tab & ~above_return)) & ~bytes;
  return ~white & EACH_BYTE(0x80);
}

/* The last bytes of a text, from 1 to 7, and blanks behind them. */
static uint64_t last_bytes(cst_bytes text, size_t count) {
  const unsigned bits = 8 * (unsigned)count;
  const uint8_t *last = text.data + text.size - count;
  uint64_t word;
  if (text.size >= sizeof word) {
    word = cst__load64(text.data + text.size - sizeof word) >> (64 - bits);
  } else if (count >= 4) {
    word = cst__load_tail(last, 4) | cst__load_tail(last + count - 4, 4) << (bits - 32);
  } else {
    word = last[0] | (uint64_t)last[count / 2] << 8 * (count / 2) |
           (uint64_t)last[count - 1] << (bits - 8);
  }
  return word | EACH_BYTE(' ') << bits;
}

/* Tokens begin with a letter that has none before it. `before`: whether there was one, as in the
 * lowest byte. */
static uint64_t count_begins(uint64_t letters, uint64_t before) {
  return (((letters & ~(letters << 8 | before)) >> 7) * EACH_BYTE(1)) >> 56;
}

static uint64_t count_tokens(cst_bytes text) {
  uint64_t count = 0;
  uint64_t before = 0;
  size_t at = 0;
  for (; at + sizeof(uint64_t) <= text.size; at += sizeof(uint64_t)) {
    const uint64_t letters = letters_of(cst__load64(text.data + at));
    count += count_begins(letters, before);
    before = letters >> 56;
  }
  return at < text.size ? count + count_begins(letters_of(last_bytes(text, text.size - at)), before)
                        : count;
}

static cst_status add_texts(cst__stats *feature, const cst__value_block *values, cst_error *error) {
  int64_t lengths[CST__VALUES_MOST];
  const cst_bytes *bytes = cst__values_bytes(values);
  const bool is_text = feature->type == CST__STATS_STRING;
  uint64_t tokens = 0;
  for (size_t i = 0; i < values->count; i++) {
    lengths[i] = (int64_t)bytes[i].size;
    if (is_text) {
      tokens += count_tokens(bytes[i]);
    } else {
      feature->invalid += !cst__utf8_valid(bytes[i].data, bytes[i].size);
    }
  }
  feature->tokens = cst__count_sum(feature->tokens, tokens);
  const cst__value_block block = {CST__FAMILY_INT, values->count, lengths, values->weights};
  return cst__moments_add(&feature->moments, &block) ? CST_OK
                                                     : cst__fail_memory(error, values->count);
}

static cst_status add_to_sketches(cst__stats_sketches *sketches, const cst__value_block *values,
                                  const uint64_t *hashes, cst_error *error) {
  if (values->family != CST__FAMILY_FLOAT) {
    CST__TRY(cst__heavy_add_hashed(&sketches->heavy, values, hashes, error));
  }
  return values->family == CST__FAMILY_BYTES
             ? CST_OK
             : cst__quantiles_add(&sketches->quantiles, values, error);
}

cst_status cst__stats_add(void *stats, const cst__value_block *values, cst_error *error) {
  cst__stats *feature = stats;
  uint64_t hashes[CST__VALUES_MOST];
  const cst__value_block plain = {values->family, values->count, values->items, NULL};
  feature->values = cst__count_sum(feature->values, values->count);
  cst__hash_values(values, cst__hash_key(feature->distinct.seed), hashes);
  CST__TRY(cst__distinct_sketch_add_hashes(&feature->distinct, hashes, values->count, error));
  CST__TRY(add_to_sketches(&feature->plain, &plain, hashes, error));
  if (values->weights != NULL) {
    CST__TRY(add_to_sketches(&feature->weighted, values, hashes, error));
  }
  if (values->family == CST__FAMILY_BYTES) {
    return add_texts(feature, values, error);
  }
  return cst__moments_add(&feature->moments, values) ? CST_OK
                                                     : cst__fail_memory(error, values->count);
}

/* ---- merging ---- */

cst_status cst__stats_fail_types(const cst__stats *stats, cst__stats_type type, cst_error *error) {
  char path[256];
  size_t size = stats->key.size < sizeof path ? stats->key.size : sizeof path;
  for (size_t i = 0; i < size; i++) {
    path[i] = stats->key.data[i] != '\0' ? (char)stats->key.data[i] : '.';
  }
  cst_status status =
      cst__fail(error, CST_SCHEMA, "cast it to one type", "the feature has the types %s and %s",
                type_names[stats->type], type_names[type]);
  cst__error_add_path(error, path, size);
  return status;
}

static cst_status merge_sketches(cst__stats_sketches *into, const cst__stats_sketches *from,
                                 cst_error *error) {
  CST__TRY(cst__quantiles_merge(&into->quantiles, &from->quantiles, error));
  return cst__heavy_merge(&into->heavy, &from->heavy, error);
}

cst_status cst__stats_merge(cst__stats *into, const cst__stats *from, cst_error *error) {
  const cst_allocator *allocator = into->moments.allocator;
  into->tokens = cst__count_sum(into->tokens, from->tokens);
  cst__stats_join(into, from->type);
  into->rows = cst__count_sum(into->rows, from->rows);
  into->present = cst__count_sum(into->present, from->present);
  into->values = cst__count_sum(into->values, from->values);
  into->invalid = cst__count_sum(into->invalid, from->invalid);
  CST__TRY(cst__stats_merge_lists(into, from, error));
  if (!cst__exact_sum_merge(&into->weights[0], allocator, &from->weights[0]) ||
      !cst__exact_sum_merge(&into->weights[1], allocator, &from->weights[1]) ||
      !cst__moments_merge(&into->moments, &from->moments)) {
    return cst__fail_memory(error, sizeof *into);
  }
  CST__TRY(cst__distinct_sketch_merge(&into->distinct, &from->distinct, error));
  CST__TRY(merge_sketches(&into->plain, &from->plain, error));
  return merge_sketches(&into->weighted, &from->weighted, error);
}

/* ---- saving ---- */

/* The sketches have values of the type, or none. */
static bool families_fit(const cst__stats_sketches *sketches, cst__family family) {
  const cst__family ranked = cst__quantiles_get_totals(&sketches->quantiles).family;
  return (ranked == CST__FAMILY_NONE || ranked == family) &&
         (sketches->heavy.family == CST__FAMILY_NONE ||
          (sketches->heavy.family == family && family != CST__FAMILY_FLOAT));
}

static bool values_fit(const cst__stats *stats) {
  const cst__family family = cst__stats_family(stats->type);
  const cst__family numbers = family == CST__FAMILY_BYTES ? CST__FAMILY_INT : family;
  return stats->present <= stats->rows && stats->invalid <= stats->values &&
         (stats->tokens == 0 || stats->type == CST__STATS_STRING) &&
         (stats->moments.family == CST__FAMILY_NONE || stats->moments.family == numbers) &&
         families_fit(&stats->plain, family) && families_fit(&stats->weighted, family);
}

static void archive_sketches(cst__stats_sketches *sketches, cst__archive *a) {
  if (!a->bad) {
    cst__quantiles_archive(&sketches->quantiles, a);
    cst__heavy_archive(&sketches->heavy, a);
  }
}

void cst__stats_archive(cst__stats *feature, const cst__stats_plan *plan, cst__archive *a) {
  int type = (int)feature->type;
  cst__archive_enum(a, &type, CST__NUM_STATS_TYPES);
  feature->type = (cst__stats_type)type;
  cst__archive_u64(a, &feature->rows);
  cst__archive_u64(a, &feature->present);
  cst__archive_u64(a, &feature->values);
  cst__archive_u64(a, &feature->invalid);
  cst__archive_u64(a, &feature->tokens);
  cst__stats_archive_lists(feature, plan, a);
  if (!a->bad) {
    cst__moments_archive(&feature->moments, a);
    cst__distinct_sketch_archive(&feature->distinct, a);
  }
  archive_sketches(&feature->plain, a);
  if (plan->weighs) {
    cst__exact_sum_archive(&feature->weights[0], &plan->allocator, 1, a);
    cst__exact_sum_archive(&feature->weights[1], &plan->allocator, 1, a);
    archive_sketches(&feature->weighted, a);
  }
  cst__archive_check(a, values_fit(feature));
}
