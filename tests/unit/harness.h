/* The unit-test harness: tests that register themselves, checks that print what they saw, and the
 * failing of the n-th allocation.
 *
 * A test file is a row of TEST(name) { ... } and nothing else; main() is in the harness. A check
 * that fails prints file, line and values and ends its test (on another thread than the test's own
 * it only marks the test as failed).
 */
#ifndef TESTS_UNIT_HARNESS_H
#define TESTS_UNIT_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct harness_test {
  const char *name;
  void (*run)(void);
  struct harness_test *next;
};

/* How far tests step that try all places of a file, or very many files: 1, but 7 under the thread
 * sanitizer, where each takes fifty times as long, and the threads do the same at all of them. For
 * an emulator and under the address sanitizer, `dev` sets COLUMNSTONE_TEST_EVERY. */
#define EVERY harness_every()
uint8_t harness_every(void);

void harness_register(struct harness_test *test);

#define TEST(id)                                                         \
  static void test_##id(void);                                           \
  __attribute__((constructor)) static void harness_register_##id(void) { \
    static struct harness_test entry = {.name = #id, .run = test_##id};  \
    harness_register(&entry);                                            \
  }                                                                      \
  static void test_##id(void)

/* Leaves a test that cannot run on this machine, and says so. */
void harness_skip(const char *reason);
/* The same if an emulator runs the program, as `dev` says in COLUMNSTONE_TEST_EMULATED. */
void harness_skip_if_emulated(const char *reason);

/* True. */
#define CHECK(condition) harness_check((condition), __FILE__, __LINE__, #condition)
/* Two integers (or enums) are equal; compared as 64-bit values. */
#define CHECK_EQ(actual, expected) \
  harness_check_int((int64_t)(actual), (int64_t)(expected), __FILE__, __LINE__, #actual, #expected)
/* Two doubles are equal; NaN equals NaN. */
#define CHECK_DOUBLE(actual, expected) \
  harness_check_double((actual), (expected), __FILE__, __LINE__, #actual, #expected)
/* Two C strings are equal; either may be NULL. */
#define CHECK_STR(actual, expected) \
  harness_check_str((actual), (expected), __FILE__, __LINE__, #actual, #expected)
/* The text holds the part. */
#define CHECK_CONTAINS(text, part) \
  harness_check_contains((text), (part), __FILE__, __LINE__, #text, #part)
/* `size` bytes are equal. */
#define CHECK_MEM(actual, expected, size) \
  harness_check_mem((actual), (expected), (size), __FILE__, __LINE__, #actual, #expected)

void harness_check(bool ok, const char *file, int line, const char *text);
void harness_check_int(int64_t actual, int64_t expected, const char *file, int line,
                       const char *actual_text, const char *expected_text);
void harness_check_double(double actual, double expected, const char *file, int line,
                          const char *actual_text, const char *expected_text);
void harness_check_str(const char *actual, const char *expected, const char *file, int line,
                       const char *actual_text, const char *expected_text);
void harness_check_contains(const char *text, const char *part, const char *file, int line,
                            const char *text_text, const char *part_text);
void harness_check_mem(const void *actual, const void *expected, size_t size, const char *file,
                       int line, const char *actual_text, const char *expected_text);

/* The n-th allocation from now on (n = 1 is the next), of any thread, fails once; n = 0 switches
 * this off. Counted are malloc, calloc, realloc, posix_memalign and aligned_alloc as called from
 * the test, the library and its static dependencies (not from shared libraries). */
void harness_fail_allocation_after(int64_t n);
/* True if an allocation has been failed since the last harness_fail_allocation_after. */
bool harness_allocation_failed(void);

/* A piece of work that cleans up after itself; gives 0 or the status with which it failed. */
typedef int (*harness_scenario)(void *context);

/* Runs `scenario(context)` once as it is (it has to succeed), then failing its 1st, 2nd, 3rd, ...
 * allocation, until a run needs no further one (after the first ten, each EVERY-th). Every run with
 * a failed allocation has to give `expected` (CST_NO_MEMORY), and no run may leave an allocation
 * behind. */
#define FOR_EACH_ALLOCATION_FAILURE(scenario, context, expected) \
  harness_for_each_allocation_failure((scenario), (context), (expected), __FILE__, __LINE__)
void harness_for_each_allocation_failure(harness_scenario scenario, void *context, int expected,
                                         const char *file, int line);

/* A fresh empty directory for this test program, removed with its files at the end. The string
 * lives as long as the program. */
const char *harness_temp_dir(void);
/* "<temp dir>/<name>" in a ring of 16 static buffers. */
const char *harness_temp_path(const char *name);
/* Writes a whole file, or fails the test. */
void harness_write_file(const char *path, const void *data, size_t size);

/* A size for the stack of a thread: this one, or the smallest that the system allows (128 KiB on
 * aarch64). */
size_t harness_stack_size(size_t wanted);

/* fork(), as soon as all other threads wait: one that begins may hold the lock of the address
 * sanitizer's allocator, which nobody opens in the child. */
pid_t harness_fork(void);

#endif
