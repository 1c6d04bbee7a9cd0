/* Programs behind pipes: bytes both ways, what they say when they fail, and that none is left. */
#include "io/process.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"

/* Starts a shell with this script. */
static cst__process *start(const char *script, cst__process_use use) {
  const char *argv[] = {"sh", "-c", script, NULL};
  cst__process *process = NULL;
  CHECK_EQ(cst__process_start("/bin/sh", argv, use, NULL, &process, NULL), CST_OK);
  return process;
}

static bool no_child_is_left(void) { return waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD; }

TEST(bytes_come_out_and_go_in) {
  char buffer[16];
  size_t got;
  cst__process *process = start("printf hello; cat", CST__PROCESS_READS); /* cat: no input */
  CHECK_EQ(cst__process_read(process, buffer, 3, &got, NULL), CST_OK);
  CHECK_EQ(got, 3);
  CHECK_EQ(cst__process_read(process, buffer + 3, 9, &got, NULL), CST_OK);
  CHECK_EQ(got, 2);
  CHECK_MEM(buffer, "hello", 5);
  CHECK_EQ(cst__process_finish(process, NULL), CST_OK);
  cst__process_free(process);
  process = start("read x && [ $x = word ]", CST__PROCESS_WRITES);
  CHECK_EQ(cst__process_write(process, "word\n", 5, NULL), CST_OK);
  CHECK_EQ(cst__process_finish(process, NULL), CST_OK);
  cst__process_free(process);
  CHECK(no_child_is_left());
}

TEST(programs_are_found_in_absolute_folders_only) {
  char buf[64];
  const char *path = getenv("PATH");
  char *before = strdup(path != NULL ? path : "/bin");
  CHECK(setenv("PATH", ":.:bin:/nowhere:/bin", 1) == 0);
  CHECK(cst__process_find("sh", buf, sizeof buf));
  CHECK_STR(buf, "/bin/sh");
  CHECK(!cst__process_find("sh", buf, sizeof "/bin/sh" - 1)); /* no room */
  CHECK(!cst__process_find("no-such-program", buf, sizeof buf));
  CHECK(chdir("/") == 0);
  CHECK(setenv("PATH", "bin:.:", 1) == 0);
  CHECK(!cst__process_find("sh", buf, sizeof buf));
  CHECK(setenv("PATH", before, 1) == 0);
  free(before);
}

TEST(paths_are_no_options) {
  static const char *const pairs[][2] = {
      {"a", "a"}, {"./-a", "./-a"}, {"/a", "/a"},   {"_", "_"},           {"9", "9"},
      {"Z", "Z"}, {"-a", "./-a"},   {"@a", "./@a"}, {"--x=y", "./--x=y"}, {" ", "./ "},
  };
  cst__arena arena;
  cst__arena_init(&arena, NULL);
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    CHECK_STR(cst__process_path(pairs[i][0], &arena), pairs[i][1]);
  }
  cst__arena_reset(&arena);
}

static void expect_failure(const char *script, cst_status status, const char *message) {
  cst_error error = CST_ERROR_INIT;
  cst__process *process = start(script, CST__PROCESS_READS);
  CHECK_EQ(cst__process_finish(process, &error), status);
  CHECK_EQ(error.code, status);
  CHECK_STR(error.message, message);
  cst__process_free(process);
}

TEST(failures_say_why) {
  expect_failure("exit 3", CST_IO, "sh failed with the exit status 3");
  expect_failure("kill -9 $$", CST_IO, "sh was killed by signal 9");
  expect_failure("printf 'a\\n\\nb\\r\\n' >&2; exit 1", CST_IO, "sh: a b");
  expect_failure("printf '\\377\\033' >&2; exit 1", CST_IO, "sh: \\xff\\x1b");
  expect_failure("echo columnstone-code: CORRUPT >&2; exit 1", CST_CORRUPT,
                 "sh failed with the exit status 1");
  expect_failure("echo columnstone-code: OK >&2; exit 1", CST_IO,
                 "sh failed with the exit status 1");
  expect_failure("echo columnstone-record: x >&2; exit 1", CST_IO,
                 "sh failed with the exit status 1");
  CHECK(no_child_is_left());
}

TEST(failures_have_fields) {
  cst_error error = CST_ERROR_INIT;
  cst__process *process =
      start("printf 'columnstone-code: SCHEMA\\ncolumnstone-record: 12\\ncolumnstone-path: a.b\\n"
            "columnstone-hint: do this\\nit is so\\n' >&2; exit 1",
            CST__PROCESS_READS);
  CHECK_EQ(cst__process_finish(process, &error), CST_SCHEMA);
  CHECK_EQ(error.record, 12);
  CHECK_STR(error.hint, "do this");
  CHECK_STR(error.message, "sh: it is so");
  CHECK(strstr(error.path, "a.b") != NULL || strstr(error.path, "a\\.b") != NULL);
  cst__process_free(process);
}

