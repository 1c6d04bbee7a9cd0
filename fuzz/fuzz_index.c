/* The index file beside a fixed TFRecord file, and the text form of an index. The first byte says
 * which it is, and whether the index gets the checksum and the identity that are right, as a
 * hostile one has them: what is loaded has to be saved as the same bytes, records are taken through
 * it or refused, and a text is taken only if it says what the export does. */
#include <columnstone/arrow_abi.h>
#include <columnstone/index.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "fuzz.h"
#include "source/index/index.h"

enum {
  NUM_RECORDS = 5,
  MOST_BYTES = 1 << 12, /* of an input */
  HEAD = sizeof(cst__index_head),
  FOOT = 4,
  PATH_BYTES = 64
};
static const uint32_t record_sizes[NUM_RECORDS] = {0, 1, 10, 300, 3};

static char folder[PATH_BYTES / 2];
static char data_path[PATH_BYTES];
static char index_path[PATH_BYTES];
static char text_path[PATH_BYTES];
static cst_index *right; /* the index of the data */
static uint8_t bytes[MOST_BYTES];
static uint8_t again[MOST_BYTES];

/* ---- the data ---- */

static void write_all(const char *path, const void *data, size_t size) {
  FILE *file = fopen(path, "wb");
  FUZZ_ASSERT(file != NULL);
  FUZZ_ASSERT(fwrite(data, 1, size, file) == size);
  FUZZ_ASSERT(fclose(file) == 0);
}

static size_t read_all(const char *path, void *data, size_t most) {
  FILE *file = fopen(path, "rb");
  FUZZ_ASSERT(file != NULL);
  size_t size = fread(data, 1, most, file);
  FUZZ_ASSERT(fclose(file) == 0);
  return size;
}

static uint32_t masked(const void *data, size_t size) {
  uint32_t crc = cst__crc32c(0, data, size);
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8U;
}

static size_t put(uint8_t *out, size_t at, const void *data, size_t size) {
  memcpy(out + at, data, size);
  return at + size;
}

static size_t make_records(uint8_t *out) {
  uint8_t payload[300];
  size_t at = 0;
  memset(payload, 'x', sizeof payload);
  for (size_t i = 0; i < NUM_RECORDS; i++) {
    const uint64_t length = record_sizes[i];
    const uint32_t length_crc = masked(&length, sizeof length);
    const uint32_t data_crc = masked(payload, length);
    at = put(out, at, &length, sizeof length);
    at = put(out, at, &length_crc, sizeof length_crc);
    at = put(out, at, payload, length);
    at = put(out, at, &data_crc, sizeof data_crc);
  }
  return at;
}

static void clean(void) {
  cst_index_free(right);
  (void)unlink(data_path);
  (void)unlink(index_path);
  (void)unlink(text_path);
  (void)rmdir(folder);
}

static void prepare(void) {
  if (right != NULL) {
    return;
  }
  const char *base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : getenv("TMPDIR");
  (void)snprintf(folder, sizeof folder, "%s/fuzz_index.XXXXXX", base ? base : "/tmp");
  FUZZ_ASSERT(mkdtemp(folder) != NULL);
  (void)snprintf(data_path, sizeof data_path, "%s/d", folder);
  (void)snprintf(index_path, sizeof index_path, "%s/d.cstidx", folder);
  (void)snprintf(text_path, sizeof text_path, "%s/d.idx", folder);
  write_all(data_path, bytes, make_records(bytes));
  FUZZ_ASSERT(cst_index_build(data_path, NULL, &right, NULL) == CST_OK);
  FUZZ_ASSERT(atexit(clean) == 0);
}

/* ---- the index file ---- */

/* Makes the index one of the data, with the right checksum. */
static void mend(uint8_t *index, size_t size) {
  if (size < HEAD + FOOT) {
    return;
  }
  cst__index_head head = {.version = CST__INDEX_VERSION,
                          .data_crc = right->identity.crc,
                          .data_size = right->identity.size,
                          .num_records = (size - HEAD - FOOT) / sizeof(uint64_t)};
  memcpy(head.magic, "CSTINDEX", sizeof head.magic);
  memcpy(index, &head, HEAD);
  uint32_t crc = cst__crc32c(0, index, size - FOOT);
  memcpy(index + size - FOOT, &crc, FOOT);
}

static bool is_right(const cst_index *index) {
  return index->count == right->count &&
         memcmp(index->offsets, right->offsets, (right->count + 1) * sizeof *right->offsets) == 0;
}

