/* on_error skip: of a damaged file, exactly the sound records come back, and the report lists
 * exactly the damaged ones, whatever the number of threads and the size of the batches. */
#include <columnstone/index.h>
#include <columnstone/sink.h>

#include "format/container/tfrecord.h"
#include "recovery_support.h"

/* ---- files, and what has to come of them ---- */

enum { MOST_RECORDS = 64 };

/* A file whose records are known. */
typedef struct sample {
  bytes file;
  size_t count;
  size_t begin[MOST_RECORDS + 1]; /* where each lies; the last: the end */
} sample;

static void sample_add(sample *s, const void *record, size_t size) {
  s->begin[s->count] = s->file.size;
  bytes_add_record(&s->file, record, size);
  s->begin[++s->count] = s->file.size;
}

static void sample_free(sample *s) { bytes_free(&s->file); }

/* Records of many sizes, some of them TFRecord files themselves. */
static sample make_sample(void) {
  static const size_t sizes[] = {20, 0, 1, 7, 12, 16, 40, 0, 0, 100, 3, 28};
  sample s = {.count = 0};
  bytes noise = {0};
  bytes inner = {0};
  add_noise(&noise, 200, 7);
  bytes_add_record(&inner, noise.data, 9);
  bytes_add_record(&inner, noise.data, 0);
  bytes_add_record(&inner, noise.data + 9, 30);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    sample_add(&s, noise.data + i, sizes[i]);
    if (i % 4 == 2) {
      sample_add(&s, inner.data, inner.size);
    }
  }
  bytes_free(&noise);
  bytes_free(&inner);
  return s;
}

static void check_outcome(outcome *o, const bytes *records, const bytes *drops) {
  CHECK_EQ(o->status, CST_OK);
  check_text(&o->drops, drops);
  check_text(&o->records, records);
  CHECK_EQ(o->dropped, o->told);
  outcome_free(o);
}

/* In every way of reading the outcome has to be the same. */
static void check_file(const bytes *file, const bytes *records, const bytes *drops, bool all_ways) {
  outcome o = recover(file, 0, 1, 1000);
  check_outcome(&o, records, drops);
  if (!all_ways) {
    return;
  }
  o = recover(file, 0, 3, 1);
  check_outcome(&o, records, drops);
  o = recover(file, 5, 1, 7);
  check_outcome(&o, records, drops);
  o = recover(file, 0, 3, 7);
  check_outcome(&o, records, drops);
  const char *path = write_bytes("damaged", file);
  o = recover_path(path, CST_SOURCE_MEMORY_MAP, 1);
  check_outcome(&o, records, drops);
  o = recover_path(path, 0, 3);
  check_outcome(&o, records, drops);
}

/* What is left of a sample without the records whose bit is set. */
static void sound_records(const sample *s, uint64_t damaged, bytes *records) {
  records->size = 0;
  for (size_t i = 0; i < s->count; i++) {
    if ((damaged >> i & 1) == 0) {
      size_t size = s->begin[i + 1] - s->begin[i] - 16;
      put_record(records, s->file.data + s->begin[i] + 12, size);
    }
  }
}

/* Where a byte of the file lies within its record. */
static const char *kind_at(const sample *s, size_t record, size_t at) {
  return at - s->begin[record] < 12 ? "length-crc" : "data-crc";
}

/* ---- one damaged byte ---- */

TEST(every_byte_flipped) {
  sample s = make_sample();
  bytes records = {0};
  bytes drops = {0};
  size_t record = 0;
  for (size_t at = 0; at < s.file.size; at++) {
    record += at == s.begin[record + 1];
    for (int way = 0; way < 3; way++) {
      static const uint8_t masks[] = {1, 128, 255};
      s.file.data[at] ^= masks[way];
      sound_records(&s, UINT64_C(1) << record, &records);
      drops.size = 0;
      put_drop(&drops, kind_at(&s, record, at), record, s.begin[record],
               s.begin[record + 1] - s.begin[record]);
      check_file(&s.file, &records, &drops, way == 0 && at % 3 == 0);
      s.file.data[at] ^= masks[way];
    }
  }
  bytes_free(&records);
  bytes_free(&drops);
  sample_free(&s);
}

/* Where it leaves whole records in a payload, up to the end: nobody can tell that they are that. */
static bool leaves_inner(const sample *s, size_t record, size_t cut) {
  size_t left = cut - s->begin[record];
  bool holder = s->begin[record + 1] - s->begin[record] == 16 + 87;
  return holder && (left == 12 + 25 || left == 12 + 41 || left == 12 + 87);
}

