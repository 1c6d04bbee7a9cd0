/* libbz2 and liblzma: linked by a build with -Dsystem_codecs=true, else found when they are needed.
 */
#include "io/loaded/library.h"

#include <assert.h>

#ifdef CST__SYSTEM_CODECS

#include <bzlib.h>
#include <lzma.h>
#include <stddef.h>

#define SAME(type, field, theirs) \
  static_assert(offsetof(cst__##type, field) == offsetof(type, theirs), #type)
static_assert(sizeof(cst__bz_stream) == sizeof(bz_stream), "bz_stream");
SAME(bz_stream, next_in, next_in);
SAME(bz_stream, avail_in, avail_in);
SAME(bz_stream, next_out, next_out);
SAME(bz_stream, avail_out, avail_out);
SAME(bz_stream, opaque, opaque);
static_assert(CST__BZ_RUN == BZ_RUN && CST__BZ_FINISH == BZ_FINISH, "actions");
static_assert(CST__BZ_OK == BZ_OK && CST__BZ_RUN_OK == BZ_RUN_OK &&
                  CST__BZ_STREAM_END == BZ_STREAM_END && CST__BZ_MEM_ERROR == BZ_MEM_ERROR &&
                  CST__BZ_DATA_ERROR_MAGIC == BZ_DATA_ERROR_MAGIC,
              "codes");

static_assert(sizeof(cst__lzma_stream) == sizeof(lzma_stream), "lzma_stream");
SAME(lzma_stream, next_in, next_in);
SAME(lzma_stream, avail_in, avail_in);
SAME(lzma_stream, next_out, next_out);
SAME(lzma_stream, avail_out, avail_out);
SAME(lzma_filter, id, id);
SAME(lzma_filter, options, options);
static_assert(sizeof(cst__lzma_filter) == sizeof(lzma_filter), "lzma_filter");
static_assert(sizeof(cst__lzma_options) >= sizeof(lzma_options_lzma) &&
                  offsetof(lzma_options_lzma, dict_size) == 0,
              "lzma_options_lzma");
static_assert((int)CST__LZMA_RUN == LZMA_RUN && (int)CST__LZMA_FINISH == LZMA_FINISH &&
                  (int)CST__LZMA_CHECK_CRC64 == LZMA_CHECK_CRC64 &&
                  (int)CST__LZMA_DICT_SIZE_MIN == (int)LZMA_DICT_SIZE_MIN &&
                  CST__LZMA_FILTER_LZMA2 == LZMA_FILTER_LZMA2 &&
                  CST__LZMA_NO_FILTER == LZMA_VLI_UNKNOWN,
              "constants");
static_assert((int)CST__LZMA_OK == LZMA_OK && (int)CST__LZMA_STREAM_END == LZMA_STREAM_END &&
                  (int)CST__LZMA_MEM_ERROR == LZMA_MEM_ERROR &&
                  (int)CST__LZMA_MEMLIMIT_ERROR == LZMA_MEMLIMIT_ERROR &&
                  (int)CST__LZMA_FORMAT_ERROR == LZMA_FORMAT_ERROR &&
                  (int)CST__LZMA_OPTIONS_ERROR == LZMA_OPTIONS_ERROR &&
                  (int)CST__LZMA_BUF_ERROR == LZMA_BUF_ERROR,
              "codes");

/* The same functions, under types of ours that are laid out as theirs. */
#define OURS(function) (__typeof__(function))(void (*)(void))

const cst__bzip2_library *cst__bzip2_load(cst_error *error) {
  static const cst__bzip2_library library = {
      OURS(library.compress_init) BZ2_bzCompressInit,
      OURS(library.compress) BZ2_bzCompress,
      OURS(library.compress_end) BZ2_bzCompressEnd,
      OURS(library.decompress_init) BZ2_bzDecompressInit,
      OURS(library.decompress) BZ2_bzDecompress,
      OURS(library.decompress_end) BZ2_bzDecompressEnd,
  };
  (void)error;
  return &library;
}

const cst__lzma_library *cst__lzma_load(cst_error *error) {
  static const cst__lzma_library library = {
      OURS(library.preset) lzma_lzma_preset,
      OURS(library.stream_encoder) lzma_stream_encoder,
      OURS(library.stream_decoder) lzma_stream_decoder,
      OURS(library.code) lzma_code,
      OURS(library.end) lzma_end,
  };
  (void)error;
  return &library;
}

#else

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

#endif
