/* Programs behind pipes: posix_spawn, poll for two pipes at once, and what a failure says. */
#include "io/process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/interrupt.h"
#include "base/os.h"
#include "io/raw.h"

enum {
  MOST_SAID = 4096,    /* of standard error: its end is kept */
  PIPE_SIZE = 1 << 20, /* asked for; the system's usual one is 64 KiB */
  FIRST_FD = 3,        /* the pipes are none of the three standard ones */
  LOOK_EVERY_MS = 100, /* for the end of a program whose children hold its pipes */
  END_MARK = 8         /* bytes of the end of a stream, which a program need not read */
};

struct cst__process {
  const char *name; /* the last step of the program's path; in `path` */
  char *path;
  cst__process_use use;
  pid_t pid;   /* 0: waited for */
  int ended;   /* its status then; -1: the system does not tell */
  pid_t owner; /* who started it */
  int data;    /* our end of the pipe; -1: closed */
  int said;    /* where standard error comes from; -1: at its end */
  char text[MOST_SAID];
  size_t size; /* of the text */
};

/* ---- what is started ---- */

#define SYSTEM_PATH "/usr/local/bin:/usr/bin:/bin"

static bool is_program(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

bool cst__process_find(const char *name, char *buf, size_t n) {
  const char *list = cst__os_variable("PATH");
  for (list = list != NULL ? list : SYSTEM_PATH; *list != '\0';) {
    size_t size = strcspn(list, ":");
    int made = list[0] == '/' ? snprintf(buf, n, "%.*s/%s", (int)size, list, name) : -1;
    if (made > 0 && (size_t)made < n && is_program(buf)) {
      return true;
    }
    list += size + (list[size] == ':');
  }
  return false;
}

static bool is_plain_start(char c) {
  return c == '/' || c == '.' || c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
         (c >= 'A' && c <= 'Z');
}

const char *cst__process_path(const char *path, cst__arena *arena) {
  if (is_plain_start(path[0])) {
    return path;
  }
  size_t size = strlen(path) + sizeof "./";
  char *plain = cst__arena_take(arena, size);
  if (plain != NULL) {
    (void)snprintf(plain, size, "./%s", path);
  }
  return plain;
}

static char *const *environment(void) {
  static char path[] = "PATH=" SYSTEM_PATH;
  static char *const fixed[] = {path, NULL};
  return cst__os_is_privileged() ? fixed : cst__os_environment();
}

/* ---- starting ---- */

static void close_end(int *fd) {
  if (*fd >= 0) {
    (void)close(*fd);
    *fd = -1;
  }
}

static void close_pipe(int ends[2]) {
  close_end(&ends[0]);
  close_end(&ends[1]);
}

/* Both ends close on exec, and are none of the descriptors that the program's ends become. */
static cst_status open_pipe(int ends[2], cst_error *error) {
  if (!cst__os_pipe(ends)) {
    ends[0] = ends[1] = -1;
    return cst__fail_system(error, errno, "cannot make a pipe");
  }
  for (int i = 0; i < 2; i++) {
    if (ends[i] < FIRST_FD) {
      int moved = fcntl(ends[i], F_DUPFD_CLOEXEC, FIRST_FD);
      int code = errno;
      (void)close(ends[i]);
      ends[i] = moved;
      if (moved < 0) {
        close_pipe(ends);
        return cst__fail_system(error, code, "cannot make a pipe");
      }
    }
  }
  return CST_OK;
}

/* What the program's three standard descriptors are. 0 or an error number. */
static int set_files(posix_spawn_file_actions_t *files, cst__process_use use, int data, int said) {
  bool reads = use == CST__PROCESS_READS;
  int code = posix_spawn_file_actions_addopen(files, reads ? STDIN_FILENO : STDOUT_FILENO,
                                              "/dev/null", reads ? O_RDONLY : O_WRONLY, 0);
  if (code == 0) {
    code = posix_spawn_file_actions_adddup2(files, data, reads ? STDOUT_FILENO : STDIN_FILENO);
  }
  return code != 0 ? code : posix_spawn_file_actions_adddup2(files, said, STDERR_FILENO);
}

/* A process group of its own, so that all of it can be ended; SIGPIPE as a program expects it. */
static int set_attributes(posix_spawnattr_t *attributes) {
  sigset_t none;
  sigset_t usual;
  (void)sigemptyset(&none);
  (void)sigemptyset(&usual);
  (void)sigaddset(&usual, SIGPIPE);
  int code = posix_spawnattr_setsigmask(attributes, &none);
  if (code == 0) {
    code = posix_spawnattr_setsigdefault(attributes, &usual);
  }
  if (code == 0) {
    code = posix_spawnattr_setpgroup(attributes, 0);
  }
  return code != 0
             ? code
             : posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                                        POSIX_SPAWN_SETPGROUP);
}

