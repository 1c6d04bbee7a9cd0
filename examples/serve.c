/* Serves a saved view: batches of requests become tensors, in several threads, without Python.
 *
 *     cc serve.c $(pkg-config --cflags --libs columnstone) -pthread -o serve
 *     ./serve ranking.cstv sessions.tfrecord
 *
 * The requests are the records of a plain TFRecord file; a server has them from its clients.
 */
#include <columnstone/query.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { NUM_THREADS = 4, BATCH = 32, PATIENCE = 100000000 /* ns for a batch */ };

typedef struct server {
  const cst_view *view; /* one for all threads */
  const cst_bytes *requests;
  size_t num_requests;
} server;

static int complain(const cst_error *error) {
  char text[4608];
  cst_error_format(error, text, sizeof text);
  return fprintf(stderr, "serve: %s\n", text), 1;
}

/* A request that is no good has its row in the tensors all the same: row i is request i. A server
 * answers it with the error. */
static void refuse(void *ctx, const cst_error *error) {
  (void)ctx;
  complain(error); /* error->record: which of the batch */
}

static int64_t soon(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec + PATIENCE;
}

/* Answers all requests; a server waits for them instead. */
static void *serve(void *argument) {
  const server *s = argument;
  for (size_t i = 0; i < s->num_requests; i += BATCH) {
    size_t count = s->num_requests - i < BATCH ? s->num_requests - i : BATCH;
    cst_tensors *tensors;
    cst_error error = CST_ERROR_INIT;
    cst_view_run_options options = CST_VIEW_RUN_OPTIONS_INIT;
    options.on_error = CST_ON_ERROR_NULL;
    options.on_bad = refuse;
    options.deadline = soon();
    if (cst_view_run(s->view, s->requests + i, count, &options, &tensors, &error)) {
      complain(&error); /* the batch as a whole: CST_TIMEOUT, for one */
      continue;
    }
    for (size_t k = 0; i == 0 && k < cst_tensors_num_tensors(tensors); k++) {
      const cst_tensor *tensor = cst_tensors_get(tensors, k);
      printf("%s: %lld values of %s\n", tensor->name, (long long)tensor->values.size,
             cst_dtype_name(tensor->values.dtype));
    }
    cst_tensors_release(tensors); /* the model has them as DLPack: cst_ndarray_to_dlpack */
  }
  return NULL;
}

/* The records of a TFRecord file: a length of 8 bytes, its checksum of 4, the record, its checksum
 * of 4. They lie in *file. */
static cst_bytes *read_requests(const char *path, uint8_t **file, size_t *count) {
  FILE *in = fopen(path, "rb");
  if (in == NULL || fseek(in, 0, SEEK_END) != 0) return NULL;
  size_t size = (size_t)ftell(in);
  cst_bytes *requests = malloc((size / 16 + 1) * sizeof *requests);
  *file = malloc(size + 1);
  rewind(in);
  if (requests == NULL || *file == NULL || fread(*file, 1, size, in) != size) return NULL;
  *count = 0;
  for (size_t at = 0; at + 16 <= size; (*count)++) {
    uint64_t length;
    memcpy(&length, *file + at, sizeof length);
    if (length > size - at - 16) return NULL;
    requests[*count] = (cst_bytes){*file + at + 12, (size_t)length};
    at += (size_t)length + 16;
  }
  fclose(in);
  return requests;
}

int main(int argc, char **argv) {
  cst_error error = CST_ERROR_INIT;
  cst_view *view = NULL;
  uint8_t *file = NULL;
  server s = {.num_requests = 0};
  pthread_t threads[NUM_THREADS];

  if (argc != 3) return fprintf(stderr, "usage: %s VIEW FILE\n", argv[0]), 2;
  if (cst_view_open(argv[1], NULL, &view, &error)) return complain(&error);
  s.view = view;
  s.requests = read_requests(argv[2], &file, &s.num_requests);
  if (s.requests == NULL) return fprintf(stderr, "serve: cannot read %s\n", argv[2]), 1;
  for (size_t i = 0; i < NUM_THREADS; i++) pthread_create(&threads[i], NULL, serve, &s);
  for (size_t i = 0; i < NUM_THREADS; i++) pthread_join(threads[i], NULL);
  cst_view_release(view);
  free((void *)s.requests);
  free(file);
  return 0;
}
