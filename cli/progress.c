/* A bar on the terminal for what takes long, and Ctrl-C that stops without leaving half a file. */
#include <inttypes.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"

enum { BAR_WIDTH = 24 };

#define REDRAW_SECONDS 0.1

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal_number) {
  (void)signal_number;
  interrupted = 1;
}

void cli_catch_interrupt(void) {
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
}

bool cli_interrupted(void) { return interrupted != 0; }

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void cli_progress_begin(cli_progress *progress, const char *label, int64_t total, bool quiet) {
  *progress = (cli_progress){.label = label, .total = total, .begin = now()};
  progress->on = !quiet && isatty(STDERR_FILENO);
  progress->shown = progress->begin;
}

double cli_progress_seconds(const cli_progress *progress) { return now() - progress->begin; }

static void draw_bar(double part) {
  int full = (int)(part * BAR_WIDTH);
  fprintf(stderr, " [");
  for (int i = 0; i < BAR_WIDTH; i++) {
    fputc(i < full ? '=' : i == full ? '>' : ' ', stderr);
  }
  fprintf(stderr, "] %3.0f %%", part * 100);
}

static void draw(const cli_progress *progress, double bytes, uint64_t records, double seconds) {
  char size[32];
  char rate[32];
  double total = (double)progress->total;
  fprintf(stderr, "\r%s", progress->label);
  if (total > 0) {
    draw_bar(bytes < total ? bytes / total : 1);
  }
  fprintf(stderr, "  %s, %" PRIu64 " rows, %s/s", cli_bytes(bytes, size), records,
          cli_bytes(bytes / seconds, rate));
  if (total > bytes && bytes > 0) {
    int left = (int)((total - bytes) * seconds / bytes + 0.5);
    fprintf(stderr, ", %d:%02d left", left / 60, left % 60);
  }
  fprintf(stderr, "\x1b[K");
}

bool cli_progress_show(void *ptr, uint64_t bytes, uint64_t records) {
  cli_progress *progress = ptr;
  double time = progress->on ? now() : 0;
  if (progress->on && time - progress->shown >= REDRAW_SECONDS) {
    progress->shown = time;
    draw(progress, (double)bytes, records, time - progress->begin);
  }
  return !interrupted;
}

void cli_progress_end(cli_progress *progress) {
  if (progress->on) {
    fprintf(stderr, "\r\x1b[K");
  }
}
