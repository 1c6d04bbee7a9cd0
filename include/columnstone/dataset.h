/* Datasets for training: shuffled batches of a source, which can be resumed at any batch, divided
 * among shards and workers, and prefetched by threads.
 *
 * The order of an epoch is a function of the data, the seed, the epoch and the options. It does
 * not depend on threads, workers or on where a loader begins. With a source of uncompressed
 * TFRecord files, whose rows can be accessed one by one (see index.h), a global shuffle is a keyed
 * pseudo-random permutation of the row numbers: its state is the seed and the position. Other
 * sources are read in order and shuffled in windows.
 */
#ifndef COLUMNSTONE_DATASET_H
#define COLUMNSTONE_DATASET_H

#include <columnstone/arrow_abi.h>
#include <columnstone/format.h>
#include <columnstone/source.h>
#include <columnstone/tensor.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How the rows of an epoch are shuffled. */
typedef enum cst_shuffle {
  CST_SHUFFLE_NONE = 0,   /* the order of the source */
  CST_SHUFFLE_AUTO = 1,   /* global for uncompressed TFRecord files on disk; windows for
                             everything else: other formats, compressed files, readers (where
                             each row may be a request), sources that drop damaged records */
  CST_SHUFFLE_GLOBAL = 2, /* CST_UNSUPPORTED, with a hint, where rows cannot be accessed one
                             by one; damaged rows are errors, whatever the source's on_error
                             is */
  CST_SHUFFLE_WINDOW = 3  /* the rows of each window of `window` rows are permuted, and the
                             files are, too; `interleave` files are read at the same time. For
                             uncompressed TFRecord files on disk, a window consists of as many
                             ranges of rows, from any position. Such a window is read
                             completely if a loader makes several batches from it and its
                             records have at most 256 MiB */
} cst_shuffle;

/* Options of cst_dataset_new. */
typedef struct cst_dataset_options {
  size_t size;        /* sizeof(cst_dataset_options) */
  int64_t batch_size; /* 0: the source's */
  cst_shuffle shuffle;
  int64_t window; /* rows, rounded up to whole batches and buckets; 0: 65536. For sources that
                     are read in order, a window stays in memory as long as batches are made
                     from it, and takes twice its size if it is read as columns */
  uint64_t seed;
  bool drop_last;      /* leave out the short last batch, and the batches that not every shard has:
                          all shards make the same number of full batches */
  uint32_t shard;      /* the number of this shard: it has the batches k of the epoch with k %
                          num_shards == shard */
  uint32_t num_shards; /* 0: 1 */
  int32_t prefetch;    /* batches that threads prepare in advance; 0: none, without threads */
  int32_t threads;     /* threads that prepare batches, in order; 0: 1 */
  const cst_allocator *allocator;
  int64_t memory_budget; /* bytes; 0: CST_DATASET_MEMORY_BUDGET. If the records of
                            uncompressed TFRecord files on disk are not larger, they stay in
                            memory after the first read, as long as the source lives, for all
                            its datasets with such a budget; forked workers share them. A file
                            that has changed since the dataset was created is read again.
                            Below 0, or with memory_map, which does not need it: nothing is
                            kept */
  int32_t interleave;    /* for a window order: the number of files that are read at the same
                            time, in turn and in proportion to their bytes, so that each window
                            mixes their rows. The files in the order of the epoch are divided
                            into groups of at most this many; one group follows the other. For
                            uncompressed TFRecord files on disk: the number of ranges of a
                            window. 0: CST_DATASET_INTERLEAVE; 1: one after the other; at most
                            1024. Above 1 with CST_SHUFFLE_NONE is CST_INVALID_ARGUMENT */
  /* NULL, or the path of a column: batches get rows of similar length, so that they need little
   * padding (bucketing). The rows of every `bucket_batches` consecutive batches of the epoch, over
   * all shards, are sorted by length and divided into batches again, in another order (without
   * shuffling, from the shortest to the longest). Batches keep their numbers and sizes, and the
   * short batch at the end keeps its rows. The length of a row is the number of values in the first
   * list on the path (0 for a null). For a column without a list, or with bucket_by_value, it is an
   * integer itself, or the number of bytes of a string. Each loader decodes the column once more
   * for all rows of a bucket */
  const cst_path *bucket_by;
  bool bucket_by_value;   /* use the first value of a list, as features of tf.Examples are
                             lists of one value */
  int64_t bucket_batches; /* 0: CST_DATASET_BUCKET_BATCHES */
} cst_dataset_options;

