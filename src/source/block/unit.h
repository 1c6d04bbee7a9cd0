/* A unit: the records of one batch, as runs of records in blocks; and its way into a batch.
 */
#ifndef SOURCE_BLOCK_UNIT_H
#define SOURCE_BLOCK_UNIT_H

#include "arrow/accumulator.h"
#include "source/block/block.h"
#include "source/block/decoder.h"
#include "source/input/source.h"

/* Records [first, first + count) of a block, which the run owns. */
typedef struct cst__run {
  cst__block *block; /* NULL when it has been let go; where the records were is known still */
  size_t first;
  size_t count;
  size_t file;     /* index of the file */
  uint64_t record; /* number of the first record within the file */
} cst__run;

typedef struct cst__unit {
  cst__run *runs;
  size_t num_runs;
  size_t capacity;
  size_t rows;
  uint64_t bytes;   /* of the records, without framing */
  bool by_bytes;    /* these have ended it */
  bool is_trial;    /* its rows are not delivered: they come before a failure that is known, and
                       are decoded only because one of them may fail first */
  cst__row_map map; /* of the batch that it has become, if stages do not keep the rows */
  cst__drops drops; /* records that were dropped among them, and before them */
} cst__unit;

/* Adds a run and retains its block; false: no memory. */
bool cst__unit_add(cst__unit *unit, const cst_source *source, cst__block *block, size_t first,
                   size_t count);
/* Lets the blocks go but keeps the places of the rows, without their offsets. */
void cst__unit_let_go(cst__unit *unit);
/* Lets the blocks and rows go; keeps what was dropped. */
void cst__unit_forget_rows(cst__unit *unit);
/* Lets the blocks and places go; the storage stays for the next use. */
void cst__unit_clear(cst__unit *unit);
/* Frees the storage too. */
void cst__unit_reset(cst__unit *unit);

/* Sets file, record and offset of the unit's row `row`; no offset if its block has been let go. */
void cst__unit_locate(const cst__unit *unit, const cst_source *source, size_t row,
                      cst_error *error);

/* The unit's rows from `first` on, as the origin of a batch. */
typedef struct cst__unit_rows {
  const cst__unit *unit;
  const cst_source *source;
  size_t first;
} cst__unit_rows;
/* The place of a row of a cst__unit_rows. */
cst__place cst__unit_rows_place(const void *ctx, int64_t row);

/* Where rows come from that are taken one by one. */
typedef struct cst__row_places {
  int64_t (*record)(const void *ctx, int64_t row); /* number of the record in its file, */
  int64_t (*offset)(const void *ctx, int64_t row); /* and where it begins there */
  cst_status (*ids)(const void *ctx, int64_t count, int64_t *files, int64_t *records,
                    cst_error *error); /* as in cst__row_facts */
  const void *ctx;
} cst__row_places;

/* What a thread needs to decode: a decoder and the lists of a unit's records. */
typedef struct cst__decoding {
  const cst_source *source;
  cst__purpose purpose;
  bool checked; /* the CRCs have been checked */
  size_t
      bad_row; /* of the last unit, if it did not decode; SIZE_MAX: none is known to be to blame */
  bool direct; /* the records come by no cursor, which drops the damaged ones if it is to */
  cst__record_decoder *decoder; /* opened with the first unit */
  cst__chain_run *stages;       /* the same, for CST__FOR_COLUMNS; NULL: there are none */
  const cst__unit *unit;        /* that is in the stages */
  cst__row_places taken; /* of rows that are not those of a file's order; NULL: the unit knows */
  cst__drops bad; /* rows of the last unit that are nulls because their records do not decode:
                     `before` is their number, and they have no place yet */
  bool bad_lost;  /* there was no memory for one of them */
  const cst__row_map *map; /* the last unit's rows in its batch; NULL: they are as they were */
  cst_bytes *items;
  size_t items_capacity;
  int64_t *offsets; /* of the records, if they are a column */
  size_t offsets_capacity;
  cst__block_ref *blocks;
  size_t blocks_capacity;
} cst__decoding;

void cst__decoding_reset(cst__decoding *decoding);

/* Checks the records' CRCs, decodes them into one batch, and takes it through the source's stages
 * (which have to be bound), if columns are wanted; out_schema may be NULL, and out, if the
 * records are only to be checked. Errors name file, record and offset. */
cst_status cst__unit_decode(const cst__unit *unit, cst__decoding *decoding,
                            struct ArrowSchema *out_schema, struct ArrowArray *out,
                            cst_error *error);
/* Moves the bad rows of the unit decoded last to its drops, with their places. */
cst_status cst__unit_take_bad(cst__unit *unit, cst__decoding *decoding, cst_error *error);
/* The same, but stages that refuse no rows are left out: would the records be delivered? */
cst_status cst__unit_try(const cst__unit *unit, cst__decoding *decoding,
                         struct ArrowSchema *out_schema, struct ArrowArray *out, cst_error *error);

/* As cst__unit_decode, but records that do not decode are dropped from the unit, and bad rows are
 * told by its drops too (decode_sound.c). Without any
 * record left, out->release is NULL. */
cst_status cst__unit_decode_sound(cst__unit *unit, cst__decoding *decoding,
                                  struct ArrowSchema *out_schema, struct ArrowArray *out,
                                  cst_error *error);

#endif /* SOURCE_BLOCK_UNIT_H */
