/* The unit-test harness: runner, checks, and the allocation functions that the linker puts in place
 * of the C library's (--wrap).
 */
#include "harness.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/big_blocks.h"

static struct harness_test *first_test;
static jmp_buf test_exit;
static pthread_t test_thread;
static atomic_bool test_failed;
static const char *skip_reason; /* of the test that runs; NULL: it is not skipped */

void harness_register(struct harness_test *test) {
  struct harness_test **end = &first_test;
  while (*end) end = &(*end)->next;
  *end = test;
}

void harness_skip(const char *reason) {
  skip_reason = reason;
  longjmp(test_exit, 1);
}

void harness_skip_if_emulated(const char *reason) {
  if (getenv("COLUMNSTONE_TEST_EMULATED") != NULL) harness_skip(reason);
}

#if defined(__SANITIZE_THREAD__)
enum { EVERY_BY_DEFAULT = 7 };
#else
enum { EVERY_BY_DEFAULT = 1 };
#endif

uint8_t harness_every(void) {
  const char *asked = getenv("COLUMNSTONE_TEST_EVERY");
  int every = asked != NULL ? atoi(asked) : EVERY_BY_DEFAULT;
  return every > 0 && every <= UINT8_MAX ? (uint8_t)every : 1;
}

/* --- Checks --- */

static void fail_here(void) {
  atomic_store(&test_failed, true);
  fflush(stdout);
  if (pthread_equal(pthread_self(), test_thread)) longjmp(test_exit, 1);
}

void harness_check(bool ok, const char *file, int line, const char *text) {
  if (ok) return;
  printf("%s:%d: failed: %s\n", file, line, text);
  fail_here();
}

void harness_check_int(int64_t actual, int64_t expected, const char *file, int line,
                       const char *actual_text, const char *expected_text) {
  if (actual == expected) return;
  printf("%s:%d: failed: %s == %s: is %" PRId64 ", expected %" PRId64 "\n", file, line, actual_text,
         expected_text, actual, expected);
  fail_here();
}

void harness_check_double(double actual, double expected, const char *file, int line,
                          const char *actual_text, const char *expected_text) {
  if (isnan(actual) ? isnan(expected) : actual >= expected && actual <= expected) return;
  printf("%s:%d: failed: %s == %s: is %.17g, expected %.17g\n", file, line, actual_text,
         expected_text, actual, expected);
  fail_here();
}

void harness_check_str(const char *actual, const char *expected, const char *file, int line,
                       const char *actual_text, const char *expected_text) {
  if (actual && expected ? strcmp(actual, expected) == 0 : actual == expected) return;
  printf("%s:%d: failed: %s == %s:\n  is       \"%s\"\n  expected \"%s\"\n", file, line,
         actual_text, expected_text, actual ? actual : "(null)", expected ? expected : "(null)");
  fail_here();
}

void harness_check_contains(const char *text, const char *part, const char *file, int line,
                            const char *text_text, const char *part_text) {
  if (text && strstr(text, part)) return;
  printf("%s:%d: failed: %s holds %s:\n  is    \"%s\"\n  lacks \"%s\"\n", file, line, text_text,
         part_text, text ? text : "(null)", part);
  fail_here();
}

static void print_bytes(const char *label, const unsigned char *bytes, size_t size) {
  printf("  %s", label);
  for (size_t i = 0; i < size && i < 32; i++) printf(" %02x", bytes[i]);
  printf("%s\n", size > 32 ? " ..." : "");
}

void harness_check_mem(const void *actual, const void *expected, size_t size, const char *file,
                       int line, const char *actual_text, const char *expected_text) {
  if (size == 0 || (actual && expected && memcmp(actual, expected, size) == 0)) return;
  const unsigned char *a = actual, *e = expected;
  size_t at = 0;
  while (a && e && a[at] == e[at]) at++;
  printf("%s:%d: failed: %s == %s: differs at byte %zu of %zu\n", file, line, actual_text,
         expected_text, at, size);
  if (a && e) print_bytes("is      ", a + at, size - at);
  if (a && e) print_bytes("expected", e + at, size - at);
  fail_here();
}