TEST(a_cut_at_every_byte) {
  sample s = make_sample();
  bytes records = {0};
  bytes drops = {0};
  size_t record = 0;
  size_t size = s.file.size;
  for (size_t cut = 12; cut <= size; cut++) {
    while (record < s.count && s.begin[record + 1] <= cut) {
      record++;
    }
    s.file.size = cut;
    sound_records(&s, UINT64_MAX << record, &records);
    drops.size = 0;
    if (record < s.count && leaves_inner(&s, record, cut)) {
      continue;
    }
    if (cut > s.begin[record]) {
      put_drop(&drops, "truncated", record, s.begin[record], cut - s.begin[record]);
    }
    check_file(&s.file, &records, &drops, cut % 3 == 0);
  }
  bytes_free(&records);
  bytes_free(&drops);
  sample_free(&s);
}

/* ---- several ---- */

/* Flips one byte in each record whose bit is set, at places that `seed` chooses. */
static void damage(sample *s, uint64_t records, uint32_t seed, bytes *drops) {
  drops->size = 0;
  for (size_t i = 0; i < s->count; i++) {
    size_t size = s->begin[i + 1] - s->begin[i];
    if (records >> i & 1) {
      seed = seed * 1664525 + 1013904223;
      size_t at = s->begin[i] + (seed >> 8) % size;
      s->file.data[at] ^= (uint8_t)(1 + (seed >> 28));
      put_drop(drops, kind_at(s, i, at), i, s->begin[i], size);
    }
  }
}

TEST(any_set_of_records_damaged) {
  bytes records = {0};
  bytes drops = {0};
  uint32_t seed = 1;
  for (int round = 0; round < 2000; round++) {
    sample s = make_sample();
    seed = seed * 1664525 + 1013904223;
    uint64_t damaged = seed >> 10;
    damaged &= round % 2 == 0 ? damaged >> 3 : UINT64_MAX;
    damaged &= (UINT64_C(1) << s.count) - 1;
    sound_records(&s, damaged, &records);
    damage(&s, damaged, seed, &drops);
    check_file(&s.file, &records, &drops, round % 8 == 0);
    sample_free(&s);
  }
  bytes_free(&records);
  bytes_free(&drops);
}

/* Replaces file[begin, end) by `size` bytes. */
static void splice(bytes *file, size_t begin, size_t end, const void *data, size_t size) {
  bytes rest = {0};
  bytes_add(&rest, file->data + end, file->size - end);
  file->size = begin;
  bytes_add(file, data, size);
  bytes_add(file, rest.data, rest.size);
  bytes_free(&rest);
}

/* The text must hold all records but those that were damaged: those found in the report are not
 * counted one by one, because nobody can tell how many a region has held. */
static void check_records(const bytes *file, const bytes *records, bool all_ways) {
  for (int way = 0; way < (all_ways ? 3 : 1); way++) {
    outcome o = recover(file, way == 1 ? 3 : 0, way == 2 ? 3 : 1, way == 0 ? 1000 : 7);
    CHECK_EQ(o.status, CST_OK);
    CHECK(o.told > 0);
    check_text(&o.records, records);
    outcome_free(&o);
  }
}

TEST(zeros_instead_of_bytes) {
  bytes records = {0};
  static const size_t sizes[] = {2, 4, 12, 50, 200};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    sample s = make_sample();
    for (size_t at = 0; at + sizes[i] <= s.file.size; at++) {
      sample hurt = make_sample();
      uint64_t damaged = 0;
      for (size_t r = 0; r < s.count; r++) {
        size_t begin = s.begin[r] > at ? s.begin[r] : at;
        size_t end = s.begin[r + 1] < at + sizes[i] ? s.begin[r + 1] : at + sizes[i];
        bool changed = false;
        for (size_t b = begin; b < end; b++) {
          changed = changed || s.file.data[b] != 0;
        }
        damaged |= (uint64_t)changed << r;
      }
      memset(hurt.file.data + at, 0, sizes[i]);
      sound_records(&s, damaged, &records);
      /* a holder of records whose extent is lost may give those back: not looked at here */
      bool lost_holder = false;
      for (size_t r = 0; r < s.count; r++) {
        bool holds = s.begin[r + 1] - s.begin[r] == 16 + 87;
        lost_holder = lost_holder || (holds && (damaged >> r & 1));
      }
      if (damaged != 0 && !lost_holder) {
        check_records(&hurt.file, &records, at % 16 == 0);
      }
      sample_free(&hurt);
    }
    sample_free(&s);
  }
  bytes_free(&records);
}

