/* on_error skip beyond what is damaged in a plain file: pipes, compression, other formats, how many
 * records may be dropped, memory, and what is built on it; also with threads. */
#include <columnstone/index.h>
#include <columnstone/sink.h>

#include "format/container/tfrecord.h"
#include "recovery_sample.h"

/* ---- pipes, compression, other files ---- */

TEST(a_pipe_reports_each_record_once) {
  bytes file = {0};
  bytes drops = {0};
  add_examples(&file, 0, 50);
  size_t end = file.size;
  bytes_add_record(&file, "\xff\xff\xff", 3);
  add_examples(&file, 51, 100);
  size_t begin = record_offset(&file, 3);
  file.data[begin + 20] ^= 1;
  put_drop(&drops, "data-crc", 3, begin, record_offset(&file, 4) - begin);
  put_drop(&drops, "record", 50, end, 19);
  memory m = {.data = file.data, .size = file.size};
  cst_reader reader = memory_reader(&m, false);
  outcome o = {.status = CST_OK};
  cst_source_options options = skipping(&o, 1, 10);
  options.format = "example";
  cst_source *source;
  cst_pass *pass;
  struct ArrowArray batch;
  int64_t rows = 0;
  CHECK_EQ(cst_source_open_readers(&reader, 1, &options, &source, NULL), CST_OK);
  CHECK_EQ(cst_pass_new(source, &pass, NULL), CST_OK);
  while (cst_pass_next(pass, &batch, NULL) == CST_OK && batch.release != NULL) {
    rows += batch.length;
    batch.release(&batch);
  }
  CHECK_EQ(rows, 98);
  check_text(&o.drops, &drops);
  cst_pass_free(pass);
  cst_source_release(source);
  outcome_free(&o);
  bytes_free(&file);
  bytes_free(&drops);
}

TEST(a_damaged_compression_ends_its_file_only) {
  sample s = make_sample();
  bytes plain = {0};
  bytes packed = {0};
  bytes records = {0};
  for (int i = 0; i < 40; i++) {
    bytes_add(&plain, s.file.data, s.file.size);
  }
  CHECK_EQ(add_compressed(&packed, CST_COMPRESSION_GZIP, plain.data, plain.size), CST_OK);
  packed.size -= packed.size / 3;
  const char *paths[] = {write_bytes("z0", &packed), write_bytes("z1", &s.file)};
  outcome o = {.status = CST_OK};
  cst_source_options options = skipping(&o, 3, 7);
  cst_source *source;
  CHECK_EQ(cst_source_open(paths, 2, &options, &source, NULL), CST_OK);
  run_pass(source, &o);
  CHECK_EQ(o.status, CST_OK);
  CHECK_EQ(o.told, 1);
  CHECK_EQ(memcmp(o.drops.data, "compression@", 12), 0);
  sound_records(&s, 0, &records);
  CHECK(o.records.size > 10 * records.size);
  CHECK_MEM(o.records.data, records.data, records.size);
  CHECK_MEM(o.records.data + o.records.size - records.size, records.data, records.size);
  cst_source_release(source);
  outcome_free(&o);
  bytes_free(&plain);
  bytes_free(&packed);
  bytes_free(&records);
  sample_free(&s);
}

TEST(what_is_no_tfrecord_fails) {
  static const char *texts[] = {"<!DOCTYPE html><html><body>404</body></html>", "a,b\n1,2\n3,4\n"};
  for (int i = 0; i < 2; i++) {
    bytes file = {0};
    bytes_add(&file, texts[i], strlen(texts[i]));
    for (uint32_t flags = 0; flags < 4; flags += 2) {
      outcome o = recover_path(write_bytes("text", &file), flags, 1);
      CHECK_EQ(o.status, CST_FORMAT);
      CHECK_EQ(o.told, 0);
      outcome_free(&o);
    }
    bytes_free(&file);
  }
}

