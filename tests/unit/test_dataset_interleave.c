/* Windows that mix files: files that are read at once, on every way in which files are read; taken
 * up at every batch, sharded, and with damaged records. The files hold one label each: their
 * number.
 */
#include "dataset_support.h"

enum { MOST_FILES = 12, LABEL = 1000 /* ids of file i begin at i * LABEL */ };

typedef enum container { PACKED, PLAIN, CSV } container;
static const container containers[] = {PACKED, CSV};

typedef struct labelled {
  char *paths[MOST_FILES];
  int rows[MOST_FILES];
  size_t count;
  cst_source *source;
} labelled;

static void add_lines(bytes *out, int begin, int rows) {
  bytes_add(out, "id,name\n", 8);
  for (int i = 0; i < rows; i++) {
    char line[32];
    int size = snprintf(line, sizeof line, "%d,n%d\n", begin + i, i);
    bytes_add(out, line, (size_t)size);
  }
}

static char *write_labelled(container kind, int number, int rows) {
  static const char *const endings[] = {"gz", "tfrecord", "csv"};
  char name[32];
  bytes plain = {0};
  bytes packed = {0};
  (void)snprintf(name, sizeof name, "label%02d.%s", number, endings[kind]);
  if (kind == CSV) {
    add_lines(&plain, number * LABEL, rows);
  } else {
    add_examples(&plain, number * LABEL, number * LABEL + rows);
  }
  if (kind == PACKED) {
    CHECK_EQ(add_compressed(&packed, CST_COMPRESSION_GZIP, plain.data, plain.size), CST_OK);
  }
  char *path = strdup(write_bytes(name, kind == PACKED ? &packed : &plain));
  bytes_free(&plain);
  bytes_free(&packed);
  return path;
}

static const char label_schema[] =
    "feature { name: 'id' type: INT } feature { name: 'name' type: BYTES }";

static cst_source *open_labelled(const labelled *l, int32_t threads, cst_on_error on_error) {
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  cst_error error = CST_ERROR_INIT;
  cst_schema *schema = NULL;
  cst_source *source = NULL;
  CHECK_EQ(cst_schema_from_text(label_schema, strlen(label_schema), &schema, &error), CST_OK);
  options.schema = schema;
  options.threads = threads;
  options.on_error = on_error;
  CHECK_EQ(cst_source_open((const char *const *)l->paths, l->count, &options, &source, &error),
           CST_OK);
  CHECK_STR(error.message, "");
  cst_schema_release(schema);
  return source;
}

static labelled labelled_files(container kind, const int *rows, size_t count) {
  labelled l = {.count = count};
  for (size_t i = 0; i < count; i++) {
    l.rows[i] = rows[i];
    l.paths[i] = write_labelled(kind, (int)i, rows[i]);
  }
  l.source = open_labelled(&l, 1, CST_ON_ERROR_RAISE);
  return l;
}

static void labelled_free(labelled *l) {
  cst_source_release(l->source);
  for (size_t i = 0; i < l->count; i++) {
    free(l->paths[i]);
  }
}

static cst_dataset_options windows_of(int64_t window, int32_t interleave) {
  cst_dataset_options options = CST_DATASET_OPTIONS_INIT;
  options.shuffle = CST_SHUFFLE_WINDOW;
  options.batch_size = 10;
  options.window = window;
  options.interleave = interleave;
  options.seed = 5;
  return options;
}

/* Each row of the files once. */
static void check_all_rows(const labelled *l, const delivery *d) {
  uint8_t seen[MOST_FILES][LABEL] = {{0}};
  size_t total = 0;
  CHECK_EQ(d->status, CST_OK);
  CHECK_STR(d->error.message, "");
  for (size_t i = 0; i < l->count; i++) {
    total += (size_t)l->rows[i];
  }
  CHECK_EQ(d->num_ids, total);
  for (size_t i = 0; i < d->num_ids; i++) {
    int64_t file = d->ids[i] / LABEL;
    CHECK(file < (int64_t)l->count && d->ids[i] % LABEL < l->rows[file]);
    CHECK_EQ(seen[file][d->ids[i] % LABEL]++, 0);
  }
}

