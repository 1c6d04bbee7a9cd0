/* libbz2 and liblzma in a build with -Dsystem_codecs=true, which links them: what is declared of
 * them is compared with their headers. */
#include "io/loaded/library.h"

#include <assert.h>
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
