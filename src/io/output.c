/* Bytes out: buffered, compressed, and under a temporary name until all is there. */
#include "io/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/forked.h"
#include "base/hash.h"
#include "base/interrupt.h"
#include "base/sized.h"
#include "io/beside.h"
#include "io/encoder.h"
#include "io/raw.h"
#include "io/temporary.h"
#include "io/url.h"

enum {
  BUFFER = 256 << 10,
  MOST_LINKS = 40,          /* of one to the next, as the system follows them */
  LARGEST_WRITE = 16 << 20, /* at once: between two, a writing can be told to stop */
  SUFFIX = 14               /* bytes of ".01234567.tmp" and the NUL */
};

struct cst__output {
  cst_allocator allocator;
  pid_t process;       /* that opened it */
  char *name;          /* for errors */
  char *path;          /* that the file gets in the end, or NULL */
  char *temporary;     /* that it has till then, or NULL */
  cst__temporary made; /* of that name */
  int fd;              /* -1: a caller's writer */
  bool owns_fd;
  bool has_writer; /* not closed yet */
  cst_writer writer;
  const cst__encoder *encoder; /* NULL: plain */
  void *state;                 /* of the encoder */
  uint8_t *buffer;
  size_t used;
  cst__beside *beside; /* the thread that takes full buffers, or NULL */
  uint8_t *other;      /* the buffer that it has or had */
  _Atomic uint64_t written;
  cst_status failed;
  bool closed;
};

/* ---- the end of the line: descriptor or writer ---- */

static cst_status write_fd(int fd, const uint8_t *data, size_t size, cst_error *error) {
  while (size > 0) {
    ssize_t n = write(fd, data, size < LARGEST_WRITE ? size : LARGEST_WRITE);
    if (n < 0 && errno != EINTR) {
      return cst__fail_system(error, errno, "cannot write");
    }
    CST__TRY(n < 0 ? cst__interrupted_now(error) : cst__interrupted(error));
    data += n > 0 ? n : 0;
    size -= n > 0 ? (size_t)n : 0;
  }
  return CST_OK;
}

static cst_status put_output(void *ctx, const void *data, size_t size, cst_error *error) {
  cst__output *output = ctx;
  if (size == 0) {
    return CST_OK;
  }
  atomic_fetch_add_explicit(&output->written, size, memory_order_relaxed);
  if (output->fd >= 0) {
    return write_fd(output->fd, data, size, error);
  }
  cst_error own = CST_ERROR_INIT;
  cst_status status = output->writer.write(output->writer.ctx, data, size, &own);
  return cst__error_take(error, "writer's write", status, &own);
}

static cst_status close_writer(cst__output *output, bool commit, cst_error *error) {
  if (!output->has_writer) {
    return CST_OK;
  }
  output->has_writer = false;
  if (output->writer.close == NULL) {
    return CST_OK;
  }
  cst_error own = CST_ERROR_INIT;
  cst_status status = output->writer.close(output->writer.ctx, commit, &own);
  return cst__error_take(error, "writer's close", status, &own);
}

/* ---- opening ---- */

cst_compression cst__compression_of(const char *path, size_t *stem) {
  static const struct {
    const char *extension;
    cst_compression compression;
  } all[] = {{".gz", CST_COMPRESSION_GZIP},
             {".zlib", CST_COMPRESSION_ZLIB},
             {".zz", CST_COMPRESSION_ZLIB},
             {".zst", CST_COMPRESSION_ZSTD}};
  const size_t size = strlen(path);
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    size_t least = strlen(all[i].extension);
    if (size > least && strcmp(path + size - least, all[i].extension) == 0) {
      *stem = size - least;
      return all[i].compression;
    }
  }
  *stem = size;
  return CST_COMPRESSION_NONE;
}

static cst_status check_level(const cst__encoder *encoder, int level, cst_error *error) {
  if (level == 0 || (level >= encoder->least_level && level <= encoder->most_level)) {
    return CST_OK;
  }
  return cst__fail(error, CST_INVALID_ARGUMENT, "0 is the usual level",
                   "%s has the levels %d to %d, not %d", encoder->name, encoder->least_level,
                   encoder->most_level, level);
}