/* The labels among ids [begin, end). */
static int count_labels(const delivery *d, size_t begin, size_t end) {
  bool seen[MOST_FILES] = {false};
  int labels = 0;
  for (size_t i = begin; i < end && i < d->num_ids; i++) {
    labels += !seen[d->ids[i] / LABEL];
    seen[d->ids[i] / LABEL] = true;
  }
  return labels;
}

static const int ten_files[] = {100, 100, 100, 100, 100, 100, 100, 100, 100, 100};

/* Of ten files of one label each, every window has all labels; one after the other, windows have
 * that of one file or two. */
TEST(windows_have_the_labels_of_all_files) {
  static const container all[] = {PACKED, PLAIN, CSV};
  for (size_t k = 0; k < 3; k++) {
    labelled l = labelled_files(all[k], ten_files, 10);
    for (int32_t interleave = 0; interleave < 2; interleave++) {
      cst_dataset_options options = windows_of(100, interleave);
      cst_dataset *dataset = dataset_of(l.source, &options);
      delivery d = deliver(dataset, 3);
      check_all_rows(&l, &d);
      for (size_t begin = 0; begin < 1000; begin += 100) {
        int labels = count_labels(&d, begin, begin + 100);
        CHECK(interleave == 1 ? labels <= 2 : labels >= (all[k] == PLAIN ? 5 : 10));
      }
      delivery_free(&d);
      cst_dataset_release(dataset);
    }
    labelled_free(&l);
  }
}

/* Seven files, three at once: groups of two, two and three, which the positions begin at. */
TEST(files_are_read_in_groups) {
  static const int rows[] = {60, 60, 60, 60, 60, 60, 60};
  for (size_t k = 0; k < 2; k++) {
    labelled l = labelled_files(containers[k], rows, 7);
    cst_dataset_options options = windows_of(60, 3);
    cst_dataset *dataset = dataset_of(l.source, &options);
    delivery d = deliver(dataset, 0);
    check_all_rows(&l, &d);
    CHECK_EQ(count_labels(&d, 0, 120), 2);
    CHECK_EQ(count_labels(&d, 120, 240), 2);
    CHECK_EQ(count_labels(&d, 240, 420), 3);
    for (size_t i = 0; i < d.num_batches; i++) {
      uint64_t group = i < 12 ? 0 : i < 24 ? 1 : 2;
      CHECK_EQ(d.positions[i].file, group * 2);
      CHECK_EQ(d.positions[i].rows_before, group * 120);
    }
    cst_loader *loader;
    cst_error error = CST_ERROR_INIT;
    cst_position within = {.batch = 30, .file = 3, .rows_before = 180};
    CHECK_EQ(cst_loader_new(dataset, &within, 0, 1, &loader, &error), CST_INVALID_ARGUMENT);
    CHECK_STR(error.message, "no batch begins with row 300 after 3 files and 180 rows");
    delivery_free(&d);
    cst_dataset_release(dataset);
    labelled_free(&l);
  }
}

/* A large file among small ones: all of them last until the end. */
TEST(large_and_small_files_end_together) {
  static const int rows[] = {900, 30, 60, 30};
  for (size_t k = 0; k < 2; k++) {
    labelled l = labelled_files(containers[k], rows, 4);
    cst_dataset_options options = windows_of(200, 0);
    cst_dataset *dataset = dataset_of(l.source, &options);
    delivery d = deliver(dataset, 1);
    check_all_rows(&l, &d);
    for (size_t begin = 0; begin < 800; begin += 200) {
      CHECK(count_labels(&d, begin, begin + 200) >= 3);
    }
    delivery_free(&d);
    cst_dataset_release(dataset);
    labelled_free(&l);
  }
}

TEST(one_file_is_read_as_it_was) {
  static const int rows[] = {230};
  for (size_t k = 0; k < 2; k++) {
    labelled l = labelled_files(containers[k], rows, 1);
    cst_dataset_options options = windows_of(40, 1);
    cst_dataset *alone = dataset_of(l.source, &options);
    options.interleave = 8;
    cst_dataset *mixing = dataset_of(l.source, &options);
    delivery expected = deliver(alone, 0);
    delivery d = deliver(mixing, 0);
    check_all_rows(&l, &d);
    check_delivery(&d, &expected, 0);
    delivery_free(&d);
    delivery_free(&expected);
    cst_dataset_release(alone);
    cst_dataset_release(mixing);
    labelled_free(&l);
  }
}