enum {
  CST_DATASET_MEMORY_BUDGET = 256 << 20,
  CST_DATASET_INTERLEAVE = 16,
  CST_DATASET_BUCKET_BATCHES = 64
};

#define CST_DATASET_OPTIONS_INIT                                                                 \
  {                                                                                              \
    sizeof(cst_dataset_options), 0, CST_SHUFFLE_NONE, 0, 0, false, 0, 0, 0, 0, NULL, 0, 0, NULL, \
        false, 0                                                                                 \
  }

/* A dataset. Immutable and counted; many threads may share one. It keeps the source. */
typedef struct cst_dataset cst_dataset;

/* Makes a dataset of a source, which it keeps. options may be NULL. Does not read the data, unless
 * `bucket_by` is set and the schema has to be inferred: CST_NOT_FOUND if there is no such column,
 * CST_INVALID_ARGUMENT if the column has no length. */
CST_API cst_status cst_dataset_new(cst_source *source, const cst_dataset_options *options,
                                   cst_dataset **out, cst_error *error);
/* Adds an owner, and returns its argument. The release removes an owner; the last one frees the
 * dataset. */
CST_API cst_dataset *cst_dataset_retain(const cst_dataset *dataset);
CST_API void cst_dataset_release(cst_dataset *dataset);

/* When the epoch of a mix ends. */
typedef enum cst_mix_stop {
  CST_MIX_FIRST = 0, /* as soon as a dataset has no more rows when it is its turn */
  CST_MIX_ALL = 1,   /* when each dataset has delivered all of its rows; shorter ones start
                        again */
  CST_MIX_REPEAT = 2 /* never: every dataset starts again */
} cst_mix_stop;

/* Options of cst_dataset_mix. */
typedef struct cst_mix_options {
  size_t size;           /* sizeof(cst_mix_options) */
  const double *weights; /* one for each dataset, finite and above 0; NULL: equal weights.
                            Whole numbers are exact, others up to 2^-40 of their sum */
  cst_mix_stop stop;
  int32_t prefetch; /* as in cst_dataset_options */
  int32_t threads;
} cst_mix_options;

#define CST_MIX_OPTIONS_INIT \
  { sizeof(cst_mix_options), NULL, CST_MIX_FIRST, 0, 0 }

/* A dataset whose batches have rows of several datasets (2 to 1024) in proportion to their weights:
 * row k of an epoch comes from the dataset that is farthest behind its share (Webster's method).
 * Therefore every range of rows has the right proportions, to about one row, and the rows of each
 * dataset keep their order. Nothing is random: the mix depends only on the datasets, the weights
 * and the epoch, and loaders can start anywhere. When a dataset starts again for the c-th time in
 * epoch e of the mix, it uses its epoch e + c * 2^32. The datasets must have the same batch_size,
 * drop_last, shard and num_shards (otherwise CST_INVALID_ARGUMENT), which the mix takes over, and
 * columns with the same names and types (otherwise CST_SCHEMA, with the path). They must not be
 * mixes or have buckets. Infers their schemas if needed. A loader counts the rows of all of them,
 * as cst_dataset_num_rows does. Positions of a mix have no file: to start inside an epoch, sources
 * that are read in order are read from the beginning. options may be NULL. The mix keeps the
 * datasets. */
CST_API cst_status cst_dataset_mix(cst_dataset *const *datasets, size_t count,
                                   const cst_mix_options *options, cst_dataset **out,
                                   cst_error *error);

/* Records that a source drops (CST_ON_ERROR_SKIP) are reported by the threads that make batches,
 * one at a time and in order, before their batches, and once more if rows have to be counted. */

/* The kind of shuffling that CST_SHUFFLE_AUTO has chosen; for a mix that of all its datasets, or
 * CST_SHUFFLE_AUTO if they differ. */
CST_API cst_status cst_dataset_shuffle(cst_dataset *dataset, cst_shuffle *out, cst_error *error);
/* The rows of an epoch of all shards, and the batches of this shard. Reads the frames (or the
 * data, for sources other than uncompressed TFRecords) if these numbers are not known yet.
 * CST_UNSUPPORTED for CST_MIX_REPEAT. */
