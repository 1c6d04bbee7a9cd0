/* What only some systems have. */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* pipe2, F_SETPIPE_SZ, madvise, syscall, secure_getenv */
#endif
#include "base/os.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/auxv.h>
#include <sys/syscall.h>
#elif defined(__APPLE__)
#include <crt_externs.h>
#include <mach-o/dyld.h>
#include <sys/random.h>
#endif

bool cst__os_is_privileged(void) {
#if defined(__linux__)
  return getauxval(AT_SECURE) != 0;
#else
  return issetugid() != 0;
#endif
}

const char *cst__os_variable(const char *name) {
#if defined(__linux__)
  return secure_getenv(name);
#else
  return cst__os_is_privileged() ? NULL : getenv(name);
#endif
}

char *const *cst__os_environment(void) {
#if defined(__APPLE__)
  return *_NSGetEnviron(); /* libraries cannot link `environ` there */
#else
  return environ;
#endif
}

bool cst__os_random(void *bytes, size_t size) {
#if defined(__linux__)
  /* The C library has a function for it only from glibc 2.25 on. */
  const unsigned nonblock = 1; /* GRND_NONBLOCK */
  return syscall(SYS_getrandom, bytes, size, nonblock) == (long)size;
#else
  return getentropy(bytes, size) == 0;
#endif
}

const void *cst__os_last_byte(const void *bytes, unsigned char byte, size_t size) {
#if defined(__linux__)
  return size > 0 ? memrchr(bytes, byte, size) : NULL;
#else
  const unsigned char *all = bytes;
  while (size > 0 && all[size - 1] != byte) {
    size--;
  }
  return size > 0 ? &all[size - 1] : NULL;
#endif
}

struct timespec cst__os_modified(const struct stat *info) {
#if defined(__APPLE__)
  return info->st_mtimespec;
#else
  return info->st_mtim;
#endif
}

void cst__os_take_signal(int number) {
  sigset_t set;
  (void)sigemptyset(&set);
  (void)sigaddset(&set, number);
#if defined(__linux__)
  const struct timespec now = {0, 0};
  (void)sigtimedwait(&set, NULL, &now);
#else
  sigset_t pending;
  int taken;
  if (sigpending(&pending) == 0 && sigismember(&pending, number) == 1) {
    (void)sigwait(&set, &taken);
  }
#endif
}

bool cst__os_program_file(char *path, size_t room) {
#if defined(__linux__)
  ssize_t size = readlink("/proc/self/exe", path, room);
  bool fits = size > 0 && (size_t)size < room;
  path[fits ? size : 0] = '\0';
  return fits;
#elif defined(__APPLE__)
  char given[PATH_MAX];
  char real[PATH_MAX];
  uint32_t given_room = sizeof given;
  bool fits = _NSGetExecutablePath(given, &given_room) == 0 && realpath(given, real) != NULL &&
              strlen(real) < room;
  memcpy(path, fits ? real : "", fits ? strlen(real) + 1 : 1);
  return fits;
#else
  path[0] = '\0';
  return room == 0;
#endif
}

const void *cst__os_program_headers(void) {
#if defined(__linux__)
  return (const void *)(uintptr_t)getauxval(AT_PHDR);
#elif defined(__APPLE__)
  return _dyld_get_image_header(0);
#else
  return NULL;
#endif
}

bool cst__os_pipe(int ends[2]) {
#if defined(__linux__)
  return pipe2(ends, O_CLOEXEC) == 0;
#else
  return pipe(ends) == 0 && fcntl(ends[0], F_SETFD, FD_CLOEXEC) == 0 &&
         fcntl(ends[1], F_SETFD, FD_CLOEXEC) == 0;
#endif
}

void cst__os_pipe_room(int end, int bytes) {
#if defined(F_SETPIPE_SZ)
  (void)fcntl(end, F_SETPIPE_SZ, bytes);
#else
  (void)end;
  (void)bytes;
#endif
}

int cst__os_pipe_reading_end(int writing_end) {
#if defined(__linux__)
  char path[40];
  (void)snprintf(path, sizeof path, "/proc/self/fd/%d", writing_end);
  return open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
#else
  (void)writing_end;
  return -1;
#endif
}

void cst__os_reads_in_order(int fd) {
#if defined(POSIX_FADV_SEQUENTIAL)
  (void)posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
#else
  (void)fd;
#endif
}

void cst__os_map_reads_in_order(void *map, size_t size) {
  (void)madvise(map, size, MADV_SEQUENTIAL);
}

void cst__os_large_pages(void *block, size_t size) {
#if defined(MADV_HUGEPAGE)
  (void)madvise(block, size & ~((size_t)CST__OS_LARGE_PAGE - 1), MADV_HUGEPAGE);
#else
  (void)block;
  (void)size;
#endif
}
