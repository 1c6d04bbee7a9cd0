/* Ctrl-C and its kin, which stop without leaving half a file, and readers of a pipe that go away.
 */
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"

static volatile sig_atomic_t interrupted; /* the signal */

/* Ends the program as the signal does by itself, but leaves no temporary files. */
static void on_fatal(int signal_number) {
  cst_temporaries_remove();
  signal(signal_number, SIG_DFL);
  raise(signal_number); /* comes when this handler ends */
}

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* `timeout` sends two at once, to the process and to its group: one is meant. */
static void on_interrupt(int signal_number) {
  static const int64_t at_once = 100000000; /* ns */
  static int64_t first;
  if (interrupted == 0) {
    first = now();
    interrupted = signal_number;
  } else if (now() - first > at_once) {
    on_fatal(signal_number);
  }
}

static bool is_interrupted(void *ctx) {
  (void)ctx;
  return interrupted != 0;
}

static void catch_signal(int number, void (*handler)(int)) {
  struct sigaction before;
  struct sigaction action = {.sa_handler = handler};
  sigfillset(&action.sa_mask);
  if (sigaction(number, NULL, &before) == 0 && before.sa_handler != SIG_IGN) {
    sigaction(number, &action, NULL); /* nohup has it ignored, and it stays so */
  }
}

void cli_catch_interrupts(void) {
  static const int stopping[] = {SIGINT, SIGTERM, SIGHUP};
  static const int fatal[] = {SIGPIPE, SIGQUIT, SIGALRM, SIGXCPU, SIGUSR1, SIGUSR2};
  for (size_t i = 0; i < sizeof stopping / sizeof stopping[0]; i++) {
    catch_signal(stopping[i], on_interrupt);
  }
  for (size_t i = 0; i < sizeof fatal / sizeof fatal[0]; i++) {
    catch_signal(fatal[i], on_fatal);
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
