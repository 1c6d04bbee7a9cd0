/* Files, standard input and callers' readers behind one way of reading. */
#include "io/raw.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/interrupt.h"
#include "base/os.h"
#include "base/sized.h"

enum {
  LARGEST_READ = 16 << 20, /* at once: between two, a reading can be told to stop */
  WAIT = 50                /* ms for bytes in a pipe, between two questions whether to stop */
};

static const char *system_hint(int code) {
  switch (code) {
    case EACCES:
    case EPERM:
      return "check the owner and the permission bits of the file and of its folders";
    case EISDIR:
      return "name the files in it, for example with a pattern: folder/*";
    case ENOENT:
    case ENOTDIR:
      return "check the path";
    case EMFILE:
    case ENFILE:
      return "close files, or raise the limit of open files (ulimit -n)";
    case ENOSPC:
    case EDQUOT:
      return "free disk space, or write elsewhere";
    case EROFS:
      return "write to another folder";
    case EIO:
      return "the disk or the network file system failed: see the system's log";
    default:
      return NULL;
  }
}

/* The thread-safe strerror has two shapes. */
static const char *system_text(int code, char *buf, size_t n) {
#if defined(__GLIBC__)
  return strerror_r(code, buf, n);
#else
  return strerror_r(code, buf, n) == 0 ? buf : "unknown error";
#endif
}

cst_status cst__fail_system(cst_error *error, int code, const char *what) {
  char text[128];
  const char *message = system_text(code, text, sizeof text);
  cst_status status = code == ENOENT || code == ENOTDIR ? CST_NOT_FOUND
                      : code == ENOMEM                  ? CST_NO_MEMORY
                                                        : CST_IO;
  return cst__fail(error, status, system_hint(code), "%s: %s", what, message);
}

static cst_status set_raw_name(cst__raw *raw, const char *name, const cst_allocator *allocator,
                               cst_error *error) {
  size_t size = strlen(name);
  raw->name = cst__new_copy(allocator, name, size);
  return raw->name != NULL ? CST_OK : cst__fail_memory(error, size + 1);
}

/* Waits for bytes, or the end, as long as nobody says stop. */
static cst_status wait_for_bytes(int fd, cst_error *error) {
  struct pollfd entry = {.fd = fd, .events = POLLIN};
  for (;;) {
    int ready = poll(&entry, 1, cst__is_interruptible() ? WAIT : -1);
    if (ready > 0 || (ready < 0 && errno != EINTR)) {
      return CST_OK;
    }
    CST__TRY(cst__interrupted_now(error));
  }
}

/* open() would wait for a writer of a pipe, and a signal ends that in one thread only: the pipe is
 * opened at once, and its first bytes are waited for. */
static cst_status open_raw_file(cst__raw *raw, const char *path, cst_error *error) {
  struct stat info;
  bool is_pipe = stat(path, &info) == 0 && S_ISFIFO(info.st_mode);
  for (;;) {
    raw->fd = open(path, O_RDONLY | O_CLOEXEC | (is_pipe ? O_NONBLOCK : 0));
    if (raw->fd >= 0) {
      break;
    }
    if (errno != EINTR) {
      return cst__fail_system(error, errno, "cannot open");
    }
    CST__TRY(cst__interrupted_now(error));
  }
  if (!is_pipe) {
    return CST_OK;
  }
  CST__TRY(wait_for_bytes(raw->fd, error));
  return fcntl(raw->fd, F_SETFL, O_RDONLY) == 0 ? CST_OK
                                                : cst__fail_system(error, errno, "cannot open");
}

/* Looks at what the descriptor is. */
static cst_status look_at_raw(cst__raw *raw, cst_error *error) {
  struct stat info;
  if (fstat(raw->fd, &info) != 0) {
    return cst__fail_system(error, errno, "cannot open");
  }
  if (S_ISDIR(info.st_mode)) {
    return cst__fail_system(error, EISDIR, "cannot read");
  }
  if (!S_ISREG(info.st_mode)) {
    return CST_OK;
  }
  /* Standard input may be shared with others and begin anywhere: it is read in sequence. */
  off_t start = raw->owns_fd ? 0 : lseek(raw->fd, 0, SEEK_CUR);
  if (start >= 0 && start <= info.st_size) {
    raw->size = info.st_size - start;
  }
  raw->at_any_offset = raw->owns_fd;
  cst__os_reads_in_order(raw->fd);
  return CST_OK;
}

