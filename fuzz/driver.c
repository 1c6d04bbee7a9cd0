/* The replay driver: runs a fuzz target over every file of its corpus and over a number of
 * mutations of them, the same ones in every run.
 *
 *     fuzz_NAME CORPUS [--mutations N] [--at-least FILES]     fuzz_NAME FILE...
 *
 * The end of every input lies against a page that may not be touched, so that a read past the end
 * crashes without a sanitizer too. An input that crashes, takes longer than a minute or fails a
 * check is written to crash-NAME in the current directory.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
  return "allocator_may_return_null=1:max_allocation_size_mb=512";
}
#endif

enum {
  INPUT_LIMIT = 1 << 20,    /* bytes of the longest input */
  SECONDS_PER_INPUT = 60,   /* more is a hang */
  OUTCOME_LIMIT = 32,       /* different outcomes */
  CHANGES_PER_MUTATION = 8, /* at most */
  MEMORY_LIMIT_MB = 2048,   /* of address space, without a sanitizer */
};

struct input {
  char *name;
  uint8_t *data;
  size_t size;
};

struct outcome {
  const char *name;
  uint64_t count;
};

static const char *program;
static struct input *corpus;
static size_t corpus_size;
static uint8_t *arena; /* INPUT_LIMIT bytes that end at the forbidden page */
static uint8_t *current;
static size_t current_size;
static struct outcome outcomes[OUTCOME_LIMIT];
static const char *last_outcome;

/* --- The input at work, and what to do when it kills the program --- */

static void save_current(void) {
  char path[256];
  const char *base = strrchr(program, '/');
  snprintf(path, sizeof path, "crash-%s", base ? base + 1 : program);
  int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file < 0) return;
  if (write(file, current, current_size) == (ssize_t)current_size) {
    fprintf(stderr, "%s: the input is in %s\n", program, path);
  }
  close(file);
}

#ifndef __SANITIZE_ADDRESS__
static void on_signal(int number) {
  fprintf(stderr, "%s: signal %d\n", program, number);
  save_current();
  signal(number, SIG_DFL);
  raise(number);
}
#endif

static void prepare_process(void) {
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_set_death_callback(save_current);
#else
  const int numbers[] = {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE, SIGALRM};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) signal(numbers[i], on_signal);
#ifndef __SANITIZE_THREAD__
  struct rlimit limit = {(rlim_t)MEMORY_LIMIT_MB << 20, (rlim_t)MEMORY_LIMIT_MB << 20};
  setrlimit(RLIMIT_AS, &limit);
#endif
#endif
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  arena =
      mmap(NULL, INPUT_LIMIT + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (arena == MAP_FAILED || mprotect(arena + INPUT_LIMIT, page, PROT_NONE) != 0) abort();
}

void fuzz_outcome(const char *name) {
  last_outcome = name;
  for (int i = 0; i < OUTCOME_LIMIT; i++) {
    if (!outcomes[i].name) outcomes[i].name = name;
    if (strcmp(outcomes[i].name, name) == 0) {
      outcomes[i].count++;
      return;
    }
  }
}

static void print_outcomes(const char *label, uint64_t count) {
  printf("%s: %llu %s:", program, (unsigned long long)count, label);
  for (int i = 0; i < OUTCOME_LIMIT && outcomes[i].name; i++) {
    printf(" %s %llu", outcomes[i].name, (unsigned long long)outcomes[i].count);
  }
  printf("\n");
  memset(outcomes, 0, sizeof outcomes);
}

/* Runs the `size` bytes that lie at the end of the arena. */
static bool run_current(size_t size, const char *name) {
  current = arena + INPUT_LIMIT - size;
  current_size = size;
  last_outcome = NULL;
  alarm(SECONDS_PER_INPUT);
  LLVMFuzzerTestOneInput(current, size);
  alarm(0);
  if (last_outcome && strcmp(last_outcome, "NO_MEMORY") != 0) return true;
  fprintf(stderr, "%s: %s: %s\n", program, name, last_outcome ? last_outcome : "no outcome");
  save_current();
  return false;
}

/* --- The corpus --- */

static bool load_file(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) return false;
  uint8_t *data = malloc(INPUT_LIMIT);
  struct input *grown = realloc(corpus, (corpus_size + 1) * sizeof *corpus);
  if (!data || !grown) abort();
  corpus = grown;
  struct input *input = &corpus[corpus_size++];
  input->size = fread(data, 1, INPUT_LIMIT, file);
  input->data = realloc(data, input->size + 1);
  input->name = strdup(path);
  fclose(file);
  return true;
}

static int by_name(const void *a, const void *b) {
  return strcmp(((const struct input *)a)->name, ((const struct input *)b)->name);
}

