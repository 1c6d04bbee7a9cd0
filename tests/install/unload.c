/* Loads the library, runs a view and unloads it, again and again: nothing of it stays in the heap.
 *
 *     unload LIBRARY VIEW
 */
#define _GNU_SOURCE
#include <columnstone/query.h>
#include <dlfcn.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>

enum { RECORDS = 2000, WARM = 20, ROUNDS = 100, MOST = 65536 /* bytes, of the C library's own */ };

static void *find(void *library, const char *name) {
  void *found = dlsym(library, name);
  if (found == NULL) fprintf(stderr, "%s\n", dlerror());
  return found;
}

#define FUNCTION(name) \
  __typeof__(&name) name##_ = (__typeof__(&name))(uintptr_t)find(library, #name)

/* 0: it went well, and the library is gone. */
static int once(const char *path, const char *saved) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) return fprintf(stderr, "%s\n", dlerror());
  FUNCTION(cst_view_open);
  FUNCTION(cst_view_run);
  FUNCTION(cst_view_release);
  FUNCTION(cst_tensors_release);
  static const cst_bytes records[RECORDS];
  cst_view_run_options options = CST_VIEW_RUN_OPTIONS_INIT;
  cst_error error = CST_ERROR_INIT;
  cst_view *view;
  cst_tensors *tensors;
  options.on_error = CST_ON_ERROR_NULL;
  if (cst_view_open_(saved, NULL, &view, &error) ||
      cst_view_run_(view, records, RECORDS, &options, &tensors, &error)) {
    return fprintf(stderr, "%s\n", error.message);
  }
  cst_tensors_release_(tensors);
  cst_view_release_(view);
  dlclose(library);
  return dlopen(path, RTLD_NOW | RTLD_NOLOAD) != NULL;
}

int main(int argc, char **argv) {
  size_t before = 0;
  for (int i = 0; i < WARM + ROUNDS && argc == 3; i++) {
    if (i == WARM) before = mallinfo2().uordblks;
    if (once(argv[1], argv[2])) return 1;
  }
  size_t after = mallinfo2().uordblks;
  if (argc != 3 || before == 0 || after > before + MOST) {
    return fprintf(stderr, "heap: %zu bytes, then %zu\n", before, after), 1;
  }
  return 0;
}