static int spawn(cst__process *process, const char *const *argv, int data, int said) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  int code = posix_spawn_file_actions_init(&files);
  if (code != 0) {
    return code;
  }
  code = posix_spawnattr_init(&attributes);
  if (code == 0) {
    code = set_files(&files, process->use, data, said);
    code = code != 0 ? code : set_attributes(&attributes);
    if (code == 0) { /* the arguments are not changed: the type is of old */
      code = posix_spawn(&process->pid, process->path, &files, &attributes, (char *const *)argv,
                         environment());
    }
    (void)posix_spawnattr_destroy(&attributes);
  }
  (void)posix_spawn_file_actions_destroy(&files);
  return code;
}

static cst_status start_process(cst__process *process, const char *const *argv, cst_error *error) {
  bool reads = process->use == CST__PROCESS_READS;
  int data[2] = {-1, -1};
  int said[2] = {-1, -1};
  cst_status status = open_pipe(data, error);
  if (status == CST_OK) {
    status = open_pipe(said, error);
  }
  int *ours = &data[reads ? 0 : 1];
  int *theirs = &data[reads ? 1 : 0];
  if (status == CST_OK) {
    int code = spawn(process, argv, *theirs, said[1]);
    if (code != 0) {
      process->pid = 0;
      status = cst__fail_system(error, code, "cannot run the program");
      cst__error_add_file(error, process->path);
    }
  }
  if (status == CST_OK) {
    cst__os_pipe_room(*ours, PIPE_SIZE);
    (void)fcntl(*ours, F_SETFL, O_NONBLOCK);
    (void)fcntl(said[0], F_SETFL, O_NONBLOCK);
    process->data = *ours;
    process->said = said[0];
    *ours = said[0] = -1;
  }
  close_pipe(data);
  close_pipe(said);
  return status;
}

cst_status cst__process_start(const char *program, const char *const *argv, cst__process_use use,
                              const cst_allocator *allocator, cst__process **out,
                              cst_error *error) {
  cst__process *process = cst__new_zero(allocator, sizeof *process);
  if (process == NULL) {
    return cst__fail_memory(error, sizeof *process);
  }
  process->use = use;
  process->owner = getpid();
  process->data = process->said = -1;
  process->path = cst__new_copy(allocator, program, strlen(program));
  cst_status status = process->path != NULL ? CST_OK : cst__fail_memory(error, strlen(program));
  if (status == CST_OK) {
    const char *slash = strrchr(process->path, '/');
    process->name = slash != NULL ? slash + 1 : process->path;
    status = start_process(process, argv, error);
  }
  if (status != CST_OK) {
    cst__process_free(process);
    return status;
  }
  *out = process;
  return CST_OK;
}

bool cst__process_is_ours(const cst__process *process) { return process->owner == getpid(); }

/* ---- what it says ---- */

/* Keeps the end of what is said. */
static void keep_said(cst__process *process, const char *bytes, size_t size) {
  if (size > MOST_SAID) {
    bytes += size - MOST_SAID;
    size = MOST_SAID;
  }
  size_t drop = process->size + size > MOST_SAID ? process->size + size - MOST_SAID : 0;
  memmove(process->text, process->text + drop, process->size - drop);
  process->size -= drop;
  memcpy(process->text + process->size, bytes, size);
  process->size += size;
}

/* Takes what is there. */
static void take_said(cst__process *process) {
  while (process->said >= 0) {
    char bytes[1024];
    ssize_t size = read(process->said, bytes, sizeof bytes);
    if (size > 0) {
      keep_said(process, bytes, (size_t)size);
    } else if (size == 0 || (errno != EINTR && errno != EAGAIN)) {
      close_end(&process->said);
    } else if (errno == EAGAIN) {
      return;
    }
  }
}

/* True when the program has ended; its status is kept. */
static bool wait_for_process(cst__process *process, int options) {
  if (process->pid == 0) {
    return true;
  }
  pid_t found;
  do {
    found = waitpid(process->pid, &process->ended, options);
  } while (found < 0 && errno == EINTR);
  if (found == 0) {
    return false;
  }
  if (found < 0) {
    process->ended = -1;
  }
  process->pid = 0;
  return true;
}

/* Waits until the pipe of data can be used, or a program that we read from has ended, whose
 * children may hold the pipe open; takes what is said meanwhile. */
