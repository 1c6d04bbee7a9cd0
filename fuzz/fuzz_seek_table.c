/* A zstd file with a seek table, as frames and a table that both may be damaged or lie: what is
 * read from restart point to restart point, by readers that know nothing of each other, is what is
 * read from start to end, or one of them fails. */
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "fuzz.h"
#include "io/input.h"

enum { MOST_INPUT = 1 << 14, MOST_STREAM = 1 << 20, NUM_READERS = 5, NUM_PATH = 64 };

static char folder[NUM_PATH / 2];
static char path[NUM_PATH];
static uint8_t whole[MOST_STREAM];
static uint8_t pieces[MOST_STREAM];

static void clean(void) {
  (void)unlink(path);
  (void)rmdir(folder);
}

static void prepare(void) {
  if (path[0] != '\0') {
    return;
  }
  const char *base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : getenv("TMPDIR");
  (void)snprintf(folder, sizeof folder, "%s/fuzz_table.XXXXXX", base ? base : "/tmp");
  FUZZ_ASSERT(mkdtemp(folder) != NULL);
  (void)snprintf(path, sizeof path, "%s/d.zst", folder);
  FUZZ_ASSERT(atexit(clean) == 0);
}

static cst__input *open_file(void) {
  cst__input *input = NULL;
  FUZZ_ASSERT(cst__input_open(path, NULL, &input, NULL) == CST_OK);
  return input;
}

/* Reads `size` bytes, or to the end; what failed comes with the next reading at the latest. */
static cst_status read_all(cst__input *input, uint8_t *out, size_t size, size_t *got) {
  size_t none;
  cst_status status = cst__input_read(input, out, size, got, NULL);
  return status == CST_OK ? cst__input_read(input, out, 0, &none, NULL) : status;
}

/* Each reader takes the stream from its restart point to that of the next one. */
static bool read_pieces(uint64_t file_size, size_t *total) {
  *total = 0;
  for (uint64_t i = 0; i < NUM_READERS; i++) {
    uint64_t begin;
    uint64_t end;
    uint64_t size;
    size_t got = 0;
    cst__input *input = open_file();
    bool read = cst__input_restart(input, file_size * i / NUM_READERS, &begin, &size) &&
                cst__input_restart(input, file_size * (i + 1) / NUM_READERS, &end, &size);
    if (read) {
      FUZZ_ASSERT(begin <= end && end <= size && cst__input_seek(input, begin));
      size_t room = MOST_STREAM - *total;
      bool last = i + 1 == NUM_READERS;
      size_t want = !last && end - begin < room ? (size_t)(end - begin) : room;
      read = (begin == end && !last) ||
             (read_all(input, pieces + *total, want, &got) == CST_OK && (last || got == want));
    }
    *total += got;
    cst__input_close(input);
    if (!read) {
      return false;
    }
  }
  return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  size_t got = 0;
  size_t total = 0;
  prepare();
  FILE *file = fopen(path, "wb");
  size = size < MOST_INPUT ? size : MOST_INPUT;
  FUZZ_ASSERT(file != NULL && fwrite(data, 1, size, file) == size && fclose(file) == 0);
  cst__input *input = open_file();
  cst_status status = read_all(input, whole, MOST_STREAM, &got);
  cst__input_close(input);
  bool divided = read_pieces(size, &total);
  if (status == CST_OK && divided) {
    FUZZ_ASSERT(total == got && memcmp(pieces, whole, got) == 0);
  }
  fuzz_outcome(cst_status_name(status));
  return 0;
}