static cst_status start_encoder(cst__output *output, cst_compression compression, int level,
                                cst_error *error) {
  switch (compression) {
    case CST_COMPRESSION_BY_NAME:
    case CST_COMPRESSION_NONE:
      return CST_OK;
    case CST_COMPRESSION_GZIP:
      output->encoder = &cst__gzip_encoder;
      break;
    case CST_COMPRESSION_ZLIB:
      output->encoder = &cst__zlib_encoder;
      break;
    case CST_COMPRESSION_ZSTD:
      output->encoder = &cst__zstd_encoder;
      break;
    default:
      return cst__fail(error, CST_INVALID_ARGUMENT, "see cst_compression", "unknown compression %d",
                       (int)compression);
  }
  CST__TRY(check_level(output->encoder, level, error));
  output->state = output->encoder->new_state(level, &output->allocator);
  return output->state != NULL ? CST_OK : cst__fail_memory(error, BUFFER);
}

/* All but the place that the bytes go to. */
static cst_status new_output(const char *name, cst_compression compression, int level,
                             const cst_allocator *allocator, cst__output **out, cst_error *error) {
  cst__output *output = cst__new_zero(allocator, sizeof *output);
  if (output == NULL) {
    return cst__fail_memory(error, sizeof *output);
  }
  *out = output;
  output->fd = -1;
  output->process = getpid();
  output->allocator = cst__allocator_of(allocator);
  output->name = cst__new_copy(allocator, name, strlen(name));
  output->buffer = cst__new(allocator, BUFFER);
  if (output->name == NULL || output->buffer == NULL) {
    return cst__fail_memory(error, BUFFER);
  }
  return start_encoder(output, compression, level, error);
}

/* Writes ".<8 hex digits>.tmp" after the path; a name that is too long for the file system loses
 * its end to it. */
static void name_temporary(char *temporary, const char *path) {
  static atomic_uint counter;
  uint64_t count = atomic_fetch_add_explicit(&counter, 1, memory_order_relaxed);
  uint32_t mix = (uint32_t)cst__fold(cst__random_seed() ^ (uint64_t)getpid() << 32,
                                     UINT64_C(0x9e3779b97f4a7c15) + 2 * count);
  const char *slash = strrchr(path, '/');
  size_t folder = slash != NULL ? (size_t)(slash + 1 - path) : 0;
  size_t base = strlen(path) - folder;
  size_t most = NAME_MAX + 1 - SUFFIX;
  size_t kept = folder + (base < most ? base : most);
  memcpy(temporary, path, kept);
  (void)snprintf(temporary + kept, SUFFIX, ".%08x.tmp", (unsigned)mix);
}

static cst_status fail_create(int code, cst_error *error) {
  if (code == ENOENT || code == ENOTDIR) {
    return cst__fail(error, CST_NOT_FOUND, "create the folder first",
                     "cannot write: the folder does not exist");
  }
  return cst__fail_system(error, code, "cannot write");
}

static cst_status create_temporary(cst__output *output, mode_t mode, cst_error *error) {
  enum { TRIES = 100 };
  size_t size = strlen(output->path) + SUFFIX;
  output->temporary = cst__new(&output->allocator, size);
  if (output->temporary == NULL) {
    return cst__fail_memory(error, size);
  }
  for (int i = 0; i < TRIES && output->fd < 0; i++) {
    name_temporary(output->temporary, output->path);
    output->fd = cst__temporary_create(&output->made, output->temporary, mode);
    if (output->fd < 0 && errno != EEXIST && errno != EINTR) {
      break;
    }
  }
  if (output->fd >= 0) {
    output->owns_fd = true;
    return CST_OK;
  }
  int code = errno;
  cst__delete(output->temporary);
  output->temporary = NULL;
  return fail_create(code, error);
}

/* Replaces the name of a link by what it refers to; false: it is none. */
static bool follow_link(char path[PATH_MAX]) {
  char target[PATH_MAX];
  ssize_t size = readlink(path, target, sizeof target - 1);
  const char *slash = strrchr(path, '/');
  size_t folder = size > 0 && target[0] != '/' && slash != NULL ? (size_t)(slash + 1 - path) : 0;
  if (size <= 0 || folder + (size_t)size >= PATH_MAX) {
    return false;
  }
  memcpy(path + folder, target, (size_t)size);
  path[folder + (size_t)size] = '\0';
  return true;
}