TEST(a_failing_machine_is_no_damage) {
  bytes file = {0};
  bytes record = {0};
  add_noise(&record, 100000, 3);
  for (int i = 0; i < 30; i++) {
    bytes_add_record(&file, record.data, record.size);
  }
  file.data[record_offset(&file, 12) + 50] ^= 1;
  outcome o = {.status = CST_OK};
  memory m = {.data = file.data, .size = file.size, .fail_at = 1500000, .most = 50000};
  cst_reader reader = memory_reader(&m, true);
  cst_source_options options = skipping(&o, 1, 100);
  cst_source *source;
  CHECK_EQ(cst_source_open_readers(&reader, 1, &options, &source, NULL), CST_OK);
  run_pass(source, &o);
  CHECK_EQ(o.status, CST_IO);
  CHECK_EQ(o.told, 1); /* what was dropped in front of it is told */
  cst_source_release(source);
  outcome_free(&o);
  bytes_free(&file);
  bytes_free(&record);
}

/* ---- how many, and who stops ---- */

static outcome recover_at_most(uint64_t max_errors, size_t stop_at, bool quiet) {
  sample s = make_sample();
  bytes drops = {0};
  damage(&s, 1 << 2 | 1 << 5 | 1 << 6 | 1 << 9, 3, &drops);
  outcome o = {.status = CST_OK, .stop_at = stop_at};
  cst_source_options options = skipping(&o, 3, 2);
  options.max_errors = max_errors;
  options.on_dropped = quiet ? NULL : on_dropped;
  const char *path = write_bytes("most", &s.file);
  cst_source *source;
  CHECK_EQ(cst_source_open(&path, 1, &options, &source, NULL), CST_OK);
  run_pass(source, &o);
  cst_source_release(source);
  bytes_free(&drops);
  sample_free(&s);
  return o;
}

TEST(max_errors) {
  outcome o = recover_at_most(4, 0, false);
  CHECK_EQ(o.status, CST_OK);
  CHECK_EQ(o.told, 4);
  outcome_free(&o);
  o = recover_at_most(3, 0, false);
  CHECK_EQ(o.status, CST_LIMIT);
  CHECK_EQ(o.told, 3);
  CHECK_EQ(o.dropped, 3);
  CHECK_EQ(o.error.record, 9);
  CHECK_CONTAINS(o.error.message, "3 records");
  outcome_free(&o);
  o = recover_at_most(0, 0, true);
  CHECK_EQ(o.status, CST_OK);
  CHECK_EQ(o.dropped, 4);
  outcome_free(&o);
}

TEST(a_callback_stops_the_pass) {
  outcome o = recover_at_most(0, 2, false);
  CHECK_EQ(o.status, CST_CALLBACK);
  CHECK_EQ(o.told, 2);
  CHECK_EQ(o.error.record, 5);
  outcome_free(&o);
}

/* ---- memory ---- */

static void *watched_allocate(void *ctx, size_t size, size_t align) {
  size_t *largest = ctx;
  void *ptr = NULL;
  *largest = size > *largest ? size : *largest;
  return posix_memalign(&ptr, align < sizeof(void *) ? sizeof(void *) : align, size) == 0 ? ptr
                                                                                          : NULL;
}

static void watched_release(void *ctx, void *ptr, size_t size, size_t align) {
  (void)ctx;
  (void)size;
  (void)align;
  free(ptr);
}

/* Neither a long region without a record nor a false header in it takes memory. */
TEST(what_is_passed_over_is_not_kept) {
  size_t largest = 0;
  cst_allocator allocator = {sizeof allocator, watched_allocate, watched_release, &largest};
  bytes file = {0};
  bytes noise = {0};
  bytes records = {0};
  add_noise(&noise, 1 << 20, 5);
  for (int i = 0; i < 2; i++) {
    bytes_add_record(&file, "record", 6);
    put_record(&records, (const uint8_t *)"record", 6);
    for (int j = 0; i == 0 && j < 20; j++) {
      bytes_add(&file, noise.data, noise.size);
    }
  }
  outcome o = {.status = CST_OK};
  const char *path = write_bytes("region", &file);
  cst_source_options options = skipping(&o, 1, 10);
  options.allocator = &allocator;
  cst_source *source;
  CHECK_EQ(cst_source_open(&path, 1, &options, &source, NULL), CST_OK);
  run_pass(source, &o);
  CHECK_EQ(o.status, CST_OK);
  CHECK_EQ(o.told, 1);
  check_text(&o.records, &records);
  CHECK(largest < 2 << 20);
  cst_source_release(source);
  outcome_free(&o);
  bytes_free(&file);
  bytes_free(&noise);
  bytes_free(&records);
}

