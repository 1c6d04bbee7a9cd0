/* Names and patterns. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness.h"
#include "io/input.h"

static const char *touch(const char *name) {
  const char *path = harness_temp_path(name);
  harness_write_file(path, "x", 1);
  return path;
}

TEST(patterns_are_sorted_bytewise) {
  cst__paths paths = {0};
  const char *b = touch("run-b.rec");
  const char *upper = touch("run-B.rec");
  const char *a = touch("run-a.rec");
  touch("run-a.txt");
  CHECK_EQ(cst__paths_expand(&paths, harness_temp_path("run-*.rec"), NULL), CST_OK);
  CHECK_EQ(paths.count, 3);
  CHECK_STR(paths.items[0], upper);
  CHECK_STR(paths.items[1], a);
  CHECK_STR(paths.items[2], b);
  CHECK_EQ(cst__paths_expand(&paths, harness_temp_path("run-?.txt"), NULL), CST_OK);
  CHECK_EQ(paths.count, 4); /* added behind */
  cst__paths_reset(&paths);
  CHECK_EQ(paths.count, 0);
}

TEST(existing_files_win_over_patterns) {
  cst__paths paths = {0};
  touch("odd1.rec");
  const char *odd = touch("odd[1].rec");
  CHECK_EQ(cst__paths_expand(&paths, odd, NULL), CST_OK);
  CHECK_EQ(paths.count, 1);
  CHECK_STR(paths.items[0], odd);
  cst__paths_reset(&paths);
  CHECK_EQ(cst__paths_expand(&paths, "-", NULL), CST_OK);
  CHECK_STR(paths.items[0], "-");
  cst__paths_reset(&paths);
}

TEST(missing_files_have_near_names) {
  cst__paths paths = {0};
  cst_error error = CST_ERROR_INIT;
  touch("trips-00001.tfrecord");
  const char *wrong = harness_temp_path("trips-0001.tfrecord");
  CHECK_EQ(cst__paths_expand(&paths, wrong, &error), CST_NOT_FOUND);
  CHECK_STR(error.file, wrong);
  CHECK_CONTAINS(error.hint, "trips-00001.tfrecord");
  CHECK_EQ(cst__paths_expand(&paths, harness_temp_path("zzzzzzzzzz"), &error), CST_NOT_FOUND);
  CHECK_STR(error.hint, "check the path");
  CHECK_EQ(cst__paths_expand(&paths, harness_temp_path("none/of/it"), &error), CST_NOT_FOUND);
  CHECK_CONTAINS(error.hint, "does not exist either");
  CHECK_EQ(cst__paths_expand(&paths, "~/x.tfrecord", &error), CST_NOT_FOUND);
  CHECK_CONTAINS(error.hint, "only shells expand ~: write the path of the home folder");
  CHECK_EQ(cst__paths_expand(&paths, "gs://bucket/x.tfrecord", &error), CST_NOT_FOUND);
  CHECK_CONTAINS(error.hint, "local files");
  CHECK_EQ(cst__paths_expand(&paths, "", &error), CST_NOT_FOUND);
  const char *link = harness_temp_path("dangling");
  CHECK_EQ(symlink("nowhere", link), 0);
  CHECK_EQ(cst__paths_expand(&paths, link, &error), CST_NOT_FOUND);
  CHECK_CONTAINS(error.hint, "link");
  CHECK_EQ(unlink(link), 0);
  CHECK_EQ(paths.count, 0);
  cst__paths_reset(&paths);
}

TEST(empty_patterns_and_folders_fail) {
  cst__paths paths = {0};
  cst_error error = CST_ERROR_INIT;
  const char *pattern = harness_temp_path("no-such-*.rec");
  CHECK_EQ(cst__paths_expand(&paths, pattern, &error), CST_NOT_FOUND);
  CHECK_CONTAINS(error.message, "no file matches");
  CHECK_STR(error.file, pattern);
  CHECK_EQ(cst__paths_expand(&paths, harness_temp_dir(), &error), CST_IO);
  CHECK_CONTAINS(error.message, "Is a directory");
  const char *folder = harness_temp_path("mixed-folder");
  CHECK_EQ(mkdir(folder, 0777), 0);
  CHECK_EQ(cst__paths_expand(&paths, harness_temp_path("mixed-*"), &error), CST_IO);
  CHECK_STR(error.file, folder);
  CHECK_EQ(rmdir(folder), 0);
  cst__paths_reset(&paths);
}

TEST(names_that_the_system_refuses) {
  cst__paths paths = {0};
  cst_error error = CST_ERROR_INIT;
  char name[5001];
  memset(name, 'n', 5000);
  name[5000] = '\0';
  CHECK_EQ(cst__paths_expand(&paths, name, &error), CST_IO);
  CHECK_CONTAINS(error.message, "too long");
  const char *folder = harness_temp_path("closed");
  CHECK_EQ(mkdir(folder, 0), 0);
  if (geteuid() != 0) {
    CHECK_EQ(cst__paths_expand(&paths, harness_temp_path("closed/x"), &error), CST_IO);
    CHECK_CONTAINS(error.message, "Permission denied");
    CHECK_EQ(cst__paths_expand(&paths, harness_temp_path("*/x*"), &error), CST_IO);
    CHECK_CONTAINS(error.message, "folder of this pattern");
  }
  CHECK_EQ(rmdir(folder), 0);
  CHECK_EQ(paths.count, 0);
}

static int expand(void *context) {
  cst__paths paths = {0};
  cst_status status = CST_OK;
  for (int i = 0; i < 5 && status == CST_OK; i++) {
    status = cst__paths_expand(&paths, context, NULL);
  }
  cst__paths_reset(&paths);
  return (int)status;
}

TEST(allocations_that_fail) {
  touch("many-1.rec");
  touch("many-2.rec");
  FOR_EACH_ALLOCATION_FAILURE(expand, (void *)(uintptr_t)harness_temp_path("many-*.rec"),
                              CST_NO_MEMORY);
}
