/* libbz2 and liblzma, found when they are needed. */
#include "io/loaded/library.h"

#include <assert.h>
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

/* Where a library may be, by the names that systems give it, and the functions wanted of it. */
typedef struct wanted {
  const char *const *files;
  const char *const *functions;
  size_t num_functions;
} wanted;

/* Fills a struct of function pointers, in the order of their names; false: not there, or not all.
 */
static bool load(const wanted *library, void *functions) {
  for (size_t i = 0; library->files[i] != NULL; i++) {
    void *handle = dlopen(library->files[i], RTLD_NOW | RTLD_LOCAL);
    size_t found = 0;
    if (handle == NULL) {
      continue;
    }
    while (found < library->num_functions) {
      void *function = dlsym(handle, library->functions[found]);
      if (function == NULL) {
        break;
      }
      memcpy((char *)functions + found++ * sizeof function, &function, sizeof function);
    }
    if (found == library->num_functions) {
      return true; /* it stays */
    }
    (void)dlclose(handle);
  }
  return false;
}

static cst__bzip2_library bzip2;
static bool has_bzip2;

static void load_bzip2(void) {
  static const char *const files[] = {"libbz2.so.1.0",    "libbz2.so.1",  "libbz2.so",
                                      "libbz2.1.0.dylib", "libbz2.dylib", NULL};
  static const char *const functions[] = {"BZ2_bzCompressInit", "BZ2_bzCompress",
                                          "BZ2_bzCompressEnd",  "BZ2_bzDecompressInit",
                                          "BZ2_bzDecompress",   "BZ2_bzDecompressEnd"};
  static_assert(sizeof bzip2 == sizeof functions, "one pointer for each");
  has_bzip2 = load(&(wanted){files, functions, sizeof functions / sizeof *functions}, &bzip2);
}

const cst__bzip2_library *cst__bzip2_load(cst_error *error) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  (void)pthread_once(&once, load_bzip2);
  if (!has_bzip2) {
    (void)cst__fail(error, CST_UNSUPPORTED,
                    "install libbz2 (Debian: libbz2-1.0, Fedora: bzip2-libs, Alpine: libbz2)",
                    "bzip2 needs the library libbz2, which is not installed");
  }
  return has_bzip2 ? &bzip2 : NULL;
}

static cst__lzma_library lzma;
static bool has_lzma;

static void load_lzma(void) {
  static const char *const files[] = {"liblzma.so.5",
                                      "liblzma.so",
                                      "liblzma.5.dylib",
                                      "/opt/homebrew/lib/liblzma.5.dylib",
                                      "/usr/local/lib/liblzma.5.dylib",
                                      NULL};
  static const char *const functions[] = {"lzma_lzma_preset", "lzma_stream_encoder",
                                          "lzma_stream_decoder", "lzma_code", "lzma_end"};
  static_assert(sizeof lzma == sizeof functions, "one pointer for each");
  has_lzma = load(&(wanted){files, functions, sizeof functions / sizeof *functions}, &lzma);
}

const cst__lzma_library *cst__lzma_load(cst_error *error) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  (void)pthread_once(&once, load_lzma);
  if (!has_lzma) {
    (void)cst__fail(error, CST_UNSUPPORTED,
                    "install liblzma (Debian: liblzma5, Fedora: xz-libs, Alpine: xz-libs)",
                    "xz needs the library liblzma, which is not installed");
  }
  return has_lzma ? &lzma : NULL;
}
