/* What only some systems have, or each in a way of its own: the other rooms ask here. On Linux all
 * of it is there; elsewhere advice is left out, and what cannot be told says so.
 */
#ifndef BASE_OS_H
#define BASE_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <time.h>

/* The process has more rights than whoever started it (setuid, capabilities). */
bool cst__os_is_privileged(void);
/* A variable of the environment; NULL in a process with raised privileges. */
const char *cst__os_variable(const char *name);
/* All of them, as exec takes them. */
char *const *cst__os_environment(void);

/* Random bytes from the system; false: it has none at once. */
bool cst__os_random(void *bytes, size_t size);

/* The last of the bytes that is this one; NULL: none is. */
const void *cst__os_last_byte(const void *bytes, unsigned char byte, size_t size);

/* When the file was written last. */
struct timespec cst__os_modified(const struct stat *info);

/* Takes a signal that is blocked and pending, if there is one. */
void cst__os_take_signal(int number);

/* The file of the running program, as the kernel knows it: argv[0] is whatever its caller likes.
 * False: the system does not tell, or there is no room. */
bool cst__os_program_file(char *path, size_t room);
/* An address within the running program, not in a library; NULL: the system does not tell. */
const void *cst__os_program_headers(void);

/* A pipe whose ends close on exec; false with errno. */
bool cst__os_pipe(int ends[2]);
/* As much room in the pipe, if the system allows it. */
void cst__os_pipe_room(int end, int bytes);
/* The other, reading end of a pipe again, which does not wait; -1: the system gives none. */
int cst__os_pipe_reading_end(int writing_end);

/* The bytes will be read from the first to the last: those of a file, and of a mapped one. */
void cst__os_reads_in_order(int fd);
void cst__os_map_reads_in_order(void *map, size_t size);

/* Memory that large pages serve best: aligned to CST__OS_LARGE_PAGE. */
enum { CST__OS_LARGE_PAGE = 2 << 20 };
void cst__os_large_pages(void *block, size_t size);

#endif /* BASE_OS_H */
