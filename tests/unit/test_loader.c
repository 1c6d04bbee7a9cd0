/* Loaders: failures in their place, tensors made ahead, early ends, forks, several at once, and
 * allocation failures. */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dataset_support.h"

enum { ROWS = 120 };

static cst_dataset_options ahead_of(int32_t prefetch, int32_t threads) {
  cst_dataset_options options = CST_DATASET_OPTIONS_INIT;
  options.batch_size = 8;
  options.window = 24;
  options.shuffle = CST_SHUFFLE_AUTO;
  options.prefetch = prefetch;
  options.threads = threads;
  return options;
}

/* ---- failures ---- */

static void read_whole(const char *path, bytes *out) {
  char buffer[4096];
  FILE *file = fopen(path, "rb");
  CHECK(file != NULL);
  for (size_t got = fread(buffer, 1, sizeof buffer, file); got > 0;
       got = fread(buffer, 1, sizeof buffer, file)) {
    bytes_add(out, buffer, got);
  }
  (void)fclose(file);
}

/* A file whose record `bad` has a wrong CRC of its data, plain or compressed. */
static const char *write_damaged(int bad, cst_compression compression) {
  bytes file = {0};
  bytes packed = {0};
  add_examples(&file, 0, ROWS);
  file.data[record_offset(&file, bad) + 14] ^= 1;
  CHECK_EQ(add_compressed(&packed, compression, file.data, file.size), CST_OK);
  const char *path = write_bytes("bad.tfrecord", &packed);
  bytes_free(&file);
  bytes_free(&packed);
  return path;
}

static cst_source *open_damaged(int bad, cst_compression compression, cst_on_error on_error) {
  const char *good = write_examples("good.tfrecord", 0, ROWS);
  cst_schema *schema = NULL;
  cst_source *source = NULL;
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  cst_source *sound = open_examples(&good, 1, 0, 1);
  CHECK_EQ(cst_source_infer(sound, NULL, NULL, &schema, NULL), CST_OK);
  cst_source_release(sound);
  const char *path = write_damaged(bad, compression);
  options.schema = schema;
  options.on_error = on_error;
  CHECK_EQ(cst_source_open(&path, 1, &options, &source, NULL), CST_OK);
  cst_schema_release(schema);
  return source;
}

static void check_failures(cst_compression compression) {
  cst_source *source = open_damaged(50, compression, CST_ON_ERROR_RAISE);
  for (int threads = 0; threads <= 3; threads++) {
    cst_dataset_options options = ahead_of(threads > 0 ? 4 : 0, threads);
    options.shuffle = CST_SHUFFLE_NONE;
    cst_dataset *dataset = dataset_of(source, &options);
    cst_loader *loader = NULL;
    delivery d = {.num_ids = 0};
    CHECK_EQ(cst_loader_new(dataset, &(cst_position){0}, 0, 1, &loader, NULL), CST_OK);
    while (deliver_one(loader, &d)) {
    }
    CHECK_EQ(d.num_batches, 6);
    for (int again = 0; again < 2; again++) {
      CHECK_EQ(d.status, CST_CORRUPT);
      CHECK_EQ(d.error.record, 50);
      CHECK_CONTAINS(d.error.file, "bad.tfrecord");
      CHECK(!deliver_one(loader, &d));
    }
    cst_loader_free(loader);
    delivery_free(&d);
    cst_dataset_release(dataset);
  }
  cst_source_release(source);
}

TEST(failures_come_in_their_place) {
  check_failures(CST_COMPRESSION_NONE);
  check_failures(CST_COMPRESSION_GZIP);
}

