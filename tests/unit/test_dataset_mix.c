/* Mixes: rows are dealt out in proportion to the weights, those of each dataset in its order, by
 * loaders that begin anywhere.
 */
#include <math.h>

#include "dataset_support.h"

enum { BATCH = 7, MOST = 3, PASSES = 26 };

/* ---- what a mix should give, in plain steps ---- */

/* Whose turn it is, of datasets that have given so many rows: for whom (2 given + 1) / weight is
 * smallest. Weights are whole numbers, so that this is exact. */
static size_t whose_turn(const double *weights, const uint64_t *given, size_t count) {
  size_t next = 0;
  for (size_t i = 1; i < count; i++) {
    double left = (2 * (double)given[i] + 1) * weights[next];
    double right = (2 * (double)given[next] + 1) * weights[i];
    next = left < right ? i : next;
  }
  return next;
}

/* Ids of an epoch of each dataset, and of its further passes. */
typedef struct orders {
  delivery of[MOST][PASSES];
} orders;

static int64_t id_of(const orders *all, size_t dataset, uint64_t row) {
  uint64_t rows = all->of[dataset][0].num_ids;
  return all->of[dataset][row / rows].ids[row % rows];
}

/* The ids of a mix, as far as a stop of FIRST or ALL, or `most` rows; returns how many. */
static size_t expect(const orders *all, const double *weights, size_t count, cst_mix_stop stop,
                     size_t most, int64_t *ids) {
  uint64_t given[MOST] = {0};
  size_t num_ids = 0;
  for (; num_ids < most; num_ids++) {
    size_t next = whose_turn(weights, given, count);
    size_t done = 0;
    for (size_t i = 0; i < count; i++) {
      done += given[i] >= all->of[i][0].num_ids;
    }
    if ((stop == CST_MIX_FIRST && given[next] == all->of[next][0].num_ids) ||
        (stop == CST_MIX_ALL && done == count)) {
      break;
    }
    ids[num_ids] = id_of(all, next, given[next]++);
  }
  return num_ids;
}

/* ---- datasets ---- */

typedef struct mixed {
  size_t count;
  cst_source *sources[MOST];
  cst_dataset *datasets[MOST];
  orders all;
} mixed;

static const char *write_packed(const char *name, int first, int end) {
  bytes plain = {0};
  bytes packed = {0};
  add_examples(&plain, first, end);
  CHECK_EQ(add_compressed(&packed, CST_COMPRESSION_GZIP, plain.data, plain.size), CST_OK);
  const char *path = write_bytes(name, &packed);
  bytes_free(&plain);
  bytes_free(&packed);
  return path;
}

/* A dataset of plain records, or of packed ones that are read in order. */
static void add_dataset(mixed *m, int rows, bool is_packed, cst_dataset_options options) {
  char name[16];
  int first = 1000 * (int)m->count;
  (void)snprintf(name, sizeof name, is_packed ? "m%zu.gz" : "m%zu.tfrecord", m->count);
  const char *path = is_packed ? write_packed(name, first, first + rows)
                               : write_examples(name, first, first + rows);
  options.seed += m->count;
  options.window = 21;
  options.batch_size = BATCH;
  cst_source *source = open_examples(&path, 1, 0, 1);
  m->sources[m->count] = source;
  m->datasets[m->count] = dataset_of(source, &options);
  m->count++;
}

/* The orders of an epoch, by datasets that have no shards. */
static void find_orders(mixed *m, const cst_dataset_options *options, uint64_t epoch) {
  for (size_t i = 0; i < m->count; i++) {
    cst_dataset_options own = *options;
    own.seed += i;
    own.window = 21;
    own.batch_size = BATCH;
    own.num_shards = own.shard = 0;
    own.drop_last = false;
    cst_dataset *whole = dataset_of(m->sources[i], &own);
    for (uint64_t pass = 0; pass < PASSES; pass++) {
      m->all.of[i][pass] = deliver(whole, epoch + (pass << 32));
    }
    cst_dataset_release(whole);
  }
}

static void mixed_free(mixed *m) {
  for (size_t i = 0; i < m->count; i++) {
    for (size_t pass = 0; pass < PASSES; pass++) {
      delivery_free(&m->all.of[i][pass]);
    }
    cst_dataset_release(m->datasets[i]);
    cst_source_release(m->sources[i]);
  }
}

static cst_dataset *mix_of(const mixed *m, const double *weights, cst_mix_stop stop,
                           int32_t threads) {
  cst_mix_options options = CST_MIX_OPTIONS_INIT;
  cst_dataset *mix = NULL;
  cst_error error = CST_ERROR_INIT;
  options.weights = weights;
  options.stop = stop;
  options.threads = options.prefetch = threads;
  CHECK_EQ(cst_dataset_mix(m->datasets, m->count, &options, &mix, &error), CST_OK);
  CHECK_STR(error.message, "");
  return mix;
}

