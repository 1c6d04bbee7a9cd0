/* Sketches: quantiles, distinct counts, heavy hitters and moments of very many values in little
 * memory. They can be merged and saved.
 *
 * A sketch is made by the name of its kind, and values are added to it, column by column. Sketches
 * of several threads, files or machines are merged, in any tree; a merged one is as small and as
 * exact as one of all values. The comments of the functions give the result, the error and the
 * memory of each kind; docs/sketches.md has examples.
 *
 * Values: any column of integers, floats, bools, dates, times, durations, strings or binary. The
 * values of lists are added, at any depth; nulls (of values and of lists) are skipped, and
 * counted. A sketch takes the values of one family of types: integers with bools and times;
 * uint64; floats of all widths, as doubles; strings and binary. A dictionary-encoded column counts
 * as its values.
 *
 * Weights: one number for each row of the column, which is the weight of all values in it: finite
 * and not negative. Without weights each value weighs 1.
 *
 * Reproducible: sketches of the same options, with the same values added and merged in the same
 * way, have the same bytes, on every machine.
 *
 * Threads: one thread at a time uses a sketch; several may be used at once.
 *
 * Errors: a call that fails leaves the sketch as it was. After a failure in the middle of counting
 * (CST_NO_MEMORY, CST_INTERRUPTED) the sketch can only be freed; any other call is CST_STATE.
 */
#ifndef COLUMNSTONE_SKETCH_H
#define COLUMNSTONE_SKETCH_H

#include <columnstone/arrow_abi.h>
#include <columnstone/findings.h>
#include <columnstone/options.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cst_sketch cst_sketch;

/* All kinds that there are, one a row of "sketches": `name`, `summary` and `options`, as
 * cst_accumulators has them. *out: cst_findings_free. */
CST_API cst_status cst_sketches(cst_findings **out, cst_error *error);

/* An empty sketch. CST_INVALID_ARGUMENT for a kind or an option that there is not, or a value that
 * it does not take. `allocator` may be NULL and has to outlive the sketch. *out: cst_sketch_free.
 */
CST_API cst_status cst_sketch_new(const char *kind, const cst_option *options, size_t num_options,
                                  const cst_allocator *allocator, cst_sketch **out,
                                  cst_error *error);
CST_API void cst_sketch_free(cst_sketch *sketch); /* NULL is allowed */

/* Adds the values of a column, which is borrowed for the call and validated. `weights_schema` and
 * `weights` may both be NULL. CST_UNSUPPORTED for a type that cannot be looked at, CST_SCHEMA for
 * one of another family than before, or that the kind does not take, CST_INVALID_ARGUMENT for
 * weights that are none. Sketches of two columns (correlation, mutual_information) take a struct of
 * two fields without lists; rows in which one of them is null count as nulls. */
CST_API cst_status cst_sketch_add(cst_sketch *sketch, const struct ArrowSchema *schema,
                                  const struct ArrowArray *column,
                                  const struct ArrowSchema *weights_schema,
                                  const struct ArrowArray *weights, cst_error *error);

/* Adds what another sketch of the same kind and options has; `other` is not changed.
 * CST_INVALID_ARGUMENT for one of another kind or other options, and for the sketch itself;
 * CST_SCHEMA for one of another family of values. */
CST_API cst_status cst_sketch_merge(cst_sketch *sketch, const cst_sketch *other, cst_error *error);

/* The sketch as bytes (cst_free), and a sketch from bytes: CST_CORRUPT if they are damaged or none
 * that were saved, CST_UNSUPPORTED if another version of the library has saved them. Safe on any
 * bytes. */
CST_API cst_status cst_sketch_to_bytes(const cst_sketch *sketch, char **bytes, size_t *size,
                                       cst_error *error);
CST_API cst_status cst_sketch_from_bytes(const void *bytes, size_t size,
                                         const cst_allocator *allocator, cst_sketch **out,
                                         cst_error *error);

/* The name of its kind; NULL for NULL. */
CST_API const char *cst_sketch_kind(const cst_sketch *sketch);
/* An option's value, as cst_sketch_new takes it, written into `text`; NULL: there is none. Valid
 * until the next call. */
