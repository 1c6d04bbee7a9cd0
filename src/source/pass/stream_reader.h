/* The streams of a plug-in (Parquet, ...) or of the caller, one file after the other: batches of
 * any size, validated.
 */
#ifndef SOURCE_PASS_STREAM_READER_H
#define SOURCE_PASS_STREAM_READER_H

#include "source/input/source.h"

typedef struct cst__stream_reader cst__stream_reader;

cst_status cst__stream_reader_new(const cst_source *source, cst__stream_reader **out,
                                  cst_error *error);
void cst__stream_reader_free(cst__stream_reader *reader);

/* The next batch; out->release is NULL at the end. All files must have the same schema. */
cst_status cst__stream_reader_next(cst__stream_reader *reader, struct ArrowArray *out,
                                   cst_error *error);

/* The number of the file that the last batch is from. */
size_t cst__stream_reader_file(const cst__stream_reader *reader);

/* Bytes of the files that are read wholly. */
uint64_t cst__stream_reader_consumed(const cst__stream_reader *reader);

/* The schema of the first file. */
cst_status cst__stream_reader_schema(const cst_source *source, struct ArrowSchema *out,
                                     cst_error *error);

#endif /* SOURCE_PASS_STREAM_READER_H */