/* Threads, workers, and the batch at which it is taken up change nothing; shards divide it. */
static void check_unchanged(const labelled *l, cst_on_error on_error, int32_t interleave) {
  cst_dataset_options options = windows_of(70, interleave);
  cst_source *source = open_labelled(l, 1, on_error);
  cst_dataset *dataset = dataset_of(source, &options);
  delivery expected = deliver(dataset, 2);
  check_all_rows(l, &expected);
  for (size_t k = 0; k < expected.num_batches; k += 3) {
    cst_position from = expected.positions[k];
    delivery d = deliver_with(dataset, from, 1 + (uint32_t)k % 3);
    check_delivery(&d, &expected, k);
    delivery_free(&d);
    from.file = from.rows_before = 0;
    d = deliver_with(dataset, from, 1);
    check_delivery(&d, &expected, k);
    delivery_free(&d);
  }
  cst_dataset_release(dataset);
  for (int32_t threads = 2; threads < 5; threads++) {
    cst_source *other = open_labelled(l, threads, on_error);
    options.prefetch = options.threads = on_error == CST_ON_ERROR_RAISE ? threads : 0;
    dataset = dataset_of(other, &options);
    delivery d = deliver_with(dataset, (cst_position){.epoch = 2}, (uint32_t)threads);
    check_delivery(&d, &expected, 0);
    delivery_free(&d);
    cst_dataset_release(dataset);
    cst_source_release(other);
  }
  options.num_shards = 3;
  for (options.shard = 0; options.shard < 3; options.shard++) {
    dataset = dataset_of(source, &options);
    delivery d = deliver(dataset, 2);
    for (size_t k = 0; k < d.num_batches; k++) {
      size_t of_whole = 3 * k + options.shard;
      size_t own = k > 0 ? d.ends[k - 1] : 0;
      CHECK_EQ(d.ends[k] - own,
               expected.ends[of_whole] - (of_whole > 0 ? expected.ends[of_whole - 1] : 0));
      CHECK_EQ(d.ids[own], expected.ids[of_whole > 0 ? expected.ends[of_whole - 1] : 0]);
    }
    delivery_free(&d);
    cst_dataset_release(dataset);
  }
  delivery_free(&expected);
  cst_source_release(source);
}

TEST(nothing_else_changes_the_order) {
  static const int rows[] = {31, 0, 150, 1, 77, 40, 5, 90};
  for (size_t k = 0; k < 2; k++) {
    labelled l = labelled_files(containers[k], rows, 8);
    for (int32_t interleave = 0; interleave < 9; interleave += 2) {
      check_unchanged(&l, CST_ON_ERROR_RAISE, interleave);
      check_unchanged(&l, CST_ON_ERROR_SKIP, interleave);
    }
    labelled_free(&l);
  }
}

/* Views point into blocks of several files, and are picked as columns. */
TEST(views_of_files_that_are_read_at_once) {
  labelled l = labelled_files(PACKED, ten_files, 10);
  cst_source_options so = CST_SOURCE_OPTIONS_INIT;
  cst_source *views = NULL;
  so.column_flags = CST_COLUMNS_BINARY_VIEWS;
  CHECK_EQ(cst_source_open((const char *const *)l.paths, l.count, &so, &views, NULL), CST_OK);
  cst_dataset_options options = windows_of(100, 4);
  cst_dataset *of_views = dataset_of(views, &options);
  cst_dataset *of_copies = dataset_of(l.source, &options);
  delivery expected = deliver(of_copies, 4);
  delivery d = deliver(of_views, 4);
  check_all_rows(&l, &d);
  check_delivery(&d, &expected, 0);
  for (size_t k = 0; k < expected.num_batches; k += 7) {
    CHECK_EQ(d.positions[k].file, expected.positions[k].file);
    delivery rest = deliver_with(of_views, d.positions[k], 2);
    check_delivery(&rest, &expected, k);
    delivery_free(&rest);
  }
  delivery_free(&d);
  delivery_free(&expected);
  cst_dataset_release(of_views);
  cst_dataset_release(of_copies);
  cst_source_release(views);
  labelled_free(&l);
}