/* The batches in front of where a compressed file breaks off. */
TEST(files_that_break_off) {
  const char *paths[4];
  (void)packed_files(paths, 30000);
  bytes whole = {0};
  read_whole(paths[2], &whole);
  whole.size = whole.size / 2;
  const char *path = write_bytes("half.gz", &whole);
  bytes_free(&whole);
  cst_schema *schema = NULL;
  cst_source *source = NULL;
  cst_source_options so = CST_SOURCE_OPTIONS_INIT;
  static const char text[] = "feature { name: 'id' type: INT }";
  CHECK_EQ(cst_schema_from_text(text, strlen(text), &schema, NULL), CST_OK);
  so.schema = schema;
  CHECK_EQ(cst_source_open(&path, 1, &so, &source, NULL), CST_OK);
  size_t batches = 0;
  for (int threads = 0; threads <= 2; threads++) {
    cst_dataset_options options = ahead_of(threads * 2, threads);
    options.batch_size = 100;
    options.shuffle = CST_SHUFFLE_NONE;
    cst_dataset *dataset = dataset_of(source, &options);
    delivery d = deliver(dataset, 0);
    CHECK(d.status != CST_OK && d.num_batches > 10);
    CHECK_EQ(d.num_ids, d.num_batches * 100);
    CHECK(is_sorted(&d));
    CHECK_CONTAINS(d.error.file, "half.gz");
    CHECK(threads == 0 || d.num_batches == batches);
    batches = d.num_batches;
    delivery_free(&d);
    cst_dataset_release(dataset);
  }
  cst_source_release(source);
  cst_schema_release(schema);
}

/* Sources that drop damaged records are read in order. */
TEST(damaged_records_are_dropped) {
  cst_source *source = open_damaged(50, CST_COMPRESSION_NONE, CST_ON_ERROR_SKIP);
  for (int threads = 0; threads <= 2; threads++) {
    cst_dataset_options options = ahead_of(threads, threads);
    cst_dataset *dataset = dataset_of(source, &options);
    cst_shuffle found;
    uint64_t rows;
    CHECK_EQ(cst_dataset_shuffle(dataset, &found, NULL), CST_OK);
    CHECK_EQ(found, CST_SHUFFLE_WINDOW);
    if (threads == 2) {
      CHECK_EQ(cst_dataset_num_rows(dataset, &rows, NULL), CST_OK);
      CHECK_EQ(rows, ROWS - 1);
    }
    delivery d = deliver(dataset, 0);
    CHECK_EQ(d.status, CST_OK);
    CHECK_EQ(d.num_ids, ROWS - 1);
    CHECK_EQ(cst_dataset_num_rows(dataset, &rows, NULL), CST_OK);
    CHECK_EQ(rows, ROWS - 1);
    delivery_free(&d);
    cst_dataset_release(dataset);
  }
  cst_source_release(source);
}

/* A row without the value that its dense tensor needs is named. */
TEST(rows_that_fit_no_tensor) {
  static const char text[] =
      "feature { name: 'x' type: FLOAT shape {} presence { min_fraction: 1 min_count: 1 } }";
  cst_schema *schema = NULL;
  CHECK_EQ(cst_schema_from_text(text, strlen(text), &schema, NULL), CST_OK);
  cst_source_options so = CST_SOURCE_OPTIONS_INIT;
  so.schema = schema;
  const char *paths[4];
  for (int packed = 0; packed < 2; packed++) {
    size_t count = packed ? packed_files(paths, ROWS) : plain_files(paths, ROWS);
    cst_source *source = NULL;
    struct ArrowSchema columns;
    cst_specs *specs = NULL;
    cst_tensor_adapter *adapter = NULL;
    cst_tensors *tensors = NULL;
    cst_loader *loader = NULL;
    cst_error error = CST_ERROR_INIT;
    CHECK_EQ(cst_source_open(paths, packed ? 1 : count, &so, &source, NULL), CST_OK);
    CHECK_EQ(cst_source_arrow_schema(source, &columns, NULL), CST_OK);
    CHECK_EQ(cst_source_specs(source, &specs, NULL), CST_OK);
    CHECK_EQ(cst_tensor_adapter_new(&columns, specs, NULL, &adapter, NULL), CST_OK);
    cst_dataset_options options = ahead_of(2, 2);
    options.shuffle = packed ? CST_SHUFFLE_WINDOW : CST_SHUFFLE_GLOBAL;
    cst_dataset *dataset = dataset_of(source, &options);
    CHECK_EQ(cst_loader_new(dataset, &(cst_position){0}, 0, 1, &loader, NULL), CST_OK);
    CHECK_EQ(cst_loader_next_tensors(loader, adapter, &tensors, NULL, &error), CST_SCHEMA);
    CHECK(tensors == NULL);
    CHECK_STR(error.path, "x");
    CHECK_EQ(error.record % 3, packed ? 0 : error.record % 3);
    CHECK(error.record >= 0);
    CHECK_CONTAINS(error.file, packed ? "d0.gz" : ".tfrecord");
    cst_loader_free(loader);
    cst_dataset_release(dataset);
    cst_tensor_adapter_free(adapter);
    cst_specs_release(specs);
    columns.release(&columns);
    cst_source_release(source);
  }
  cst_schema_release(schema);
}

