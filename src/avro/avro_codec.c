/* Blocks of container files, inflated. */
#include "avro/avro_codec.h"

#include <stdio.h>
#include <string.h>

#include "avro/avro_program.h"
#include "base/bytes.h"
#include "io/codec.h"
#include "io/encoder.h"
#include "io/snappy.h"

static const char damaged[] = "the file is damaged: fetch or write it again";

/* What a block may become. */
static uint64_t most_bytes(const cst__avro_inflater *inflater, size_t block) {
  const uint64_t floor = UINT64_C(64) << 20;
  uint64_t most;
  uint64_t ratio = inflater->max_inflation > 0 ? inflater->max_inflation : 200;
  bool is_huge = __builtin_mul_overflow(ratio, (uint64_t)block, &most);
  return is_huge ? UINT64_MAX : most > floor ? most : floor;
}

static cst_status make_room(cst__avro_inflater *inflater, size_t want, size_t keep, size_t block,
                            cst_error *error) {
  if (want > most_bytes(inflater, block)) {
    return cst__fail(error, CST_LIMIT, "if you trust the file, raise max_inflation",
                     "an Avro block of %zu bytes expands to more than %llu", block,
                     (unsigned long long)most_bytes(inflater, block));
  }
  return cst__buffer_reserve(&inflater->allocator, &inflater->out, want + CST__AVRO_SLACK, keep)
             ? CST_OK
             : cst__fail_memory(error, want);
}

static size_t room_of(const cst__avro_inflater *inflater) {
  return inflater->out.capacity > CST__AVRO_SLACK ? inflater->out.capacity - CST__AVRO_SLACK : 0;
}

/* Streams: their size is not known before they end. */
static cst_status inflate_streams(cst__avro_inflater *inflater, cst_bytes block, size_t *size,
                                  cst_error *error) {
  const cst__codec *codec = inflater->codec->streams;
  cst__span in = {block.data, block.data + block.size};
  size_t have = 0;
  if (inflater->state == NULL) {
    inflater->state = codec->new_state(&inflater->allocator);
  }
  if (inflater->state == NULL) {
    return cst__fail_memory(error, 0);
  }
  if (codec->restart != NULL) { /* errors count the frames of this block */
    codec->restart(inflater->state, 0);
  }
  for (;;) {
    if (have == room_of(inflater)) {
      uint64_t most = most_bytes(inflater, block.size);
      size_t want = have == 0 ? 4 * block.size + 64 : 2 * have;
      want = want > most && have < most ? (size_t)most : want;
      CST__TRY(make_room(inflater, want, have, block.size, error));
    }
    size_t got = 0;
    size_t room = room_of(inflater) - have;
    CST__TRY(codec->decode(inflater->state, &in, inflater->out.data + have, room, &got, error));
    have += got;
    if (in.at == in.end && got < room) {
      *size = have;
      return codec->may_end(inflater->state)
                 ? CST_OK
                 : cst__fail(error, CST_CORRUPT, damaged, "Avro block: truncated %s stream",
                             codec->name);
    }
  }
}

/* "Each compressed block is followed by the 4-byte, big-endian CRC32 checksum of the uncompressed
 * data in the block." */
static cst_status inflate_snappy(cst__avro_inflater *inflater, cst_bytes block, size_t *size,
                                 cst_error *error) {
  const cst_bytes inner = {block.data, block.size >= 4 ? block.size - 4 : 0};
  uint32_t stored;
  if (!cst__snappy_size(inner, size)) {
    return cst__fail(error, CST_CORRUPT, damaged, "Avro block: damaged snappy data");
  }
  CST__TRY(make_room(inflater, *size, 0, block.size, error));
  if (!cst__snappy_decode(inner, inflater->out.data, *size)) {
    return cst__fail(error, CST_CORRUPT, damaged, "Avro block: damaged snappy data");
  }
  memcpy(&stored, block.data + inner.size, sizeof stored);
  if (__builtin_bswap32(stored) != cst__crc32(inflater->out.data, *size)) {
    return cst__fail(error, CST_CORRUPT, damaged, "Avro block: wrong checksum");
  }
  return CST_OK;
}

/* ---- out ---- */

static cst_status append_bytes(void *ctx, const void *data, size_t size, cst_error *error) {
  cst__text *text = ctx;
  cst__text_append(text, data, size);
  return text->failed ? cst__fail_memory(error, size) : CST_OK;
}