cst_status cst__raw_open(cst__raw *raw, const char *path, const cst_allocator *allocator,
                         cst_error *error) {
  *raw = (cst__raw){.fd = -1, .size = -1};
  bool standard_input = strcmp(path, "-") == 0;
  CST__TRY(set_raw_name(raw, standard_input ? "<stdin>" : path, allocator, error));
  raw->owns_fd = !standard_input;
  raw->fd = standard_input ? STDIN_FILENO : -1;
  cst_status status = standard_input ? CST_OK : open_raw_file(raw, path, error);
  if (status == CST_OK) {
    status = look_at_raw(raw, error);
  }
  if (status != CST_OK) {
    cst__error_add_file(error, raw->name);
    cst__raw_close(raw);
  }
  return status;
}

cst_status cst__raw_open_reader(cst__raw *raw, const cst_reader *reader,
                                const cst_allocator *allocator, cst_error *error) {
  *raw = (cst__raw){.fd = -1, .size = -1};
  cst__sized_copy(&raw->reader, sizeof raw->reader, reader);
  if (raw->reader.read_at == NULL) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "the reader has no read_at");
  }
  raw->at_any_offset = raw->reader.can_seek;
  return set_raw_name(raw, raw->reader.name != NULL ? raw->reader.name : "<reader>", allocator,
                      error);
}

static cst_status read_reader(cst__raw *raw, void *buffer, size_t size, size_t *got,
                              cst_error *error) {
  cst_error own = CST_ERROR_INIT;
  cst_status status = raw->reader.read_at(raw->reader.ctx, raw->offset, buffer, size, got, &own);
  if (status != CST_OK) {
    *got = 0;
    return cst__error_take(error, "reader's read_at", status, &own);
  }
  if (*got > size) {
    size_t claimed = *got;
    *got = 0;
    return cst__fail(error, CST_CALLBACK, "read_at must set *got to at most the size asked for",
                     "the reader's read_at gave %zu bytes of %zu", claimed, size);
  }
  return CST_OK;
}

static cst_status read_fd(cst__raw *raw, void *buffer, size_t size, size_t *got, cst_error *error) {
  bool may_block = raw->size < 0 && cst__is_interruptible();
  size = size < LARGEST_READ ? size : LARGEST_READ;
  for (;;) {
    if (may_block) {
      CST__TRY(wait_for_bytes(raw->fd, error));
    }
    ssize_t n = raw->at_any_offset ? pread(raw->fd, buffer, size, (off_t)raw->offset)
                                   : read(raw->fd, buffer, size);
    if (n >= 0) {
      *got = (size_t)n;
      return CST_OK;
    }
    may_block = errno == EAGAIN; /* whoever shares standard input may have set it so */
    if (errno != EAGAIN && errno != EINTR) {
      return cst__fail_system(error, errno, "cannot read");
    }
    CST__TRY(cst__interrupted_now(error));
  }
}

cst_status cst__raw_read(cst__raw *raw, void *buffer, size_t size, size_t *got, cst_error *error) {
  *got = 0;
  CST__TRY(cst__interrupted(error));
  cst_status status = raw->fd < 0 ? read_reader(raw, buffer, size, got, error)
                                  : read_fd(raw, buffer, size, got, error);
  raw->offset += *got;
  return status;
}

cst_status cst__raw_read_at(const cst__raw *raw, uint64_t offset, void *buffer, size_t size,
                            size_t *got, cst_error *error) {
  cst__raw at = *raw;
  at.offset = offset;
  *got = 0;
  while (*got < size) {
    size_t n;
    CST__TRY(cst__raw_read(&at, (char *)buffer + *got, size - *got, &n, error));
    if (n == 0) {
      break;
    }
    *got += n;
  }
  return CST_OK;
}

void cst__raw_map(cst__raw *raw) {
  if (raw->fd < 0 || !raw->at_any_offset || raw->size <= 0 || (uint64_t)raw->size > SIZE_MAX) {
    return;
  }
  void *map = mmap(NULL, (size_t)raw->size, PROT_READ, MAP_SHARED, raw->fd, 0);
  if (map == MAP_FAILED) {
    return;
  }
  cst__os_map_reads_in_order(map, (size_t)raw->size);
  raw->map = map;
  raw->map_size = (size_t)raw->size;
}

void cst__raw_close(cst__raw *raw) {
  if (raw->map != NULL) {
    (void)munmap(raw->map, raw->map_size);
  }
  if (raw->owns_fd && raw->fd >= 0) {
    (void)close(raw->fd);
  }
  cst__delete(raw->name);
  *raw = (cst__raw){.fd = -1, .size = -1};
}

size_t cst__raw_most_open(void) {
  enum { LEAST = 128, MOST = 65536 };
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur / 4 < LEAST) {
    return LEAST;
  }
  return limit.rlim_cur / 4 < MOST ? (size_t)(limit.rlim_cur / 4) : MOST;
}