CST_API const char *cst_sketch_option(const cst_sketch *sketch, const char *name, char text[32]);
/* Values that were added, and nulls that were left out; at most INT64_MAX. -1 for NULL. */
CST_API int64_t cst_sketch_num_values(const cst_sketch *sketch);
CST_API int64_t cst_sketch_num_nulls(const cst_sketch *sketch);
/* Bytes of memory that it holds. */
CST_API size_t cst_sketch_memory(const cst_sketch *sketch);

/* ---- "moments": sums, mean, variance and extremes of numbers ---- */

/* A value of a column, as exact as it was. */
typedef struct cst_sketch_number {
  char format; /* of Arrow: 'l' int64, 'L' uint64, 'g' double; 0: there is none */
  union {
    int64_t int64;
    uint64_t uint64;
    double float64;
  } value;
} cst_sketch_number;

/* NaN and infinities are counted, and are part of no sum. What there is not is NaN: the mean and
 * the variances of no finite values, the sample variance of one. */
typedef struct cst_moments {
  int64_t num_values;              /* those below among them */
  int64_t num_zeros, num_negative; /* -0 is a zero, and not negative */
  int64_t num_nan, num_plus_infinity, num_minus_infinity;
  cst_sketch_number min, max; /* of all but NaN; none if there are no others; -0 is 0 */
  double weight;              /* of the finite values */
  double sum;
  double mean;
  double variance;        /* the squared standard deviation: divided by the weight, */
  double sample_variance; /* or by the weight - 1 */
} cst_moments;

/* What a sketch of the kind "moments" has found: with `weighted` by the weights, if there were any,
 * else with the weight 1 for each value. Its sums are exact. So all numbers are the doubles that
 * are nearest to the true ones, and results and bytes are the same whatever the order of the values
 * and the way of merging. It holds at most 3 KB. */
CST_API cst_status cst_sketch_moments(const cst_sketch *sketch, bool weighted, cst_moments *out,
                                      cst_error *error);

/* ---- "distinct": how many different values there are ----
 *
 * Exact for few: up to 1536 of precision 14, 3 / 32 * 2^precision in general. More are estimated,
 * by UltraLogLog (Ertl, VLDB 2024), with a relative standard error of 0.76 / sqrt(2^precision) at
 * most: 0.6 % for 14, the option `precision` (4 to 18); for less than 2^precision values it is 0.5
 * instead of 0.76. The bytes depend on nothing but the set of values and the options: any order,
 * any merges. All NaN are one value, and so are both zeros. Weights do not matter: a value of
 * weight 0 is one.
 *
 * Memory: 2^precision bytes (from precision 8 on), less while there are few values.
 *
 * Hashes decide: two values count as one if they have the same 64 bits, by chance one pair in 2^64.
 * Whoever knows the option `seed` can make such values. */

/* The estimate, and so many standard deviations below and above it: 2 hold the truth in 95 of 100
 * cases, 3 in 99.7. All three are the exact number while it is known. CST_INVALID_ARGUMENT for a
 * sketch of another kind, and for deviations that are negative or not finite. */
CST_API cst_status cst_sketch_distinct(const cst_sketch *sketch, double deviations,
                                       double *estimate, double *lower, double *upper,
                                       cst_error *error);

/* ---- "kmv": how many different values there are, as tfx_bsl counts ----
 *
 * What tfx_bsl's KmvSketch of as many `buckets` (16384) finds, to the last value: by FarmHash's
 * Fingerprint64 of texts, of which the smallest are kept. 0 and -0 are two values here. It is for
 * reading and going on with what tfx_bsl has saved; "distinct" is more accurate in less memory.
 * cst_sketch_distinct gives its estimate, and bounds with the relative standard deviation 1 /
 * sqrt(buckets - 2). Memory: at most 64 bytes for each bucket, twice as much while it grows. */

/* A sketch of "kmv", "heavy_hitters" or "misra_gries" as tfx_bsl serialises its KmvSketch and
 * MisraGriesSketch (cst_free), and one from such bytes, which TFT's caches hold. Misra_gries takes
 * and gives all that a message says. Of heavy hitters the message has at most `size` values, each
 * with its lower bound as tfx_bsl has it, and no placeholders; of a message, placeholders, the
 * order of ties and extra items are not kept, and integers are int64. How many values there were is
 * not known: they count as none. CST_INVALID_ARGUMENT for other kinds, CST_CORRUPT for bytes that
 * are no such message, CST_UNSUPPORTED for a number of buckets beyond the option's, and for a
 * placeholder with a NUL in it. */
