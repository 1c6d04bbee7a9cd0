/* The containers delimited and lines: framing in whole and in pieces, limits, damage, what the
 * first bytes mean, and the way through sources, sinks and indexes. */
#include <columnstone/index.h>
#include <stdio.h>
#include <string.h>

#include "format/container/container.h"
#include "harness.h"
#include "io_support.h"

enum { MOST = 64 };

static const cst__container *const delimited = &cst__delimited_container;
static const cst__container *const lines = &cst__lines_container;

/* The records of a stream, each in [ ], scanned in pieces of `step` more bytes; then the message of
 * the failure, if there is one. */
static const char *scan_text(const cst__container *container, const char *data, size_t size,
                             size_t step, uint64_t limit) {
  static char out[1024];
  size_t at = 0;
  size_t there = 0;
  size_t used = 0;
  while (at < size || there < size) {
    cst__frame frames[3];
    cst__framed framed = {.frames = frames, .max = 3};
    cst_error error = CST_ERROR_INIT;
    there = there + step < size ? there + step : size;
    const cst__chunk chunk = {(const uint8_t *)data + at, there - at, there == size};
    cst_status status = container->scan(&chunk, limit, &framed, &error);
    for (size_t i = 0; i < framed.count; i++) {
      CHECK(cst__frame_start(&frames[i]) == (i == 0 ? 0 : cst__frame_end(&frames[i - 1])));
      used += (size_t)snprintf(out + used, sizeof out - used, "[%.*s]", (int)frames[i].size,
                               data + at + frames[i].begin);
    }
    at += framed.consumed;
    if (status == CST_OK && chunk.ends && framed.needed > 0) {
      status = container->truncated(size - at, framed.needed, &error);
    }
    if (status != CST_OK) {
      used += (size_t)snprintf(out + used, sizeof out - used, "%s", error.message);
      break;
    }
    CHECK(framed.needed == 0 || framed.needed > chunk.size - framed.consumed);
  }
  out[used] = '\0';
  return out;
}

static void check_scan(const cst__container *container, const char *data, size_t size,
                       uint64_t limit, const char *expected) {
  for (size_t step = 1; step <= size; step++) {
    CHECK_STR(scan_text(container, data, size, step, limit), expected);
  }
}

#define CHECK_SCAN(container, data, limit, expected) \
  check_scan(container, data, sizeof(data) - 1, limit, expected)

TEST(delimited_messages) {
  CHECK_SCAN(delimited, "\001a\000\003bcd", 0, "[a][][bcd]");
  CHECK_SCAN(delimited, "\201\000a\002bc", 0, "[a][bc]"); /* a length in two bytes */
  CHECK_SCAN(delimited, "\001a\003bc", 0, "[a]truncated: 3 of 4 bytes of a record");
  CHECK_SCAN(delimited, "\001a\200", 0, "[a]truncated: 1 of 2 bytes of a record");
  CHECK_SCAN(delimited, "\001a\005bcdef", 4, "[a]record of 5 bytes, the limit is 4");
  CHECK_SCAN(delimited, "\001a\377\377\377\377\377\377\377\377\377\377\001", 0,
             "[a]the length of a record has more than 10 bytes");
  CHECK_SCAN(delimited, "\377\377\377\377\377\377\377\377\377\001", 0,
             "record of 18446744073709551615 bytes, the limit is 268435456");
}

TEST(lines_with_and_without_an_end) {
  CHECK_SCAN(lines, "a\nbc\n", 0, "[a][bc]");
  CHECK_SCAN(lines, "a\r\nb\rc\r\n\n\r\nlast", 0, "[a][b\rc][][][last]");
  CHECK_SCAN(lines, "cr\r", 0, "[cr\r]");
  CHECK_SCAN(lines, "abcd\nabcd\r\nabcde\nf", 4, "[abcd][abcd]a line of more than 4 bytes");
  CHECK_SCAN(lines, "abcdef", 4, "a line of more than 4 bytes");
}

/* Where the record after the damaged one begins, searched in pieces. */
static size_t end_of_damage(const cst__container *container, cst__damage_kind kind,
                            const char *data, size_t size) {
  cst__resync resync = {.longest = 1 << 20, .kind = kind, .first = 1};
  size_t at = 0;
  for (size_t there = size < 12 ? size : 12;; there++) {
    const cst__chunk chunk = {(const uint8_t *)data + at, there - at, there >= size};
    size_t passed;
    uint64_t needed;
    bool found = container->find_end(&resync, &chunk, &passed, &needed);
    CHECK(passed <= chunk.size);
    at += passed;
    if (found) {
      return at;
    }
    CHECK(!chunk.ends);
  }
}

