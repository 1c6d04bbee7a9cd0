/* Writing bytes: complete files only, every codec and level, and what goes wrong. */
#include "io/output.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "io_support.h"

static int files_in_folder(const char *with) {
  int count = 0;
  DIR *dir = opendir(harness_temp_dir());
  for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
    count += strstr(entry->d_name, with) != NULL;
  }
  closedir(dir);
  return count;
}

static void check_file(const char *path, const bytes *plain, cst__compression expected) {
  cst__input *input;
  bytes out = {0};
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst__input_open(path, NULL, &input, NULL), CST_OK);
  CHECK_EQ(cst__input_compression(input, NULL), expected);
  CHECK_EQ(read_to_end(input, 100000, &out, &error), CST_OK);
  CHECK_EQ(out.size, plain->size);
  CHECK_MEM(out.data, plain->data, plain->size);
  cst__input_close(input);
  bytes_free(&out);
}

/* In pieces of many sizes, past the buffer and below it. */
static cst_status write_pieces(cst__output *output, const bytes *plain) {
  size_t piece = 1;
  for (size_t at = 0; at < plain->size;) {
    size_t n = piece < plain->size - at ? piece : plain->size - at;
    CST__TRY(cst__output_write(output, plain->data + at, n, NULL));
    at += n;
    piece = piece > 600000 ? 1 : piece * 3;
  }
  return CST_OK;
}

TEST(names_choose_the_compression) {
  static const struct {
    const char *name;
    cst__compression compression;
  } cases[] = {{"out.bin", CST__PLAIN},
               {"out.bin.gz", CST__GZIP},
               {"out.zlib", CST__ZLIB},
               {"out.bin.zz", CST__ZLIB},
               {"out.zst", CST__ZSTD}};
  bytes plain = {0};
  add_noise(&plain, 2 << 20, 1);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *path = harness_temp_path(cases[i].name);
    cst__output *output;
    CHECK_EQ(cst__output_open(path, CST_COMPRESSION_BY_NAME, 0, NULL, &output, NULL), CST_OK);
    CHECK_EQ(write_pieces(output, &plain), CST_OK);
    CHECK(access(path, F_OK) != 0); /* not there before it is complete */
    CHECK_EQ(cst__output_finish(output, NULL), CST_OK);
    cst__output_free(output);
    check_file(path, &plain, cases[i].compression);
  }
  CHECK_EQ(files_in_folder(".tmp"), 0);
  bytes_free(&plain);
}

TEST(levels) {
  static const int gzip_levels[] = {1, 4, 9};
  static const int zstd_levels[] = {-5, 1, 19};
  bytes plain = {0};
  add_noise(&plain, 300000, 5);
  for (int i = 0; i < 6; i++) {
    const char *path = harness_temp_path("levels");
    cst_compression compression = i < 3 ? CST_COMPRESSION_GZIP : CST_COMPRESSION_ZSTD;
    int level = i < 3 ? gzip_levels[i] : zstd_levels[i - 3];
    cst__output *output;
    CHECK_EQ(cst__output_open(path, compression, level, NULL, &output, NULL), CST_OK);
    CHECK_EQ(write_pieces(output, &plain), CST_OK);
    CHECK_EQ(cst__output_finish(output, NULL), CST_OK);
    cst__output_free(output);
    check_file(path, &plain, i < 3 ? CST__GZIP : CST__ZSTD);
  }
  bytes_free(&plain);
}

TEST(wrong_levels_and_codecs) {
  cst__output *output;
  cst_error error = CST_ERROR_INIT;
  const char *path = harness_temp_path("wrong");
  CHECK_EQ(cst__output_open(path, CST_COMPRESSION_GZIP, 10, NULL, &output, &error),
           CST_INVALID_ARGUMENT);
  CHECK_CONTAINS(error.message, "levels 1 to 9, not 10");
  CHECK_STR(error.file, path);
  CHECK_EQ(cst__output_open(path, CST_COMPRESSION_ZSTD, 23, NULL, &output, &error),
           CST_INVALID_ARGUMENT);
  CHECK_EQ(cst__output_open(path, (cst_compression)77, 0, NULL, &output, &error),
           CST_INVALID_ARGUMENT);
  CHECK_EQ(files_in_folder("wrong"), 0);
}

