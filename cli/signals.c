/* Ctrl-C and its kin, which stop without leaving half a file, and readers of a pipe that go away.
 */
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "cli.h"

static volatile sig_atomic_t interrupted; /* the signal */

static void on_interrupt(int signal_number) { interrupted = signal_number; }

static bool is_interrupted(void *ctx) {
  (void)ctx;
  return interrupted != 0;
}

void cli_catch_interrupts(void) {
  struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND};
  sigemptyset(&action.sa_mask);
  static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
    struct sigaction before;
    if (sigaction(numbers[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN) {
      sigaction(numbers[i], &action, NULL); /* nohup has it ignored, and it stays so */
    }
  }
  signal(SIGXFSZ, SIG_IGN); /* the write fails instead */
  cst_interrupt_set(is_interrupted, NULL);
}

int cli_end_status(int status) { return interrupted != 0 ? 128 + interrupted : status; }

bool cli_is_interrupted(void) { return interrupted != 0; }

bool cli_has_lost_reader(void) {
  struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
  return poll(&out, 1, 0) == 1 && (out.revents & POLLERR) != 0;
}