/* ---- whole epochs, and parts of them ---- */

static void check_ids(const delivery *d, const int64_t *ids, size_t count) {
  CHECK_EQ(d->status, CST_OK);
  CHECK_STR(d->error.message, "");
  CHECK_EQ(d->num_ids, count);
  CHECK_MEM(d->ids, ids, count * sizeof *ids);
}

/* Loaders that begin at each third batch, within batches too, with other numbers of workers. */
static void check_begins(cst_dataset *mix, const int64_t *ids, size_t count, uint64_t epoch) {
  for (uint64_t batch = 0; batch * BATCH < count; batch += 3) {
    uint64_t row = batch % BATCH;
    size_t begin = batch * BATCH + row;
    const cst_position from = {.epoch = epoch, .batch = batch, .row = row};
    delivery d = deliver_with(mix, from, 1 + (uint32_t)batch % 3);
    check_ids(&d, ids + begin, begin < count ? count - begin : 0);
    for (size_t i = 0; i < d.num_batches; i++) {
      CHECK_EQ(d.positions[i].epoch, epoch);
      CHECK_EQ(d.positions[i].batch, batch + i);
      CHECK_EQ(d.positions[i].row, i == 0 ? row : 0);
    }
    delivery_free(&d);
  }
}

static void check_mix(const cst_dataset_options *options, const double *weights, bool is_packed,
                      cst_mix_stop stop) {
  static int64_t ids[4000];
  mixed m = {.count = 0};
  add_dataset(&m, 61, false, *options);
  add_dataset(&m, 40, is_packed, *options);
  add_dataset(&m, 23, is_packed, *options);
  find_orders(&m, options, 2);
  size_t count = expect(&m.all, weights, m.count, stop, sizeof ids / sizeof *ids, ids);
  for (int32_t threads = 0; threads < 4; threads += 3) {
    uint64_t rows = 0;
    cst_dataset *mix = mix_of(&m, weights, stop, threads);
    CHECK_EQ(cst_dataset_num_rows(mix, &rows, NULL), CST_OK);
    CHECK_EQ(rows, count);
    check_begins(mix, ids, count, 2);
    cst_dataset_release(mix);
  }
  mixed_free(&m);
}

TEST(rows_are_dealt_out_by_their_weights) {
  static const double weights[][MOST] = {{1, 1, 1}, {7, 2, 1}, {1, 3, 9}};
  static const cst_shuffle shuffles[] = {CST_SHUFFLE_NONE, CST_SHUFFLE_WINDOW, CST_SHUFFLE_AUTO};
  for (size_t w = 0; w < 3; w++) {
    for (size_t s = 0; s < 3; s++) {
      cst_dataset_options options = CST_DATASET_OPTIONS_INIT;
      options.shuffle = shuffles[s];
      check_mix(&options, weights[w], false, w == 1 ? CST_MIX_ALL : CST_MIX_FIRST);
      check_mix(&options, weights[w], true, w == 1 ? CST_MIX_FIRST : CST_MIX_ALL);
    }
  }
}

/* A mix that repeats goes on behind any row, and says that it has no end. */
TEST(without_an_end) {
  static const double weights[] = {3, 1};
  static int64_t ids[200];
  cst_dataset_options options = CST_DATASET_OPTIONS_INIT;
  options.shuffle = CST_SHUFFLE_WINDOW;
  mixed m = {.count = 0};
  add_dataset(&m, 30, true, options);
  add_dataset(&m, 8, false, options);
  find_orders(&m, &options, 0);
  CHECK_EQ(expect(&m.all, weights, 2, CST_MIX_REPEAT, 200, ids), 200);
  cst_dataset *mix = mix_of(&m, weights, CST_MIX_REPEAT, 2);
  uint64_t rows = 1;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst_dataset_num_rows(mix, &rows, &error), CST_UNSUPPORTED);
  CHECK_CONTAINS(error.message, "has no end");
  CHECK_EQ(rows, 0);
  CHECK_EQ(cst_dataset_num_batches(mix, &rows, &error), CST_UNSUPPORTED);
  for (uint64_t batch = 0; batch < 20; batch += 6) {
    cst_loader *loader;
    delivery d = {.num_ids = 0};
    CHECK_EQ(cst_loader_new(mix, &(cst_position){.batch = batch}, 0, 1, &loader, NULL), CST_OK);
    while (batch + d.num_batches < 28) {
      CHECK(deliver_one(loader, &d));
    }
    check_ids(&d, ids + batch * BATCH, (28 - batch) * BATCH);
    delivery_free(&d);
    cst_loader_free(loader);
  }
  cst_loader *loader;
  const cst_position far = {.batch = UINT64_MAX / 5};
  CHECK_EQ(cst_loader_new(mix, &far, 0, 1, &loader, &error), CST_INVALID_ARGUMENT);
  cst_dataset_release(mix);
  mixed_free(&m);
}