TEST(without_finish_nothing_stays) {
  const char *path = harness_temp_path("dropped");
  harness_write_file(path, "old", 3);
  cst__output *output;
  CHECK_EQ(cst__output_open(path, CST_COMPRESSION_NONE, 0, NULL, &output, NULL), CST_OK);
  CHECK_EQ(files_in_folder("dropped"), 2);
  CHECK_CONTAINS(cst__output_temporary_path(output), ".tmp");
  CHECK_EQ(cst__output_write(output, "new", 3, NULL), CST_OK);
  cst__output_free(output);
  CHECK_EQ(files_in_folder("dropped"), 1);
  bytes old = {(uint8_t *)(uintptr_t) "old", 3, 3};
  check_file(path, &old, CST__PLAIN);
  cst__output_free(NULL);
}

/* What a signal handler calls. A forked child has no temporary files, whatever its parent has. */
TEST(temporaries_of_a_process_that_ends) {
  cst__output *outputs[3];
  for (int i = 0; i < 3; i++) {
    const char *path = harness_temp_path("ended");
    CHECK_EQ(cst__output_open(path, CST_COMPRESSION_NONE, 0, NULL, &outputs[i], NULL), CST_OK);
  }
  CHECK_EQ(files_in_folder("ended"), 3);
  cst__output_free(outputs[1]);
  CHECK_EQ(cst__output_finish(outputs[2], NULL), CST_OK);
  CHECK_EQ(files_in_folder("ended"), 2);
  pid_t child = fork();
  if (child == 0) {
    cst_temporaries_remove();
    cst__output_free(outputs[0]);
    _exit(files_in_folder("ended"));
  }
  int status = 0;
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK_EQ(WEXITSTATUS(status), 2);
  cst_temporaries_remove();
  CHECK_EQ(files_in_folder("ended"), 1); /* what is finished stays */
  CHECK_EQ(cst__output_finish(outputs[0], NULL), CST_NOT_FOUND);
  cst__output_free(outputs[0]);
  cst__output_free(outputs[2]);
  cst_temporaries_remove();
}

TEST(after_finish_only_free) {
  const char *path = harness_temp_path("finished");
  cst__output *output;
  CHECK_EQ(cst__output_open(path, CST_COMPRESSION_NONE, 0, NULL, &output, NULL), CST_OK);
  CHECK_EQ(cst__output_finish(output, NULL), CST_OK);
  CHECK_EQ(cst__output_write(output, "x", 1, NULL), CST_STATE);
  CHECK_EQ(cst__output_finish(output, NULL), CST_STATE);
  cst__output_free(output);
  bytes none = {0};
  check_file(path, &none, CST__PLAIN);
}

TEST(permission_bits) {
  struct stat info;
  const char *path = harness_temp_path("bits");
  cst__output *output;
  mode_t mask = umask(027);
  CHECK_EQ(cst__output_open(path, CST_COMPRESSION_NONE, 0, NULL, &output, NULL), CST_OK);
  CHECK_EQ(cst__output_finish(output, NULL), CST_OK);
  cst__output_free(output);
  CHECK_EQ(stat(path, &info), 0);
  CHECK_EQ(info.st_mode & 0777, 0640);
  CHECK_EQ(chmod(path, 0600), 0); /* kept when the file is replaced */
  umask(0);
  CHECK_EQ(cst__output_open(path, CST_COMPRESSION_NONE, 0, NULL, &output, NULL), CST_OK);
  CHECK_EQ(stat(cst__output_temporary_path(output), &info), 0);
  CHECK_EQ(info.st_mode & 0777, 0600);
  CHECK_EQ(cst__output_finish(output, NULL), CST_OK);
  cst__output_free(output);
  CHECK_EQ(stat(path, &info), 0);
  CHECK_EQ(info.st_mode & 0777, 0600);
  umask(mask);
}

static cst_status finish_keeping(cst__output *output, cst_error *error) {
  CHECK_EQ(cst__output_close(output, NULL), CST_OK);
  cst_status status = cst__output_publish(output, NULL, true, error);
  cst__output_free(output);
  return status;
}