static cst_status take_path(cst__output *output, const char *path, cst_error *error) {
  output->path = cst__new_copy(&output->allocator, path, strlen(path));
  return output->path != NULL ? CST_OK : cst__fail_memory(error, strlen(path) + 1);
}

/* The file that `path` means in the end, also if it is not there yet: a link stays one, and what it
 * refers to is replaced. */
static cst_status resolve(cst__output *output, const char *path, cst_error *error) {
  char missing[PATH_MAX];
  char *target = realpath(path, NULL);
  const char *real = target != NULL ? target : path;
  if (target == NULL && strlen(path) < sizeof missing) {
    memcpy(missing, path, strlen(path) + 1);
    for (int links = 0; links < MOST_LINKS && follow_link(missing); links++) {
    }
    real = missing;
  }
  cst_status status = take_path(output, real, error);
  free(target);
  return status;
}

/* Whoever could not read the file before shall not be able to now: until the new one has the group
 * of the old one, it is its owner's alone. */
static void take_permissions(int fd, const struct stat *before) {
  struct stat made;
  mode_t mode = before->st_mode & 0777;
  bool is_same = fstat(fd, &made) == 0 && made.st_gid == before->st_gid;
  if (!is_same && fchown(fd, (uid_t)-1, before->st_gid) != 0) {
    mode &= ~(mode_t)070;
  }
  (void)fchmod(fd, mode);
}

static cst_status open_path(cst__output *output, const char *path, bool follows, cst_error *error) {
  struct stat info;
  if (strcmp(path, "-") == 0) {
    output->fd = STDOUT_FILENO;
    return CST_OK;
  }
  bool exists = (follows ? stat(path, &info) : lstat(path, &info)) == 0 && !S_ISLNK(info.st_mode);
  if (exists && S_ISDIR(info.st_mode)) {
    return cst__fail(error, CST_IO, "name a file in it", "cannot write: Is a directory");
  }
  if (exists && !S_ISREG(info.st_mode)) { /* a pipe or a device keeps its place */
    output->fd = open(path, O_WRONLY | O_CLOEXEC);
    output->owns_fd = output->fd >= 0;
    return output->fd >= 0 ? CST_OK : cst__fail_system(error, errno, "cannot write");
  }
  CST__TRY(follows ? resolve(output, path, error) : take_path(output, path, error));
  CST__TRY(create_temporary(output, exists ? 0600 : 0666, error));
  if (exists) {
    take_permissions(output->fd, &info);
  }
  return CST_OK;
}

static cst_status end_output_open(cst__output *output, cst_status status, cst__output **out,
                                  cst_error *error) {
  if (status == CST_OK) {
    *out = output;
    return CST_OK;
  }
  if (output != NULL) {
    cst__error_add_file(error, output->name);
    cst__output_free(output);
  }
  return status;
}

cst_status cst__output_open(const char *path, cst_compression compression, int level,
                            const cst_allocator *allocator, cst__output **out, cst_error *error) {
  cst__output *output = NULL;
  bool is_stdout = strcmp(path, "-") == 0;
  if (cst__is_url(path)) {
    (void)cst__fail(error, CST_UNSUPPORTED,
                    "write a file and send it, or use cst.convert in Python",
                    "URLs are inputs only");
    cst__error_add_file(error, path);
    return CST_UNSUPPORTED;
  }
  if (compression == CST_COMPRESSION_BY_NAME) {
    size_t stem;
    compression = cst__compression_of(path, &stem);
  }
  cst_status status =
      new_output(is_stdout ? "<stdout>" : path, compression, level, allocator, &output, error);
  if (status == CST_OK) {
    status = open_path(output, path, true, error);
  }
  return end_output_open(output, status, out, error);
}

cst_status cst__output_open_beside(const char *path, const cst_allocator *allocator,
                                   cst__output **out, cst_error *error) {
  cst__output *output = NULL;
  cst_status status = new_output(path, CST_COMPRESSION_NONE, 0, allocator, &output, error);
  if (status == CST_OK) {
    status = open_path(output, path, false, error);
  }
  return end_output_open(output, status, out, error);
}