TEST(what_damage_takes) {
  static const char text[] = "too long a line\nnext";
  CHECK_EQ(end_of_damage(lines, CST__DAMAGE_LIMIT, text, sizeof text - 1), 16);
  CHECK_EQ(end_of_damage(lines, CST__DAMAGE_LIMIT, text, 15), 15);
  static const char large[] = "\024abcdefghijklmnopqrst\001a";
  CHECK_EQ(end_of_damage(delimited, CST__DAMAGE_LIMIT, large, sizeof large - 1), 21);
  CHECK_EQ(end_of_damage(delimited, CST__DAMAGE_LIMIT, large, 12), 12);
  static const char bad[] = "\377\377\377\377\377\377\377\377\377\377\377\001a";
  CHECK_EQ(end_of_damage(delimited, CST__DAMAGE_FRAMING, bad, sizeof bad - 1), sizeof bad - 1);
}

static const char *sniffed(const char *data, size_t size, bool ends) {
  const cst__chunk head = {(const uint8_t *)data, size, ends};
  const cst__container *container = cst__container_sniff(&head, false);
  return container != NULL ? container->info.name : "";
}

#define SNIFFED(data) sniffed(data, sizeof(data) - 1, true)

TEST(what_the_first_bytes_mean) {
  CHECK_STR(SNIFFED("\002\010\001"), "delimited");                   /* {1: 1} */
  CHECK_STR(SNIFFED("\002\010\001\000\004\022\002ab"), "delimited"); /* and {}, {2: "ab"} */
  CHECK_STR(SNIFFED(""), "");
  CHECK_STR(SNIFFED("\000\000\000\000"), "");           /* zeros are no messages */
  CHECK_STR(SNIFFED("\002\010\001\002\010"), "");       /* cut, as it may be by chance */
  CHECK_STR(SNIFFED("\002\007\001"), "");               /* the wire type 7 */
  CHECK_STR(SNIFFED("a,b\n1,2\n"), "");                 /* text */
  CHECK_STR(SNIFFED("\n{\"a\": [1]\n"), "");            /* text whose first line is a length */
  CHECK_STR(SNIFFED("PK\003\004\024\000\010\000"), ""); /* a zip archive */
  CHECK_STR(SNIFFED("ARROW1\000\000\377\377\377\377"), "");
  CHECK_STR(SNIFFED("PAR1\025\004\025\020"), "");
  /* A tf.Example that goes on after the head, and bytes that do so by chance. */
  CHECK_STR(sniffed("\200\100\012\375\077\012\100\012\001a", 10, false), "delimited");
  CHECK_STR(sniffed("\200\100\012\377\177\012\100\012\001a", 10, false), "");
  CHECK_STR(sniffed("\377\376a\000b\000c\000", 8, false), "");
  /* What would begin a tf.Example lies after the end of the record, which is too small for it. */
  CHECK_STR(SNIFFED("\000\012\000\012\000\012\000a"), "");
  CHECK_STR(SNIFFED("\003\012\001\012\022\012\000"), "");
  /* Lengths of four bytes, the large ones first. */
  CHECK_STR(SNIFFED("\000\000\000\002\010\001\000\000\000\002\010\001"), "");
}

static cst_status open_named(const char *path, const char *container, const char *format,
                             cst_source **out, cst_error *error) {
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  options.container = container;
  options.format = format;
  return cst_source_open(&path, 1, &options, out, error);
}