TEST(of_two_that_keep_the_first_wins) {
  const char *path = harness_temp_path("both");
  cst__output *outputs[2];
  cst_error error = CST_ERROR_INIT;
  bytes first = {0};
  for (size_t i = 0; i < 2; i++) {
    CHECK_EQ(cst__output_open(path, CST_COMPRESSION_NONE, 0, NULL, &outputs[i], NULL), CST_OK);
    CHECK_EQ(cst__output_write(outputs[i], i == 0 ? "1" : "2", 1, NULL), CST_OK);
  }
  CHECK_EQ(finish_keeping(outputs[0], NULL), CST_OK);
  CHECK_EQ(finish_keeping(outputs[1], &error), CST_IO);
  CHECK_STR(error.message, "the output exists");
  CHECK_STR(error.file, path);
  bytes_add(&first, "1", 1);
  check_file(path, &first, CST__PLAIN);
  bytes_free(&first);
  CHECK_EQ(files_in_folder(".tmp"), 0);
}

TEST(a_link_that_has_come_meanwhile_is_not_followed) {
  const char *path = harness_temp_path("link-to-be");
  const char *elsewhere = harness_temp_path("not-meant");
  cst__output *output;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(symlink(elsewhere, path), 0); /* before: the check of whoever calls was earlier still */
  CHECK_EQ(cst__output_open(path, CST_COMPRESSION_NONE, 0, NULL, &output, NULL), CST_OK);
  CHECK_EQ(finish_keeping(output, &error), CST_IO);
  CHECK(access(elsewhere, F_OK) != 0);
  CHECK_EQ(unlink(path), 0);
  CHECK_EQ(files_in_folder(".tmp"), 0);
}

TEST(links_stay_links) {
  struct stat info;
  const char *target = harness_temp_path("target");
  const char *link = harness_temp_path("link");
  harness_write_file(target, "old", 3);
  CHECK_EQ(symlink(target, link), 0);
  cst__output *output;
  CHECK_EQ(cst__output_open(link, CST_COMPRESSION_NONE, 0, NULL, &output, NULL), CST_OK);
  CHECK_EQ(cst__output_write(output, "newer", 5, NULL), CST_OK);
  CHECK_EQ(cst__output_finish(output, NULL), CST_OK);
  cst__output_free(output);
  CHECK_EQ(lstat(link, &info), 0);
  CHECK(S_ISLNK(info.st_mode));
  CHECK_EQ(stat(target, &info), 0);
  CHECK_EQ(info.st_size, 5);
  unlink(link);
}

TEST(links_to_new_files_stay_links) {
  struct stat info;
  const char *link = harness_temp_path("new_link");
  const char *other = harness_temp_path("new_link_2");
  CHECK_EQ(symlink("new_target", link), 0);
  CHECK_EQ(symlink("new_link", other), 0);
  cst__output *output;
  CHECK_EQ(cst__output_open(other, CST_COMPRESSION_NONE, 0, NULL, &output, NULL), CST_OK);
  CHECK_EQ(cst__output_write(output, "newer", 5, NULL), CST_OK);
  CHECK_EQ(cst__output_finish(output, NULL), CST_OK);
  cst__output_free(output);
  CHECK_EQ(lstat(link, &info), 0);
  CHECK(S_ISLNK(info.st_mode));
  CHECK_EQ(lstat(other, &info), 0);
  CHECK(S_ISLNK(info.st_mode));
  CHECK_EQ(lstat(harness_temp_path("new_target"), &info), 0);
  CHECK(S_ISREG(info.st_mode));
  CHECK_EQ(info.st_size, 5);
}

/* A link that somebody has put where an index goes to. */
TEST(links_beside_the_data_are_replaced) {
  static const char *const targets[] = {"nowhere", "something"};
  harness_write_file(harness_temp_path("something"), "old", 3);
  for (size_t i = 0; i < 2; i++) {
    struct stat info;
    cst__output *output;
    const char *path = harness_temp_path("beside");
    (void)unlink(path);
    CHECK_EQ(symlink(targets[i], path), 0);
    CHECK_EQ(cst__output_open_beside(path, NULL, &output, NULL), CST_OK);
    CHECK_EQ(cst__output_write(output, "newer", 5, NULL), CST_OK);
    CHECK_EQ(cst__output_finish(output, NULL), CST_OK);
    cst__output_free(output);
    CHECK_EQ(lstat(path, &info), 0);
    CHECK(S_ISREG(info.st_mode));
    CHECK(access(harness_temp_path("nowhere"), F_OK) != 0);
    CHECK_EQ(stat(harness_temp_path("something"), &info), 0);
    CHECK_EQ(info.st_size, 3);
  }
}

