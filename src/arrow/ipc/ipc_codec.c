/* LZ4 frames and zstd, one buffer at a time. */
#include "arrow/ipc/ipc_codec.h"

#include <lz4frame.h>
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/error.h"

static cst_status ipc_codec_fail(const char *codec, const char *why, cst_error *error) {
  return cst__fail(error, CST_CORRUPT, "the file is damaged: fetch or write it again",
                   "a buffer's %s bytes: %s", codec, why);
}

static cst_status inflate_zstd(cst__ipc_inflater *inflater, cst_bytes in, uint8_t *out, size_t size,
                               cst_error *error) {
  if (inflater->zstd == NULL) {
    inflater->zstd = ZSTD_createDCtx();
  }
  if (inflater->zstd == NULL) {
    return cst__fail_memory(error, 0);
  }
  size_t got = ZSTD_decompressDCtx(inflater->zstd, out, size, in.data, in.size);
  if (ZSTD_isError(got)) {
    return ZSTD_getErrorCode(got) == ZSTD_error_memory_allocation
               ? cst__fail_memory(error, 0)
               : ipc_codec_fail("zstd", ZSTD_getErrorName(got), error);
  }
  return got == size ? CST_OK : ipc_codec_fail("zstd", "fewer than the message says", error);
}

/* Runs over the whole input; a frame that goes on after it, or after the output, is damaged. */
static cst_status inflate_frame(LZ4F_dctx *context, cst_bytes in, uint8_t *out, size_t size,
                                cst_error *error) {
  size_t taken = 0;
  size_t given = 0;
  size_t hint = 1;
  while (hint != 0) {
    size_t in_size = in.size - taken;
    size_t out_size = size - given;
    hint = LZ4F_decompress(context, out + given, &out_size, in.data + taken, &in_size, NULL);
    if (LZ4F_isError(hint)) {
      if (strcmp(LZ4F_getErrorName(hint), "ERROR_allocation_failed") == 0) {
        return cst__fail_memory(error, 0);
      }
      return ipc_codec_fail("lz4", LZ4F_getErrorName(hint), error);
    }
    taken += in_size;
    given += out_size;
    if (in_size == 0 && out_size == 0 && hint != 0) {
      return ipc_codec_fail("lz4", "a frame that does not end", error);
    }
  }
  return taken == in.size && given == size
             ? CST_OK
             : ipc_codec_fail("lz4", "not as many as the message says", error);
}

static cst_status inflate_lz4(cst__ipc_inflater *inflater, cst_bytes in, uint8_t *out, size_t size,
                              cst_error *error) {
  if (inflater->lz4 == NULL) {
    LZ4F_dctx *context;
    if (LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION))) {
      return cst__fail_memory(error, 0);
    }
    inflater->lz4 = context;
  }
  cst_status status = inflate_frame(inflater->lz4, in, out, size, error);
  if (status != CST_OK) {
    LZ4F_resetDecompressionContext(inflater->lz4);
  }
  return status;
}

cst_status cst__ipc_inflate(cst__ipc_inflater *inflater, cst__ipc_codec codec, cst_bytes in,
                            uint8_t *out, size_t size, cst_error *error) {
  return codec == CST__IPC_ZSTD ? inflate_zstd(inflater, in, out, size, error)
                                : inflate_lz4(inflater, in, out, size, error);
}

void cst__ipc_inflater_reset(cst__ipc_inflater *inflater) {
  ZSTD_freeDCtx(inflater->zstd);
  LZ4F_freeDecompressionContext(inflater->lz4);
  *inflater = (cst__ipc_inflater){NULL, NULL};
}
