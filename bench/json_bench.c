/* json_bench FILE ROUNDS: the CPU seconds in which yyjson parses every line of a file that lies in
 * memory, and does nothing with it; the best of the rounds. What one core can do, for json_rows.py.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <yyjson.h>

static void die(const char *what) {
  fprintf(stderr, "json_bench: %s\n", what);
  exit(1);
}

static char *read_file(const char *path, size_t *size) {
  FILE *in = fopen(path, "rb");
  if (in == NULL || fseek(in, 0, SEEK_END) != 0) die("cannot read the file");
  *size = (size_t)ftell(in);
  rewind(in);
  char *text = malloc(*size + 1);
  if (text == NULL || fread(text, 1, *size, in) != *size) die("cannot read the file");
  fclose(in);
  return text;
}

static size_t longest_line(const char *text, size_t size) {
  size_t longest = 0;
  for (const char *at = text, *end; (end = memchr(at, '\n', (size_t)(text + size - at))) != NULL;
       at = end + 1) {
    longest = (size_t)(end - at) > longest ? (size_t)(end - at) : longest;
  }
  return longest;
}

static void parse_all(char *text, size_t size, void *pool, size_t pool_size) {
  yyjson_alc allocator;
  for (char *at = text, *end; (end = memchr(at, '\n', (size_t)(text + size - at))) != NULL;
       at = end + 1) {
    yyjson_alc_pool_init(&allocator, pool, pool_size);
    if (yyjson_read_opts(at, (size_t)(end - at), 0, &allocator, NULL) == NULL) die("not JSON");
  }
}

int main(int argc, char **argv) {
  size_t size;
  if (argc != 3) die("FILE ROUNDS");
  char *text = read_file(argv[1], &size);
  size_t pool_size = yyjson_read_max_memory_usage(longest_line(text, size), 0) + 1024;
  void *pool = malloc(pool_size);
  if (pool == NULL) die("no memory");
  double best = 1e9;
  for (long i = strtol(argv[2], NULL, 10); i > 0; i--) {
    clock_t begin = clock();
    parse_all(text, size, pool, pool_size);
    double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    best = seconds < best ? seconds : best;
  }
  printf("%.6f\n", best);
  free(pool);
  free(text);
  return 0;
}