TEST(devices_are_written_in_place) {
  struct stat info;
  cst__output *output;
  CHECK_EQ(cst__output_open("/dev/null", CST_COMPRESSION_GZIP, 0, NULL, &output, NULL), CST_OK);
  CHECK(cst__output_temporary_path(output) == NULL);
  CHECK_EQ(cst__output_write(output, "x", 1, NULL), CST_OK);
  CHECK_EQ(cst__output_finish(output, NULL), CST_OK);
  cst__output_free(output);
  CHECK_EQ(stat("/dev/null", &info), 0);
  CHECK(S_ISCHR(info.st_mode));
}

TEST(full_disks) {
  if (access("/dev/full", W_OK) != 0) {
    harness_skip("there is no /dev/full");
  }
  bytes plain = {0};
  add_noise(&plain, 1 << 20, 3);
  cst__output *output;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst__output_open("/dev/full", CST_COMPRESSION_NONE, 0, NULL, &output, NULL), CST_OK);
  CHECK_EQ(cst__output_write(output, plain.data, plain.size, &error), CST_IO);
  CHECK_CONTAINS(error.message, "No space left");
  CHECK_CONTAINS(error.hint, "free disk space, or write elsewhere");
  CHECK_STR(error.file, "/dev/full");
  CHECK_EQ(cst__output_write(output, "x", 1, &error), CST_IO); /* stays failed */
  CHECK_EQ(cst__output_finish(output, &error), CST_IO);
  cst__output_free(output);
  CHECK_EQ(cst__output_open("/dev/full", CST_COMPRESSION_ZSTD, 0, NULL, &output, NULL), CST_OK);
  CHECK_EQ(cst__output_write(output, "x", 1, NULL), CST_OK);
  CHECK_EQ(cst__output_finish(output, &error), CST_IO);
  cst__output_free(output);
  bytes_free(&plain);
}

TEST(what_cannot_be_opened) {
  cst__output *output;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst__output_open(harness_temp_dir(), CST_COMPRESSION_NONE, 0, NULL, &output, &error),
           CST_IO);
  CHECK_CONTAINS(error.message, "Is a directory");
  const char *path = harness_temp_path("no-folder/x");
  CHECK_EQ(cst__output_open(path, CST_COMPRESSION_NONE, 0, NULL, &output, &error), CST_NOT_FOUND);
  CHECK_CONTAINS(error.message, "the folder does not exist");
  CHECK_STR(error.file, path);
}

TEST(names_that_are_taken_meanwhile) {
  const char *path = harness_temp_path("taken");
  cst__output *output;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst__output_open(path, CST_COMPRESSION_NONE, 0, NULL, &output, NULL), CST_OK);
  CHECK_EQ(mkdir(path, 0777), 0);
  CHECK_EQ(cst__output_finish(output, &error), CST_IO);
  CHECK_CONTAINS(error.message, "cannot give the finished file its name");
  cst__output_free(output);
  CHECK_EQ(files_in_folder("taken"), 1);
  CHECK_EQ(rmdir(path), 0);
}

/* A name of the greatest length still leaves room for the temporary one. */
TEST(longest_names) {
  char name[256];
  memset(name, 'n', 255);
  name[255] = '\0';
  const char *path = harness_temp_path(name);
  cst__output *output;
  CHECK_EQ(cst__output_open(path, CST_COMPRESSION_NONE, 0, NULL, &output, NULL), CST_OK);
  CHECK_EQ(cst__output_finish(output, NULL), CST_OK);
  cst__output_free(output);
  CHECK_EQ(access(path, F_OK), 0);
}

