/* Bytes in: a sequential, decompressed stream over a file, standard input or a caller's reader.
 *
 * The compression is found from the first bytes, never from the name: gzip (any number of members,
 * zero padding after the last), zlib, zstd (any number of frames, skippable ones too), else plain.
 */
#ifndef IO_INPUT_H
#define IO_INPUT_H

#include <columnstone/source.h>

#include "base/alloc.h"

typedef struct cst__input cst__input;

typedef struct cst__input_options {
  uint64_t max_inflation; /* 0: 200; beyond 64 MiB of output, more than this ratio is CST_LIMIT */
  bool memory_map;        /* map plain files */
  bool is_text;           /* uncompressed it is text: what seems to be zlib and does not inflate is
                             plain */
  /* True for the first bytes of a format that proves itself: they are plain, although by chance
   * they may look compressed too. NULL: there is none. */
  bool (*is_plain)(const uint8_t *head, size_t size);
  const cst_allocator *allocator;
} cst__input_options;

typedef enum cst__compression { CST__PLAIN, CST__GZIP, CST__ZLIB, CST__ZSTD } cst__compression;

/* Opens a path ("-": standard input). Compression is looked at with the first read. */
cst_status cst__input_open(const char *path, const cst__input_options *options, cst__input **out,
                           cst_error *error);

/* Borrows the reader: does not close it. Starts at offset 0. */
cst_status cst__input_open_reader(const cst_reader *reader, const cst__input_options *options,
                                  cst__input **out, cst_error *error);

/* Fills `buffer` with `size` bytes; *got is smaller only at the end of the stream. A stream that
 * ends inside a compressed member, or whose checksum is wrong, is CST_CORRUPT; bytes before
 * the fault have been delivered by then (a short *got with CST_OK, the failure with the next call).
 * The error has the file's name, not a record. */
cst_status cst__input_read(cst__input *input, void *buffer, size_t size, size_t *got,
                           cst_error *error);

/* The same, but *got is smaller at the end of the stream alone: a failure comes at once, in the
 * place of bytes before it. */
cst_status cst__input_fill(cst__input *input, void *buffer, size_t size, size_t *got,
                           cst_error *error);

/* Reads what is left of a compressed stream, whose checksum is at its end; nothing of a plain one.
 */
cst_status cst__input_finish(cst__input *input, cst_error *error);

/* Passes over the next `size` bytes without reading them, as far as the file goes: *skipped is
 * smaller only at its end. False if this stream (compressed, a pipe, a reader) has to be read
 * instead. */
bool cst__input_skip(cst__input *input, uint64_t size, uint64_t *skipped);

/* Goes on reading at byte `offset`. False if this stream (compressed without restart points, a
 * pipe, a reader that cannot seek) can only be read on from where it is. From the first seek in a
 * compressed stream on, every frame that is read to its end has to be as long as the table of
 * restart points says, so that who ends where a frame does and who begins there agree; what is
 * wrong is told by the next reading. */
bool cst__input_seek(cst__input *input, uint64_t offset);

/* The restart points of a compressed file are the begins of its frames, if a table in it says where
 * these lie. *point: the place in the stream of the first one at byte `place` of the file or after
 * it; without one, the stream's size, which is also put into *size. False: there are none, or (the
 * next reading tells) they cannot be read. */
bool cst__input_restart(cst__input *input, uint64_t place, uint64_t *point, uint64_t *size);

/* True if the input has failed because a frame is not what the table says: nobody knows then which
 * bytes of the stream come next. */
bool cst__input_is_misplaced(const cst__input *input);

/* Plain mapped files: the whole of the file, borrowed until close; NULL if there is no map. */
const uint8_t *cst__input_map(cst__input *input, size_t *size);

cst__compression cst__input_compression(cst__input *input, cst_error *error);
/* "gzip", ...; NULL for plain bytes. */
const char *cst__compression_name(cst__compression compression);

/* Bytes taken from the file so far (compressed), and the file's size (-1: unknown). */
uint64_t cst__input_consumed(const cst__input *input);
int64_t cst__input_file_size(const cst__input *input);
const char *cst__input_name(const cst__input *input);
void cst__input_close(cst__input *input);

/* ---- names ---- */

typedef struct cst__paths {
  char **items; /* cst__delete each, or cst__paths_reset */
  size_t count;
  size_t capacity;
} cst__paths;

/* Adds the files that a path or glob means, as cst_source_open says; CST_NOT_FOUND with a hint. */
cst_status cst__paths_expand(cst__paths *paths, const char *pattern, cst_error *error);
/* Adds a copy of a path as it is. */
cst_status cst__paths_add(cst__paths *paths, const char *path, cst_error *error);
void cst__paths_reset(cst__paths *paths);

/* All of a small file, which is read no further once it has more than `most` bytes: out->size says
 * so then. Errors have its name. The text is the caller's to free, also after a failure. */
cst_status cst__input_read_file(const char *path, size_t most, cst__text *out, cst_error *error);

#endif /* IO_INPUT_H */
