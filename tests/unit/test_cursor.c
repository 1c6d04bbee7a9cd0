/* Cursors: blocks of whole records from files and readers of every habit, and what ends them. */
#include "source/block/cursor.h"

#include <unistd.h>

#include "source_support.h"

typedef struct tally {
  uint64_t records;
  uint64_t bytes;
  uint64_t sum; /* of all payload bytes, weighted by place */
  uint64_t offset;
  cst_error error;
} tally;

/* Reads a source's file to its end; checks what every block promises. */
static cst_status walk(cst_source *source, size_t file, bool skim, tally *out) {
  cst__pool *pool = cst__pool_new(NULL);
  cst__cursor *cursor = cst__cursor_new(source, pool, file);
  *out = (tally){.error = CST_ERROR_INIT};
  if (skim) {
    cst__cursor_skim(cursor);
  }
  cst_status status;
  for (;;) {
    cst__block *block;
    status = cst__cursor_fill(cursor, &block, &out->error);
    if (status != CST_OK || block == NULL) {
      break;
    }
    CHECK(block->num_frames > 0);
    CHECK_EQ(block->record, out->records);
    CHECK_EQ(block->offset, out->offset);
    for (size_t i = 0; i < block->num_frames && !skim; i++) {
      const cst__frame *frame = &block->frames[i];
      CHECK(frame->begin + frame->size + 4 <= block->size);
      for (size_t at = 0; at < frame->size; at++) {
        out->sum = out->sum * 31 + block->data[frame->begin + at];
      }
    }
    if (!skim) {
      const uint8_t *padding = block->data + block->size;
      CHECK(padding[0] + padding[CST__BLOCK_PADDING - 1] >= 0);
    }
    out->records += block->num_frames;
    out->offset += block->size;
    out->bytes += block->size - 16 * block->num_frames;
    cst__block_release(block);
  }
  CHECK_EQ(cst__cursor_fill(cursor, &(cst__block *){NULL}, NULL), status); /* stays so */
  cst__cursor_free(cursor);
  cst__pool_release(pool);
  return status;
}

static cst_source *open_raw(const char *path, uint32_t flags, uint64_t max_record_size) {
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  options.format = "raw";
  options.flags = flags;
  options.max_record_size = max_record_size;
  cst_source *source = NULL;
  CHECK_EQ(cst_source_open(&path, 1, &options, &source, NULL), CST_OK);
  return source;
}

static cst_source *open_memory(memory *m, bool can_seek) {
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  options.format = "raw";
  cst_reader reader = memory_reader(m, can_seek);
  cst_source *source = NULL;
  CHECK_EQ(cst_source_open_readers(&reader, 1, &options, &source, NULL), CST_OK);
  return source;
}

/* Records of sizes that meet the edges of blocks in every way. */
static void add_sizes(bytes *file) {
  static const size_t sizes[] = {0,      1,       11,     100,     262144 - 16, 262144,
                                 262143, 300000,  524288, 1000000, 5,           3000000,
                                 7,      2097152, 70000,  70000,   70000,       12};
  bytes noise = {0};
  add_noise(&noise, 3000000, 7);
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    bytes_add_record(file, noise.data, sizes[i]);
  }
  bytes_free(&noise);
}

TEST(records_of_all_sizes_in_every_way_of_reading) {
  bytes file = {0};
  tally plain;
  tally other;
  add_sizes(&file);
  const char *path = write_bytes("sizes", &file);
  cst_source *source = open_raw(path, 0, 0);
  CHECK_EQ(walk(source, 0, false, &plain), CST_OK);
  CHECK_EQ(plain.records, 18);
  CHECK_EQ(plain.offset, file.size);
  CHECK_EQ(walk(source, 0, true, &other), CST_OK);
  CHECK_EQ(other.records, 18);
  CHECK_EQ(other.bytes, plain.bytes);
  cst_source_release(source);
  source = open_raw(path, CST_SOURCE_MEMORY_MAP, 0);
  CHECK_EQ(walk(source, 0, false, &other), CST_OK);
  CHECK_EQ(other.records, 18);
  CHECK_EQ(other.sum, plain.sum);
  cst_source_release(source);
  static const size_t steps[] = {0, 4093, 100000, 1 << 20};
  for (size_t i = 0; i < 8; i++) {
    memory m = {.data = file.data, .size = file.size, .most = steps[i % 4]};
    source = open_memory(&m, false);
    CHECK_EQ(walk(source, 0, i >= 4, &other), CST_OK);
    CHECK_EQ(other.records, 18);
    CHECK_EQ(other.bytes, plain.bytes);
    CHECK(i >= 4 || other.sum == plain.sum);
    CHECK(!m.out_of_order);
    cst_source_release(source);
    CHECK_EQ(m.closed, 1);
  }
  bytes_free(&file);
}