cst_status cst__output_open_writer(const cst_writer *writer, cst_compression compression, int level,
                                   const cst_allocator *allocator, cst__output **out,
                                   cst_error *error) {
  cst_writer own = {0};
  cst__sized_copy(&own, sizeof own, writer);
  cst__output *output = NULL;
  cst_status status = own.write != NULL ? CST_OK
                                        : cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                                                    "the writer has no write function");
  if (status == CST_OK) {
    status = new_output(own.name != NULL ? own.name : "<writer>", compression, level, allocator,
                        &output, error);
  }
  if (output != NULL) {
    output->writer = own;
    output->has_writer = true;
  } else if (own.close != NULL) {
    (void)own.close(own.ctx, false, NULL);
  }
  return end_output_open(output, status, out, error);
}

void cst__writer_refuse(const cst_writer *writer) {
  cst_error unseen = CST_ERROR_INIT; /* a callback's last argument is never NULL */
  if (writer->close != NULL) {
    (void)writer->close(writer->ctx, false, &unseen);
  }
}

const char *cst__output_temporary_path(const cst__output *output) { return output->temporary; }

/* ---- writing ---- */

static cst_status fail_output(cst__output *output, cst_status status, cst_error *error) {
  if (status != CST_OK) {
    cst__error_add_file(error, output->name);
    output->failed = status;
  }
  return status;
}

static cst_status pass_on(cst__output *output, const void *data, size_t size, bool last,
                          cst_error *error) {
  if (output->encoder == NULL) {
    return put_output(output, data, size, error);
  }
  const cst__byte_sink sink = {put_output, output};
  return output->encoder->encode(output->state, data, size, last, &sink, error);
}

/* ---- on a thread beside ---- */

static cst_status pass_on_beside(void *ctx, const void *data, size_t size, cst_error *error) {
  return pass_on(ctx, data, size, false, error);
}

cst_status cst__output_beside(cst__output *output, cst_error *error) {
  output->other = cst__new(&output->allocator, BUFFER);
  if (output->other == NULL) {
    return cst__fail_memory(error, BUFFER);
  }
  return cst__beside_start(pass_on_beside, output, &output->allocator, &output->beside, error);
}

/* Hands the full buffer over and goes on with the other one, when that is free. */
static cst_status pass_buffer(cst__output *output, cst_error *error) {
  if (output->beside == NULL) {
    return pass_on(output, output->buffer, output->used, false, error);
  }
  CST__TRY(cst__beside_wait(output->beside, error));
  uint8_t *full = output->buffer;
  output->buffer = output->other;
  output->other = full;
  cst__beside_give(output->beside, full, output->used);
  return CST_OK;
}

/* Waits for what the thread does, and ends it: nothing runs beside from here on. */
static cst_status end_beside(cst__output *output, cst_error *error) {
  cst_status status = CST_OK;
  if (output->beside != NULL) {
    status = cst__beside_wait(output->beside, error);
    cst__beside_stop(output->beside);
    output->beside = NULL;
  }
  return status;
}

static cst_status check_usable(const cst__output *output, cst_error *error) {
  CST__TRY(cst__check_forked(output->process, "output", error));
  if (output->failed != CST_OK) {
    return cst__fail(error, output->failed, "begin anew", "an earlier write failed");
  }
  return output->closed ? cst__fail(error, CST_STATE, NULL, "the output is already finished")
                        : CST_OK;
}

/* A codec gets pieces of the same size with a thread beside and without, so that what it writes
 * does not depend on that. */
static cst_status write_past_buffer(cst__output *output, const void *data, size_t size,
                                    cst_error *error) {
  CST__TRY(check_usable(output, error));
  CST__TRY(fail_output(output, pass_buffer(output, error), error));
  output->used = 0;
  if (size >= BUFFER && output->beside == NULL && output->encoder == NULL) {
    return fail_output(output, pass_on(output, data, size, false, error), error);
  }
  while (size > BUFFER) {
    memcpy(output->buffer, data, BUFFER);
    output->used = BUFFER;
    CST__TRY(fail_output(output, pass_buffer(output, error), error));
    data = (const uint8_t *)data + BUFFER;
    size -= BUFFER;
  }
  memcpy(output->buffer, data, size);
  output->used = size;
  return CST_OK;
}

cst_status cst__output_write(cst__output *output, const void *data, size_t size, cst_error *error) {
  if (size > BUFFER - output->used || output->failed != CST_OK || output->closed) {
    return write_past_buffer(output, data, size, error);
  }
  if (size > 0) {
    memcpy(output->buffer + output->used, data, size);
    output->used += size;
  }
  return CST_OK;
}