CST_API cst_status cst_sketch_to_tfx_bsl(const cst_sketch *sketch, char **bytes, size_t *size,
                                         cst_error *error);
CST_API cst_status cst_sketch_from_tfx_bsl(const char *kind, const void *bytes, size_t size,
                                           const cst_allocator *allocator, cst_sketch **out,
                                           cst_error *error);

/* ---- "heavy_hitters": the values with the largest weights ----
 *
 * Each has a lower and an upper bound that hold its true weight, always, in any order and any tree
 * of merges. No interval is wider than (weight of all values) / (size + 1), and whatever value is
 * not there weighs no more than that: so each that weighs more is there. Exact as long as there are
 * no more than 2 * size different values. The methods are Misra and Gries's (1982), SpaceSaving's
 * bounds (2005) and the merging of Agarwal and others (2012).
 *
 * Weights are doubles: whole numbers add up exactly up to 2^53; sums that would be infinite are the
 * largest double. A value of weight 0 is left out. All NaN are one value, and so are both zeros.
 *
 * A value of more bytes than the option `longest` (4096) is kept, and handed out, as so many of its
 * first bytes; its size and a hash of 64 bits tell it from others.
 *
 * Memory: at most 2 * size + 1 counters of 40 bytes, 4 to 8 times as many places of 8 bytes, and
 * for values of more than 8 bytes twice what they have, up to `longest` each: about 220 KB for
 * short values and the usual size, 1000; twice as much in all while it grows or merges. */

/* The first `most` values as a struct array: `value` (int64, uint64, double, large string where all
 * came from strings, else large binary; null type where there are none), `lower` and `upper`
 * (double). The largest upper bound is the first, and of equal ones the smallest value; NaN comes
 * last. Times are their numbers. A string is cut at a character. *schema and *array: the caller's
 * to release. CST_INVALID_ARGUMENT for a sketch of another kind, and for a negative number.
 *
 * Of a sketch of misra_gries: see there. */
CST_API cst_status cst_sketch_top(const cst_sketch *sketch, int64_t most,
                                  struct ArrowSchema *schema, struct ArrowArray *array,
                                  cst_error *error);

/* ---- "misra_gries": the values with the largest weights, as tfx_bsl counts ----
 *
 * What tfx_bsl's MisraGriesSketch of as many `buckets` (1000) finds, to the last figure, for going
 * on with what it has saved, and for writing what it reads; "heavy_hitters" is exact for twice as
 * many values, and its bounds are closer to each other. Values are texts: integers in digits (int64
 * and uint64 may be added to one sketch), floats as they are, of which all NaN of one sign are one
 * value, but 0 and -0 two. No weight is off by more than (weight of all values) / (buckets + 1).
 *
 * Values without weights may be replaced: bytes that are no UTF-8 by `invalid_text`, values of more
 * than `longest` bytes by `long_text`; values with weights never are.
 *
 * cst_sketch_top gives at most `buckets` values as large strings, or as large binary where some
 * came from binary columns or from a message: first those with weights, and of equal ones the
 * smallest, or with `ties=largest` the largest text first; then, up to the number of buckets, some
 * whose `lower` is 0. `upper` is what tfx_bsl tells. Floats are in six digits ("0.1", "1e-05"),
 * those whose `lower` is 0 as C's "%a" has them, as in tfx_bsl.
 *
 * Memory: for each bucket that is used, 32 bytes and 2 to 4 places of 8 bytes, twice as many while
 * it grows or merges, and at most four times the bytes of values of more than 8 bytes. */

/* ---- "histogram": how many numbers lie in buckets of equal width ---- */

/* The buckets between the options `low` and `high`, `buckets` of them: one a row of "buckets", with
 * `low`, `high`, `count` and `weight`. The first row has what lies below all buckets, the last one
 * what lies above; the total "num_nan" counts NaN. A bucket holds its low end, and the last one its
 * high end, too: as numpy.histogram has them. Integers are compared as doubles. Results and bytes
 * are the same whatever the order of the values and the way of merging. Memory: 8 bytes a bucket,
 * with weights 64. *out: cst_findings_free. */
CST_API cst_status cst_sketch_histogram(const cst_sketch *sketch, cst_findings **out,
                                        cst_error *error);