TEST(much_talk_does_not_stop_the_bytes) {
  cst_error error = CST_ERROR_INIT;
  char buffer[64];
  size_t got;
  cst__process *process = start(
      "i=0; while [ $i -lt 9000 ]; do echo \"line $i of what is said\" >&2; i=$((i+1)); done; "
      "printf end; exit 1",
      CST__PROCESS_READS);
  CHECK_EQ(cst__process_read(process, buffer, sizeof buffer, &got, NULL), CST_OK);
  CHECK_EQ(got, 3);
  CHECK_EQ(cst__process_finish(process, &error), CST_IO);
  CHECK(strstr(error.message, "line 8999 of what is said") != NULL);
  cst__process_free(process);
}

/* A closed pipe kills nobody here. */
TEST(a_program_that_does_not_read_on) {
  static const char data[1 << 16];
  cst_error error = CST_ERROR_INIT;
  cst__process *process = start("echo no room >&2; exit 1", CST__PROCESS_WRITES);
  cst_status status = CST_OK;
  for (int i = 0; i < 1000 && status == CST_OK; i++) {
    status = cst__process_write(process, data, sizeof data, &error);
  }
  CHECK_EQ(status, CST_IO);
  CHECK_STR(error.message, "sh: no room");
  cst__process_free(process);
  CHECK(no_child_is_left());
}

TEST(a_program_is_ended_with_what_it_started) {
  char text[32];
  size_t got;
  cst__process *process = start("sleep 100 & echo $!; sleep 100", CST__PROCESS_READS);
  CHECK_EQ(cst__process_read(process, text, 2, &got, NULL), CST_OK);
  cst__process_free(process);
  CHECK(no_child_is_left());
}

TEST(a_child_that_stays_does_not_hold_us) {
  cst__process *process = start("sleep 5 >/dev/null & exit 0", CST__PROCESS_READS);
  CHECK_EQ(cst__process_finish(process, NULL), CST_OK);
  cst__process_free(process);
}

TEST(a_child_that_stays_does_not_hold_the_bytes) {
  char buffer[16];
  size_t got;
  cst__process *process = start("printf word; sleep 5 & exit 3", CST__PROCESS_READS);
  CHECK_EQ(cst__process_read(process, buffer, sizeof buffer, &got, NULL), CST_OK);
  CHECK_EQ(got, 4);
  CHECK_EQ(cst__process_read(process, buffer, sizeof buffer, &got, NULL), CST_OK);
  CHECK_EQ(got, 0);
  CHECK_EQ(cst__process_finish(process, NULL), CST_IO);
  cst__process_free(process);
  CHECK(no_child_is_left());
}

/* What fits into the pipe is not read by that. */
TEST(a_program_that_does_not_read_the_end) {
  cst_error error = CST_ERROR_INIT;
  static const char data[4096];
  cst__process *process = start("sleep 0.1; exit 0", CST__PROCESS_WRITES);
  CHECK_EQ(cst__process_write(process, data, sizeof data, NULL), CST_OK);
  CHECK_EQ(cst__process_finish(process, &error), CST_IO);
  CHECK_STR(error.message, "sh ended before it had read everything");
  cst__process_free(process);
  process = start("head -c 4088 >/dev/null", CST__PROCESS_WRITES);
  CHECK_EQ(cst__process_write(process, data, sizeof data, NULL), CST_OK);
  CHECK_EQ(cst__process_finish(process, NULL), CST_OK);
  cst__process_free(process);
}

/* posix_spawn learns it from the memory that it shares with the child; under qemu the child has a
 * copy. */
static bool is_told_what_cannot_be_run(void) {
  char name[] = "/nowhere/x";
  char *argv[] = {name, NULL};
  char *envp[] = {NULL};
  pid_t child;
  if (posix_spawn(&child, name, NULL, NULL, argv, envp) != 0) {
    return true;
  }
  CHECK_EQ(waitpid(child, NULL, 0), child);
  return false;
}

TEST(what_cannot_be_run) {
  if (!is_told_what_cannot_be_run()) {
    harness_skip("posix_spawn does not report it, as under qemu");
  }
  cst_error error = CST_ERROR_INIT;
  const char *argv[] = {"x", NULL};
  cst__process *process;
  harness_write_file(harness_temp_path("x"), "no program", 10);
  CHECK_EQ(chmod(harness_temp_path("x"), 0644), 0);
  CHECK_EQ(
      cst__process_start(harness_temp_path("x"), argv, CST__PROCESS_READS, NULL, &process, &error),
      CST_IO);
  CHECK_STR(error.file, harness_temp_path("x"));
  CHECK(no_child_is_left());
}

static int run_true(void *ctx) {
  const char *argv[] = {"sh", "-c", "exit 0", NULL};
  cst__process *process;
  (void)ctx;
  cst_status status = cst__process_start("/bin/sh", argv, CST__PROCESS_READS, NULL, &process, NULL);
  if (status == CST_OK) {
    status = cst__process_finish(process, NULL);
    cst__process_free(process);
  }
  return (int)status;
}

TEST(no_memory) { FOR_EACH_ALLOCATION_FAILURE(run_true, NULL, CST_NO_MEMORY); }