/* --- Allocation: count down to the one that fails, and remember what is alive --- */

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *pointer, size_t size);
int __real_posix_memalign(void **out, size_t alignment, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void __real_free(void *pointer);

/* What the codecs call, by the names that tools/make_archive gives. */
void *harness_plain_malloc(size_t size);
void *harness_plain_calloc(size_t count, size_t size);
void *harness_plain_realloc(void *pointer, size_t size);
void harness_plain_free(void *pointer);

void *harness_plain_malloc(size_t size) { return __real_malloc(size); }
void *harness_plain_calloc(size_t count, size_t size) { return __real_calloc(count, size); }
void *harness_plain_realloc(void *pointer, size_t size) { return __real_realloc(pointer, size); }
void harness_plain_free(void *pointer) { __real_free(pointer); }

void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *pointer, size_t size);
int __wrap_posix_memalign(void **out, size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
void __wrap_free(void *pointer);

static atomic_llong allocations_left;
static atomic_bool allocation_failed;

/* The allocations made while a scenario runs: an open-addressing set of their addresses. Memory
 * that a shared library allocated and our code frees was never put in, and is passed over. */
static pthread_mutex_t live_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool live_tracking;
static uintptr_t *live_slots;
static size_t live_capacity, live_used, live_count;

enum { LIVE_GONE = 1 };

static size_t live_slot(uintptr_t address, bool insert) {
  size_t at = (address >> 4) * 0x9E3779B97F4A7C15u & (live_capacity - 1);
  while (live_slots[at] != 0 && live_slots[at] != address) at = (at + 1) & (live_capacity - 1);
  if (insert && live_slots[at] == 0) live_used++;
  return at;
}

static void live_grow(void) {
  uintptr_t *old = live_slots;
  size_t old_capacity = live_capacity;
  live_capacity = live_count * 4 < 4096 ? 4096 : old_capacity * 2;
  live_slots = __real_calloc(live_capacity, sizeof *live_slots);
  if (!live_slots) abort();
  live_used = 0;
  for (size_t i = 0; i < old_capacity; i++) {
    if (old[i] > LIVE_GONE) live_slots[live_slot(old[i], true)] = old[i];
  }
  __real_free(old);
}

static void live_add(void *pointer) {
  if (!pointer || !atomic_load(&live_tracking)) return;
  pthread_mutex_lock(&live_lock);
  if (live_used * 2 >= live_capacity) live_grow();
  uintptr_t address = (uintptr_t)pointer;
  live_slots[live_slot(address, true)] = address;
  live_count++;
  pthread_mutex_unlock(&live_lock);
}

static bool live_remove(void *pointer) {
  if (!pointer || !atomic_load(&live_tracking)) return false;
  bool known = false;
  pthread_mutex_lock(&live_lock);
  if (live_capacity) {
    size_t at = live_slot((uintptr_t)pointer, false);
    known = live_slots[at] != 0;
    if (known) {
      live_slots[at] = LIVE_GONE;
      live_count--;
    }
  }
  pthread_mutex_unlock(&live_lock);
  return known;
}

static void live_reset(void) {
  pthread_mutex_lock(&live_lock);
  if (live_slots) memset(live_slots, 0, live_capacity * sizeof *live_slots);
  live_count = live_used = 0;
  pthread_mutex_unlock(&live_lock);
}

static bool fails_now(void) {
  if (atomic_load(&allocations_left) <= 0) return false;
  if (atomic_fetch_sub(&allocations_left, 1) != 1) return false;
  atomic_store(&allocation_failed, true);
  return true;
}

void *__wrap_malloc(size_t size) {
  if (fails_now()) return errno = ENOMEM, NULL;
  void *pointer = __real_malloc(size);
  live_add(pointer);
  return pointer;
}

void *__wrap_calloc(size_t count, size_t size) {
  if (fails_now()) return errno = ENOMEM, NULL;
  void *pointer = __real_calloc(count, size);
  live_add(pointer);
  return pointer;
}

void *__wrap_realloc(void *pointer, size_t size) {
  if (fails_now()) return errno = ENOMEM, NULL;
  bool known = live_remove(pointer);
  void *moved = __real_realloc(pointer, size);
  if (moved) live_add(moved);
  if (!moved && size != 0 && known) live_add(pointer);
  return moved;
}

int __wrap_posix_memalign(void **out, size_t alignment, size_t size) {
  if (fails_now()) return ENOMEM;
  int code = __real_posix_memalign(out, alignment, size);
  if (code == 0) live_add(*out);
  return code;
}

void *__wrap_aligned_alloc(size_t alignment, size_t size) {
  if (fails_now()) return errno = ENOMEM, NULL;
  void *pointer = __real_aligned_alloc(alignment, size);
  live_add(pointer);
  return pointer;
}

void __wrap_free(void *pointer) {
  live_remove(pointer);
  __real_free(pointer);
}

void harness_fail_allocation_after(int64_t n) {
  atomic_store(&allocation_failed, false);
  atomic_store(&allocations_left, n);
}

bool harness_allocation_failed(void) { return atomic_load(&allocation_failed); }

static int run_tracked(harness_scenario scenario, void *context, int64_t n, size_t *left_behind) {
  live_reset();
  atomic_store(&live_tracking, true);
  harness_fail_allocation_after(n);
  int status = scenario(context);
  atomic_store(&allocations_left, 0);
  atomic_store(&live_tracking, false);
  *left_behind = live_count;
  return status;
}

static void check_run(int64_t n, int status, int expected, size_t left_behind, const char *file,
                      int line) {
  if (status == expected && left_behind == 0) return;
  printf("%s:%d: failed: with allocation %" PRId64
         " failing: status is %d, expected %d; %zu allocation(s) left behind\n",
         file, line, n, status, expected, left_behind);
  fail_here();
}

void harness_for_each_allocation_failure(harness_scenario scenario, void *context, int expected,
                                         const char *file, int line) {
  size_t left_behind;
  /* The first run fills caches that live as long as the program; they are not leaks. */
  int status = run_tracked(scenario, context, 0, &left_behind);
  check_run(0, status, 0, 0, file, line);
  for (int64_t n = 1;; n += n < 10 ? 1 : EVERY) {
    status = run_tracked(scenario, context, n, &left_behind);
    if (!harness_allocation_failed()) {
      check_run(0, status, 0, left_behind, file, line);
      return;
    }
    check_run(n, status, expected, left_behind, file, line);
  }
}

/* --- Processes --- */

/* State 'S' of /proc, behind the name in brackets; a thread that has ended waits, too. */
static bool thread_waits(const char *id) {
  char path[300];
  char text[512] = "";
  snprintf(path, sizeof path, "/proc/self/task/%s/stat", id);
  FILE *file = fopen(path, "r");
  if (file == NULL) return true;
  size_t size = fread(text, 1, sizeof text - 1, file);
  text[size] = '\0';
  fclose(file);
  const char *name_end = strrchr(text, ')');
  return name_end == NULL || strncmp(name_end, ") S", 3) == 0;
}

static bool others_wait(void) {
  bool all = true;
  DIR *threads = opendir("/proc/self/task");
  if (threads == NULL) return true;
  for (struct dirent *entry; (entry = readdir(threads)) != NULL;) {
    const char *id = entry->d_name;
    all = all && (id[0] == '.' || strtol(id, NULL, 10) == gettid() || thread_waits(id));
  }
  closedir(threads);
  return all;
}

size_t harness_stack_size(size_t wanted) {
  long least = sysconf(_SC_THREAD_STACK_MIN);
  return least > 0 && (size_t)least > wanted ? (size_t)least : wanted;
}

pid_t harness_fork(void) {
  enum { MOST_PAUSES = 10000 };
  const struct timespec pause = {0, 1000000};
  for (int i = 0; i < MOST_PAUSES && !others_wait(); i++) nanosleep(&pause, NULL);
  return fork();
}

/* --- Files --- */

static char temp_dir[400];

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *level) {
  (void)info, (void)kind, (void)level;
  return remove(path);
}