static cst_status await_data(cst__process *process, cst_error *error) {
  bool reads = process->use == CST__PROCESS_READS;
  for (;;) {
    struct pollfd fds[2] = {{.fd = process->data, .events = reads ? POLLIN : POLLOUT},
                            {.fd = process->said, .events = POLLIN}};
    int ready = poll(fds, 2, LOOK_EVERY_MS);
    if (ready < 0 && errno != EINTR) {
      return cst__fail_system(error, errno, "cannot wait for a plug-in program");
    }
    if (ready <= 0) {
      CST__TRY(ready < 0 ? cst__interrupted_now(error) : cst__interrupted(error));
      if (reads && wait_for_process(process, WNOHANG)) {
        return CST_OK;
      }
      continue;
    }
    if (fds[1].revents != 0) {
      take_said(process);
    }
    if (fds[0].revents != 0) {
      return CST_OK;
    }
  }
}

/* ---- the words of a failure ---- */

typedef struct words {
  cst_status code;
  int64_t record;
  char hint[160];
  char path[256];
  char text[2 * MOST_SAID]; /* lines joined by blanks */
  bool is_structured;       /* it says a code */
} words;

/* The value of a line "<key>: value"; NULL for other lines. */
static const char *value_of_line(const char *line, const char *key) {
  size_t size = strlen(key);
  return strncmp(line, key, size) == 0 && line[size] == ':'
             ? line + size + 1 + (line[size + 1] == ' ')
             : NULL;
}

static cst_status code_of(const char *name) {
#define CST__CODE(code, number, text)                                           \
  if (CST_##code != CST_OK && strcmp(name, cst_status_name(CST_##code)) == 0) { \
    return CST_##code;                                                          \
  }
  CST_STATUS_MAP(CST__CODE)
#undef CST__CODE
  return CST_IO;
}

static void take_line(words *out, const char *line) {
  const char *value;
  size_t size = strlen(out->text);
  if ((value = value_of_line(line, "columnstone-code")) != NULL) {
    out->code = code_of(value);
    out->is_structured = true;
  } else if ((value = value_of_line(line, "columnstone-hint")) != NULL) {
    (void)snprintf(out->hint, sizeof out->hint, "%s", value);
  } else if ((value = value_of_line(line, "columnstone-path")) != NULL) {
    (void)snprintf(out->path, sizeof out->path, "%s", value);
  } else if ((value = value_of_line(line, "columnstone-record")) != NULL) {
    char *end;
    errno = 0;
    long long record = strtoll(value, &end, 10);
    out->record = end != value && *end == '\0' && errno == 0 && record >= 0 ? record : -1;
  } else if (line[0] != '\0') {
    (void)snprintf(out->text + size, sizeof out->text - size, "%s%s", size > 0 ? " " : "", line);
  }
}

static void find_words(const cst__process *process, words *out) {
  *out = (words){.code = CST_IO, .record = -1};
  char line[MOST_SAID + 1];
  for (size_t at = 0; at < process->size;) {
    const char *begin = process->text + at;
    const char *end = memchr(begin, '\n', process->size - at);
    size_t size = end != NULL ? (size_t)(end - begin) : process->size - at;
    memcpy(line, begin, size);
    line[size] = '\0';
    line[strcspn(line, "\r")] = '\0';
    take_line(out, line);
    at += size + 1;
  }
}

/* Of long talk what comes last tells most, as the last line of a traceback does; a program that
 * says a code has chosen its words. */
static const char *most_telling(const words *found) {
  enum { ROOM = 140 /* of a message, beside the name */ };
  size_t size = strlen(found->text);
  if (found->is_structured || size <= ROOM) {
    return found->text;
  }
  const char *tail = found->text + size - ROOM;
  const char *blank = strchr(tail, ' ');
  return blank != NULL && blank[1] != '\0' ? blank + 1 : tail;
}

/* end: how it ended. */
static cst_status fail_process(const cst__process *process, const char *end, cst_error *error) {
  words found;
  find_words(process, &found);
  const char *hint = found.hint[0] != '\0' ? found.hint : NULL;
  if (found.text[0] != '\0') {
    (void)cst__fail(error, found.code, hint, "%s: %s", process->name, most_telling(&found));
  } else {
    (void)cst__fail(error, found.code, hint, "%s %s", process->name, end);
  }
  if (found.record >= 0) {
    cst__error_add_record(error, found.record, -1);
  }
  if (found.path[0] != '\0') {
    cst__error_add_path(error, found.path, strlen(found.path));
  }
  return found.code;
}

/* ---- the end ---- */

