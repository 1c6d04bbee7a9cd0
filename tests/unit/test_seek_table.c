/* Restart points of zstd files: entering a stream in its middle, splits by frames, tables that are
 * damaged or lie, and what our writer makes. */
#include "io/seek_table.h"

#include <columnstone/split.h>
#include <zstd.h>

#include "index_support.h"

/* ---- files of frames ---- */

/* Frames of tiny contents, so that records begin in them, end in them, and are longer than they;
 * and empty ones. */
static const size_t contents[] = {30, 0, 7, 90, 1, 0, 0, 40, 300, 25};

typedef struct framed_file {
  bytes plain;
  bytes packed;
  cst__frame_sizes frames[256];
  size_t count;
} framed_file;

static void put_number32(bytes *out, uint32_t number) { bytes_add(out, &number, sizeof number); }

/* A table of the format's own words, with checksums (of which nothing is read) or without. */
static void add_seek_table(bytes *out, const cst__frame_sizes *frames, size_t count, bool sums) {
  const uint8_t descriptor = sums ? 0x80 : 0;
  put_number32(out, 0x184d2a5e);
  put_number32(out, (uint32_t)(count * (sums ? 12 : 8) + 9));
  for (size_t i = 0; i < count; i++) {
    put_number32(out, frames[i].compressed);
    put_number32(out, frames[i].content);
    if (sums) {
      put_number32(out, 0x12345678);
    }
  }
  put_number32(out, (uint32_t)count);
  bytes_add(out, &descriptor, 1);
  put_number32(out, 0x8f92eab1);
}

/* Records of no bytes, of TFRecords, and of text, in frames. */
static void make_frames(framed_file *file, int records) {
  *file = (framed_file){.count = 0};
  for (int i = 0; i < records; i++) {
    bytes record = {0};
    text_of(&record, "r%" PRId64 "|", i);
    if (i % 3 == 1) {
      bytes_add_record(&record, "x", (size_t)i % 2);
    }
    bytes_add_record(&file->plain, record.data, record.size);
    bytes_free(&record);
  }
  for (size_t at = 0; at < file->plain.size; file->count++) {
    size_t size = contents[file->count % (sizeof contents / sizeof *contents)];
    size = size < file->plain.size - at ? size : file->plain.size - at;
    size_t before = file->packed.size;
    CHECK_EQ(add_compressed(&file->packed, CST_COMPRESSION_ZSTD, file->plain.data + at, size),
             CST_OK);
    file->frames[file->count] =
        (cst__frame_sizes){(uint32_t)(file->packed.size - before), (uint32_t)size};
    at += size;
  }
}

static void free_frames(framed_file *file) {
  bytes_free(&file->plain);
  bytes_free(&file->packed);
}

static cst_source *open_packed(const char *path, cst_on_error on_error) {
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  cst_source *source = NULL;
  options.format = "raw";
  options.on_error = on_error;
  CHECK_EQ(cst_source_open(&path, 1, &options, &source, NULL), CST_OK);
  return source;
}

/* ---- streams ---- */

static cst__input *open_stream(const char *path) {
  cst__input *input = NULL;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst__input_open(path, NULL, &input, &error), CST_OK);
  return input;
}

TEST(every_byte_can_be_entered) {
  framed_file file;
  make_frames(&file, 30);
  for (int sums = 0; sums < 2; sums++) {
    bytes whole = {0};
    uint8_t out[4096];
    size_t got;
    bytes_add(&whole, file.packed.data, file.packed.size);
    add_seek_table(&whole, file.frames, file.count, sums);
    cst__input *input = open_stream(write_bytes("entered.zst", &whole));
    for (size_t i = 0; i <= file.plain.size; i++) {
      size_t at = i * 7919 % (file.plain.size + 1); /* forth and back */
      size_t size = at % 5 == 0 ? sizeof out : at % 50;
      size_t left = file.plain.size - at;
      CHECK(cst__input_seek(input, at));
      CHECK_EQ(cst__input_read(input, out, size, &got, NULL), CST_OK);
      CHECK_EQ(got, size < left ? size : left);
      CHECK_MEM(out, file.plain.data + at, got);
    }
    CHECK(cst__input_seek(input, file.plain.size + 1000));
    CHECK_EQ(cst__input_read(input, out, 1, &got, NULL), CST_OK);
    CHECK_EQ(got, 0);
    CHECK_EQ(cst__input_consumed(input), whole.size);
    cst__input_close(input);
    bytes_free(&whole);
  }
  free_frames(&file);
}

