/* Times a store of lineage in C: artifacts added in one transaction and each in one of its own,
 * look-ups, traces over ten levels, and a plan of garbage collection.
 *
 *   lineage_bench STORE [COUNT]
 *
 * STORE is made anew. Each artifact has a name, a URL and three properties, as those of
 * lineage_mlmd.py have. Prints one JSON object: for each task how many times it was done, and the
 * CPU and elapsed seconds of all.
 */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */

#include <columnstone/lineage.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SINGLE = 1000, LOOKUPS = 2000, TRACES = 100, LEVELS = 10, WIDTH = 10 };

static void check(cst_status status, const cst_error *error) {
  if (status != CST_OK) {
    char text[4608] = "";
    cst_error_format(error, text, sizeof text);
    fprintf(stderr, "lineage_bench: %s\n", text);
    exit(1);
  }
}

typedef struct clocks {
  double cpu;
  double elapsed;
} clocks;

static clocks now(void) {
  struct timespec cpu, elapsed;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
  clock_gettime(CLOCK_MONOTONIC, &elapsed);
  return (clocks){(double)cpu.tv_sec + 1e-9 * (double)cpu.tv_nsec,
                  (double)elapsed.tv_sec + 1e-9 * (double)elapsed.tv_nsec};
}

static void tell(const char *task, size_t count, clocks begin) {
  const clocks end = now();
  static const char *before = "{";
  printf("%s\"%s\": {\"count\": %zu, \"cpu\": %.6f, \"elapsed\": %.6f}", before, task, count,
         end.cpu - begin.cpu, end.elapsed - begin.elapsed);
  before = ",\n ";
}

static int64_t add(cst_lineage *store, size_t i) {
  char name[32], url[64];
  snprintf(name, sizeof name, "n%zu", i);
  snprintf(url, sizeof url, "gs://bucket/run/%zu", i);
  const char *format = "FORMAT_TF_EXAMPLE";
  const cst_lineage_property properties[] = {
      {.name = "span", .kind = CST_LINEAGE_INT, .number = (int64_t)i},
      {.name = "payload_format",
       .kind = CST_LINEAGE_TEXT,
       .bytes = {(const uint8_t *)format, strlen(format)}},
      {.name = "share", .kind = CST_LINEAGE_REAL, .real = 0.5}};
  const cst_lineage_file file = {url, NULL, NULL};
  cst_lineage_artifact artifact = CST_LINEAGE_ARTIFACT_INIT;
  artifact.type = "Examples";
  artifact.name = name;
  artifact.files = &file;
  artifact.num_files = 1;
  artifact.properties = properties;
  artifact.num_properties = 3;
  cst_error error = CST_ERROR_INIT;
  int64_t id;
  check(cst_lineage_add(store, &artifact, &id, NULL, &error), &error);
  return id;
}

static void find(cst_lineage *store, const cst_lineage_query *query) {
  cst_error error = CST_ERROR_INIT;
  cst_findings *found;
  check(cst_lineage_find(store, query, &found, &error), &error);
  if (cst_findings_num_rows(found) != 1) {
    fprintf(stderr, "lineage_bench: %zu found\n", cst_findings_num_rows(found));
    exit(1);
  }
  cst_findings_free(found);
}

static void look_up(cst_lineage *store, size_t count) {
  static const char *const tasks[] = {"by id", "by type and name", "by path", "by property"};
  for (size_t task = 0; task < 4; task++) {
    const clocks begin = now();
    for (size_t k = 0; k < LOOKUPS; k++) {
      const size_t i = k * 7919 % count;
      char name[32], url[64];
      snprintf(name, sizeof name, "n%zu", i);
      snprintf(url, sizeof url, "gs://bucket/run/%zu", i);
      const int64_t id = (int64_t)i + 1;
      const cst_lineage_property span = {
          .name = "span", .kind = CST_LINEAGE_INT, .number = (int64_t)i};
      cst_lineage_query query = CST_LINEAGE_QUERY_INIT;
      query.ids = task == 0 ? &id : NULL;
      query.num_ids = task == 0;
      query.type = task == 1 ? "Examples" : NULL;
      query.name = task == 1 ? name : NULL;
      query.path = task == 2 ? url : NULL;
      query.properties = task == 3 ? &span : NULL;
      query.num_properties = task == 3;
      find(store, &query);
    }
    tell(tasks[task], LOOKUPS, begin);
  }
}

/* Ten levels of ten artifacts, each made of two of the level before; the last one. */
static int64_t add_levels(cst_lineage *store, size_t from) {
  cst_error error = CST_ERROR_INIT;
  int64_t before[WIDTH], level[WIDTH];
  check(cst_lineage_begin(store, &error), &error);
  for (size_t l = 0; l <= LEVELS; l++) {
    for (size_t k = 0; k < WIDTH; k++) {
      level[k] = add(store, from++);
      if (l > 0) {
        const cst_lineage_event inputs[] = {{before[k], NULL}, {before[(k + 1) % WIDTH], NULL}};
        cst_lineage_execution execution = CST_LINEAGE_EXECUTION_INIT;
        int64_t id;
        execution.type = "make";
        execution.inputs = inputs;
        execution.num_inputs = 2;
        check(cst_lineage_start(store, &execution, &id, &error), &error);
        check(cst_lineage_output(store, id, level[k], NULL, &error), &error);
        check(cst_lineage_end(store, id, CST_LINEAGE_COMPLETE, &error), &error);
      }
    }
    memcpy(before, level, sizeof before);
  }
  check(cst_lineage_commit(store, &error), &error);
  return before[0];
}

int main(int argc, char **argv) {
  cst_error error = CST_ERROR_INIT;
  cst_lineage_options options = CST_LINEAGE_OPTIONS_INIT;
  cst_lineage *store;
  cst_findings *found;
  const size_t count = argc > 2 ? strtoul(argv[2], NULL, 10) : 100000;
  if (argc < 2) return fprintf(stderr, "usage: lineage_bench STORE [COUNT]\n"), 2;
  remove(argv[1]);
  options.mode = CST_LINEAGE_CREATE;
  check(cst_lineage_open(argv[1], &options, &store, &error), &error);

  clocks begin = now();
  check(cst_lineage_begin(store, &error), &error);
  for (size_t i = 0; i < count; i++) add(store, i);
  check(cst_lineage_commit(store, &error), &error);
  tell("in one transaction", count, begin);

  begin = now();
  for (size_t i = 0; i < SINGLE; i++) add(store, count + i);
  tell("one by one", SINGLE, begin);

  look_up(store, count);

  const int64_t last = add_levels(store, count + SINGLE);
  size_t nodes = 0;
  begin = now();
  for (size_t i = 0; i < TRACES; i++) {
    cst_lineage_trace_options trace = CST_LINEAGE_TRACE_OPTIONS_INIT;
    trace.artifacts = &last;
    trace.num_artifacts = 1;
    trace.directions = CST_LINEAGE_UP;
    check(cst_lineage_trace(store, &trace, &found, &error), &error);
    nodes = cst_findings_num_rows(found);
    cst_findings_free(found);
  }
  tell("trace", TRACES, begin);

  cst_lineage_gc_options gc = CST_LINEAGE_GC_OPTIONS_INIT;
  gc.keep = 3;
  gc.is_dry_run = true;
  begin = now();
  check(cst_lineage_gc(store, &gc, &found, &error), &error);
  tell("gc plan", 1, begin);
  cst_findings_free(found);
  printf(", \"nodes\": %zu}\n", nodes);
  cst_lineage_free(store);
  return 0;
}
