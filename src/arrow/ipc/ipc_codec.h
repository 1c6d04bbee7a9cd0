/* The compression of the buffers of Arrow IPC: LZ4 frames and zstd. */
#ifndef ARROW_IPC_IPC_CODEC_H
#define ARROW_IPC_IPC_CODEC_H

#include <columnstone/status.h>
#include <stddef.h>
#include <stdint.h>

/* The numbers of CompressionType in format/Message.fbs. */
typedef enum cst__ipc_codec {
  CST__IPC_PLAIN = -1,
  CST__IPC_LZ4 = 0,
  CST__IPC_ZSTD = 1
} cst__ipc_codec;

/* Decompressors, made when they are needed. Zero-initialised storage. */
typedef struct cst__ipc_inflater {
  void *zstd;
  void *lz4;
} cst__ipc_inflater;

/* Decompresses all of `in` to exactly `size` bytes, or CST_CORRUPT. */
cst_status cst__ipc_inflate(cst__ipc_inflater *inflater, cst__ipc_codec codec, cst_bytes in,
                            uint8_t *out, size_t size, cst_error *error);
void cst__ipc_inflater_reset(cst__ipc_inflater *inflater);

#endif /* ARROW_IPC_IPC_CODEC_H */