/* A search for the next record reads on as everything else does, and not byte by byte. */
TEST(a_region_without_records_is_read_in_blocks) {
  enum { REGION = 8 << 20, BLOCK = 1 << 15 };
  bytes noise = {0};
  bytes file = {0};
  add_noise(&noise, REGION, 5);
  for (int beyond = 0; beyond < 2; beyond++) {
    file.size = 0;
    bytes_add_record(&file, "record", 6);
    bytes_add_record(&file, noise.data, noise.size);
    bytes_add_record(&file, "record", 6);
    for (size_t at = 22; beyond == 0 && at < 34; at++) {
      file.data[at] ^= 0x55;
    }
    memory m = {.data = file.data, .size = file.size};
    cst_reader reader = memory_reader(&m, true);
    outcome o = {.status = CST_OK};
    cst_source_options options = skipping(&o, 1, 10);
    options.max_record_size = beyond != 0 ? 1 << 20 : 0;
    cst_source *source;
    CHECK_EQ(cst_source_open_readers(&reader, 1, &options, &source, NULL), CST_OK);
    run_pass(source, &o);
    CHECK_EQ(o.status, CST_OK);
    CHECK_EQ(o.told, 1);
    CHECK_EQ(o.bytes, file.size);
    CHECK(m.reads < REGION / BLOCK);
    cst_source_release(source);
    outcome_free(&o);
  }
  bytes_free(&file);
  bytes_free(&noise);
}

static bool keep_quiet(void *ctx, const cst_dropped *dropped) {
  (void)ctx;
  (void)dropped;
  return true;
}

static int recover_scenario(void *ctx) {
  const char *path = ctx;
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  cst_source *source;
  cst_pass *pass;
  options.format = "example";
  options.batch_size = 7;
  options.on_error = CST_ON_ERROR_SKIP;
  options.on_dropped = keep_quiet;
  cst_status status = cst_source_open(&path, 1, &options, &source, NULL);
  if (status != CST_OK) {
    return (int)status;
  }
  status = cst_pass_new(source, &pass, NULL);
  while (status == CST_OK) {
    struct ArrowArray batch;
    status = cst_pass_next(pass, &batch, NULL);
    if (status != CST_OK || batch.release == NULL) {
      cst_pass_free(pass);
      break;
    }
    batch.release(&batch);
  }
  cst_source_release(source);
  return (int)status;
}

TEST(every_allocation_failure_is_reported) {
  bytes file = {0};
  add_examples(&file, 0, 20);
  bytes_add_record(&file, "\xff\xff\xff", 3);
  add_examples(&file, 21, 40);
  for (int i = 0; i < 40; i += 6) {
    file.data[record_offset(&file, i) + 13] ^= 1;
  }
  file.data[record_offset(&file, 33) + 1] ^= 1;
  file.size -= 3;
  char *path = (char *)write_bytes("memory", &file);
  FOR_EACH_ALLOCATION_FAILURE(recover_scenario, path, CST_NO_MEMORY);
  bytes_free(&file);
}

/* ---- what is built on it ---- */