static cst_status close_output(cst__output *output, cst_error *error) {
  if (!output->owns_fd) {
    return CST_OK;
  }
  int fd = output->fd;
  output->fd = -1;
  output->owns_fd = false;
  return close(fd) == 0 || errno == EINTR ? CST_OK : cst__fail_system(error, errno, "cannot write");
}

/* A second name for the file: unlike a new one, it takes no other file's place. 0, or errno. */
static int name_new_file(const char *temporary, const char *path) {
  struct stat info;
  if (link(temporary, path) == 0) {
    (void)unlink(temporary);
    return 0;
  }
  if (errno != EPERM && errno != ENOTSUP && errno != ENOSYS && errno != EMLINK) {
    return errno;
  }
  /* A file system without links, such as FAT. */
  if (lstat(path, &info) == 0) {
    return EEXIST;
  }
  return rename(temporary, path) == 0 ? 0 : errno;
}

static cst_status give_name(cst__output *output, const char *path, bool keep, cst_error *error) {
  if (output->temporary == NULL) {
    return CST_OK;
  }
  int code = 0;
  if (keep) { /* as it was given: nobody has put a link there meanwhile */
    code = name_new_file(output->temporary, path != NULL ? path : output->name);
  } else if (rename(output->temporary, path != NULL ? path : output->path) != 0) {
    code = errno;
  }
  if (code == EEXIST && keep) {
    return cst__fail(error, CST_IO, "name another output, or allow overwriting",
                     "the output exists");
  }
  if (code != 0) {
    return cst__fail_system(error, code, "cannot give the finished file its name");
  }
  cst__temporary_forget(&output->made);
  cst__delete(output->temporary);
  output->temporary = NULL;
  return CST_OK;
}

static cst_status close_all(cst__output *output, cst_error *error) {
  CST__TRY(end_beside(output, error));
  CST__TRY(pass_on(output, output->buffer, output->used, true, error));
  output->used = 0;
  CST__TRY(close_writer(output, true, error));
  return close_output(output, error);
}

uint64_t cst__output_written(cst__output *output) {
  if (output->beside != NULL) {
    (void)cst__beside_wait(output->beside, NULL); /* a failure comes with the next write */
  }
  uint64_t written = atomic_load_explicit(&output->written, memory_order_relaxed);
  return output->encoder == NULL ? written + output->used : written;
}

cst_status cst__output_close(cst__output *output, cst_error *error) {
  CST__TRY(check_usable(output, error));
  CST__TRY(fail_output(output, close_all(output, error), error));
  output->closed = true;
  return CST_OK;
}

cst_status cst__output_publish(cst__output *output, const char *path, bool keep, cst_error *error) {
  return fail_output(output, give_name(output, path, keep, error), error);
}

cst_status cst__output_finish(cst__output *output, cst_error *error) {
  CST__TRY(cst__output_close(output, error));
  return cst__output_publish(output, NULL, false, error);
}

void cst__output_free(cst__output *output) {
  if (output == NULL || cst__is_forked(output->process)) {
    return;
  }
  if (output->beside != NULL) {
    cst__beside_cancel(output->beside);
    cst__beside_stop(output->beside);
  }
  (void)close_writer(output, false, NULL);
  (void)close_output(output, NULL);
  if (output->temporary != NULL && cst__temporary_is_ours(&output->made)) {
    (void)unlink(output->temporary);
    cst__temporary_forget(&output->made);
  }
  cst__delete(output->temporary);
  if (output->state != NULL) {
    output->encoder->free_state(output->state);
  }
  cst__delete(output->buffer);
  cst__delete(output->other);
  cst__delete(output->path);
  cst__delete(output->name);
  cst__delete(output);
}

cst_status cst__output_write_file(const char *path, const void *bytes, size_t size,
                                  cst_error *error) {
  cst__output *output;
  CST__TRY(cst__output_open(path, CST_COMPRESSION_BY_NAME, 0, NULL, &output, error));
  cst_status status = cst__output_write(output, bytes, size, error);
  if (status == CST_OK) {
    status = cst__output_finish(output, error);
  }
  cst__output_free(output);
  return status;
}