TEST(one_byte_at_a_time) {
  bytes file = {0};
  add_examples(&file, 0, 50);
  memory m = {.data = file.data, .size = file.size, .most = 1};
  tally t;
  cst_source *source = open_memory(&m, false);
  CHECK_EQ(walk(source, 0, false, &t), CST_OK);
  CHECK_EQ(t.records, 50);
  cst_source_release(source);
  bytes_free(&file);
}

TEST(cut_at_every_byte) {
  bytes file = {0};
  bytes_add_record(&file, "first", 5);
  bytes_add_record(&file, "", 0);
  bytes_add_record(&file, "the third record", 16);
  static const size_t ends[] = {0, 21, 37, 69};
  for (int way = 0; way < 3; way++) {
    for (size_t size = 0; size <= file.size; size++) {
      bytes cut = {.data = file.data, .size = size};
      cst_source *source =
          open_raw(write_bytes("cut", &cut), way == 1 ? CST_SOURCE_MEMORY_MAP : 0, 0);
      tally t;
      uint64_t whole = 0;
      for (size_t i = 1; i < 4 && ends[i] <= size; i++) {
        whole = i;
      }
      cst_status status = walk(source, 0, way == 2, &t);
      CHECK_EQ(t.records, whole);
      CHECK_EQ(status, size == ends[whole] ? CST_OK : CST_CORRUPT);
      if (status != CST_OK) {
        CHECK_EQ(t.error.record, whole);
        CHECK_EQ(t.error.offset, ends[whole]);
        CHECK_CONTAINS(t.error.message, "truncated");
        CHECK_CONTAINS(t.error.file, "cut");
      }
      cst_source_release(source);
    }
  }
  bytes_free(&file);
}

TEST(cut_inside_of_a_large_record) {
  bytes file = {0};
  add_sizes(&file);
  file.size -= 70000;
  cst_source *source = open_raw(write_bytes("cut", &file), 0, 0);
  for (int skim = 0; skim < 2; skim++) {
    tally t;
    CHECK_EQ(walk(source, 0, skim != 0, &t), CST_CORRUPT);
    CHECK_EQ(t.records, 16);
    CHECK_EQ(t.error.record, 16);
    CHECK_EQ(t.error.offset, t.offset);
  }
  cst_source_release(source);
  bytes_free(&file);
}

TEST(too_large_a_record) {
  bytes file = {0};
  add_sizes(&file);
  cst_source *source = open_raw(write_bytes("limit", &file), 0, 2999999);
  tally t;
  CHECK_EQ(walk(source, 0, false, &t), CST_LIMIT);
  CHECK_EQ(t.error.record, 11);
  CHECK_CONTAINS(t.error.hint, "max_record_size");
  cst_source_release(source);
  bytes_free(&file);
}

/* ---- what is no TFRecord ---- */

TEST(other_formats_are_named) {
  static const char *const heads[] = {"version https://git-lfs.github.com/spec/v1\noid sha256:1\n",
                                      "<!DOCTYPE html><html><head></head><body>no</body></html>",
                                      "<html>"};
  for (size_t i = 0; i < 3; i++) {
    for (uint32_t flags = 0; flags < 4; flags += 2) {
      bytes file = {0};
      bytes_add(&file, heads[i], strlen(heads[i]));
      cst_source *source = open_raw(write_bytes("other", &file), flags, 0);
      tally t;
      CHECK_EQ(walk(source, 0, false, &t), CST_FORMAT);
      CHECK_CONTAINS(t.error.hint, i == 0 ? "git" : "HTML");
      CHECK_EQ(t.error.record, 0);
      cst_source_release(source);
      bytes_free(&file);
    }
  }
}

TEST(a_damaged_compression_is_no_other_format) {
  bytes plain = {0};
  bytes packed = {0};
  add_noise(&plain, 100000, 3);
  CHECK_EQ(add_compressed(&packed, CST_COMPRESSION_GZIP, plain.data, plain.size), CST_OK);
  packed.size /= 2;
  cst_source *source = open_raw(write_bytes("packed", &packed), 0, 0);
  tally t;
  CHECK_EQ(walk(source, 0, false, &t), CST_CORRUPT);
  cst_source_release(source);
  bytes_free(&plain);
  bytes_free(&packed);
}

/* ---- inputs that change or fail ---- */

