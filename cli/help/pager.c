/* Long help goes through a pager: $PAGER, or less if there is one. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli.h"

/* Lines of the terminal; 0: unknown. */
static int terminal_lines(void) {
  struct winsize size;
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_row : 0;
}

static int count_lines(const char *text, size_t size) {
  int lines = 0;
  for (size_t i = 0; i < size; i++) {
    lines += text[i] == '\n';
  }
  return lines;
}

/* True if a folder of PATH has it. */
static bool is_on_path(const char *program) {
  const char *folder = getenv("PATH");
  char path[4096];
  while (folder != NULL && *folder != '\0') {
    int size = (int)strcspn(folder, ":");
    snprintf(path, sizeof path, "%.*s/%s", size, folder, program);
    if (size > 0 && access(path, X_OK) == 0) {
      return true;
    }
    folder += size;
    folder += *folder == ':';
  }
  return false;
}

/* The command; NULL: print it without one. */
static const char *pager_of(void) {
  const char *pager = getenv("PAGER");
  if (getuid() != geteuid()) {
    return NULL;
  }
  if (pager == NULL) {
    return is_on_path("less") ? "less -FRX" : NULL;
  }
  return pager[0] != '\0' && strcmp(pager, "cat") != 0 ? pager : NULL;
}

/* True if the pager has shown the text: a shell ends with 126 or 127 if it cannot start it. */
static bool page(const char *pager, const char *text, size_t size) {
  enum { NOT_STARTED = 126 };
  struct sigaction before;
  struct sigaction ignored = {.sa_handler = SIG_IGN};
  fflush(stdout);
  sigaction(SIGPIPE, &ignored, &before); /* it may end before it has read everything */
  FILE *pipe = popen(pager, "w");        /* NOLINT(cert-env33-c): the user's own command */
  int status = -1;
  if (pipe != NULL) {
    fwrite(text, 1, size, pipe);
    status = pclose(pipe);
  }
  sigaction(SIGPIPE, &before, NULL);
  return status >= 0 && (status >> 8) < NOT_STARTED;
}

void cli_page(const char *text, size_t size) {
  bool fits = !isatty(STDOUT_FILENO) || count_lines(text, size) < terminal_lines();
  const char *pager = fits ? NULL : pager_of();
  if (pager == NULL || !page(pager, text, size)) {
    fwrite(text, 1, size, stdout);
  }
}