TEST(restart_points) {
  framed_file file;
  uint64_t point, size;
  uint64_t disk = 0;
  uint64_t stream = 0;
  make_frames(&file, 10);
  add_seek_table(&file.packed, file.frames, file.count, false);
  cst__input *input = open_stream(write_bytes("points.zst", &file.packed));
  for (size_t i = 0; i < file.count; i++) {
    CHECK(cst__input_restart(input, disk, &point, &size));
    CHECK_EQ(point, stream);
    CHECK_EQ(size, file.plain.size);
    disk += file.frames[i].compressed;
    stream += file.frames[i].content;
    CHECK(cst__input_restart(input, disk - 1, &point, &size));
    CHECK_EQ(point, stream);
  }
  CHECK(cst__input_restart(input, UINT64_MAX, &point, &size));
  CHECK_EQ(point, file.plain.size);
  cst__input_close(input);
  free_frames(&file);
}

/* The table does not fit the file in itself: there are no restart points, and all of it is read. */
static void check_no_table(const bytes *packed, const bytes *plain) {
  uint64_t point, size;
  bytes out = {0};
  cst__input *input = open_stream(write_bytes("none.zst", packed));
  CHECK(!cst__input_restart(input, 0, &point, &size));
  CHECK(!cst__input_seek(input, 1));
  CHECK_EQ(read_to_end(input, 100, &out, NULL), CST_OK);
  check_same(&out, plain);
  cst__input_close(input);
  bytes_free(&out);
}

TEST(tables_that_do_not_fit_are_none) {
  framed_file file;
  make_frames(&file, 10);
  check_no_table(&file.packed, &file.plain);
  bytes whole = {0};
  bytes_add(&whole, file.packed.data, file.packed.size);
  add_seek_table(&whole, file.frames, file.count - 1, false); /* a frame is missing */
  check_no_table(&whole, &file.plain);
  whole.size = file.packed.size;
  add_seek_table(&whole, file.frames, 0, false);
  check_no_table(&whole, &file.plain);
  whole.size = file.packed.size;
  add_seek_table(&whole, file.frames, file.count, false);
  whole.data[whole.size - 5] = 4; /* a bit of the descriptor that nobody knows */
  check_no_table(&whole, &file.plain);
  whole.size = file.packed.size;
  file.frames[3].compressed += file.frames[2].compressed;
  file.frames[2].compressed = 0;
  add_seek_table(&whole, file.frames, file.count, false);
  check_no_table(&whole, &file.plain);
  whole.size = file.packed.size;
  add_seek_table(&whole, file.frames, file.count, false);
  add_compressed(&whole, CST_COMPRESSION_ZSTD, "", 0); /* something was appended */
  check_no_table(&whole, &file.plain);
  bytes_free(&whole);
  free_frames(&file);
}

/* A number of frames that no file of this size has, and one whose table would take much memory. */
TEST(lengths_are_not_believed) {
  static const uint32_t numbers[] = {1, 5, 1U << 20, 1U << 28, UINT32_MAX};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    bytes whole = {0};
    bytes empty = {0};
    uint8_t descriptor = 0;
    put_number32(&whole, 0x184d2a5e);
    put_number32(&whole, 17);
    put_number32(&whole, UINT32_MAX);
    put_number32(&whole, 1);
    put_number32(&whole, numbers[i]);
    bytes_add(&whole, &descriptor, 1);
    put_number32(&whole, 0x8f92eab1);
    check_no_table(&whole, &empty);
    bytes_free(&whole);
  }
}