TEST(repair_is_a_conversion_of_raw_records) {
  sample s = make_sample();
  bytes drops = {0};
  bytes sound = {0};
  uint64_t damaged = 1 << 1 | 1 << 4 | 1 << 5 | 1 << 12;
  damage(&s, damaged, 17, &drops);
  for (size_t i = 0; i < s.count; i++) {
    if ((damaged >> i & 1) == 0) {
      bytes_add(&sound, s.file.data + s.begin[i], s.begin[i + 1] - s.begin[i]);
    }
  }
  const char *path = write_bytes("hurt", &s.file);
  const char *to = harness_temp_path("repaired.tfrecord");
  outcome o = {.status = CST_OK};
  cst_source_options options = skipping(&o, 1, 4);
  cst_sink_options sink = CST_SINK_OPTIONS_INIT;
  sink.format = "raw";
  cst_source *source;
  uint64_t rows = 0;
  CHECK_EQ(cst_source_open(&path, 1, &options, &source, NULL), CST_OK);
  CHECK_EQ(cst_convert(source, to, &sink, NULL, NULL, &rows, &o.error), CST_OK);
  cst_source_release(source);
  CHECK_EQ(rows, s.count - 4);
  check_text(&o.drops, &drops);
  bytes repaired = {0};
  cst__input *input;
  CHECK_EQ(cst__input_open(to, NULL, &input, NULL), CST_OK);
  CHECK_EQ(read_to_end(input, 1000, &repaired, NULL), CST_OK);
  cst__input_close(input);
  check_same(&repaired, &sound);
  outcome_free(&o);
  bytes_free(&repaired);
  bytes_free(&sound);
  bytes_free(&drops);
  sample_free(&s);
}

TEST(inference_drops_too_and_keeps_quiet) {
  bytes file = {0};
  add_examples(&file, 0, 100);
  bytes_add_record(&file, "\xff\xff\xff", 3);
  add_examples(&file, 101, 200);
  file.data[record_offset(&file, 40) + 1] ^= 1;
  const char *path = write_bytes("infer", &file);
  outcome o = {.status = CST_OK};
  cst_source_options options = skipping(&o, 3, 100);
  options.format = "example";
  cst_source *source;
  cst_schema *schema;
  CHECK_EQ(cst_source_open(&path, 1, &options, &source, NULL), CST_OK);
  CHECK_EQ(cst_source_infer(source, NULL, NULL, &schema, &o.error), CST_OK);
  CHECK_EQ(o.told, 0);
  cst_schema_release(schema);
  cst_source_release(source);
  bytes_free(&file);
}

TEST(parts_of_a_damaged_file_give_what_the_whole_gives) {
  for (uint32_t seed = 0; seed < 40; seed++) {
    bytes file = {0};
    bytes records = {0};
    bytes noise = {0};
    add_noise(&noise, 3000, seed);
    uint32_t state = seed * 7919 + 1;
    size_t hurt = 0;
    for (uint64_t i = 0; i < 800; i++) {
      size_t begin = file.size;
      state = state * 1664525 + 1013904223;
      size_t size = (state >> 16) % 2000;
      bytes_add_record(&file, noise.data, size);
      if ((state >> 8) % 97 == 3) {
        file.data[begin + (state >> 4) % (size + 16)] ^= 8;
        hurt++;
      } else {
        put_record(&records, file.data + begin + 12, size);
      }
    }
    const char *path = write_bytes("parts", &file);
    outcome o = {.status = CST_OK};
    cst_source_options options = skipping(&o, 1, 100);
    cst_source *source;
    CHECK_EQ(cst_source_open(&path, 1, &options, &source, NULL), CST_OK);
    uint64_t dropped = 0;
    for (uint32_t i = 0; i < 5; i++) {
      cst_source *part;
      CHECK_EQ(cst_source_split(source, i, 5, &part, &o.error), CST_OK);
      run_pass(part, &o);
      CHECK_EQ(o.status, CST_OK);
      dropped += o.dropped;
      o.short_batch = false;
      cst_source_release(part);
    }
    CHECK_EQ(dropped, hurt);
    check_text(&o.records, &records);
    cst_source_release(source);
    outcome_free(&o);
    bytes_free(&file);
    bytes_free(&records);
    bytes_free(&noise);
  }
}
