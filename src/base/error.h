/* Filling cst_error: the one way in which the library says what went wrong, and where. */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <columnstone/status.h>
#include <stdarg.h>
#include <stddef.h>

#include "base/cpu_features.h"

#if defined(__GNUC__)
#define CST__PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define CST__PRINTF(fmt, args)
#endif

/* Leaves the function with the status of a call that failed. */
#define CST__TRY(call)                   \
  do {                                   \
    cst_status cst__try_status = (call); \
    if (cst__try_status != CST_OK) {     \
      return cst__try_status;            \
    }                                    \
  } while (0)

/* Whether anything can be said in it: it is there, and its caller's version has at least the
 * numbers (an older one may have less text). What reads or writes a member outside of error.c asks
 * first; errors of our own always have all members, and their size set. */
static inline bool cst__error_wanted(const cst_error *error) {
  return error != NULL && error->size >= offsetof(cst_error, path);
}

/* Sets code, message and hint (may be NULL) and forgets every place of before; returns `code`.
 * `error` may be NULL. Bytes that are not UTF-8 are escaped, text that is too long is cut at a
 * character. */
cst_status cst__fail(cst_error *error, cst_status code, const char *hint, const char *fmt, ...)
    CST__PRINTF(4, 5);

/* CST_NO_MEMORY with its message. */
cst_status cst__fail_memory(cst_error *error, size_t wanted);

#if defined(__clang_analyzer__)
/* The analyzer sees one file at a time and has to be told that a failure is never CST_OK. */
#define cst__fail(error, code, ...) ((void)(cst__fail)(error, code, __VA_ARGS__), (code))
#define cst__fail_memory(error, wanted) ((void)(cst__fail_memory)(error, wanted), CST_NO_MEMORY)
#endif

/* Add a place to an error that is already filled, where it has none yet. */
void cst__error_add_file(cst_error *error, const char *file);
void cst__error_add_record(cst_error *error, int64_t record, int64_t offset);
void cst__error_add_position(cst_error *error, int64_t line, int64_t column);
/* Prefixes the path with one more step ("a" + ".b"); the step is escaped. */
void cst__error_add_path(cst_error *error, const char *step, size_t size);

/* File, record and offset: another place is about to be added. */
void cst__error_forget_record(cst_error *error);
bool cst__error_has_path(const cst_error *error);
void cst__error_set_hint(cst_error *error, const char *hint);

/* Hands on a failure that was kept: all but `size`, as much as `to` has room for. `to` may be NULL.
 */
void cst__error_copy(cst_error *to, const cst_error *from);

/* The failure of others' code, `call` ("reader's read_at"), which was given `own` to fill and may
 * not have done so: hands it on, and returns `status`. */
cst_status cst__error_take(cst_error *error, const char *call, cst_status status, cst_error *own);

/* True for what a record can be to blame for, and not the machine or the caller. */
bool cst__is_fault(cst_status status);

/* What the functions of an ArrowArrayStream return for a status: 0, or an errno value. */
int cst__error_number(cst_status status);

/* Copies bytes into buf as valid, printable, NUL-terminated UTF-8 of at most n - 1 bytes: control
 * characters and bytes that are not UTF-8 become \xNN, and "..." ends what was cut. */
void cst__escape(char *buf, size_t n, const char *bytes, size_t size);

#endif /* BASE_ERROR_H */