static void load(const char *path) {
  DIR *folder = opendir(path);
  if (!folder && !load_file(path)) fprintf(stderr, "%s: cannot read %s\n", program, path);
  if (!folder) return;
  for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
    char name[1024];
    snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
    if (entry->d_name[0] != '.') load_file(name);
  }
  closedir(folder);
  qsort(corpus, corpus_size, sizeof *corpus, by_name);
}

static void unload(void) {
  for (size_t i = 0; i < corpus_size; i++) {
    free(corpus[i].name);
    free(corpus[i].data);
  }
  free(corpus);
}

/* --- Mutations: xorshift, so that run k is the same on every machine --- */

static uint64_t random_state = 0x2545F4914F6CDD1Du;

static uint64_t random_below(uint64_t limit) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return limit ? random_state % limit : 0;
}

static const uint8_t telling_bytes[] = {0x00, 0x01, 0x7f, 0x80, 0xff, 0xfe, 0x0a, 0x12,
                                        0x1a, '"',  '{',  '}',  '\\', '\n', ':',  0x0b};

static void change_bytes(uint8_t *data, size_t size) {
  size_t at = (size_t)random_below(size);
  switch (random_below(4)) {
    case 0:
      data[at] ^= (uint8_t)(1u << random_below(8));
      break;
    case 1:
      data[at] = telling_bytes[random_below(sizeof telling_bytes)];
      break;
    case 2:
      data[at] = (uint8_t)random_below(256);
      break;
    default:
      memset(data + at, random_below(2) ? 0xff : 0x00, (size_t)random_below(size - at + 1) % 9);
      break;
  }
}

static size_t remove_range(uint8_t *data, size_t size) {
  size_t at = (size_t)random_below(size), count = 1 + (size_t)random_below(size - at);
  if (count > 16 && random_below(2)) count = 1 + count % 16;
  memmove(data + at, data + at + count, size - at - count);
  return size - count;
}

/* Puts a piece of a file of the corpus (this one or another) into the input. */
static size_t insert_range(uint8_t *data, size_t size) {
  const struct input *from = &corpus[random_below(corpus_size)];
  if (from->size == 0) return size;
  size_t start = (size_t)random_below(from->size);
  size_t count = 1 + (size_t)random_below(from->size - start);
  if (count > 64 && random_below(2)) count = 1 + count % 64;
  if (count > INPUT_LIMIT - size) return size;
  size_t at = (size_t)random_below(size + 1);
  memmove(data + at + count, data + at, size - at);
  memcpy(data + at, from->data + start, count);
  return size + count;
}

static size_t mutate(uint8_t *data, size_t size) {
  for (uint64_t n = 1 + random_below(CHANGES_PER_MUTATION); n > 0; n--) {
    uint64_t kind = random_below(10);
    if (size == 0 || kind < 2) {
      size = insert_range(data, size);
    } else if (kind < 3) {
      size = remove_range(data, size);
    } else if (kind < 4 && random_below(4) == 0) {
      size = (size_t)random_below(size); /* cut */
    } else {
      change_bytes(data, size);
    }
  }
  return size;
}

/* --- The run --- */

static uint64_t replay(void) {
  uint64_t failures = 0;
  for (size_t i = 0; i < corpus_size; i++) {
    memcpy(arena + INPUT_LIMIT - corpus[i].size, corpus[i].data, corpus[i].size);
    failures += !run_current(corpus[i].size, corpus[i].name);
  }
  print_outcomes("files", corpus_size);
  return failures;
}

static uint64_t run_mutations(uint64_t count) {
  uint64_t failures = 0;
  uint8_t *scratch = malloc(INPUT_LIMIT);
  if (!scratch) abort();
  for (uint64_t i = 0; i < count && corpus_size > 0; i++) {
    const struct input *from = &corpus[random_below(corpus_size)];
    memcpy(scratch, from->data, from->size);
    size_t size = mutate(scratch, from->size);
    memcpy(arena + INPUT_LIMIT - size, scratch, size);
    failures += !run_current(size, from->name);
  }
  free(scratch);
  print_outcomes("mutations", count);
  return failures;
}

int main(int argc, char **argv) {
  uint64_t mutations = 0, at_least = 1;
  program = argv[0];
  prepare_process();
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--mutations") == 0 && i + 1 < argc) {
      mutations = strtoull(argv[++i], NULL, 10);
    } else if (strcmp(argv[i], "--at-least") == 0 && i + 1 < argc) {
      at_least = strtoull(argv[++i], NULL, 10);
    } else {
      load(argv[i]);
    }
  }
  uint64_t failures = replay() + run_mutations(mutations);
  if (corpus_size < at_least) {
    failures++;
    fprintf(stderr, "%s: the corpus has %zu files, expected at least %llu\n", program, corpus_size,
            (unsigned long long)at_least);
  }
  unload();
  return failures > 0;
}
