/* What only some systems have. */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* pipe2, F_SETPIPE_SZ, madvise */
#endif
#include "base/os.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
#if defined(__linux__)
#include <sys/auxv.h>
#endif

bool cst__os_is_privileged(void) {
#if defined(__linux__)
  return getauxval(AT_SECURE) != 0;
#else
  return issetugid() != 0;
#endif
}

bool cst__os_program_file(char *path, size_t room) {
#if defined(__linux__)
  ssize_t size = readlink("/proc/self/exe", path, room);
  bool fits = size > 0 && (size_t)size < room;
  path[fits ? size : 0] = '\0';
  return fits;
#else
  path[0] = '\0';
  return room == 0;
#endif
}

const void *cst__os_program_headers(void) {
#if defined(__linux__)
  return (const void *)(uintptr_t)getauxval(AT_PHDR);
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
