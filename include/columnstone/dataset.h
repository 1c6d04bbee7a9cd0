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
  CST_SHUFFLE_AUTO = 1,   /* global for plain TFRecord files on disk; windows for all else: other
                             formats, compressed files, readers (where each row may be a request),
                             sources that drop damaged records */
  CST_SHUFFLE_GLOBAL = 2, /* CST_UNSUPPORTED where rows cannot be reached one by one, with a hint;
                             damaged rows fail, whatever the source's on_error is */
  CST_SHUFFLE_WINDOW = 3  /* the rows of each window of `window` rows are permuted, and the files,
                             of which `interleave` are read at once; of plain TFRecord files on disk
                             a window has as many stretches of rows, from anywhere. These are read
                             in whole where a loader makes several batches of a window, and its
                             records have no more than 256 MiB */
} cst_shuffle;

/* Options of cst_dataset_new. */
typedef struct cst_dataset_options {
  size_t size;        /* sizeof(cst_dataset_options) */
  int64_t batch_size; /* 0: the source's */
  cst_shuffle shuffle;
  int64_t window; /* rows, rounded up to whole batches, and buckets; 0: 65536. What is read in order
                     is in memory as long as batches come from its window, and twice if it comes as
                     columns */
  uint64_t seed;
  bool drop_last; /* leave out the short batch, and of the shards' batches those that not every
                     shard has: all shards make the same number of full batches */
  uint32_t shard; /* this one of num_shards: batches k of the epoch with k % num_shards == shard
                   */
  uint32_t num_shards; /* 0: 1 */
  int32_t prefetch;    /* batches that threads make ahead; 0: none, and no thread */
  int32_t threads;     /* that make batches ahead, in order; 0: 1 */
  const cst_allocator *allocator;
  int64_t memory_budget; /* bytes; 0: CST_DATASET_MEMORY_BUDGET. Records of plain TFRecord files on
                            disk that have no more of them stay in memory once they were read, as
                            long as the source lives, and for all its datasets that allow so many;
                            workers that were forked share them. A file that has changed since the
                            dataset was made is read itself. Below 0: none stay, and so it is with
                            memory_map, which needs none */
  int32_t interleave; /* of a window order: files that are read at once, in turns, by their share of
                         the bytes, so that each window mixes their rows: the files of the epoch's
                         order are divided into groups of as many at most, and one group follows
                         the other. Of plain TFRecord files on disk: the stretches of a window. 0:
                         CST_DATASET_INTERLEAVE; 1: one after the other; at most 1024. Above 1 with
                         CST_SHUFFLE_NONE is CST_INVALID_ARGUMENT */
  /* NULL, or a column, below structs: batches have rows of similar length, so that little is padded
   * (bucketing). The rows of every `bucket_batches` batches that follow each other in the order of
   * the epoch, over all shards, are sorted by length and cut into batches again, which come in an
   * order of their own (without shuffling from the shortest to the longest). So batches keep their
   * numbers and sizes: the short batch at the end has the rows that it has without this. The length
   * of a row is the number of values of the first list on the way (0 for a null); of a column
   * without a list, or with bucket_by_value, an integer itself, or the bytes of a string. Costs one
   * more decoding of the column for all rows of a bucket, in each loader */
  const cst_path *bucket_by;
  bool bucket_by_value;   /* of a list the first value counts: that of tf.Examples is one of one */
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
  CST_MIX_FIRST = 0, /* before the first row for which its dataset has none left */
  CST_MIX_ALL = 1,   /* when each dataset has given all of its rows; the shorter ones begin again */
  CST_MIX_REPEAT = 2 /* never: every dataset begins again */
} cst_mix_stop;

/* Options of cst_dataset_mix. */
typedef struct cst_mix_options {
  size_t size;           /* sizeof(cst_mix_options) */
  const double *weights; /* one for each dataset, finite and above 0; NULL: all are alike. Whole
                            numbers are exact, others up to 2^-40 of their sum */
  cst_mix_stop stop;
  int32_t prefetch; /* as in cst_dataset_options */
  int32_t threads;
} cst_mix_options;

#define CST_MIX_OPTIONS_INIT \
  { sizeof(cst_mix_options), NULL, CST_MIX_FIRST, 0, 0 }

/* A dataset whose batches have rows of several datasets (2 to 1024) in proportion to their weights:
 * row k of an epoch is of the dataset that is farthest behind its share then (Webster's method), so
 * that every stretch of rows has the shares, to about a row, and each dataset's rows come in its
 * own order. Nothing is left to chance: the mix is a function of the datasets, the weights and the
 * epoch, and its loaders begin anywhere. A dataset that begins again within epoch e of the mix for
 * the c-th time gives its epoch e + c * 2^32.
 *
 * The datasets have the same batch_size, drop_last, shard and num_shards (CST_INVALID_ARGUMENT),
 * which are those of the mix, and columns of the same names and types (CST_SCHEMA, with the path);
 * they are no mixes and have no buckets. Infers their schemas, where these have to be. A loader
 * counts the rows of all of them, as cst_dataset_num_rows does. Positions of a mix have no file: to
 * begin within an epoch, what is read in order is read from its beginning. options may be NULL. The
 * mix keeps the datasets. */
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
  uint64_t batch; /* number within this shard's epoch, counted from origin */
  /* Sources that are read in order: where reading may begin for this batch and those after it, so
   * that taking them up does not read again all that comes before. 0 and 0: at the beginning. Of no
   * account elsewhere. */
  uint64_t file;        /* files of the epoch's order that come before it as a whole: all groups of
                           files that are read at once before that of the batch */
  uint64_t rows_before; /* and their rows */
  /* Batches of all shards that were delivered before this number of shards divided the epoch: batch
   * k of shard i of n is batch origin + k * n + i of the epoch. 0, unless the number of shards has
   * changed within the epoch. */
  uint64_t origin;
  uint64_t row; /* rows of the batch that come before what is delivered of it: 0, but for the first
                   batch of a loader that begins within one */
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
