/* Records that stay in memory: the same rows in the same order as without, files that change,
 * budgets, threads, forks and allocation failures. */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dataset_support.h"
#include "source/index/record_cache.h"

enum { ROWS = 9000, CHUNK = 1 << 16 };

static cst_dataset *shuffled(cst_source *source, int64_t memory_budget, int32_t threads) {
  cst_dataset_options options = CST_DATASET_OPTIONS_INIT;
  options.shuffle = CST_SHUFFLE_GLOBAL;
  options.batch_size = 500;
  options.seed = 3;
  options.prefetch = 2 * threads;
  options.threads = threads;
  options.memory_budget = memory_budget;
  return dataset_of(source, &options);
}

static uint64_t size_of(const char *path) {
  struct stat info;
  CHECK_EQ(stat(path, &info), 0);
  return (uint64_t)info.st_size;
}

TEST(the_same_rows_as_without) {
  const char *paths[4];
  cst_source *source = open_examples(paths, plain_files(paths, ROWS), 10, 1);
  CHECK(size_of(paths[0]) > 2 * CHUNK); /* records lie over the borders of chunks */
  cst_dataset *without = shuffled(source, -1, 0);
  for (int32_t threads = 0; threads < 4; threads += 3) {
    cst_dataset *dataset = shuffled(source, 16 << 20, threads);
    for (uint64_t epoch = 0; epoch < 3; epoch++) {
      delivery expected = deliver(without, epoch);
      delivery d = deliver(dataset, epoch);
      check_complete(&d, ROWS);
      check_delivery(&d, &expected, 0);
      delivery_free(&d);
      delivery_free(&expected);
    }
    cst_dataset_release(dataset);
  }
  cst_dataset_release(without);
  cst_source_release(source);
}

static cst__record_cache *cache_of(cst_source *source, uint64_t budget) {
  cst__record_cache *cache = NULL;
  CHECK_EQ(cst__source_record_cache(source, budget, &cache, NULL), CST_OK);
  return cache;
}

TEST(sources_that_have_one) {
  const char *paths[4];
  uint64_t size = 0;
  size_t count = plain_files(paths, 300);
  for (size_t i = 0; i < count; i++) {
    size += size_of(paths[i]);
  }
  cst_source *source = open_examples(paths, count, 10, 1);
  CHECK(cache_of(source, size - 1) == NULL);
  CHECK(cache_of(source, 0) == NULL);
  cst__record_cache *cache = cache_of(source, size);
  CHECK(cache != NULL);
  CHECK(cache_of(source, size + 1) == cache);
  CHECK(cache_of(source, size - 1) == NULL);
  cst_source_release(source);

  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  options.flags = CST_SOURCE_MEMORY_MAP;
  CHECK_EQ(cst_source_open(paths, count, &options, &source, NULL), CST_OK);
  CHECK(cache_of(source, UINT64_MAX) == NULL);
  cst_source_release(source);
}

/* ---- files that change ---- */