/* ---- tensors ---- */

typedef struct with_tensors {
  cst_source *source;
  cst_tensor_adapter *adapter;
} with_tensors;

static with_tensors open_tensors(size_t (*write)(const char *paths[4], int rows)) {
  with_tensors w = {NULL, NULL};
  const char *paths[4];
  struct ArrowSchema columns;
  cst_specs *specs = NULL;
  w.source = open_examples(paths, write(paths, ROWS), 0, 1);
  CHECK_EQ(cst_source_arrow_schema(w.source, &columns, NULL), CST_OK);
  CHECK_EQ(cst_source_specs(w.source, &specs, NULL), CST_OK);
  CHECK_EQ(cst_tensor_adapter_new(&columns, specs, NULL, &w.adapter, NULL), CST_OK);
  cst_specs_release(specs);
  columns.release(&columns);
  return w;
}

static void close_tensors(with_tensors *w) {
  cst_tensor_adapter_free(w->adapter);
  cst_source_release(w->source);
}

/* The ids of all tensors are those of all batches. */
static void check_tensors(const with_tensors *w, int32_t prefetch, int32_t threads) {
  cst_dataset_options options = ahead_of(prefetch, threads);
  cst_dataset *dataset = dataset_of(w->source, &options);
  delivery expected = deliver(dataset, 3);
  cst_loader *loader = NULL;
  size_t at = 0;
  size_t batch = 0;
  check_complete(&expected, ROWS);
  CHECK_EQ(cst_loader_new(dataset, &(cst_position){3}, 0, 1, &loader, NULL), CST_OK);
  for (;;) {
    cst_tensors *tensors = NULL;
    cst_position position;
    CHECK_EQ(cst_loader_next_tensors(loader, w->adapter, &tensors, &position, NULL), CST_OK);
    if (tensors == NULL) {
      break;
    }
    const cst_tensor *id = cst_tensors_find(tensors, "id");
    CHECK_EQ(position.batch, batch++);
    for (int64_t i = 0; i < id->values.size; i++) {
      CHECK_EQ(((const int64_t *)id->values.data)[i], expected.ids[at++]);
    }
    cst_tensors_release(tensors);
  }
  CHECK_EQ(at, ROWS);
  cst_loader_free(loader);
  delivery_free(&expected);
  cst_dataset_release(dataset);
}

TEST(tensors_are_those_of_the_batches) {
  with_tensors plain = open_tensors(plain_files);
  with_tensors packed = open_tensors(packed_files);
  for (int32_t threads = 0; threads <= 3; threads++) {
    check_tensors(&plain, threads * 2, threads);
    check_tensors(&packed, threads, threads);
  }
  close_tensors(&plain);
  close_tensors(&packed);
}

TEST(a_loader_gives_one_kind) {
  with_tensors w = open_tensors(plain_files);
  cst_dataset_options options = ahead_of(2, 1);
  cst_dataset *dataset = dataset_of(w.source, &options);
  cst_loader *loader = NULL;
  cst_tensors *tensors = NULL;
  struct ArrowArray batch;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst_loader_new(dataset, &(cst_position){0}, 0, 1, &loader, NULL), CST_OK);
  CHECK_EQ(cst_loader_next_tensors(loader, w.adapter, &tensors, NULL, NULL), CST_OK);
  cst_tensors_release(tensors);
  CHECK_EQ(cst_loader_next(loader, &batch, NULL, &error), CST_STATE);
  CHECK(batch.release == NULL);
  CHECK_STR(error.message, "a loader gives batches, or tensors by one adapter");
  cst_loader_free(loader);
  CHECK_EQ(cst_loader_new(NULL, NULL, 0, 1, &loader, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_loader_next(NULL, &batch, NULL, &error), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_loader_next_tensors(NULL, NULL, &tensors, NULL, &error), CST_INVALID_ARGUMENT);
  cst_loader_free(NULL);
  cst_dataset_release(dataset);
  close_tensors(&w);
}

/* ---- ends, threads, forks ---- */