/* Writes records, reads them back, counts, indexes, takes and splits them. */
static void check_round(const char *container, const char *file_name, bool divisible) {
  const char *path = harness_temp_path(file_name);
  cst_sink_options options = CST_SINK_OPTIONS_INIT;
  cst_tfrecord_writer *writer;
  cst_source *source;
  cst_findings *count;
  uint64_t rows;
  uint64_t size_of_all = 0;
  options.container = container;
  CHECK_EQ(cst_tfrecord_writer_open(path, &options, &writer, NULL), CST_OK);
  for (int i = 0; i < 1000; i++) {
    char record[512];
    int size = snprintf(record, sizeof record, "%0*d", i % 300 + 1, i);
    size_of_all += (uint64_t)size;
    CHECK_EQ(cst_tfrecord_writer_write(writer, record, (size_t)size, NULL), CST_OK);
  }
  CHECK_EQ(cst_tfrecord_writer_finish(writer, NULL), CST_OK);
  cst_tfrecord_writer_free(writer);
  CHECK_EQ(open_named(path, container, "raw", &source, NULL), CST_OK);
  CHECK_STR(cst_source_container(source), container);
  CHECK_EQ(cst_source_count(source, NULL, NULL, &count, NULL), CST_OK);
  CHECK_EQ(cst_findings_total(count, "records"), 1000);
  CHECK_EQ(cst_findings_number(count, "record_bytes", 0), size_of_all);
  cst_findings_free(count);
  struct ArrowArray batch;
  const uint64_t wanted[] = {999, 0, 500};
  CHECK_EQ(cst_source_take(source, wanted, 3, &batch, NULL), CST_OK);
  const int64_t *ends = batch.children[0]->buffers[1];
  const char *values = batch.children[0]->buffers[2];
  CHECK_MEM(values + ends[1] - 3, "999", 3);
  CHECK_MEM(values + ends[1], "0", 1);
  CHECK_MEM(values + ends[3] - 3, "500", 3);
  batch.release(&batch);
  uint64_t sum = 0;
  uint64_t least = 1000;
  for (uint32_t i = 0; i < 3; i++) {
    cst_source *part;
    CHECK_EQ(cst_source_split(source, i, 3, &part, NULL), CST_OK);
    CHECK_EQ(cst_source_num_rows(part, &rows, NULL), CST_OK);
    sum += rows;
    least = rows < least ? rows : least;
    cst_source_release(part);
  }
  CHECK_EQ(sum, 1000);
  CHECK(divisible == (least > 0));
  cst_source_release(source);
  cst_index_options how = CST_INDEX_OPTIONS_INIT;
  cst_index *index;
  uint64_t offset;
  uint64_t size;
  how.container = container;
  CHECK_EQ(cst_index_build(path, &how, &index, NULL), CST_OK);
  CHECK_EQ(cst_index_save(index, path, NULL), CST_OK);
  cst_index_free(index);
  CHECK_EQ(cst_index_open(path, NULL, &index, NULL), CST_OK);
  CHECK_EQ(cst_index_num_records(index), 1000);
  cst_index_record(index, 299, &offset, &size);
  CHECK_EQ(size, divisible ? 301 : 300); /* lines: with their end */
  cst_index_free(index);
  CHECK_EQ(open_named(path, container, "raw", &source, NULL), CST_OK);
  cst_source *part; /* exact, by the index */
  CHECK_EQ(cst_source_split(source, 1, 4, &part, NULL), CST_OK);
  CHECK_EQ(cst_source_num_rows(part, &rows, NULL), CST_OK);
  CHECK_EQ(rows, 250);
  cst_source_release(part);
  cst_source_release(source);
}

TEST(delimited_there_and_back) { check_round("delimited", "there_and_back.bin", false); }

TEST(lines_there_and_back) { check_round("lines", "there_and_back.txt", true); }

TEST(a_line_cannot_hold_every_record) {
  cst_sink_options options = CST_SINK_OPTIONS_INIT;
  cst_tfrecord_writer *writer;
  cst_error error = CST_ERROR_INIT;
  options.container = "lines";
  CHECK_EQ(cst_tfrecord_writer_open(harness_temp_path("ends.txt"), &options, &writer, NULL),
           CST_OK);
  CHECK_EQ(cst_tfrecord_writer_write(writer, "a\rb", 3, &error), CST_OK);
  CHECK_EQ(cst_tfrecord_writer_write(writer, "a\nb", 3, &error), CST_UNSUPPORTED);
  CHECK_EQ(cst_tfrecord_writer_write(writer, "a\r", 2, &error), CST_UNSUPPORTED);
  CHECK_CONTAINS(error.message, "a line cannot contain a record with a line break");
  cst_tfrecord_writer_free(writer);
}

/* The status of a pass over files, and the error's message and hint. */
static cst_status read_all(const char *const *paths, size_t num_paths, const char *container,
                           cst_error *error) {
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  cst_findings *count;
  cst_source *source;
  options.container = container;
  options.format = "raw";
  CHECK_EQ(cst_source_open(paths, num_paths, &options, &source, NULL), CST_OK);
  cst_status status = cst_source_count(source, NULL, NULL, &count, error);
  cst_findings_free(count);
  cst_source_release(source);
  return status;
}

