/* A bar on the terminal for what takes long. */
#include <inttypes.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"

enum { BAR_WIDTH = 24 };

#define REDRAW_SECONDS 0.1

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
  return true;
}

void cli_progress_end(cli_progress *progress) {
  if (progress->on) {
    fprintf(stderr, "\r\x1b[K");
  }
}