/* ---- splits ---- */

/* The records of the splits between these places, one after the other; false: one of them fails. */
static bool read_cuts(cst_source *source, const char *path, const uint64_t *cuts, size_t count,
                      bytes *names) {
  bool read = true;
  for (size_t i = 0; i + 1 < count && read; i++) {
    const cst_split split = {path, cuts[i], cuts[i + 1], false, 0, 0};
    cst_source *part = NULL;
    cst_error error = CST_ERROR_INIT;
    read = cst_source_read_splits(source, &split, 1, &part, &error) == CST_OK &&
           names_of_source(part, names, &error) == CST_OK;
    CHECK(read || error.message[0] != '\0');
    cst_source_release(part);
  }
  return read;
}

TEST(splits_have_each_record_once) {
  framed_file file;
  bytes expected = {0};
  make_frames(&file, 20);
  expect_names(&expected, 0, 20);
  add_seek_table(&file.packed, file.frames, file.count, false);
  const char *path = write_bytes("splits.tfrecord.zst", &file.packed);
  const uint64_t size = file.packed.size;
  cst_source *source = open_packed(path, CST_ON_ERROR_RAISE);
  size_t most = 0; /* bytes of a middle split */
  for (uint64_t a = 0; a <= size; a += EVERY) {
    for (uint64_t b = a; b <= size; b += 1 + (a * 31 + b) % 97) {
      bytes names = {0};
      const uint64_t cuts[4] = {0, a, b, a % 2 == 0 ? size : CST_SPLIT_TO_END};
      CHECK(read_cuts(source, path, cuts, 4, &names));
      check_same(&names, &expected);
      bytes_free(&names);
      CHECK(read_cuts(source, path, cuts + 1, 2, &names));
      most = names.size > most && names.size < expected.size ? names.size : most;
      bytes_free(&names);
    }
  }
  CHECK(most > 0); /* they are divided */
  cst_source_release(source);
  bytes_free(&expected);
  free_frames(&file);
}

TEST(parts_of_a_source) {
  framed_file file;
  bytes expected = {0};
  make_frames(&file, 20);
  expect_names(&expected, 0, 20);
  add_seek_table(&file.packed, file.frames, file.count, true);
  cst_source *source = open_packed(write_bytes("parts.zst", &file.packed), CST_ON_ERROR_RAISE);
  for (uint32_t n = 1; n < 40; n++) {
    bytes names = {0};
    bytes first = {0};
    for (uint32_t i = 0; i < n; i++) {
      cst_source *part = NULL;
      CHECK_EQ(cst_source_split(source, i, n, &part, NULL), CST_OK);
      CHECK_EQ(names_of_source(part, i == 0 && n == 2 ? &first : &names, NULL), CST_OK);
      cst_source_release(part);
    }
    CHECK(n != 2 || (first.size > 0 && names.size > 0));
    bytes_add(&first, names.data, names.size);
    check_same(&first, &expected);
    bytes_free(&names);
    bytes_free(&first);
  }
  cst_source_release(source);
  bytes_free(&expected);
  free_frames(&file);
}

/* With any of its bits changed, a table is none or lies: either the splits have each record once,
 * or one of them fails. Damaged records are not dropped then, because nobody knows which are. */