static void write_example(const char *path, const char *container) {
  static const char example[] = "\012\012\012\010\012\001a\022\003\032\001\012";
  cst_sink_options options = CST_SINK_OPTIONS_INIT;
  cst_tfrecord_writer *writer;
  options.container = container;
  CHECK_EQ(cst_tfrecord_writer_open(path, &options, &writer, NULL), CST_OK);
  CHECK_EQ(cst_tfrecord_writer_write(writer, example, sizeof example - 1, NULL), CST_OK);
  CHECK_EQ(cst_tfrecord_writer_finish(writer, NULL), CST_OK);
  cst_tfrecord_writer_free(writer);
}

TEST(files_of_different_containers) {
  cst_error error = CST_ERROR_INIT;
  char paths[2][512];
  snprintf(paths[0], sizeof paths[0], "%s", harness_temp_path("mixed.tfrecord"));
  snprintf(paths[1], sizeof paths[1], "%s", harness_temp_path("mixed.bin"));
  write_example(paths[0], "tfrecord");
  write_example(paths[1], "delimited");
  const char *const tfrecord_first[] = {paths[0], paths[1]};
  const char *const delimited_first[] = {paths[1], paths[0]};
  CHECK_EQ(read_all(tfrecord_first, 2, NULL, &error), CST_FORMAT);
  CHECK_CONTAINS(error.hint, "delimited");
  CHECK_EQ(read_all(delimited_first, 2, NULL, &error), CST_FORMAT); /* no records are made of it */
  CHECK_CONTAINS(error.hint, "tfrecord");
  CHECK_EQ(read_all(tfrecord_first, 1, "lines", &error), CST_FORMAT);
  CHECK_CONTAINS(error.message, "is not a lines file");
  CHECK_EQ(read_all(tfrecord_first, 1, "delimited", NULL), CST_FORMAT);
  CHECK_EQ(read_all(delimited_first, 1, "tfrecord", NULL), CST_FORMAT);
  CHECK_EQ(read_all(delimited_first, 1, "delimited", NULL), CST_OK);
}

/* The ending of a format, as that of one that has been added, is asked first. */
TEST(endings_come_before_what_the_bytes_may_mean) {
  const char *path = harness_temp_path("messages.csv");
  cst_source *source;
  write_example(path, "delimited");
  CHECK_EQ(open_named(path, NULL, NULL, &source, NULL), CST_OK);
  CHECK_STR(cst_source_format(source), "csv");
  cst_source_release(source);
}

/* They would be Examples without features. */
TEST(messages_that_are_no_examples_are_raw) {
  static const char messages[] = "\000\002\010\001";        /* {} and {1: 1} */
  static const char others[] = "\003\032\001a\002\010\001"; /* {3: "a"} and {1: 1} */
  const char *path = harness_temp_path("messages.bin");
  cst_source *source;
  harness_write_file(path, others, sizeof others - 1);
  CHECK_EQ(open_named(path, NULL, NULL, &source, NULL), CST_OK);
  CHECK_STR(cst_source_container(source), "delimited");
  CHECK_STR(cst_source_format(source), "raw");
  cst_source_release(source);
  harness_write_file(path, messages, sizeof messages - 1);
  CHECK_EQ(open_named(path, "delimited", NULL, &source, NULL), CST_OK);
  CHECK_STR(cst_source_format(source), "example"); /* as it may be */
  cst_source_release(source);
  write_example(path, "delimited");
  CHECK_EQ(open_named(path, NULL, NULL, &source, NULL), CST_OK);
  CHECK_STR(cst_source_format(source), "example");
  cst_source_release(source);
}

TEST(containers_by_name) {
  const char *path = harness_temp_path("name.csv");
  cst_source *source;
  cst_error error = CST_ERROR_INIT;
  harness_write_file(path, "a,b\n1,2\n", 8);
  CHECK_EQ(open_named(path, "line", NULL, &source, &error), CST_NOT_FOUND);
  CHECK_STR(error.hint, "did you mean 'lines'?");
  CHECK_EQ(open_named(path, "lines", "csv", &source, &error), CST_UNSUPPORTED);
  CHECK_CONTAINS(error.hint, "leave the container out");
  CHECK_EQ(open_named(path, NULL, NULL, &source, NULL), CST_OK);
  CHECK(cst_source_container(source) == NULL);
  cst_source_release(source);
  CHECK_EQ(open_named(path, "lines", NULL, &source, NULL), CST_OK);
  CHECK_STR(cst_source_format(source), "raw");
  cst_source_release(source);
}