TEST(junk_between_records) {
  bytes records = {0};
  bytes drops = {0};
  bytes junk = {0};
  add_noise(&junk, 700000, 99);
  static const size_t sizes[] = {1, 11, 12, 13, 100, 700000};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    for (size_t r = 1; r <= 5; r++) {
      sample s = make_sample();
      sound_records(&s, 0, &records);
      splice(&s.file, s.begin[r], s.begin[r], junk.data, sizes[i]);
      drops.size = 0;
      put_drop(&drops, "length-crc", r, s.begin[r], sizes[i]);
      check_file(&s.file, &records, &drops, i < 5 || r == 1);
      sample_free(&s);
    }
  }
  bytes_free(&junk);
  bytes_free(&records);
  bytes_free(&drops);
}

TEST(bytes_removed) {
  bytes records = {0};
  static const size_t sizes[] = {1, 5, 21, 30, 150}; /* none of them what a record takes */
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    sample s = make_sample();
    for (size_t at = 0; at + sizes[i] < s.file.size; at++) {
      uint64_t damaged = 0;
      bool holder = false;
      bool on_border = false;
      for (size_t r = 0; r < s.count; r++) {
        bool hit = at < s.begin[r + 1] && at + sizes[i] > s.begin[r];
        damaged |= (uint64_t)hit << r;
        holder = holder || (hit && s.begin[r + 1] - s.begin[r] == 16 + 87);
        on_border = on_border || at == s.begin[r] || at + sizes[i] == s.begin[r];
      }
      const uint8_t *b = s.file.data;
      bool same = b[at] == b[at + sizes[i]] || (at > 0 && b[at - 1] == b[at + sizes[i] - 1]);
      if (holder || on_border || same) {
        continue; /* whole records, or others than it seems, are removed; holders: see above */
      }
      sample hurt = make_sample();
      splice(&hurt.file, at, at + sizes[i], NULL, 0);
      sound_records(&s, damaged, &records);
      check_records(&hurt.file, &records, at % 16 == 0);
      sample_free(&hurt);
    }
    sample_free(&s);
  }
  bytes_free(&records);
}

/* ---- large records and long runs ---- */

TEST(records_larger_than_a_block) {
  bytes noise = {0};
  bytes inner = {0};
  bytes records = {0};
  bytes drops = {0};
  add_noise(&noise, 3000000, 5);
  while (inner.size < 900000) {
    bytes_add_record(&inner, noise.data + inner.size, 1000);
  }
  for (size_t hurt = 0; hurt < 6; hurt++) {
    for (int place = 0; place < 4; place++) {
      sample s = {.count = 0};
      sample_add(&s, noise.data, 300000);
      sample_add(&s, inner.data, inner.size);
      sample_add(&s, noise.data, 3000000);
      sample_add(&s, noise.data, 10);
      sample_add(&s, inner.data, inner.size);
      sample_add(&s, noise.data, 500000);
      size_t size = s.begin[hurt + 1] - s.begin[hurt];
      const size_t places[] = {2, 9, 14, size - 2};
      size_t at = s.begin[hurt] + places[place];
      s.file.data[at] ^= 16;
      sound_records(&s, UINT64_C(1) << hurt, &records);
      drops.size = 0;
      put_drop(&drops, kind_at(&s, hurt, at), hurt, s.begin[hurt], size);
      check_file(&s.file, &records, &drops, place == 0);
      sample_free(&s);
    }
  }
  bytes_free(&inner);
  bytes_free(&noise);
  bytes_free(&records);
  bytes_free(&drops);
}

TEST(a_record_beyond_the_limit_is_passed_over) {
  bytes noise = {0};
  bytes records = {0};
  bytes drops = {0};
  sample s = {.count = 0};
  add_noise(&noise, 1500000, 5);
  sample_add(&s, noise.data, 100);
  sample_add(&s, noise.data, 1500000);
  sample_add(&s, noise.data, 90);
  sound_records(&s, 2, &records);
  put_drop(&drops, "limit", 1, s.begin[1], s.begin[2] - s.begin[1]);
  outcome o = {.status = CST_OK};
  cst_source_options options = skipping(&o, 1, 10);
  options.max_record_size = 1000;
  const char *path = write_bytes("limit", &s.file);
  cst_source *source;
  CHECK_EQ(cst_source_open(&path, 1, &options, &source, NULL), CST_OK);
  run_pass(source, &o);
  check_outcome(&o, &records, &drops);
  cst_source_release(source);
  sample_free(&s);
  bytes_free(&noise);
  bytes_free(&records);
  bytes_free(&drops);
}

TEST(every_second_record_of_many) {
  bytes file = {0};
  bytes records = {0};
  bytes drops = {0};
  for (uint64_t i = 0; i < 40000; i++) {
    size_t begin = file.size;
    bytes_add_record(&file, &i, i % 9);
    size_t size = file.size - begin;
    if (i % 2 == 0) {
      size_t at = i % 4 == 0 ? i % 12 : size - 1;
      file.data[begin + at] ^= 4;
      put_drop(&drops, i % 4 == 0 ? "length-crc" : "data-crc", i, begin, size);
    } else {
      put_record(&records, file.data + begin + 12, size - 16);
    }
  }
  check_file(&file, &records, &drops, true);
  bytes_free(&file);
  bytes_free(&records);
  bytes_free(&drops);
}