/* A file that is damaged fails where its turn has come to it, for every number of threads. */
TEST(failures_have_their_place) {
  static const int rows[] = {100, 100, 100, 100};
  labelled l = labelled_files(PACKED, rows, 4);
  bytes damaged = {0};
  add_examples(&damaged, 2 * LABEL, 2 * LABEL + 100);
  damaged.data[damaged.size / 2] ^= 1;
  free(l.paths[2]);
  l.paths[2] = strdup(write_bytes("damaged.tfrecord", &damaged));
  delivery first = {.num_ids = 0};
  for (int32_t threads = 1; threads < 4; threads++) {
    cst_dataset_options options = windows_of(40, 4);
    options.prefetch = options.threads = threads - 1;
    cst_source *source = open_labelled(&l, threads, CST_ON_ERROR_RAISE);
    cst_dataset *dataset = dataset_of(source, &options);
    delivery d = deliver(dataset, 0);
    CHECK_EQ(d.status, CST_CORRUPT);
    CHECK_CONTAINS(d.error.file, "damaged.tfrecord");
    if (threads == 1) {
      first = d;
      CHECK(d.num_batches > 0);
    } else {
      CHECK_EQ(d.num_ids, first.num_ids);
      CHECK_MEM(d.ids, first.ids, d.num_ids * sizeof *d.ids);
      CHECK_STR(d.error.message, first.error.message);
      delivery_free(&d);
    }
    cst_dataset_release(dataset);
    cst_source_release(source);
  }
  delivery_free(&first);
  bytes_free(&damaged);
  labelled_free(&l);
}

typedef struct scenario {
  const labelled *files;
  cst_schema *schema;
} scenario;

static cst_status read_all(cst_dataset *dataset) {
  cst_loader *loader;
  struct ArrowArray batch = {.release = NULL};
  CST__TRY(cst_loader_new(dataset, &(cst_position){0}, 0, 1, &loader, NULL));
  cst_status status = cst_loader_next(loader, &batch, NULL, NULL);
  while (status == CST_OK && batch.release != NULL) {
    batch.release(&batch);
    status = cst_loader_next(loader, &batch, NULL, NULL);
  }
  cst_loader_free(loader);
  return status;
}

static int run_scenario(void *context) {
  const scenario *s = context;
  cst_source *source = NULL;
  cst_dataset *dataset = NULL;
  cst_source_options so = CST_SOURCE_OPTIONS_INIT;
  cst_dataset_options options = windows_of(40, 3);
  so.schema = s->schema;
  CST__TRY(
      cst_source_open((const char *const *)s->files->paths, s->files->count, &so, &source, NULL));
  cst_status status = cst_dataset_new(source, &options, &dataset, NULL);
  if (status == CST_OK) {
    status = read_all(dataset);
  }
  cst_dataset_release(dataset);
  cst_source_release(source);
  return (int)status;
}

TEST(every_allocation_may_fail) {
  static const int rows[] = {30, 30, 30, 30, 30};
  for (size_t k = 0; k < 2; k++) {
    labelled l = labelled_files(containers[k], rows, 5);
    scenario s = {.files = &l};
    CHECK_EQ(cst_schema_from_text(label_schema, strlen(label_schema), &s.schema, NULL), CST_OK);
    FOR_EACH_ALLOCATION_FAILURE(run_scenario, &s, CST_NO_MEMORY);
    cst_schema_release(s.schema);
    labelled_free(&l);
  }
}

TEST(only_shuffled_rows_are_interleaved) {
  labelled l = labelled_files(PACKED, ten_files, 2);
  cst_dataset_options options = windows_of(40, 2);
  cst_dataset *dataset = NULL;
  cst_error error = CST_ERROR_INIT;
  options.shuffle = CST_SHUFFLE_NONE;
  CHECK_EQ(cst_dataset_new(l.source, &options, &dataset, &error), CST_INVALID_ARGUMENT);
  CHECK_STR(error.message,
            "interleave is 2, but rows that are not shuffled keep the source's order");
  options.shuffle = CST_SHUFFLE_WINDOW;
  options.interleave = 5000;
  CHECK_EQ(cst_dataset_new(l.source, &options, &dataset, &error), CST_INVALID_ARGUMENT);
  CHECK_STR(error.message, "interleave is 5000, it must be 0 to 1024");
  labelled_free(&l);
}
