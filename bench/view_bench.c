/* Times a saved view in C: opening it and answering the first batch, each later batch, and batches
 * in two threads at once.
 *
 *   view_bench VIEW FILE [--batch 32] [--repeat 2000]
 *
 * FILE is a plain TFRecord file. Prints one JSON object of seconds.
 */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */

#include <columnstone/query.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct view_bench {
  const cst_view *view;
  const cst_bytes *records;
  size_t num_records;
  size_t batch;
  size_t repeat;
  double *seconds; /* [repeat] */
} view_bench;

static void die(const char *what, const cst_error *error) {
  char text[4608] = "";
  if (error != NULL) cst_error_format(error, text, sizeof text);
  fprintf(stderr, "view_bench: %s: %s\n", what, text);
  exit(1);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void answer(const view_bench *b, size_t i) {
  cst_error error = CST_ERROR_INIT;
  cst_tensors *tensors;
  size_t at = (i * b->batch) % (b->num_records - b->batch + 1);
  if (cst_view_run(b->view, b->records + at, b->batch, NULL, &tensors, &error)) die("run", &error);
  cst_tensors_release(tensors);
}

static void *answer_all(void *argument) {
  const view_bench *b = argument;
  for (size_t i = 0; i < b->repeat; i++) {
    double start = now();
    answer(b, i);
    b->seconds[i] = now() - start;
  }
  return NULL;
}

static cst_bytes *read_records(const char *path, size_t *count) {
  FILE *in = fopen(path, "rb");
  if (in == NULL || fseek(in, 0, SEEK_END) != 0) die("cannot read", NULL);
  size_t size = (size_t)ftell(in);
  uint8_t *file = malloc(size + 1); /* lives as long as the program */
  cst_bytes *records = malloc((size / 16 + 1) * sizeof *records);
  rewind(in);
  if (file == NULL || records == NULL || fread(file, 1, size, in) != size) die("cannot read", NULL);
  fclose(in);
  *count = 0;
  for (size_t at = 0; at + 16 <= size; (*count)++) {
    uint64_t length;
    memcpy(&length, file + at, sizeof length);
    if (length > size - at - 16) die("not TFRecords", NULL);
    records[*count] = (cst_bytes){file + at + 12, (size_t)length};
    at += (size_t)length + 16;
  }
  return records;
}

static int compare_seconds(const void *a, const void *b) {
  double x = *(const double *)a;
  double y = *(const double *)b;
  return (x > y) - (x < y);
}

static void print_times(const char *name, double *seconds, size_t count, const char *after) {
  qsort(seconds, count, sizeof *seconds, compare_seconds);
  printf("\"%s\": %.9f, \"%s_p99\": %.9f%s", name, seconds[count / 2], name,
         seconds[count * 99 / 100], after);
}

int main(int argc, char **argv) {
  cst_error error = CST_ERROR_INIT;
  cst_view *view;
  view_bench b = {.batch = 32, .repeat = 2000};
  if (argc < 3) die("usage: view_bench VIEW FILE [--batch N] [--repeat N]", NULL);
  for (int i = 3; i + 1 < argc; i += 2) {
    if (strcmp(argv[i], "--batch") == 0) b.batch = (size_t)atol(argv[i + 1]);
    if (strcmp(argv[i], "--repeat") == 0) b.repeat = (size_t)atol(argv[i + 1]);
  }
  b.records = read_records(argv[2], &b.num_records);
  if (b.num_records < b.batch || b.repeat == 0) die("too few records", NULL);
  b.seconds = malloc(2 * b.repeat * sizeof *b.seconds);
  if (b.seconds == NULL) die("out of memory", NULL);

  double start = now();
  if (cst_view_open(argv[1], NULL, &view, &error)) die("open", &error);
  double opened = now() - start;
  b.view = view;
  answer(&b, 0);
  printf("{\"open\": %.9f, \"first\": %.9f, ", opened, now() - start);
  answer_all(&b);
  print_times("warm", b.seconds, b.repeat, ", ");

  view_bench both[2] = {b, b};
  pthread_t threads[2];
  both[1].seconds = b.seconds + b.repeat;
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, answer_all, &both[i]);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  print_times("two", b.seconds, 2 * b.repeat, "}\n");
  cst_view_release(view);
  free(b.seconds);
  free((void *)b.records);
  return 0;
}
