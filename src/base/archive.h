/* State as bytes, by one function for both ways: it names every member once, in order, and an
 * archive that saves appends them, one that loads sets them. So the two cannot disagree.
 *
 * Integers are varints (signed ones in zigzag), doubles 8 bytes, little-endian; bytes follow their
 * number. Loading trusts nothing: what does not fit makes the archive `bad`, and zeros are read
 * from then on. What the values mean is the business of the function that names them.
 */
#ifndef BASE_ARCHIVE_H
#define BASE_ARCHIVE_H

#include <columnstone/status.h>

#include "base/alloc.h"

typedef struct cst__archive {
  cst__text *out; /* saving: where the bytes go; NULL: loading, */
  const uint8_t *at;
  const uint8_t *end;
  bool bad;       /* from bytes that saving never writes */
  bool no_memory; /* a copy could not be made; then it is bad as well */
} cst__archive;

static inline cst__archive cst__archive_to(cst__text *out) { return (cst__archive){.out = out}; }
static inline cst__archive cst__archive_from(const uint8_t *saved, size_t size) {
  return (cst__archive){.at = saved, .end = saved + size};
}
static inline bool cst__archive_loads(const cst__archive *a) { return a->out == NULL; }

void cst__archive_u64(cst__archive *a, uint64_t *value);
void cst__archive_i64(cst__archive *a, int64_t *value);
void cst__archive_double(cst__archive *a, double *value);
void cst__archive_bool(cst__archive *a, bool *value);
/* A number below `end`. */
void cst__archive_enum(cst__archive *a, int *value, int end);
/* How many items follow, of at least one byte each. */
void cst__archive_count(cst__archive *a, size_t *count);
/* Loading borrows them from the archive's own bytes. */
void cst__archive_bytes(cst__archive *a, cst_bytes *value);
/* Text in an array of `size` bytes: UTF-8 that a NUL ends. */
void cst__archive_text(cst__archive *a, char *text, size_t size);
/* Bytes without a NUL in them, and one at their end; loading copies them into the arena. */
void cst__archive_name(cst__archive *a, const char **name, cst__arena *arena);

/* Loading: the bytes are wrong unless `fits`. */
static inline void cst__archive_check(cst__archive *a, bool fits) {
  a->bad = a->bad || (cst__archive_loads(a) && !fits);
}
/* Loading: an allocation failed. */
static inline void cst__archive_fail_memory(cst__archive *a) { a->bad = a->no_memory = true; }

/* ---- whole states ---- */

/* What a state writes and reads; `ctx` is only read while it is saved. */
typedef void (*cst__archive_state)(void *ctx, cst__archive *archive);

/* What a state is saved as. */
typedef struct cst__state_form {
  const char *name;
  uint64_t version;
} cst__state_form;

/* A saved state: "CSTS", the length of the name (varint) and the name, the version of
 * the form (varint), the state as `archive` writes it, and the CRC-32C of all that (4 bytes,
 * little-endian). The bytes are the caller's: cst_free. */
cst_status cst__state_save(const cst__state_form *form, cst__archive_state archive, void *ctx,
                           char **bytes, size_t *size, cst_error *error);
/* Opens one: name, version, and an archive of the state itself, all within `bytes`. CST_CORRUPT
 * if these are no saved state, or damaged; the archive is bad if name or version are. */
cst_status cst__state_open(cst_bytes bytes, cst_bytes *name, uint64_t *version,
                           cst__archive *archive, cst_error *error);

#endif /* BASE_ARCHIVE_H */