/* What an epoch of a source that has been read comes to, after `change` of its only file. */
static cst_status after_change(void (*change)(const char *path), cst_error *error) {
  const char *path = write_examples("changed.tfrecord", 0, ROWS);
  const struct timespec old[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
  CHECK_EQ(utimensat(AT_FDCWD, path, old, 0), 0);
  cst_source *source = open_examples(&path, 1, 10, 1);
  cst_dataset *dataset = shuffled(source, 16 << 20, 0);
  for (uint64_t epoch = 0; epoch < 2; epoch++) {
    delivery d = deliver(dataset, epoch);
    check_complete(&d, ROWS);
    delivery_free(&d);
  }
  change(path);
  delivery d = deliver(dataset, 2);
  cst_status status = d.status;
  cst__error_copy(error, &d.error);
  delivery_free(&d);
  cst_dataset_release(dataset);
  cst_source_release(source);
  return status;
}

static void damage(const char *path) {
  int fd = open(path, O_WRONLY);
  CHECK_EQ(pwrite(fd, "damage", 6, 5000), 6);
  CHECK_EQ(close(fd), 0);
}

static void cut_short(const char *path) { CHECK_EQ(truncate(path, 70000), 0); }

static void leave_alone(const char *path) { CHECK_EQ(access(path, R_OK), 0); }

TEST(changed_files_are_found_out) {
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(after_change(leave_alone, &error), CST_OK);
  CHECK_EQ(after_change(damage, &error), CST_CORRUPT);
  CHECK_EQ(after_change(cut_short, &error), CST_IO);
  CHECK(strstr(error.file, "changed.tfrecord") != NULL);
}

TEST(other_files_of_the_name_are_not_mixed_up) {
  const char *path = write_examples("first.tfrecord", 0, 50);
  cst_source *source = open_examples(&path, 1, 10, 1);
  cst_dataset *dataset = shuffled(source, 1 << 20, 0);
  const char *other = write_examples("other.tfrecord", 50, 100);
  CHECK_EQ(rename(other, path), 0); /* before anything is read */
  delivery d = deliver(dataset, 0);
  CHECK_EQ(d.status, CST_OK);
  CHECK_EQ(d.num_ids, 50);
  for (size_t i = 0; i < d.num_ids; i++) {
    CHECK(d.ids[i] >= 50);
  }
  delivery_free(&d);
  cst_dataset_release(dataset);
  cst_source_release(source);
}

/* ---- processes, threads ---- */

TEST(forked_processes_share_what_was_read) {
  const char *path = write_examples("forked.tfrecord", 0, ROWS);
  cst_source *source = open_examples(&path, 1, 10, 1);
  cst_dataset *dataset = shuffled(source, 16 << 20, 0);
  cst__record_cache *cache = cache_of(source, 16 << 20);
  CHECK(cst__record_cache_find(cache, 0, 0, 100) == NULL);
  pid_t child = fork();
  if (child == 0) {
    delivery d = deliver(dataset, 0);
    _exit(d.status == CST_OK && d.num_ids == ROWS ? 0 : 1);
  }
  int status = -1;
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK_EQ(status, 0);
  CHECK(cst__record_cache_find(cache, 0, 0, (size_t)size_of(path)) != NULL);
  delivery d = deliver(dataset, 0);
  check_complete(&d, ROWS);
  delivery_free(&d);
  cst_dataset_release(dataset);
  cst_source_release(source);
}

TEST(bytes_that_there_are_not) {
  const char *path = write_examples("short.tfrecord", 0, 50);
  uint64_t size = size_of(path);
  cst_source *source = open_examples(&path, 1, 10, 1);
  cst__record_cache *cache = cache_of(source, 1 << 20);
  cst__raw raw;
  const uint8_t *found = NULL;
  CHECK_EQ(cst__source_open_raw(source, 0, &raw, NULL), CST_OK);
  CHECK(cst__record_cache_fits(cache, 0, &raw));
  CHECK_EQ(cst__record_cache_get(cache, 0, &raw, 0, (size_t)size + 1, &found, NULL), CST_OK);
  CHECK(found == NULL);
  CHECK_EQ(cst__record_cache_get(cache, 0, &raw, size + 1, 0, &found, NULL), CST_OK);
  CHECK(found == NULL);
  CHECK_EQ(truncate(path, 10), 0);
  CHECK(!cst__record_cache_fits(cache, 0, &raw));
  CHECK_EQ(cst__record_cache_get(cache, 0, &raw, 0, 20, &found, NULL), CST_OK);
  CHECK(found == NULL); /* the chunk is not what it was, and not kept */
  cst__raw_close(&raw);
  cst_source_release(source);
}

/* ---- allocation failures ---- */

static int read_twice(void *context) {
  const char *const *paths = context;
  cst_dataset_options options = CST_DATASET_OPTIONS_INIT;
  cst_source *source = NULL;
  cst_dataset *dataset = NULL;
  options.shuffle = CST_SHUFFLE_GLOBAL;
  options.batch_size = 20;
  CST__TRY(cst_source_open(paths, 2, NULL, &source, NULL));
  cst_status status = cst_dataset_new(source, &options, &dataset, NULL);
  for (uint64_t epoch = 0; epoch < 2 && status == CST_OK; epoch++) {
    const cst_position from = {.epoch = epoch};
    struct ArrowArray batch = {.release = NULL};
    cst_loader *loader = NULL;
    status = cst_loader_new(dataset, &from, 0, 1, &loader, NULL);
    status = status == CST_OK ? cst_loader_next(loader, &batch, NULL, NULL) : status;
    if (batch.release != NULL) {
      CHECK_EQ(batch.length, 10);
      batch.release(&batch);
    }
    cst_loader_free(loader);
  }
  cst_dataset_release(dataset);
  cst_source_release(source);
  return (int)status;
}

TEST(allocation_failures) {
  const char *paths[] = {write_examples("m0.tfrecord", 0, 5), write_examples("m1.tfrecord", 5, 10)};
  FOR_EACH_ALLOCATION_FAILURE(read_twice, (void *)paths, CST_NO_MEMORY);
}
