/* bzip2 and xz, which few files need (Avro's codecs): libbz2 and liblzma are loaded when the first
 * such file comes, so that neither has to be there to build or to start. What is declared here is
 * the part of their binary interfaces that is called; it has not changed since bzip2 1.0 and
 * xz 5.0. A build with -Dsystem_codecs=true links both, and compares the declarations with the
 * libraries' headers.
 */
#ifndef IO_LOADED_LIBRARY_H
#define IO_LOADED_LIBRARY_H

#include "base/error.h"

/* ---- libbz2 ---- */

enum { CST__BZ_RUN = 0, CST__BZ_FINISH = 2 };
enum {
  CST__BZ_OK = 0,
  CST__BZ_RUN_OK = 1,
  CST__BZ_STREAM_END = 4,
  CST__BZ_MEM_ERROR = -3,
  CST__BZ_DATA_ERROR_MAGIC = -5
};

typedef struct cst__bz_stream {
  char *next_in;
  unsigned avail_in;
  unsigned total_in[2];
  char *next_out;
  unsigned avail_out;
  unsigned total_out[2];
  void *state;
  void *(*bzalloc)(void *, int, int);
  void (*bzfree)(void *, void *);
  void *opaque;
} cst__bz_stream;

typedef struct cst__bzip2_library {
  int (*compress_init)(cst__bz_stream *stream, int level, int verbosity, int work_factor);
  int (*compress)(cst__bz_stream *stream, int action);
  int (*compress_end)(cst__bz_stream *stream);
  int (*decompress_init)(cst__bz_stream *stream, int verbosity, int small);
  int (*decompress)(cst__bz_stream *stream);
  int (*decompress_end)(cst__bz_stream *stream);
} cst__bzip2_library;

/* The functions, loaded once; any number of threads may ask. NULL, and an error that says what to
 * install: the library is not there. */
const cst__bzip2_library *cst__bzip2_load(cst_error *error);

/* ---- liblzma ---- */

enum { CST__LZMA_RUN = 0, CST__LZMA_FINISH = 3 };
enum { CST__LZMA_CHECK_CRC64 = 4, CST__LZMA_DICT_SIZE_MIN = 4096 };
enum {
  CST__LZMA_OK = 0,
  CST__LZMA_STREAM_END = 1,
  CST__LZMA_MEM_ERROR = 5,
  CST__LZMA_MEMLIMIT_ERROR = 6,
  CST__LZMA_FORMAT_ERROR = 7,
  CST__LZMA_OPTIONS_ERROR = 8,
  CST__LZMA_BUF_ERROR = 10
};
#define CST__LZMA_FILTER_LZMA2 UINT64_C(0x21)
#define CST__LZMA_NO_FILTER UINT64_MAX /* after the last */

/* All zero before its first use. */
typedef struct cst__lzma_stream {
  const uint8_t *next_in;
  size_t avail_in;
  uint64_t total_in;
  uint8_t *next_out;
  size_t avail_out;
  uint64_t total_out;
  void *others[11];
} cst__lzma_stream;

typedef struct cst__lzma_options {
  uint32_t dict_size;
  uint64_t others[15]; /* at least what the library has */
} cst__lzma_options;

typedef struct cst__lzma_filter {
  uint64_t id;
  void *options;
} cst__lzma_filter;

typedef struct cst__lzma_library {
  unsigned char (*preset)(cst__lzma_options *options, uint32_t level); /* true: there is none */
  int (*stream_encoder)(cst__lzma_stream *stream, const cst__lzma_filter *filters, int check);
  int (*stream_decoder)(cst__lzma_stream *stream, uint64_t most_memory, uint32_t flags);
  int (*code)(cst__lzma_stream *stream, int action);
  void (*end)(cst__lzma_stream *stream);
} cst__lzma_library;

const cst__lzma_library *cst__lzma_load(cst_error *error);

#endif /* IO_LOADED_LIBRARY_H */