/* Shards have every n-th batch of the one mix. */
TEST(shards_are_disjoint_and_together_whole) {
  static const double weights[] = {2, 1, 1};
  for (int drop = 0; drop < 2; drop++) {
    cst_dataset_options options = CST_DATASET_OPTIONS_INIT;
    options.shuffle = CST_SHUFFLE_AUTO;
    options.num_shards = 3;
    options.drop_last = drop > 0;
    int64_t ids[400];
    size_t seen = 0;
    for (options.shard = 0; options.shard < 3; options.shard++) {
      mixed m = {.count = 0};
      for (int i = 0; i < 3; i++) {
        add_dataset(&m, 50 + i, i == 1, options);
      }
      find_orders(&m, &options, 5);
      size_t count = expect(&m.all, weights, 3, CST_MIX_ALL, 400, ids);
      cst_dataset *mix = mix_of(&m, weights, CST_MIX_ALL, 2);
      delivery d = deliver(mix, 5);
      CHECK_EQ(d.status, CST_OK);
      for (size_t k = 0; k < d.num_batches; k++) {
        size_t begin = k > 0 ? d.ends[k - 1] : 0;
        size_t at = (3 * k + options.shard) * BATCH;
        CHECK(at + d.ends[k] - begin <= count);
        CHECK_MEM(d.ids + begin, ids + at, (d.ends[k] - begin) * sizeof *ids);
      }
      CHECK(drop == 0 || d.num_ids == count / BATCH / 3 * BATCH);
      seen += d.num_ids;
      CHECK(drop > 0 || options.shard < 2 || seen == count);
      delivery_free(&d);
      cst_dataset_release(mix);
      mixed_free(&m);
    }
  }
}

/* ---- weights ---- */

/* With two datasets of equal shares rows alternate; a weight that is next to nothing still has its
 * turn, once in 2^40 rows. */
TEST(weights_of_any_size) {
  static const double tiny[] = {1e300, 1e-300};
  static const double alike[] = {1e-310, 1e-310};
  cst_dataset_options options = CST_DATASET_OPTIONS_INIT;
  mixed m = {.count = 0};
  add_dataset(&m, 30, false, options);
  add_dataset(&m, 30, true, options);
  cst_dataset *mix = mix_of(&m, tiny, CST_MIX_FIRST, 0);
  delivery d = deliver(mix, 0);
  check_complete(&d, 30);
  delivery_free(&d);
  cst_dataset_release(mix);
  mix = mix_of(&m, tiny, CST_MIX_ALL, 0);
  uint64_t rows = 0;
  CHECK_EQ(cst_dataset_num_rows(mix, &rows, NULL), CST_OK);
  CHECK(rows > UINT64_C(29) << 40 && rows < UINT64_C(31) << 40);
  const cst_position late = {.batch = rows / BATCH};
  d = deliver_with(mix, late, 1);
  CHECK_EQ(d.num_ids, rows % BATCH);
  CHECK_EQ(d.ids[d.num_ids - 1], 1029);
  delivery_free(&d);
  cst_dataset_release(mix);
  mix = mix_of(&m, alike, CST_MIX_FIRST, 0);
  d = deliver(mix, 0);
  CHECK_EQ(d.num_ids, 60);
  for (int64_t i = 0; i < 60; i++) {
    CHECK_EQ(d.ids[i], i % 2 * 1000 + i / 2);
  }
  delivery_free(&d);
  cst_dataset_release(mix);
  mixed_free(&m);
}

/* ---- what cannot be mixed ---- */

static void check_refused(const mixed *m, const cst_mix_options *options, cst_status expected,
                          const char *message) {
  cst_dataset *mix;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst_dataset_mix(m->datasets, m->count, options, &mix, &error), expected);
  CHECK(mix == NULL);
  CHECK_STR(error.message, message);
}

TEST(options_that_differ) {
  cst_dataset_options options = CST_DATASET_OPTIONS_INIT;
  mixed m = {.count = 0};
  add_dataset(&m, 9, false, options);
  options.drop_last = true;
  add_dataset(&m, 9, false, options);
  check_refused(&m, NULL, CST_INVALID_ARGUMENT,
                "dataset 1 of the mix has drop_last 1, and the first one 0");
  mixed_free(&m);
  m = (mixed){.count = 0};
  options.num_shards = 2;
  add_dataset(&m, 9, false, options);
  options.shard = 1;
  add_dataset(&m, 9, false, options);
  check_refused(&m, NULL, CST_INVALID_ARGUMENT,
                "dataset 1 of the mix has shard 1, and the first one 0");
  mixed_free(&m);
}