CST_API cst_status cst_dataset_num_rows(cst_dataset *dataset, uint64_t *rows, cst_error *error);
CST_API cst_status cst_dataset_num_batches(cst_dataset *dataset, uint64_t *batches,
                                           cst_error *error);

/* The row numbers at positions [begin, begin + count) of an epoch (all shards), for a sampler of
 * your own. `rows` has room for `count`; after a failure its content is undefined.
 * CST_INVALID_ARGUMENT for positions beyond the epoch. CST_UNSUPPORTED for mixes, and where rows
 * cannot be accessed one by one. */
CST_API cst_status cst_dataset_order(cst_dataset *dataset, uint64_t epoch, uint64_t begin,
                                     uint64_t count, uint64_t *rows, cst_error *error);

/* The position of a batch. The next batch is (epoch, batch + 1). */
typedef struct cst_position {
  uint64_t epoch;
  uint64_t batch; /* the number in this shard's epoch, counted from origin */
  /* For sources that are read in order: where reading can start for this batch and later ones, so
   * that resuming does not read everything before it again. 0 and 0: at the beginning. Ignored for
   * other sources. */
  uint64_t file;        /* the number of files in the epoch's order that are complete before
                           it: all groups of files that are read together before the group of
                           the batch */
  uint64_t rows_before; /* the number of their rows */
  /* The number of batches of all shards that were delivered before the epoch was divided among the
   * present number of shards: batch k of shard i of n is batch origin + k * n + i of the epoch. 0,
   * unless the number of shards has changed within the epoch. */
  uint64_t origin;
  uint64_t row; /* the first delivered row of the batch: 0, except for the first batch of a
                   loader that starts inside a batch */
} cst_position;

/* To resume after the first r rows of the batch at position p, begin a loader at p with p.row + r
 * as its row. */

/* To change the number of shards from n to m, after each of the n shards has delivered the batch
 * at position p, or the one with the same number: begin the m shards at {p.epoch, 0, p.file,
 * p.rows_before, p.origin + (p.batch + 1) * n}. Every remaining row of the epoch comes once, for
 * any m; the next epoch begins at {epoch + 1}. */

/* The number of batches of this shard's epoch from a position on, including it. Reads as
 * cst_dataset_num_rows does. */
CST_API cst_status cst_dataset_batches_left(cst_dataset *dataset, const cst_position *from,
                                            uint64_t *batches, cst_error *error);

/* An iterator over one epoch, from any batch on. Used by one thread at a time; many loaders may
 * run at once. A loader that has begun before a fork is CST_STATE in the child. */
typedef struct cst_loader cst_loader;

/* Makes a loader, which keeps the dataset. `from` (required; {0} is the start of the first epoch)
 * is the first batch; its file and rows_before may be 0. `first` and `step` (0: 1) are for
 * workers: worker `first` of `step` workers makes every step-th batch from there on, beginning
 * with number `first`. Threads start with the first next. */
CST_API cst_status cst_loader_new(cst_dataset *dataset, const cst_position *from, uint32_t first,
                                  uint32_t step, cst_loader **out, cst_error *error);

/* The next batch (a struct array, which the caller releases) and its position (may be NULL).
 * out->release is NULL at the end of the epoch and after a failure; further calls return the same
 * failure again. */
CST_API cst_status cst_loader_next(cst_loader *loader, struct ArrowArray *out,
                                   cst_position *position, cst_error *error);

/* The next batch as tensors, by an adapter for the source's Arrow schema, which must outlive the
 * loader. *out is NULL at the end. With prefetch the tensors are prefetched as well. CST_STATE if
 * the first next of the loader had another adapter, or none. */
CST_API cst_status cst_loader_next_tensors(cst_loader *loader, const cst_tensor_adapter *adapter,
                                           cst_tensors **out, cst_position *position,
                                           cst_error *error);

/* Stops and joins the threads. In a child of fork, nothing is touched. NULL is allowed. */
CST_API void cst_loader_free(cst_loader *loader);

#ifdef __cplusplus
}
#endif

#endif /* COLUMNSTONE_DATASET_H */