static cst_status deflate_stream(const cst__avro_codec *codec, cst_bytes block, cst__text *room,
                                 cst_error *error) {
  const cst__encoder *encoder = codec->encoder;
  const cst__byte_sink sink = {append_bytes, room};
  void *state = encoder->new_state(0, &room->allocator);
  if (state == NULL) {
    return cst__fail_memory(error, 0);
  }
  cst_status status = encoder->encode(state, block.data, block.size, true, &sink, error);
  encoder->free_state(state);
  return status;
}

static cst_status deflate_snappy(const cst__avro_codec *codec, cst_bytes block, cst__text *room,
                                 cst_error *error) {
  uint32_t checksum = __builtin_bswap32(cst__crc32(block.data, block.size));
  (void)codec;
  if (block.size > UINT32_MAX) {
    return cst__fail(error, CST_LIMIT, "write it with another codec",
                     "a value of more than 4 GiB, which snappy cannot hold");
  }
  uint8_t *packed = cst__new(&room->allocator, cst__snappy_most(block.size));
  if (packed == NULL) {
    return cst__fail_memory(error, block.size);
  }
  cst__text_append(room, packed, cst__snappy_encode(block, packed));
  cst__text_append(room, &checksum, sizeof checksum);
  cst__delete(packed);
  return room->failed ? cst__fail_memory(error, block.size) : CST_OK;
}

/* ---- all of them ---- */

static const cst__avro_codec codecs[] = {
    {"null", NULL, NULL, NULL, NULL},
    {"deflate", inflate_streams, deflate_stream, &cst__deflate_codec, &cst__deflate_encoder},
    {"zstandard", inflate_streams, deflate_stream, &cst__zstd_codec, &cst__zstd_encoder},
    {"snappy", inflate_snappy, deflate_snappy, NULL, NULL},
    {"bzip2", inflate_streams, deflate_stream, &cst__bzip2_codec, &cst__bzip2_encoder},
    {"xz", inflate_streams, deflate_stream, &cst__xz_codec, &cst__xz_encoder},
};

enum { NUM_CODECS = sizeof codecs / sizeof *codecs };

cst_status cst__avro_codec_find(cst_bytes name, const cst__avro_codec **out, cst_error *error) {
  char shown[40];
  *out = &codecs[0];
  for (size_t i = 0; i < NUM_CODECS && name.size > 0; i++) {
    if (cst__bytes_equal(name, cst__bytes_of(codecs[i].name))) {
      *out = &codecs[i];
      return CST_OK;
    }
  }
  if (name.size == 0) {
    return CST_OK;
  }
  cst__escape(shown, sizeof shown, (const char *)name.data, name.size);
  return cst__fail(error, CST_UNSUPPORTED,
                   "write it with null, deflate, zstandard, snappy, bzip2 or xz",
                   "unknown Avro codec '%s'", shown);
}

void cst__avro_inflater_init(cst__avro_inflater *inflater, const cst__avro_codec *codec,
                             uint64_t max_inflation, const cst_allocator *allocator) {
  *inflater = (cst__avro_inflater){
      .codec = codec, .allocator = cst__allocator_of(allocator), .max_inflation = max_inflation};
}

static void drop_state(cst__avro_inflater *inflater) {
  if (inflater->state != NULL) {
    ((const cst__codec *)inflater->codec->streams)->free_state(inflater->state);
    inflater->state = NULL;
  }
}

void cst__avro_inflater_reset(cst__avro_inflater *inflater) {
  drop_state(inflater);
  cst__buffer_free(&inflater->allocator, &inflater->out);
}

cst_status cst__avro_inflate(cst__avro_inflater *inflater, cst_bytes block, cst_bytes *out,
                             cst_error *error) {
  size_t size = 0;
  cst_status status = inflater->codec->inflate(inflater, block, &size, error);
  if (status != CST_OK) {
    drop_state(inflater); /* the next block begins anew */
    return status;
  }
  memset(inflater->out.data + size, 0, CST__AVRO_SLACK);
  *out = (cst_bytes){inflater->out.data, size};
  return CST_OK;
}

cst_status cst__avro_deflate(const cst__avro_codec *codec, cst_bytes *block, cst__text *room,
                             cst_error *error) {
  if (codec->deflate == NULL) {
    return CST_OK;
  }
  CST__TRY(codec->deflate(codec, *block, room, error));
  *block = (cst_bytes){(const uint8_t *)room->data, room->size};
  return CST_OK;
}
