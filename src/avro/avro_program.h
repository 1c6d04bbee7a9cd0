/* The program of one file: steps that walk the bytes of its values once and append them to the
 * builders of the columns. All that the schemas say is settled when it is made: names, promotions,
 * defaults, branches of unions, fields that nobody wants.
 *
 * Flow: avro_compile.c walks the writer's schema and the columns (of the reader's) together and
 * emits steps, avro_skip.c those of what is stepped over; avro_loop.c takes them, with loops for
 * lists in avro_items.c and avro_pass.c.
 */
#ifndef AVRO_AVRO_PROGRAM_H
#define AVRO_AVRO_PROGRAM_H

#include "arrow/builder.h"
#include "avro/avro_columns.h"
#include "base/hash.h"

typedef enum cst__avro_op {
  CST__AVRO_STOP,     /* the value is at its end: a row of `to` */
  CST__AVRO_PUT_NULL, /* appends, and reads nothing */
  CST__AVRO_PUT_BOOLEAN,
  CST__AVRO_PUT_INT,
  CST__AVRO_PUT_INT_AS_LONG,
  CST__AVRO_PUT_INT_AS_FLOAT,
  CST__AVRO_PUT_INT_AS_DOUBLE,
  CST__AVRO_PUT_LONG,
  CST__AVRO_PUT_LONG_AS_FLOAT,
  CST__AVRO_PUT_LONG_AS_DOUBLE,
  CST__AVRO_PUT_TIME_MILLIS, /* of a day: an int, */
  CST__AVRO_PUT_TIME_MICROS, /* a long */
  CST__AVRO_PUT_FLOAT,
  CST__AVRO_PUT_FLOAT_AS_DOUBLE,
  CST__AVRO_PUT_DOUBLE,
  CST__AVRO_PUT_BYTES,
  CST__AVRO_PUT_STRING,
  CST__AVRO_PUT_FIXED,    /* `number` bytes */
  CST__AVRO_PUT_DECIMAL,  /* of `number` bytes; -1: a length is before them */
  CST__AVRO_PUT_DURATION, /* months, days and milliseconds */
  CST__AVRO_PUT_ENUM,     /* `indices`, `number` of them */
  CST__AVRO_PUT_SYMBOL,   /* the same as text: `bytes` of each, .data NULL where there is none */
  CST__AVRO_END_STRUCT,
  CST__AVRO_ALIGN,         /* fills the children of `to` up to its end: they may lack slots */
  CST__AVRO_PAD,           /* fills `to` up to the end of `parent` */
  CST__AVRO_NULLABLE,      /* a branch: number `number` is null, and goes on at `jump` */
  CST__AVRO_NULLABLE_LONG, /* the same with the step after it at once */
  CST__AVRO_NULLABLE_DOUBLE,
  CST__AVRO_NULLABLE_STRING,
  CST__AVRO_BRANCH, /* one of `number`, each at its place in `jumps` */
  CST__AVRO_JUMP,
  CST__AVRO_LIST,        /* blocks of items, whose steps follow; without any it goes on at `jump` */
  CST__AVRO_LIST_OF,     /* a whole list, whose items are one step: the one after it */
  CST__AVRO_NEXT,        /* the end of an item: the next one is at `jump` */
  CST__AVRO_NEXT_STRUCT, /* the same: items are structs, which count at the end of a block */
  CST__AVRO_DEFAULT,     /* reads from `bytes`, until */
  CST__AVRO_RESTORE,
  CST__AVRO_CAPTURE,      /* notes where a value begins, whose bytes */
  CST__AVRO_CAPTURED,     /* are appended */
  CST__AVRO_FAIL,         /* what is written has no place in the reader's schema: `text` */
  CST__AVRO_SKIP_VARINTS, /* `number` of them */
  CST__AVRO_SKIP_FIXED,   /* `number` bytes */
  CST__AVRO_SKIP_BYTES,
  CST__AVRO_SKIP_NULLABLE,
  CST__AVRO_SKIP_NULLABLE_FIXED, /* the same with the step after it at once */
  CST__AVRO_SKIP_NULLABLE_BYTES,
  CST__AVRO_SKIP_LIST,       /* as LIST; blocks whose size is there are passed as one */
  CST__AVRO_SKIP_LIST_OF,    /* as LIST_OF */
  CST__AVRO_SKIP_LIST_PLAIN, /* the same with steps that only skip: passed as a whole, if it can be
                              */
  CST__AVRO_SKIP_NEXT,
  CST__AVRO_CALL, /* the steps at `jump`, until */
  CST__AVRO_RETURN
} cst__avro_op;

