/* Status codes, the error record, the allocator and the library's version. Every other header of
 * Columnstone builds on this one.
 *
 * These rules hold in all headers, unless the comment of a function says otherwise:
 * - Failure. A function that can fail returns a cst_status and takes a cst_error last, which may
 *   be NULL. After a failure every output is empty, whatever it held before: a handle is NULL, an
 *   Arrow struct is released (release == NULL), a number is 0. An argument that would have been
 *   moved in is unchanged.
 * - Outputs are overwritten, so that a struct need not be initialised. NULL is
 *   CST_INVALID_ARGUMENT for every argument, unless its comment says "may be NULL".
 * - Ownership. The caller owns what `..._new`, `..._open`, `..._parse` and the like put into *out,
 *   and gives it to the `..._free` or `..._release` of its type; an Arrow struct has its own
 *   release. All of those accept NULL. `..._retain` returns its argument, or NULL for NULL.
 *   Getters return NULL or 0 for NULL. What a getter returns is borrowed: it is valid as long as
 *   the object.
 * - Arguments are read during the call only: strings, arrays and structs may be freed after it.
 *   The exceptions: a handle is counted where it is kept; the `ctx` of a callback or an allocator
 *   must live as long as what was made with it.
 * - Strings are UTF-8 and end with NUL. File paths are the bytes that the system takes.
 * - Rows, records and columns count from 0. Sizes and offsets are in bytes.
 * - Threads. Many threads may use a counted object (one with a `..._retain`) at once. Other
 *   objects are used by one thread at a time, which need not be the same one. Different objects
 *   are independent. A callback is called during the call that it was given to, on the same
 *   thread, unless its type says otherwise. It must not leave by longjmp or an exception, nor use
 *   the object that calls it.
 * - Structs without a size are frozen from version 1.0 on. New members come in new structs.
 * - Structs that begin with their size are initialised by their _INIT macro. All members after the
 *   size are zero then, which is the default. Such a program runs with later versions, whose
 *   structs have more members, and with earlier ones: those return CST_UNSUPPORTED if a member
 *   that they do not know is not zero.
 */
#ifndef COLUMNSTONE_STATUS_H
#define COLUMNSTONE_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32)
#define CST_API
#else
#define CST_API __attribute__((visibility("default")))
#endif

/* The version of the header; cst_version() gives that of the library. */
#define CST_VERSION_MAJOR 0
#define CST_VERSION_MINOR 1
#define CST_VERSION_PATCH 0

/* Every status code: name, number, text. Numbers are part of the ABI and never change. */
#define CST_STATUS_MAP(XX)                                                      \
  XX(OK, 0, "ok")                                                               \
  XX(INVALID_ARGUMENT, 1, "an argument is out of its range or of a wrong kind") \
  XX(NOT_FOUND, 2, "a file, a column or a format does not exist")               \
  XX(IO, 3, "reading or writing failed")                                        \
  XX(CORRUPT, 4, "the data is damaged")                                         \
  XX(SCHEMA, 5, "the data and the schema disagree, or the schema is wrong")     \
  XX(FORMAT, 6, "the data is of another format")                                \
  XX(LIMIT, 7, "a limit is exceeded")                                           \
  XX(UNSUPPORTED, 8, "this cannot be expressed or is not supported")            \
  XX(NO_MEMORY, 9, "out of memory")                                             \
  XX(STATE, 10, "the object is not in a state that allows this")                \
  XX(CALLBACK, 11, "a callback of the caller failed")                           \
  XX(INTERRUPTED, 12, "the call was told to stop")                              \
  XX(TIMEOUT, 13, "the deadline of the call has passed")

/* The result of a call. */
typedef enum cst_status {
#define CST_STATUS_ENUM(name, number, text) CST_##name = number,
  CST_STATUS_MAP(CST_STATUS_ENUM)
#undef CST_STATUS_ENUM
} cst_status;

/* The name of a status without prefix, such as "CORRUPT"; "UNKNOWN" for other numbers. Static. */
CST_API const char *cst_status_name(cst_status status);

/* Where and why a call failed. The caller owns it, initialises it with CST_ERROR_INIT, and passes
 * it as the last argument of a call, or NULL. Only a failing call writes it, as a whole and never
 * beyond `size`, so that it can be used again without a reset. Nothing is allocated. All text is
 * valid UTF-8, NUL-terminated, and never contains the content of a record. */
typedef struct cst_error {
  size_t size;       /* sizeof(cst_error) of the caller */
  cst_status code;   /* the status that the call returned */
  int64_t record;    /* 0-based record within the file, or row within a batch; -1: unknown */
  int64_t offset;    /* first byte of the record in the uncompressed stream; -1: unknown */
  int64_t line;      /* 1-based line of a text (schema); 0: unknown */
  int64_t column;    /* 1-based column of a text, in bytes; 0: unknown */
  char path[256];    /* feature path such as "a.b", escaped; "": unknown */
  char message[192]; /* what was found and what was expected */
  char hint[160];    /* what to do; "" if there is nothing to say */
  char file[4096];   /* path or name of the input; "": unknown */
} cst_error;