/* ---- "correlation": of the numbers of two columns ---- */

/* Pairs in which a number is NaN or infinite are counted, and left out. What there is not is NaN:
 * of no pairs, the correlation where all numbers of a column are equal, the sample covariance of
 * one pair. */
typedef struct cst_correlation {
  int64_t num_pairs; /* of finite numbers */
  int64_t num_not_finite;
  double weight; /* of the finite pairs */
  double mean_x, mean_y;
  double variance_x, variance_y; /* as the covariance, divided by the weight */
  double covariance;
  double sample_covariance; /* divided by the weight - 1 */
  double correlation;       /* Pearson's, from -1 to 1 */
} cst_correlation;

/* What a sketch of the kind "correlation" has found. Its sums are exact, so results and bytes are
 * the same whatever the order of the pairs and the way of merging; all numbers are the doubles
 * nearest to the true ones, but for the correlation, which is within three units of its last
 * place. It holds at most 4 KB. */
CST_API cst_status cst_sketch_correlation(const cst_sketch *sketch, cst_correlation *out,
                                          cst_error *error);

/* ---- "mutual_information": how much one column tells of another ---- */

/* In nats: natural logarithms. */
typedef struct cst_mutual_information {
  int64_t num_pairs;
  int64_t num_x, num_y; /* different values, or cells of values */
  int64_t num_cells;    /* pairs of these that occur */
  double information;   /* the sum of p(x, y) * log(p(x, y) / (p(x) * p(y))); NaN of no pairs */
  double corrected;     /* less what it is too large by on average, (num_cells - num_x - num_y + 1)
                           / (2 * num_pairs) (Miller and Madow, 1955); may be below 0 */
  double entropy_x, entropy_y;
  bool is_exact; /* every value is counted by itself */
} cst_mutual_information;

/* What a sketch of the kind "mutual_information" has found. Of each column as many values are
 * counted by themselves as the option `values` (100) says, those of the smallest hashes; all others
 * share as many cells, by their hashes. So the information is that of coarser columns where there
 * are more values, which is never more than that of the columns. Numbers that hardly ever repeat
 * are put into buckets before they are added. Weights do not matter. Results and bytes are the same
 * whatever the order of the pairs and the way of merging (results but for the logarithms of the
 * machine). Memory: 48 to 96 bytes for each pair of values that occurs, at most 900 * values^2 and
 * 100 KB. */
CST_API cst_status cst_sketch_mutual_information(const cst_sketch *sketch,
                                                 cst_mutual_information *out, cst_error *error);

/* ---- "quantiles": ranks of numbers ----
 *
 * The rank of x is the share of values that are <= x, or of their weight. A rank that is asked is
 * wrong by more than the option `error` (0.00001 to 0.5, usually 0.01) in fewer than 1 of 100
 * sketches: for any values in any order, any weights, and after any merges. Few values are exact.
 * The methods are KLL's (Karnin, Lang and Liberty, 2016), with its sampler.
 *
 * With the option `tails` ("low", "high" or "both") ranks at that end are exact, and the error is a
 * share of the weight between the end and x, not of all (REQ, Cormode and others, 2021).
 *
 * -0 equals 0. Infinities are values like others. NaN has no rank: it is counted among the values,
 * and left out of all else; so are values of weight 0. The least and the greatest value are exact.
 * CST_LIMIT if the sum of the weights is not finite. The same values in another order, or merged in
 * another way, give other bytes, and ranks within the same bound; the option `seed` decides, too.
 *
 * Memory: at most 20 KB for an error of 0.01, 110 KB for 0.001, however many values there are. With
 * tails about 80 KB for a million values (both: 130 KB); it grows with the logarithm of their
 * number. */

/* The smallest value whose rank is at least ranks[i], for each i; the least value for 0, the
 * greatest for 1. They are an array of int64, uint64 or double, as the values were: integers are
 * exact. Without values all are null. CST_INVALID_ARGUMENT for ranks that are not from 0 to 1. */
CST_API cst_status cst_sketch_quantiles(const cst_sketch *sketch, const double *ranks,
                                        size_t num_ranks, struct ArrowSchema *schema,
                                        struct ArrowArray *array, cst_error *error);

/* ranks[i]: the share of values that are <= values[i], or < values[i] unless `is_inclusive`. NaN
 * for NaN, and if there are no values. */