TEST(ended_at_every_batch) {
  const char *paths[4];
  for (int packed = 0; packed < 2; packed++) {
    size_t count = packed ? packed_files(paths, ROWS) : plain_files(paths, ROWS);
    cst_source *source = open_examples(paths, count, 0, 2);
    cst_dataset_options options = ahead_of(5, 3);
    cst_dataset *dataset = dataset_of(source, &options);
    for (int taken = 0; taken <= ROWS / 8 + 1; taken++) {
      cst_loader *loader = NULL;
      delivery d = {.num_ids = 0};
      CHECK_EQ(cst_loader_new(dataset, &(cst_position){0}, 0, 1, &loader, NULL), CST_OK);
      for (int i = 0; i < taken; i++) {
        (void)deliver_one(loader, &d);
      }
      cst_loader_free(loader);
      delivery_free(&d);
    }
    cst_dataset_release(dataset);
    cst_source_release(source);
  }
}

static void *deliver_thread(void *arg) {
  cst_dataset *dataset = arg;
  delivery *d = malloc(sizeof *d);
  *d = deliver(dataset, 5);
  return d;
}

TEST(several_at_once) {
  const char *paths[4];
  cst_source *source = open_examples(paths, plain_files(paths, ROWS), 0, 1);
  cst_dataset_options options = ahead_of(3, 2);
  cst_dataset *dataset = dataset_of(source, &options);
  pthread_t threads[4];
  delivery expected = deliver(dataset, 5);
  for (int i = 0; i < 4; i++) {
    CHECK_EQ(pthread_create(&threads[i], NULL, deliver_thread, dataset), 0);
  }
  for (int i = 0; i < 4; i++) {
    void *result;
    pthread_join(threads[i], &result);
    check_delivery(result, &expected, 0);
    delivery_free(result);
    free(result);
  }
  delivery_free(&expected);
  cst_dataset_release(dataset);
  cst_source_release(source);
}

#if defined(__SANITIZE_THREAD__)
enum { CHILD_THREADS = 0 }; /* the sanitizer allows none behind a fork */
#else
enum { CHILD_THREADS = 2 };
#endif

/* The child reads from the same source, whose locks the parent's threads did not hold. */
static int read_in_child(cst_source *source, const delivery *expected) {
  cst_dataset_options options = ahead_of(CHILD_THREADS, CHILD_THREADS);
  pid_t child = fork();
  if (child == 0) {
    delivery d = deliver(dataset_of(source, &options), 5);
    bool same = d.num_ids == expected->num_ids &&
                memcmp(d.ids, expected->ids, d.num_ids * sizeof *d.ids) == 0;
    _exit(same ? 0 : 1);
  }
  int status = -1;
  CHECK_EQ(waitpid(child, &status, 0), child);
  return status;
}

TEST(forks_beside_running_loaders) {
  harness_skip_if_emulated("qemu itself does not fork beside running threads");
  const char *paths[4];
  cst_source *source = open_examples(paths, plain_files(paths, ROWS), 0, 1);
  cst_dataset_options options = ahead_of(3, 2);
  cst_dataset *dataset = dataset_of(source, &options);
  delivery expected = deliver(dataset, 5);
  for (int round = 0; round < 20; round++) {
    cst_loader *loader = NULL;
    delivery d = {.num_ids = 0};
    CHECK_EQ(cst_loader_new(dataset, &(cst_position){5}, 0, 1, &loader, NULL), CST_OK);
    CHECK(deliver_one(loader, &d));
    CHECK_EQ(read_in_child(source, &expected), 0);
    while (deliver_one(loader, &d)) {
    }
    check_delivery(&d, &expected, 0);
    cst_loader_free(loader);
    delivery_free(&d);
  }
  delivery_free(&expected);
  cst_dataset_release(dataset);
  cst_source_release(source);
}

static void check_forked_loaders(cst_source *source, cst_shuffle shuffle) {
  cst_dataset_options options = ahead_of(3, 2);
  options.shuffle = shuffle;
  cst_dataset *dataset = dataset_of(source, &options);
  for (int round = 0; round < 20; round++) {
    cst_loader *loader = NULL;
    delivery d = {.num_ids = 0};
    CHECK_EQ(cst_loader_new(dataset, &(cst_position){1}, 0, 1, &loader, NULL), CST_OK);
    CHECK(deliver_one(loader, &d));
    pid_t child = fork();
    if (child == 0) {
      (void)alarm(60);
      bool told = !deliver_one(loader, &d) && d.status == CST_STATE &&
                  strstr(d.error.message, "this loader was created before a fork") != NULL;
      cst_loader_free(loader);
      _exit(told ? 0 : 1);
    }
    int status = -1;
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
    while (deliver_one(loader, &d)) {
    }
    CHECK_EQ(d.num_ids, ROWS);
    cst_loader_free(loader);
    delivery_free(&d);
  }
  cst_dataset_release(dataset);
}