TEST(writers_are_closed_once) {
  memory_sink sink = {0};
  cst_writer writer = memory_writer(&sink);
  cst__output *output;
  CHECK_EQ(cst__output_open_writer(&writer, CST_COMPRESSION_BY_NAME, 0, NULL, &output, NULL),
           CST_OK);
  CHECK_EQ(cst__output_write(output, "abc", 3, NULL), CST_OK);
  CHECK_EQ(cst__output_finish(output, NULL), CST_OK);
  cst__output_free(output);
  CHECK_EQ(sink.closed, 1);
  CHECK_EQ(sink.committed, 1);
  CHECK_EQ(sink.data.size, 3);
  bytes_free(&sink.data);

  sink = (memory_sink){0}; /* dropped */
  CHECK_EQ(cst__output_open_writer(&writer, CST_COMPRESSION_NONE, 0, NULL, &output, NULL), CST_OK);
  cst__output_free(output);
  CHECK_EQ(sink.closed, 1);
  CHECK_EQ(sink.committed, 0);

  sink = (memory_sink){0}; /* refused */
  CHECK_EQ(cst__output_open_writer(&writer, CST_COMPRESSION_GZIP, 99, NULL, &output, NULL),
           CST_INVALID_ARGUMENT);
  CHECK_EQ(sink.closed, 1);
  writer.write = NULL;
  CHECK_EQ(cst__output_open_writer(&writer, CST_COMPRESSION_NONE, 0, NULL, &output, NULL),
           CST_INVALID_ARGUMENT);
  CHECK_EQ(sink.closed, 2);
  CHECK_EQ(sink.committed, 0);
}

TEST(writers_that_fail) {
  bytes plain = {0};
  add_noise(&plain, 1 << 20, 3);
  memory_sink sink = {.fail_at = 1000};
  cst_writer writer = memory_writer(&sink);
  cst__output *output;
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst__output_open_writer(&writer, CST_COMPRESSION_NONE, 0, NULL, &output, NULL), CST_OK);
  CHECK_EQ(cst__output_write(output, plain.data, plain.size, &error), CST_IO);
  CHECK_CONTAINS(error.message, "write failed");
  CHECK_STR(error.file, "memory");
  cst__output_free(output);
  CHECK_EQ(sink.closed, 1);
  CHECK_EQ(sink.committed, 0);
  bytes_free(&sink.data);
  bytes_free(&plain);
}

TEST(standard_output) {
  const char *path = harness_temp_path("stdout");
  fflush(stdout);
  int kept = dup(STDOUT_FILENO);
  int fd = open(path, O_WRONLY | O_CREAT, 0666);
  dup2(fd, STDOUT_FILENO);
  cst__output *output = NULL;
  cst_status status = cst__output_open("-", CST_COMPRESSION_BY_NAME, 0, NULL, &output, NULL);
  if (status == CST_OK) {
    status = cst__output_write(output, "hello", 5, NULL);
  }
  if (status == CST_OK) {
    status = cst__output_finish(output, NULL);
  }
  cst__output_free(output);
  int still_open = fcntl(STDOUT_FILENO, F_GETFD);
  dup2(kept, STDOUT_FILENO);
  close(kept);
  close(fd);
  CHECK_EQ(status, CST_OK);
  CHECK(still_open >= 0);
  bytes hello = {(uint8_t *)(uintptr_t) "hello", 5, 5};
  check_file(path, &hello, CST__PLAIN);
}

typedef struct scenario {
  const char *path;
  cst_compression compression;
} scenario;

static int write_file(void *context) {
  const scenario *s = context;
  cst__output *output;
  CST__TRY(cst__output_open(s->path, s->compression, 0, NULL, &output, NULL));
  cst_status status = cst__output_write(output, "abc", 3, NULL);
  if (status == CST_OK) {
    status = cst__output_finish(output, NULL);
  }
  cst__output_free(output);
  return (int)status;
}

static int write_writer(void *context) {
  const scenario *s = context;
  static uint8_t kept[1000];
  memory_sink sink = {.data = {kept, 0, sizeof kept}};
  cst_writer writer = memory_writer(&sink);
  cst__output *output;
  cst_status status = cst__output_open_writer(&writer, s->compression, 0, NULL, &output, NULL);
  if (status == CST_OK) {
    status = cst__output_finish(output, NULL);
    cst__output_free(output);
  }
  return sink.closed == 1 ? (int)status : -1;
}

TEST(allocations_that_fail) {
  static const cst_compression all[] = {CST_COMPRESSION_NONE, CST_COMPRESSION_GZIP,
                                        CST_COMPRESSION_ZLIB, CST_COMPRESSION_ZSTD};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    scenario s = {harness_temp_path("allocation"), all[i]};
    FOR_EACH_ALLOCATION_FAILURE(write_file, &s, CST_NO_MEMORY);
    FOR_EACH_ALLOCATION_FAILURE(write_writer, &s, CST_NO_MEMORY);
  }
  CHECK_EQ(files_in_folder(".tmp"), 0);
}