/* A field on the way, for errors. */
typedef struct cst__avro_place cst__avro_place;
struct cst__avro_place {
  const char *name;
  const cst__avro_place *above; /* NULL: none */
};

typedef struct cst__avro_step {
  cst__avro_op op;
  uint32_t jump;
  cst__builder *to;
  int64_t number; /* LIST, SKIP_LIST: the least bytes of an item */
  union {
    const int32_t *indices; /* in the reader's enum, by the writer's; -1: there is none */
    const uint32_t *jumps;
    const cst_bytes *bytes;
    const cst__builder *parent;
    const char *text;
  };
  const cst__avro_place *place;
} cst__avro_step;

typedef struct cst__avro_program {
  cst_allocator allocator;
  cst__arena arena;
  cst__avro_step *steps;
  size_t count;
  size_t capacity;
  int64_t least; /* bytes of a value */
} cst__avro_program;

/* Bytes after those of values that may be read. */
enum { CST__AVRO_SLACK = 32 };

/* Makes the steps that read what `writer` wrote into the builders, which are those of the columns.
 * CST_SCHEMA with the path where the specification lets neither schema read the other. The program
 * is the caller's to reset, also after a failure; it borrows all that it is made of. */
cst_status cst__avro_program_init(cst__avro_program *program, const cst__avro_schema *writer,
                                  const cst__avro_columns *columns, cst__batch_builder *batch,
                                  const cst_allocator *allocator, cst_error *error);
void cst__avro_program_reset(cst__avro_program *program);

/* ---- while it is made ---- */

typedef struct cst__avro_call {
  size_t step;
  const cst__avro_type *type;
} cst__avro_call;

typedef struct cst__avro_maker {
  cst__avro_program *program;
  const cst__avro_place *place;
  cst__name_map sizes;   /* least bytes of records */
  cst__name_map skips;   /* where the steps of records that are stepped over begin */
  cst__avro_call *calls; /* of them */
  size_t num_calls;
  size_t calls_capacity;
  size_t barrier; /* steps before it are not changed any more: something goes on at it */
  int branches;   /* of writer's unions around: what cannot be read may never come */
  bool lacks;     /* the structs around may lack slots at their ends */
  bool no_memory; /* for the notes of sizes, which are then wrong */
  cst_error *error;
} cst__avro_maker;

/* Appends a step; its index is program->count - 1 then. */
cst_status cst__avro_emit(cst__avro_maker *m, const cst__avro_step *step);
/* Where the next step goes: something goes on there. */
uint32_t cst__avro_label(cst__avro_maker *m);
/* Steps over a value. */
cst_status cst__avro_emit_skip(cst__avro_maker *m, const cst__avro_type *type);
/* The steps that were called for. */
cst_status cst__avro_emit_calls(cst__avro_maker *m);
/* Bytes that a value takes at least. */
int64_t cst__avro_least_size(cst__avro_maker *m, const cst__avro_type *type);

/* ---- running ---- */

enum {
  CST__AVRO_MAX_FRAMES = 256,      /* lists, defaults and calls within each other */
  CST__AVRO_MAX_EMPTIES = 1 << 24, /* items without bytes, of one value; */
  CST__AVRO_MAX_IDLE = 1 << 26     /* nulls, structs and defaults: few bytes may ask for many */
};

typedef struct cst__avro_frame {
  int64_t left;  /* items of the block, whose bytes end at `end` if it says so */
  int64_t count; /* of them */
  const uint8_t *at;
  const uint8_t *end;
  size_t back; /* the step after a call */
} cst__avro_frame;

typedef struct cst__avro_loop {
  const cst__avro_program *program;
  const uint8_t *at;  /* after the values that were read whole */
  const uint8_t *end; /* CST__AVRO_SLACK bytes after it may be read */
  const cst__batch_builder *batch;
  cst__avro_frame frames[CST__AVRO_MAX_FRAMES];
} cst__avro_loop;

/* Appends `rows` values. On failure those before it are whole, and the rest of the one that failed
 * is taken back by whoever wants to go on; the error has the path, and *at is where it was found.
 */
cst_status cst__avro_loop_run(cst__avro_loop *loop, int64_t rows, const uint8_t **at,
                              cst_error *error);

#endif /* AVRO_AVRO_PROGRAM_H */