TEST(a_loader_begun_before_a_fork_is_the_parents) {
  const char *plain[4];
  cst_source *source = open_examples(plain, plain_files(plain, ROWS), 0, 1);
  check_forked_loaders(source, CST_SHUFFLE_AUTO);
  check_forked_loaders(source, CST_SHUFFLE_WINDOW);
  cst_source_release(source);
  bytes file = {0};
  bytes packed = {0};
  add_examples(&file, 0, ROWS);
  CHECK_EQ(add_compressed(&packed, CST_COMPRESSION_GZIP, file.data, file.size), CST_OK);
  const char *path = write_bytes("packed.tfrecord.gz", &packed);
  source = open_examples(&path, 1, 0, 1); /* read in order, by a pass inside */
  check_forked_loaders(source, CST_SHUFFLE_WINDOW);
  cst_source_release(source);
  bytes_free(&file);
  bytes_free(&packed);
}

/* ---- allocation failures ---- */

typedef struct scenario {
  const char *paths[4];
  size_t count;
  cst_schema *schema;
  int32_t prefetch;
  bool windows;
} scenario;

static int read_all(cst_dataset *dataset, const cst_tensor_adapter *adapter) {
  cst_loader *loader = NULL;
  CST__TRY(cst_loader_new(dataset, &(cst_position){.epoch = 1, .batch = 1}, 0, 1, &loader, NULL));
  cst_status status;
  cst_tensors *tensors;
  do {
    status = cst_loader_next_tensors(loader, adapter, &tensors, NULL, NULL);
    cst_tensors_release(tensors);
  } while (status == CST_OK && tensors != NULL);
  cst_loader_free(loader);
  return (int)status;
}

static int read_source(cst_source *source, const cst_dataset_options *options) {
  struct ArrowSchema columns = {.release = NULL};
  cst_specs *specs = NULL;
  cst_tensor_adapter *adapter = NULL;
  cst_dataset *dataset = NULL;
  cst_status status = cst_source_arrow_schema(source, &columns, NULL);
  if (status == CST_OK) {
    status = cst_source_specs(source, &specs, NULL);
  }
  if (status == CST_OK) {
    status = cst_tensor_adapter_new(&columns, specs, NULL, &adapter, NULL);
  }
  if (status == CST_OK) {
    status = cst_dataset_new(source, options, &dataset, NULL);
  }
  if (status == CST_OK) {
    status = (cst_status)read_all(dataset, adapter);
  }
  cst_dataset_release(dataset);
  cst_tensor_adapter_free(adapter);
  cst_specs_release(specs);
  if (columns.release != NULL) {
    columns.release(&columns);
  }
  return (int)status;
}

static int run_scenario(void *context) {
  const scenario *s = context;
  cst_source *source = NULL;
  cst_source_options so = CST_SOURCE_OPTIONS_INIT;
  cst_dataset_options options = ahead_of(s->prefetch, 1);
  if (s->windows) {
    options.shuffle = CST_SHUFFLE_WINDOW;
    options.batch_size = 6; /* so that windows are read in whole */
  }
  so.schema = s->schema;
  CST__TRY(cst_source_open(s->paths, s->count, &so, &source, NULL));
  int status = read_source(source, &options);
  cst_source_release(source);
  return status;
}

TEST(every_allocation_may_fail) {
  static const char text[] =
      "feature { name: 'id' type: INT } feature { name: 'name' type: BYTES }";
  for (int packed = -1; packed < 2; packed++) {
    for (int32_t prefetch = 0; prefetch <= 2; prefetch += 2) {
      scenario s = {.prefetch = prefetch, .windows = packed < 0};
      s.count = packed > 0 ? packed_files(s.paths, 60) : plain_files(s.paths, 60);
      CHECK_EQ(cst_schema_from_text(text, strlen(text), &s.schema, NULL), CST_OK);
      FOR_EACH_ALLOCATION_FAILURE(run_scenario, &s, CST_NO_MEMORY);
      cst_schema_release(s.schema);
    }
  }
}