static void remove_temp_dir(void) { nftw(temp_dir, remove_entry, 8, FTW_DEPTH | FTW_PHYS); }

const char *harness_temp_dir(void) {
  if (temp_dir[0] == '\0') {
    const char *base = getenv("TMPDIR");
    snprintf(temp_dir, sizeof temp_dir, "%s/cst-test-XXXXXX", base && *base ? base : "/tmp");
    if (!mkdtemp(temp_dir)) abort();
    atexit(remove_temp_dir);
  }
  return temp_dir;
}

const char *harness_temp_path(const char *name) {
  static char ring[16][512];
  static unsigned next;
  char *path = ring[next++ % 16];
  snprintf(path, sizeof ring[0], "%s/%s", harness_temp_dir(), name);
  return path;
}

void harness_write_file(const char *path, const void *data, size_t size) {
  FILE *file = fopen(path, "wb");
  CHECK(file != NULL);
  CHECK_EQ(fwrite(data, 1, size, file), size);
  CHECK_EQ(fclose(file), 0);
}

/* --- The runner --- */

static bool run_test(const struct harness_test *test) {
  atomic_store(&test_failed, false);
  skip_reason = NULL;
  if (setjmp(test_exit) == 0) test->run();
  harness_fail_allocation_after(0);
  atomic_store(&live_tracking, false);
  bool ok = !atomic_load(&test_failed);
  if (ok && skip_reason != NULL) {
    printf("SKIP   %s: %s\n", test->name, skip_reason);
  } else {
    printf("%-6s %s\n", ok ? "ok" : "FAILED", test->name);
  }
  fflush(stdout);
  return ok;
}

static bool is_wanted(const struct harness_test *test, int count, char **names) {
  for (int i = 0; i < count; i++) {
    if (strcmp(test->name, names[i]) == 0) return true;
  }
  return count == 0;
}

int main(int argc, char **argv) {
  int passed = 0, failed = 0, skipped = 0;
  test_thread = pthread_self();
  cst__big_keep(false); /* every allocation is to be seen */
  for (const struct harness_test *test = first_test; test; test = test->next) {
    if (!is_wanted(test, argc - 1, argv + 1)) continue;
    if (!run_test(test)) {
      failed++;
    } else if (skip_reason == NULL) {
      passed++;
    } else {
      skipped++;
    }
  }
  printf("%d passed, %d failed\n", passed, failed);
  __real_free(live_slots);
  return failed > 0 || passed + skipped == 0;
}