#define CST_ERROR_INIT \
  { sizeof(cst_error), CST_OK, -1, -1, 0, 0, "", "", "", "" }

/* Composes "FILE: record R, byte B: feature 'P': MESSAGE (HINT)" into buf, leaving out what is
 * unknown: at most 256 bytes of UTF-8 besides the file's path. Returns the bytes needed without the
 * terminator; writes at most n bytes, always terminated if n > 0; nothing if buf is NULL. */
CST_API size_t cst_error_format(const cst_error *error, char *buf, size_t n);

/* Escapes foreign text, such as the name of a column, for a terminal: control characters,
 * characters that change the direction of text, and bytes that are not UTF-8 become \x1b. Errors
 * are escaped already. Returns the bytes needed without the terminator; writes at most n bytes,
 * whole characters, always terminated if n > 0. */
CST_API size_t cst_text_escape(char *buf, size_t n, const char *bytes, size_t size);

/* Removes the secrets from a URL, in place, as errors do: parameters, which may be signatures, and
 * passwords; in a web address also the user name, which may be a token. Each part of a chain
 * ("zip://a.csv::https://...") is treated so. Other names are unchanged. */
CST_API void cst_url_make_printable(char *url);

/* Memory for column buffers, scratch and objects. `allocate` gives at least `size` bytes at an
 * address that is a multiple of `align` (a power of two), or NULL; `release` gets the same size and
 * align back. Both may be called from any thread. A NULL allocator means the C library's. The
 * struct is copied; ctx must outlive everything that was made with it, exported Arrow arrays
 * included. */
typedef struct cst_allocator {
  size_t size; /* sizeof(cst_allocator) of the caller */
  void *(*allocate)(void *ctx, size_t size, size_t align);
  void (*release)(void *ctx, void *ptr, size_t size, size_t align);
  void *ctx;
} cst_allocator;

#define CST_ALLOCATOR_INIT \
  { sizeof(cst_allocator), NULL, NULL, NULL }

/* Borrowed bytes. data may be NULL if size is 0. */
typedef struct cst_bytes {
  const uint8_t *data;
  size_t size;
} cst_bytes;

/* Names of fields from the outside in: a column, then fields of its structs. List items are not
 * steps. Without steps, the path refers to the elements themselves. */
typedef struct cst_path {
  const char *const *steps;
  size_t count;
} cst_path;

/* Returns true to stop the call. */
typedef bool (*cst_interrupt_check)(void *ctx);

/* Sets the check that long calls of this thread make from now on, about twenty times a second, on
 * this thread; NULL: no check, the default. A check may read a flag that a signal handler sets. A
 * call that is stopped returns CST_INTERRUPTED, and its threads stop too. Afterwards a pass or
 * loader is at its end, and returns the same failure again; a sink or writer can only be freed,
 * and its output does not appear; other objects can be used again. Functions that release or free
 * do not check. */
CST_API void cst_interrupt_set(cst_interrupt_check check, void *ctx);

/* Frees memory that the library returned and whose comment says cst_free. NULL is allowed. */
CST_API void cst_free(void *ptr);

/* Empties the cache of the default allocator, and returns the bytes that it freed. The cache keeps
 * freed blocks of 128 KiB and more for the next caller: at most 32 blocks and 64 MiB for all
 * threads of the process. Any thread may call this at any time; unloading the library (dlclose)
 * does the same. Memory of a caller's allocator is never cached. */
CST_API size_t cst_memory_trim(void);

/* "0.1.0": the version of the library that runs. Static. */
CST_API const char *cst_version(void);

/* Element types of column values and tensors. */
#define CST_DTYPE_MAP(XX)       \
  XX(INT8, 1, 1, "int8")        \
  XX(INT16, 2, 2, "int16")      \
  XX(INT32, 3, 4, "int32")      \
  XX(INT64, 4, 8, "int64")      \
  XX(UINT8, 5, 1, "uint8")      \
  XX(UINT16, 6, 2, "uint16")    \
  XX(UINT32, 7, 4, "uint32")    \
  XX(UINT64, 8, 8, "uint64")    \
  XX(FLOAT32, 9, 4, "float32")  \
  XX(FLOAT64, 10, 8, "float64") \
  XX(BYTES, 11, 0, "bytes")     \
  XX(BOOL, 12, 1, "bool")

/* An element type. */
typedef enum cst_dtype {
  CST_DTYPE_NONE = 0,
#define CST_DTYPE_ENUM(name, number, width, text) CST_DTYPE_##name = number,
  CST_DTYPE_MAP(CST_DTYPE_ENUM)
#undef CST_DTYPE_ENUM
} cst_dtype;

/* "int64", "float32", "bytes", ... ; "none" for CST_DTYPE_NONE. Static. */
CST_API const char *cst_dtype_name(cst_dtype dtype);

/* Bytes of one element; 0 for CST_DTYPE_BYTES and CST_DTYPE_NONE. */
CST_API size_t cst_dtype_width(cst_dtype dtype);

#ifdef __cplusplus
}
#endif

#endif /* COLUMNSTONE_STATUS_H */