/* Until the program ends, whose children may hold standard error open. */
static cst_status await_end(cst__process *process, cst_error *error) {
  int wait = process->said >= 0 ? LOOK_EVERY_MS : 0;
  for (;;) {
    struct pollfd said = {.fd = process->said, .events = POLLIN};
    int ready = poll(&said, process->said >= 0 ? 1 : 0, wait);
    if (ready > 0) {
      take_said(process);
      wait = process->said >= 0 ? LOOK_EVERY_MS : 0; /* at its end, so is the program, mostly */
    } else if (wait_for_process(process, WNOHANG)) {
      take_said(process);
      return CST_OK;
    } else {
      CST__TRY(ready < 0 ? cst__interrupted_now(error) : cst__interrupted(error));
      wait = wait < LOOK_EVERY_MS ? 2 * wait + 1 : LOOK_EVERY_MS;
    }
  }
}

/* Closes our end of the pipe. Returns a reading end of the one that we write to: what the program
 * leaves in it can be counted by that; -1 if the system gives none. */
static int close_data(cst__process *process) {
  int left = -1;
  if (process->use == CST__PROCESS_WRITES && process->data >= 0) {
    left = cst__os_pipe_reading_end(process->data);
  }
  close_end(&process->data);
  return left;
}

/* True if the program has ended without reading what was written to it. */
static bool has_left(int left) {
  int count = 0;
  return left >= 0 && ioctl(left, FIONREAD, &count) == 0 && count > END_MARK;
}

static cst_status fail_unread(const cst__process *process, cst_error *error) {
  return cst__fail(error, CST_IO, NULL, "%s ended before it had read everything", process->name);
}

cst_status cst__process_finish(cst__process *process, cst_error *error) {
  char end[96];
  int left = close_data(process);
  cst_status status = await_end(process, error);
  bool unread = status == CST_OK && has_left(left);
  close_end(&left);
  CST__TRY(status);
  int ended = process->ended;
  if (ended == -1) {
    (void)snprintf(end, sizeof end, "ended with an unknown status: SIGCHLD is ignored");
  } else if (WIFSIGNALED(ended)) {
    (void)snprintf(end, sizeof end, "was killed by signal %d", WTERMSIG(ended));
  } else if (WEXITSTATUS(ended) != 0) {
    (void)snprintf(end, sizeof end, "failed with the exit status %d", WEXITSTATUS(ended));
  } else {
    return unread ? fail_unread(process, error) : CST_OK;
  }
  return fail_process(process, end, error);
}

void cst__process_free(cst__process *process) {
  if (process == NULL) {
    return;
  }
  close_end(&process->data);
  close_end(&process->said);
  if (process->pid > 0 && cst__process_is_ours(process)) {
    (void)kill(-process->pid, SIGKILL);
    (void)wait_for_process(process, 0);
  }
  cst__delete(process->path);
  cst__delete(process);
}

/* ---- bytes ---- */

cst_status cst__process_read(cst__process *process, void *buffer, size_t size, size_t *got,
                             cst_error *error) {
  *got = 0;
  if (!cst__process_is_ours(process)) {
    return cst__fail(error, CST_STATE, "open the source again in the child process",
                     "a plug-in program is read by the process that started it");
  }
  while (*got < size) {
    ssize_t part = read(process->data, (char *)buffer + *got, size - *got);
    if (part > 0) {
      *got += (size_t)part;
    } else if (part == 0) {
      return CST_OK;
    } else if (errno == EAGAIN && process->pid == 0) {
      return CST_OK; /* it has ended, and its children have nothing to say */
    } else if (errno == EAGAIN) {
      CST__TRY(await_data(process, error));
    } else if (errno != EINTR) {
      return cst__fail_system(error, errno, "cannot read from a plug-in program");
    }
  }
  return CST_OK;
}

/* Writes without the signal that a closed pipe sends to all of the process. */
static ssize_t write_quietly(int fd, const void *data, size_t size) {
  sigset_t pipe_signal;
  sigset_t before;
  sigset_t pending;
  (void)sigemptyset(&pipe_signal);
  (void)sigaddset(&pipe_signal, SIGPIPE);
  (void)sigpending(&pending);
  bool was_pending = sigismember(&pending, SIGPIPE) == 1;
  (void)pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
  ssize_t written = write(fd, data, size);
  int code = errno;
  if (written < 0 && code == EPIPE && !was_pending) {
    cst__os_take_signal(SIGPIPE);
  }
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
  errno = code;
  return written;
}

cst_status cst__process_write(cst__process *process, const void *data, size_t size,
                              cst_error *error) {
  for (size_t at = 0; at < size;) {
    ssize_t part = write_quietly(process->data, (const char *)data + at, size - at);
    if (part > 0) {
      at += (size_t)part;
    } else if (errno == EAGAIN) {
      CST__TRY(await_data(process, error));
    } else if (errno == EPIPE) {
      cst_status status = cst__process_finish(process, error);
      return status != CST_OK ? status : fail_unread(process, error);
    } else if (errno != EINTR) {
      return cst__fail_system(error, errno, "cannot write to a plug-in program");
    }
  }
  return CST_OK;
}
