/* Status codes, the error record, the allocator and the library's version: what every other header
 * of Columnstone builds on.
 *
 * What holds in all headers, unless a function's comment says otherwise:
 * - Failure. A function that can fail returns a cst_status and takes a cst_error last, which may be
 *   NULL. After a failure every output is empty, also if it held something before: a handle is
 * NULL, an Arrow struct is released (release == NULL), a number is 0. What would have been moved in
 * is untouched.
 * - Outputs are written without a look at what they hold; a struct need not be initialised. Unless
 *   "may be NULL" is said of one, NULL is CST_INVALID_ARGUMENT; so it is for all other arguments.
 * - Ownership. What `..._new`, `..._open`, `..._parse` and the like put into *out belongs to the
 *   caller, who gives it to the `..._free` or `..._release` of its type; an Arrow struct to its own
 *   release. All of those take NULL. `..._retain` gives its argument, or NULL for NULL; getters
 * give NULL or 0 for NULL. What a getter gives is borrowed: it lives as long as the object.
 * - Arguments are read during the call only: strings, arrays and structs may be freed after it. The
 *   exceptions are handles (which are counted where they are kept), the `ctx` of callbacks, and the
 *   ctx of an allocator, which have to live as long as what was made with them.
 * - Strings are UTF-8 and end with NUL. Paths of files are whatever bytes the system takes.
 * - Rows, records and columns count from 0; sizes and offsets are in bytes.
 * - Threads. Counted objects (those with a `..._retain`) may be used by many threads at once;
 * others by one at a time, which need not be the same. Different objects never disturb each other.
 *   Unless its type says otherwise, a callback comes on the thread and during the call that it was
 *   given to. It must not leave by longjmp or an exception, nor use the object that calls it.
 * - Structs without a size are frozen from version 1.0 on: what is new comes in structs of its own.
 * - Structs that begin with their size are made by their _INIT macro; all members after it are
 * zero, the usual choice. So a program works with later versions, whose structs have more members,
 * and with earlier ones while what those do not know is zero: else CST_UNSUPPORTED, never silence.
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

typedef enum cst_status {
#define CST_STATUS_ENUM(name, number, text) CST_##name = number,
  CST_STATUS_MAP(CST_STATUS_ENUM)
#undef CST_STATUS_ENUM
} cst_status;

/* The name of a status without prefix, such as "CORRUPT"; "UNKNOWN" for other numbers. Static. */
CST_API const char *cst_status_name(cst_status status);

/* Where and why something failed. The caller owns it, sets `size` (use CST_ERROR_INIT) and passes
 * it as the last argument of a call, or NULL. It is only written when the call fails, as a whole,
 * and never beyond `size`, so that it can be used again without being reset; nothing is allocated.
 * All text is valid UTF-8, NUL-terminated, and never holds the content of a record. */
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

/* Text of others, such as the name of a column, as a terminal may show it: control characters,
 * those that turn the direction of text, and bytes that are not UTF-8 become \x1b. Errors are such
 * text already. Returns the bytes needed without the terminator; writes at most n bytes, whole
 * characters, always terminated if n > 0. */
CST_API size_t cst_text_escape(char *buf, size_t n, const char *bytes, size_t size);

/* Makes a URL what errors call it, in place: without parameters, which may be signatures, and
 * without passwords; of a web address the user goes as well, who may be a token. Each part of a
 * chain
 * ("zip://a.csv::https://...") is looked at. Other names stay as they are. */
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

/* A borrowed run of bytes. data may be NULL if size is 0. */
typedef struct cst_bytes {
  const uint8_t *data;
  size_t size;
} cst_bytes;

/* Names of fields, each below the one before: a column, or a field below one, without items of
 * lists. No steps: the elements themselves. */
typedef struct cst_path {
  const char *const *steps;
  size_t count;
} cst_path;

/* Tells long calls to stop: true. */
typedef bool (*cst_interrupt_check)(void *ctx);

/* Installs, for the calling thread only, what its long calls ask from now on, about twenty times a
 * second, from within the call and on this thread; NULL: nothing, as in the beginning. A check may
 * look at a flag that a signal handler sets. A call that is told to stop returns CST_INTERRUPTED,
 * and threads that work for it stop too. The object is then as after any other failure: a pass or
 * loader is at its end, and says so again; a sink or writer can only be freed, and its output does
 * not appear; all else can be used again. What releases and frees does not ask. */
CST_API void cst_interrupt_set(cst_interrupt_check check, void *ctx);

/* Frees memory that a function of the library handed to the caller and whose comment says cst_free.
 * NULL is allowed. */
CST_API void cst_free(void *ptr);

/* The default allocator keeps freed blocks of 128 KiB and more for its next callers: 32 of them,
 * and 64 MiB, at most, in one cache that all threads of the process share. Frees what is in it, and
 * returns how many bytes that was; any thread may call it at any time. Unloading the library
 * (dlclose) does the same. Memory from an allocator of the caller's is never in the cache. */
CST_API size_t cst_memory_trim(void);

/* "0.1.0": the version of the library that runs. Static. */
CST_API const char *cst_version(void);

/* Element types of columns' values and tensors. */
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