TEST(weights_and_mixes_that_are_none) {
  static const double wrong[] = {0, -1, INFINITY, NAN};
  cst_dataset_options options = CST_DATASET_OPTIONS_INIT;
  cst_mix_options o = CST_MIX_OPTIONS_INIT;
  mixed m = {.count = 0};
  add_dataset(&m, 9, false, options);
  cst_error error = CST_ERROR_INIT;
  for (size_t i = 0; i < 4; i++) {
    cst_dataset *mix;
    o.weights = &wrong[i];
    CHECK_EQ(cst_dataset_mix(m.datasets, 1, &o, &mix, &error), CST_INVALID_ARGUMENT);
    CHECK_CONTAINS(error.message, "weight 0 is");
  }
  mixed nested = m;
  nested.datasets[0] = mix_of(&m, NULL, CST_MIX_FIRST, 0);
  check_refused(&nested, NULL, CST_INVALID_ARGUMENT, "dataset 0 of the mix is a mix itself");
  uint64_t row;
  CHECK_EQ(cst_dataset_order(nested.datasets[0], 0, 0, 1, &row, &error), CST_UNSUPPORTED);
  cst_dataset_release(nested.datasets[0]);
  m.count = 0;
  check_refused(&m, NULL, CST_INVALID_ARGUMENT, "0 datasets to mix, expected 1 to 1024");
  m.count = 1;
  mixed_free(&m);
}

/* Without rows there is nothing to begin again with; FIRST ends at the first turn of it. */
TEST(a_dataset_without_rows) {
  cst_dataset_options options = CST_DATASET_OPTIONS_INIT;
  mixed m = {.count = 0};
  const char *path = write_examples("none.tfrecord", 0, 0);
  add_dataset(&m, 9, false, options);
  cst_source_options like = CST_SOURCE_OPTIONS_INIT;
  const cst_schema *schema;
  CHECK_EQ(cst_source_schema(m.sources[0], &schema, NULL), CST_OK);
  like.schema = schema;
  CHECK_EQ(cst_source_open(&path, 1, &like, &m.sources[1], NULL), CST_OK);
  options.batch_size = BATCH;
  m.datasets[1] = dataset_of(m.sources[1], &options);
  m.count = 2;
  cst_dataset *mix = mix_of(&m, NULL, CST_MIX_FIRST, 0);
  delivery d = deliver(mix, 0);
  CHECK_EQ(d.status, CST_OK);
  CHECK_EQ(d.num_ids, 1);
  delivery_free(&d);
  cst_dataset_release(mix);
  mix = mix_of(&m, NULL, CST_MIX_ALL, 0);
  cst_loader *loader;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst_loader_new(mix, &(cst_position){.row = 0}, 0, 1, &loader, &error),
           CST_INVALID_ARGUMENT);
  CHECK_CONTAINS(error.message, "dataset 1 of the mix has no rows");
  cst_dataset_release(mix);
  mixed_free(&m);
}

/* ---- memory ---- */

static int run_scenario(void *ctx) {
  const mixed *m = ctx;
  static const double weights[] = {2, 1};
  cst_mix_options options = CST_MIX_OPTIONS_INIT;
  options.weights = weights;
  options.stop = CST_MIX_ALL;
  cst_dataset *mix;
  cst_status status = cst_dataset_mix(m->datasets, m->count, &options, &mix, NULL);
  cst_loader *loader = NULL;
  if (status == CST_OK) {
    status = cst_loader_new(mix, &(cst_position){.row = 0}, 0, 1, &loader, NULL);
  }
  for (int i = 0; i < 3 && status == CST_OK; i++) {
    struct ArrowArray batch;
    status = cst_loader_next(loader, &batch, NULL, NULL);
    if (status == CST_OK) {
      batch.release(&batch);
    }
  }
  cst_loader_free(loader);
  cst_dataset_release(mix);
  return (int)status;
}

TEST(every_allocation_may_fail) {
  cst_dataset_options options = CST_DATASET_OPTIONS_INIT;
  options.shuffle = CST_SHUFFLE_WINDOW;
  mixed m = {.count = 0};
  add_dataset(&m, 12, true, options);
  add_dataset(&m, 12, false, options);
  FOR_EACH_ALLOCATION_FAILURE(run_scenario, &m, CST_NO_MEMORY);
  mixed_free(&m);
}