TEST(a_file_that_changes_its_size_is_an_error) {
  bytes file = {0};
  bytes record = {0};
  add_noise(&record, 99984, 1);
  for (int i = 0; i < 20; i++) {
    bytes_add_record(&file, record.data, record.size);
  }
  for (int grow = 0; grow < 2; grow++) {
    const char *path = write_bytes("change", &file);
    cst_source *source = open_raw(path, 0, 0);
    cst__pool *pool = cst__pool_new(NULL);
    cst__cursor *cursor = cst__cursor_new(source, pool, 0);
    cst_error error = CST_ERROR_INIT;
    cst__block *block;
    CHECK_EQ(cst__cursor_fill(cursor, &block, &error), CST_OK);
    cst__block_release(block);
    if (grow) {
      FILE *end = fopen(path, "ab");
      CHECK(end != NULL);
      CHECK_EQ(fwrite(file.data, 1, 100000, end), 100000);
      CHECK_EQ(fclose(end), 0);
    } else {
      CHECK_EQ(truncate(path, 1500000), 0); /* the end of a record */
    }
    cst_status status;
    do {
      status = cst__cursor_fill(cursor, &block, &error);
      cst__block_release(block);
    } while (status == CST_OK && block != NULL);
    CHECK_EQ(status, CST_IO);
    CHECK_CONTAINS(error.message, "changed");
    CHECK_STR(error.file, path);
    cst__cursor_free(cursor);
    cst__pool_release(pool);
    cst_source_release(source);
  }
  bytes_free(&record);
  bytes_free(&file);
}

TEST(a_reader_that_fails) {
  bytes file = {0};
  add_sizes(&file);
  memory m = {.data = file.data, .size = file.size, .fail_at = 4000000, .most = 50000};
  cst_source *source = open_memory(&m, true);
  tally t;
  CHECK_EQ(walk(source, 0, false, &t), CST_IO);
  CHECK_STR(t.error.file, "memory");
  CHECK(t.records > 5);
  cst_source_release(source);
  bytes_free(&file);
}

/* ---- memory ---- */

static void *limited_allocate(void *ctx, size_t size, size_t align) {
  size_t *largest = ctx;
  void *ptr = NULL;
  *largest = size > *largest ? size : *largest;
  return posix_memalign(&ptr, align < sizeof(void *) ? sizeof(void *) : align, size) == 0 ? ptr
                                                                                          : NULL;
}

static void limited_release(void *ctx, void *ptr, size_t size, size_t align) {
  (void)ctx;
  (void)size;
  (void)align;
  free(ptr);
}

TEST(a_claimed_length_is_not_allocated) {
  size_t largest = 0;
  cst_allocator allocator = {sizeof allocator, limited_allocate, limited_release, &largest};
  bytes file = {0};
  bytes noise = {0};
  add_noise(&noise, 900000, 5);
  uint64_t length = 200 << 20;
  uint32_t crc = cst__crc32c_mask(cst__crc32c(0, &length, 8));
  bytes_add(&file, &length, 8);
  bytes_add(&file, &crc, 4);
  bytes_add(&file, noise.data, noise.size);
  const char *path = write_bytes("claim", &file);
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  options.format = "raw";
  options.allocator = &allocator;
  cst_source *source = NULL;
  CHECK_EQ(cst_source_open(&path, 1, &options, &source, NULL), CST_OK);
  tally t;
  CHECK_EQ(walk(source, 0, false, &t), CST_CORRUPT);
  CHECK_CONTAINS(t.error.message, "truncated");
  CHECK(largest < 2 * file.size + (1 << 20));
  cst_source_release(source);
  bytes_free(&file);
  bytes_free(&noise);
}

static int walk_scenario(void *ctx) {
  cst_source *source = ctx;
  cst__pool *pool = cst__pool_new(&source->allocator);
  cst_status status = CST_NO_MEMORY;
  cst__cursor *cursor = pool != NULL ? cst__cursor_new(source, pool, 0) : NULL;
  cst__block *block = NULL;
  while (cursor != NULL) {
    status = cst__cursor_fill(cursor, &block, NULL);
    if (status != CST_OK || block == NULL) {
      break;
    }
    cst__block_release(block);
  }
  cst__cursor_free(cursor);
  cst__pool_release(pool);
  return (int)status;
}

TEST(every_allocation_failure_is_reported) {
  bytes file = {0};
  add_sizes(&file);
  const char *path = write_bytes("memory", &file);
  bytes_free(&file);
  for (uint32_t flags = 0; flags < 4; flags += 2) {
    cst_source *source = open_raw(path, flags, 0);
    FOR_EACH_ALLOCATION_FAILURE(walk_scenario, source, CST_NO_MEMORY);
    cst_source_release(source);
  }
}