TEST(nothing_but_damage) {
  bytes file = {0};
  bytes records = {0};
  bytes drops = {0};
  for (uint64_t i = 0; i < 150000; i++) {
    bytes_add_record(&file, NULL, 0);
    file.data[file.size - 1] ^= 1;
    put_drop(&drops, "data-crc", i, file.size - 16, 16);
  }
  check_file(&file, &records, &drops, true);
  bytes_free(&file);
  bytes_free(&drops);
}

/* ---- records that do not parse ---- */

/* Ids of the rows, and the report, of a pass over Examples. */
static void examples_outcome(const char *const *paths, size_t count, int32_t threads,
                             int64_t batch_size, const cst_schema *schema, outcome *o) {
  cst_source_options options = skipping(o, threads, batch_size);
  options.format = "example";
  options.schema = schema;
  cst_source *source;
  cst_pass *pass;
  CHECK_EQ(cst_source_open(paths, count, &options, &source, &o->error), CST_OK);
  CHECK_EQ(cst_pass_new(source, &pass, NULL), CST_OK);
  for (;;) {
    struct ArrowArray batch;
    o->status = cst_pass_next(pass, &batch, &o->error);
    if (o->status != CST_OK || batch.release == NULL) {
      break;
    }
    CHECK(!o->short_batch);
    o->short_batch = batch.length < batch_size;
    const struct ArrowArray *ids = batch.children[0];
    CHECK_EQ(ids->length, batch.length);
    const int64_t *offsets = ids->buffers[1];
    const int64_t *values = ids->children[0]->buffers[1];
    for (int64_t i = 0; i < batch.length; i++) {
      text_of(&o->records, "%" PRId64 " ", values[offsets[ids->offset + i]]);
    }
    batch.release(&batch);
  }
  o->dropped = cst_pass_dropped(pass);
  cst_pass_free(pass);
  cst_source_release(source);
}

TEST(records_that_do_not_parse_and_damaged_ones) {
  bytes files[2] = {{0}, {0}};
  bytes records = {0};
  bytes drops = {0};
  for (int i = 0; i < 600; i++) {
    bytes *file = &files[i / 300];
    size_t begin = file->size;
    if (i % 50 == 7 || i / 10 == 22) {
      bytes_add_record(file, "\xff\xff\xff", 3);
      put_drop(&drops, "record", (size_t)i % 300, begin, file->size - begin);
      continue;
    }
    add_examples(file, i, i + 1);
    if (i % 37 == 5) {
      file->data[begin + (i % 2 == 0 ? 3 : 20)] ^= 1;
      put_drop(&drops, i % 2 == 0 ? "length-crc" : "data-crc", (size_t)i % 300, begin,
               file->size - begin);
    } else {
      text_of(&records, "%" PRId64 " ", i);
    }
  }
  const char *paths[] = {write_bytes("p0", &files[0]), write_bytes("p1", &files[1])};
  for (int way = 0; way < 8; way++) {
    static const int64_t sizes[] = {1, 7, 100, 1000};
    outcome o = {.status = CST_OK};
    examples_outcome(paths, 2, way % 2 == 0 ? 1 : 3, sizes[way / 2], NULL, &o);
    check_outcome(&o, &records, &drops);
  }
  bytes_free(&files[0]);
  bytes_free(&files[1]);
  bytes_free(&records);
  bytes_free(&drops);
}

TEST(records_that_do_not_fit_the_schema) {
  static const char text[] =
      "feature { name: 'id' type: INT shape {} presence { min_fraction: 1 } }";
  cst_schema *schema;
  bytes file = {0};
  CHECK_EQ(cst_schema_parse(text, sizeof text - 1, &schema, NULL), CST_OK);
  add_examples(&file, 0, 3);
  bytes features = {0};
  bytes record = {0};
  put_text(&features, "id", "text");
  put_field(&record, 1, features.data, features.size);
  bytes_add_record(&file, record.data, record.size);
  add_examples(&file, 4, 6);
  const char *path = write_bytes("schema", &file);
  outcome o = {.status = CST_OK};
  examples_outcome(&path, 1, 1, 2, schema, &o);
  bytes_add(&o.records, "", 1);
  CHECK_STR((const char *)o.records.data, "0 1 2 4 5 ");
  CHECK_EQ(o.told, 1);
  outcome_free(&o);
  cst_schema_release(schema);
  bytes_free(&features);
  bytes_free(&record);
  bytes_free(&file);
}

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
