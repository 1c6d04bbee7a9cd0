/* Splits: pieces of files that workers read independently, on any machine.
 *
 * One process plans (cst_splits_plan) and sends the splits to others as plain values. Each worker
 * opens the files of its splits as a source, and reads the splits with cst_source_read_splits. To
 * divide a source within one process, for threads or loaders, use cst_source_split (index.h).
 */
#ifndef COLUMNSTONE_SPLIT_H
#define COLUMNSTONE_SPLIT_H

#include <columnstone/findings.h>
#include <columnstone/source.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A piece of a file: the records that start in its bytes [begin, end) on disk.
 *
 * Consecutive splits of a file contain each of its records exactly once, wherever they begin and
 * end. Two neighbours look for the first record at or after the same byte with the same options
 * (container, max_record_size, and whether the CRCs of the data are checked; without the check,
 * records within a payload are harder to tell from records of the file). If records within a
 * payload (a TFRecord file within a record) are mistaken for records of the file, which takes at
 * least 8 MiB of them, the previous split fails, because it then ends within a record: nothing is
 * lost or read twice silently.
 *
 * A zstd file with a seek table (docs/formats.md) is divided at its frames: a split has the records
 * of the frames that start in its bytes, from the first record that starts in them.
 *
 * Avro container files are divided between their blocks, at sync markers that are followed by
 * others.
 *
 * A file that cannot be divided (any other compressed file, other tabular formats, the containers
 * "delimited" and "file") belongs to the split that begins at byte 0; its other splits are empty.
 * So any file can be divided without knowing its format. */
typedef struct cst_split {
  const char *file;
  uint64_t begin;
  uint64_t end;  /* CST_SPLIT_TO_END: the file's, whose size was not known */
  bool exact;    /* a record begins at `begin`, and one at `end`, or the file ends there: both come
                    from an index, and nothing is sought */
  uint64_t task; /* splits of one task follow each other and are small: one worker had better read
                    them together */
  uint64_t record; /* of an exact split: the number of the record at `begin` in the file, which
                      errors and record_index() count from. 0 with a `begin` above 0: not known */
} cst_split;

#define CST_SPLIT_TO_END ((uint64_t)INT64_MAX)

/* Which files are divided. */
typedef enum cst_split_cut {
  CST_SPLIT_CUT_BY_BYTES = 0, /* those that are larger than the target are opened, and cut if their
                                 bytes say that they can be divided; URLs are cut by their names */
  CST_SPLIT_CUT_BY_NAME = 1,  /* nothing is opened: all are cut that are larger than the target, but
                                 for compressed ones (.gz, .zz, .zlib, .zst), and for formats that
                                 are read as a whole, as named here or by their endings */
  CST_SPLIT_CUT_NONE = 2      /* a split is a file */
} cst_split_cut;

/* Options of cst_splits_plan. */
typedef struct cst_split_options {
  size_t size;           /* sizeof(cst_split_options) */
  uint64_t target_bytes; /* that a split has at most, and the splits of a task have together; 0:
                            64 MiB */
  const char *format;    /* as those of cst_source_options */
  const char *container;
  const uint64_t *file_sizes; /* of each path, in bytes, from a listing (UINT64_MAX: not known): no
                                 path is a glob then, or looked for. NULL: found out */
  cst_split_cut cut;
  const cst_allocator *allocator;
} cst_split_options;

#define CST_SPLIT_OPTIONS_INIT \
  { sizeof(cst_split_options), 0, NULL, NULL, NULL, CST_SPLIT_CUT_BY_BYTES, NULL }

/* Splits of files, in order. Immutable. */
typedef struct cst_splits cst_splits;

/* Plans the splits of files; paths are those of cst_source_open. A file that is not larger than the
 * target is one split, and is not opened. Larger files are divided into pieces of the same size to
 * within a byte, or at the records of a valid index beside the data. The same files and options
 * always give the same splits. CST_UNSUPPORTED for standard input and for anything but regular
 * files. options may be NULL. */
CST_API cst_status cst_splits_plan(const char *const *paths, size_t num_paths,
                                   const cst_split_options *options, cst_splits **out,
                                   cst_error *error);
CST_API size_t cst_splits_num_splits(const cst_splits *splits);
/* The i-th split, which lives as long as the splits; NULL if i is too large. */
CST_API const cst_split *cst_splits_get(const cst_splits *splits, size_t i);
/* All splits as "splits", with the total "tasks" (docs/splits.md has the table of the columns).
 * *out: cst_findings_free. */
CST_API cst_status cst_splits_findings(const cst_splits *splits, cst_findings **out,
                                       cst_error *error);
CST_API void cst_splits_free(cst_splits *splits); /* NULL is allowed */

/* Makes a source whose passes read these splits of files of `source`, in this order, with the
 * options of `source`. Files are found by name. Types are inferred from these splits only: give a
 * schema if several workers need the same columns. CST_STATE if a file is shorter than the end of
 * its split: it has changed since it was planned. CST_INVALID_ARGUMENT for a split of a file that
 * the source does not have, and for a source that is part of another one. */
CST_API cst_status cst_source_read_splits(cst_source *source, const cst_split *splits,
                                          size_t num_splits, cst_source **out, cst_error *error);

#ifdef __cplusplus
}
#endif

#endif /* COLUMNSTONE_SPLIT_H */