TEST(tables_that_lie_never_give_wrong_records) {
  framed_file file;
  bytes expected = {0};
  size_t failures = 0;
  make_frames(&file, 12);
  expect_names(&expected, 0, 12);
  const size_t begin = file.packed.size;
  add_seek_table(&file.packed, file.frames, file.count, false);
  const uint64_t size = file.packed.size;
  for (size_t i = begin; i < size; i += EVERY) {
    for (int bit = 0; bit < 8; bit += 3) {
      file.packed.data[i] ^= (uint8_t)(1 << bit);
      const char *path = write_bytes("lies.tfrecord.zst", &file.packed);
      cst_source *source = open_packed(path, i % 2 == 0 ? CST_ON_ERROR_RAISE : CST_ON_ERROR_SKIP);
      const uint64_t cuts[] = {0, begin / 4, begin / 3, begin / 2, begin - 30, size};
      bytes names = {0};
      bool read = read_cuts(source, path, cuts, sizeof cuts / sizeof *cuts, &names);
      failures += !read;
      if (read) {
        check_same(&names, &expected);
      }
      bytes_free(&names);
      cst_source_release(source);
      file.packed.data[i] ^= (uint8_t)(1 << bit);
    }
  }
  CHECK(failures > 0);
  bytes_free(&expected);
  free_frames(&file);
}

/* The table moves bytes from a frame to its neighbour, on disk, in the stream, or in both. */
TEST(tables_that_lie_and_add_up) {
  framed_file file;
  bytes expected = {0};
  make_frames(&file, 12);
  expect_names(&expected, 0, 12);
  const size_t begin = file.packed.size;
  for (size_t i = 0; i + 1 < file.count; i++) {
    for (int what = 1; what < 4; what++) {
      cst__frame_sizes lies[256];
      memcpy(lies, file.frames, sizeof lies);
      for (size_t down = 0; down < 2; down++) {
        lies[i + down].compressed += what & 1 ? 3 : 0;
        lies[i + 1 - down].compressed -= what & 1 && lies[i + 1 - down].compressed > 3 ? 3 : 0;
        lies[i + down].content += what & 2 ? 1 : 0;
        if (lies[i + 1 - down].content == 0) {
          continue;
        }
        lies[i + 1 - down].content -= what & 2 ? 1 : 0;
        file.packed.size = begin;
        add_seek_table(&file.packed, lies, file.count, false);
        const char *path = write_bytes("moved.tfrecord.zst", &file.packed);
        cst_source *source = open_packed(path, CST_ON_ERROR_RAISE);
        for (uint64_t cut = 1; cut < begin; cut += 19) {
          bytes names = {0};
          if (read_cuts(source, path, (const uint64_t[]){0, cut, file.packed.size}, 3, &names)) {
            check_same(&names, &expected);
          }
          bytes_free(&names);
        }
        cst_source_release(source);
      }
    }
  }
  bytes_free(&expected);
  free_frames(&file);
}

/* ---- what is written ---- */

static void write_stream(const bytes *plain, size_t piece, bytes *out) {
  memory_sink sink = {.data = {0}};
  cst_writer writer = memory_writer(&sink);
  cst__output *output;
  CHECK_EQ(cst__output_open_writer(&writer, CST_COMPRESSION_ZSTD, 1, NULL, &output, NULL), CST_OK);
  for (size_t at = 0; at < plain->size; at += piece) {
    size_t size = piece < plain->size - at ? piece : plain->size - at;
    CHECK_EQ(cst__output_write(output, plain->data + at, size, NULL), CST_OK);
  }
  CHECK_EQ(cst__output_finish(output, NULL), CST_OK);
  cst__output_free(output);
  *out = sink.data;
}

static size_t count_restarts(const bytes *packed) {
  cst__raw raw = {.fd = -1};
  cst__restarts restarts;
  CHECK_EQ(cst__raw_open(&raw, write_bytes("count.zst", packed), NULL, NULL), CST_OK);
  CHECK_EQ(cst__seek_table_read(&raw, NULL, &restarts, NULL), CST_OK);
  cst__raw_close(&raw);
  cst__delete(restarts.items);
  return restarts.count;
}