CST_API cst_status cst_sketch_ranks(const cst_sketch *sketch, const double *values,
                                    size_t num_values, bool is_inclusive, double *ranks,
                                    cst_error *error);

typedef enum cst_parts {
  CST_PARTS_EQUAL_DEPTH = 0, /* of the same weight, or nearly */
  CST_PARTS_EQUAL_WIDTH = 1
} cst_parts;

/* bounds[num_parts + 1] and weights[num_parts] of a histogram, as ranks have it. With equal depth,
 * the first bound is the least value and the last one the greatest; a part is what is above its
 * lower bound (the first: from it on) and up to its upper one. With equal width, the bounds lie
 * between the least and the greatest finite value; a part is what is from its lower bound on and
 * below its upper one (the last: up to it), and infinities are in none. Without values bounds are
 * NaN and weights 0. */
CST_API cst_status cst_sketch_parts(const cst_sketch *sketch, cst_parts kind, size_t num_parts,
                                    double *bounds, double *weights, cst_error *error);

/* The weight of all values but NaN, and how many NaN there are; `num_nans` may be NULL. */
CST_API cst_status cst_sketch_ranked(const cst_sketch *sketch, double *weight, int64_t *num_nans,
                                     cst_error *error);

/* Where the weight is cut in parts of the same weight, or nearly: values[num_parts + 1], the first
 * of which is the least value and the last the greatest, and the weight of all that is up to each,
 * itself included. Of the kinds "quantiles" and "quantile_summary"; integers as doubles. Without
 * values they are NaN, and the weights 0. */
CST_API cst_status cst_sketch_cuts(const cst_sketch *sketch, size_t num_parts, double *values,
                                   double *upto, cst_error *error);

/* ---- "quantile_summary": quantiles within a bound that always holds, as tfx_bsl has them ----
 *
 * What tfx_bsl's QuantilesSketch of the same `error` (its eps; 0.01) and `most` (its
 * max_num_elements; 2^32) finds, to the last value, of the numbers of one stream, as doubles: for
 * going on with what it has saved, and for those who want no chance in it. The rank of a value that
 * cst_sketch_cuts gives is wrong by no more than the error, as a share of the weight, as long as no
 * more than `most` values were added, in any order, and whatever was merged; few values are exact.
 * NaN and values of the weight 0 are left out. Memory: about 100 log2(error * most) / error bytes,
 * less while there are few values; "quantiles" needs less for the same error, and takes ranks. */

/* Makes a sketch of the kind "quantile_summary" as small as it can, once: one that was compacted,
 * or merged with one that was, stays as it is. */
CST_API cst_status cst_sketch_compact(cst_sketch *sketch, cst_error *error);

/* One of the streams of a QuantilesSketch of tfx_bsl as a sketch of the kind "quantile_summary",
 * which goes on as that would, from the bytes that it is pickled as. *num_streams: how many it has;
 * *out is NULL for one that it has not, else cst_sketch_free. How many values there were is not
 * known: they count as none. CST_CORRUPT for other bytes. */
CST_API cst_status cst_sketch_from_tfx_bsl_stream(cst_bytes bytes, size_t stream,
                                                  const cst_allocator *allocator, cst_sketch **out,
                                                  size_t *num_streams, cst_error *error);

/* Adds one of the streams of a QuantilesSketch of tfx_bsl, from the bytes that it is pickled as, to
 * a sketch of the kind "quantile_summary", as tfx_bsl merges them, or "quantiles": what it has
 * kept, with weights that make up its ranks. *num_streams: how many it has; one that it has not
 * adds nothing. CST_CORRUPT for other bytes; the sketch may only be freed then. */
CST_API cst_status cst_sketch_add_tfx_bsl_stream(cst_sketch *sketch, cst_bytes bytes, size_t stream,
                                                 size_t *num_streams, cst_error *error);
/* Sketches of the kinds "quantile_summary" and "quantiles" as the streams of one, which tfx_bsl
 * reads and goes on with; integers as doubles. *bytes: cst_free. */
CST_API cst_status cst_sketch_to_tfx_bsl_streams(const cst_sketch *const *sketches,
                                                 size_t num_sketches, char **bytes, size_t *size,
                                                 cst_error *error);

#ifdef __cplusplus
}
#endif

#endif /* COLUMNSTONE_SKETCH_H */