/* A source believes the index of where records lie, and checks what it finds there. */
static void take_records(const cst_index *index) {
  cst_source_options options = CST_SOURCE_OPTIONS_INIT;
  const char *path = data_path;
  cst_source *source;
  cst_error error = CST_ERROR_INIT;
  uint64_t rows;
  options.format = "raw";
  FUZZ_ASSERT(cst_source_open(&path, 1, &options, &source, &error) == CST_OK);
  FUZZ_ASSERT(cst_source_num_rows(source, &rows, &error) == CST_OK);
  FUZZ_ASSERT(rows == index->count);
  for (uint64_t row = 0; row < rows; row++) {
    struct ArrowArray batch;
    cst_status status = cst_source_take(source, &row, 1, &batch, &error);
    FUZZ_ASSERT(status == CST_OK || status == CST_CORRUPT || status == CST_STATE);
    FUZZ_ASSERT(status == CST_OK || !is_right(index));
    if (status == CST_OK) {
      FUZZ_ASSERT(batch.length == 1);
      batch.release(&batch);
    }
  }
  cst_source_release(source);
}

static cst_status try_index(size_t size) {
  cst_index *index;
  cst_error error = CST_ERROR_INIT;
  write_all(index_path, bytes, size);
  cst_status status = cst_index_open(data_path, NULL, &index, &error);
  FUZZ_ASSERT(status == error.code);
  if (status != CST_OK) {
    FUZZ_ASSERT(error.message[0] != '\0' && error.file[0] != '\0' && error.hint[0] != '\0');
    return status;
  }
  FUZZ_ASSERT(index->count * sizeof(uint64_t) + HEAD + FOOT == size);
  FUZZ_ASSERT(cst_index_save(index, data_path, NULL) == CST_OK);
  FUZZ_ASSERT(read_all(index_path, again, sizeof again) == size);
  FUZZ_ASSERT(memcmp(bytes, again, size) == 0);
  take_records(index);
  cst_index_free(index);
  return CST_OK;
}

/* ---- the text ---- */

/* What the export would have written: without CR in front of LF, with the last LF, numbers without
 * leading zeros. Returns its size; `out` has room for one byte more than the text. */
static size_t normalize(const uint8_t *text, size_t size, uint8_t *out) {
  size_t used = 0;
  for (size_t i = 0; i < size; i++) {
    bool ends = i + 1 == size || text[i + 1] == '\n';
    bool begins = i == 0 || text[i - 1] == '\n' || text[i - 1] == ' ';
    bool is_return = text[i] == '\r' && ends;
    bool is_zero = text[i] == '0' && used > 0 && begins && i + 1 < size && text[i + 1] >= '0' &&
                   text[i + 1] <= '9';
    if (!is_return && !is_zero) {
      out[used++] = text[i];
    }
  }
  if (used == 0 || out[used - 1] != '\n') {
    out[used++] = '\n';
  }
  return used;
}

static cst_status try_text(size_t size) {
  static uint8_t normal[MOST_BYTES + 1];
  cst_index *index;
  cst_error error = CST_ERROR_INIT;
  write_all(text_path, bytes, size);
  cst_status status = cst_index_open_text(text_path, data_path, NULL, &index, &error);
  FUZZ_ASSERT(status == error.code);
  FUZZ_ASSERT(cst_index_save_text(right, text_path, NULL) == CST_OK);
  size_t expected = read_all(text_path, again, sizeof again);
  bool plain = size > 0 && bytes[0] == '0' && size > 1 && bytes[1] == ' ';
  size_t used = normalize(bytes, size, normal);
  bool same = used == expected && memcmp(normal, again, used) == 0;
  if (status == CST_OK) {
    FUZZ_ASSERT(!plain || same);
    FUZZ_ASSERT(is_right(index));
    cst_index_free(index);
    return CST_OK;
  }
  FUZZ_ASSERT(size != expected || memcmp(bytes, again, size) != 0);
  FUZZ_ASSERT(error.message[0] != '\0' && strcmp(error.file, text_path) == 0);
  return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  prepare();
  if (size == 0 || size > MOST_BYTES) {
    fuzz_outcome("SIZE");
    return 0;
  }
  size--;
  memcpy(bytes, data + 1, size);
  if (data[0] % 3 == 2) {
    fuzz_outcome(cst_status_name(try_text(size)));
    return 0;
  }
  if (data[0] % 3 == 1) {
    mend(bytes, size);
  }
  fuzz_outcome(cst_status_name(try_index(size)));
  return 0;
}