TEST(large_files_are_written_in_frames) {
  enum { FRAME = 4 << 20 };
  static const struct {
    size_t size;
    size_t frames;
  } sizes[] = {{0, 0}, {FRAME - 1, 0}, {FRAME, 0}, {FRAME + 1, 2}, {2 * FRAME, 2}, {9 << 20, 3}};
  bytes plain = {0};
  add_noise(&plain, 9 << 20, 1);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    bytes packed = {0};
    bytes out = {0};
    uint64_t point, size;
    plain.size = sizes[i].size;
    write_stream(&plain, i % 2 == 0 ? 100000 : 5 << 20, &packed);
    CHECK_EQ(count_restarts(&packed), sizes[i].frames);
    CHECK_EQ(read_memory(packed.data, packed.size, 0, 1 << 20, &out, NULL), CST_OK);
    check_same(&out, &plain);
    cst__input *input = open_stream(write_bytes("written.zst", &packed));
    CHECK_EQ(cst__input_restart(input, 1, &point, &size), sizes[i].frames > 0);
    if (sizes[i].frames > 0) {
      CHECK_EQ(point, FRAME);
      CHECK_EQ(size, plain.size);
    }
    cst__input_close(input);
    bytes_free(&packed);
    bytes_free(&out);
  }
  plain.size = 9 << 20;
  bytes_free(&plain);
}

/* zstd's own function for whole buffers, which needs to know how much comes out. */
TEST(zstd_reads_what_is_written) {
  bytes plain = {0};
  bytes packed = {0};
  add_noise(&plain, 9 << 20, 1);
  write_stream(&plain, 1 << 20, &packed);
  uint8_t *out = malloc(plain.size);
  CHECK_EQ(ZSTD_decompress(out, plain.size, packed.data, packed.size), plain.size);
  CHECK_MEM(out, plain.data, plain.size);
  free(out);
  bytes_free(&plain);
  bytes_free(&packed);
}

/* ---- memory ---- */

static int read_a_split(void *ctx) {
  const char *path = ctx;
  const cst_split split = {path, 300, 900, false, 0, 0};
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  cst_source *source = NULL;
  cst_source *part = NULL;
  cst_pass *pass = NULL;
  struct ArrowArray batch = {.release = NULL};
  options.format = "raw";
  cst_status status = cst_source_open(&path, 1, &options, &source, NULL);
  if (status == CST_OK) {
    status = cst_source_read_splits(source, &split, 1, &part, NULL);
  }
  if (status == CST_OK) {
    status = cst_pass_new(part, &pass, NULL);
  }
  if (status == CST_OK) {
    status = cst_pass_next(pass, &batch, NULL);
  }
  if (status == CST_OK && batch.release != NULL) {
    batch.release(&batch);
  }
  cst_pass_free(pass);
  cst_source_release(part);
  cst_source_release(source);
  return status;
}

static int write_frames(void *ctx) {
  const bytes *plain = ctx;
  memory_sink sink = {.data = {0}};
  cst_writer writer = memory_writer(&sink);
  cst__output *output = NULL;
  cst_status status =
      cst__output_open_writer(&writer, CST_COMPRESSION_ZSTD, 1, NULL, &output, NULL);
  if (status == CST_OK) {
    status = cst__output_write(output, plain->data, plain->size, NULL);
  }
  if (status == CST_OK) {
    status = cst__output_finish(output, NULL);
  }
  cst__output_free(output);
  bytes_free(&sink.data);
  return status;
}

TEST(without_memory) {
  framed_file file;
  bytes plain = {0};
  make_frames(&file, 40);
  add_seek_table(&file.packed, file.frames, file.count, false);
  const char *path = write_bytes("memory.tfrecord.zst", &file.packed);
  FOR_EACH_ALLOCATION_FAILURE(read_a_split, (void *)(uintptr_t)path, CST_NO_MEMORY);
  add_noise(&plain, 5 << 20, 1);
  memset(plain.data, 0, plain.size);
  FOR_EACH_ALLOCATION_FAILURE(write_frames, &plain, CST_NO_MEMORY);
  bytes_free(&plain);
  free_frames(&file);
}
