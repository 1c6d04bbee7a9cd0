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

/* Lists all kinds of sketches, one per row of "sketches": `name`, `summary` and `options`, as
 * cst_accumulators has them. *out: cst_findings_free. */
CST_API cst_status cst_sketches(cst_findings **out, cst_error *error);

/* Makes an empty sketch. CST_INVALID_ARGUMENT for an unknown kind or option, or an invalid value.
 * `allocator` may be NULL and must outlive the sketch. *out: cst_sketch_free. */
CST_API cst_status cst_sketch_new(const char *kind, const cst_option *options, size_t num_options,
                                  const cst_allocator *allocator, cst_sketch **out,
                                  cst_error *error);
CST_API void cst_sketch_free(cst_sketch *sketch); /* NULL is allowed */

/* Adds the values of a column, which is borrowed for the call and validated. `weights_schema` and
 * `weights` may both be NULL. Sketches of two columns (correlation, mutual_information) take a
 * struct of two fields without lists; rows in which one of them is null count as nulls.
 * CST_UNSUPPORTED for a type without values to add, CST_SCHEMA for values of another family than
 * before or one that the kind does not take, CST_INVALID_ARGUMENT for invalid weights. */
CST_API cst_status cst_sketch_add(cst_sketch *sketch, const struct ArrowSchema *schema,
                                  const struct ArrowArray *column,
                                  const struct ArrowSchema *weights_schema,
                                  const struct ArrowArray *weights, cst_error *error);

/* Adds the contents of another sketch of the same kind and options; `other` is not changed.
 * CST_INVALID_ARGUMENT for another kind or other options, and for the sketch itself; CST_SCHEMA for
 * another family of values. */
CST_API cst_status cst_sketch_merge(cst_sketch *sketch, const cst_sketch *other, cst_error *error);

/* Saves a sketch as bytes (cst_free), and restores it: CST_CORRUPT if the bytes are damaged or not
 * those of a sketch, CST_UNSUPPORTED if another version of the library saved them. Safe on any
 * bytes. */
CST_API cst_status cst_sketch_to_bytes(const cst_sketch *sketch, char **bytes, size_t *size,
                                       cst_error *error);
CST_API cst_status cst_sketch_from_bytes(const void *bytes, size_t size,
                                         const cst_allocator *allocator, cst_sketch **out,
                                         cst_error *error);

/* The kind; NULL for NULL. */
CST_API const char *cst_sketch_kind(const cst_sketch *sketch);
/* The value of an option, as cst_sketch_new takes it, written into `text`; NULL for an unknown
 * option. Valid until the next call. */
CST_API const char *cst_sketch_option(const cst_sketch *sketch, const char *name, char text[32]);
/* The numbers of values added and of nulls skipped; at most INT64_MAX. -1 for NULL. */
CST_API int64_t cst_sketch_num_values(const cst_sketch *sketch);
CST_API int64_t cst_sketch_num_nulls(const cst_sketch *sketch);
/* The memory of the sketch in bytes. */
CST_API size_t cst_sketch_memory(const cst_sketch *sketch);

/* ---- "moments": sums, mean, variance and extremes of numbers ---- */

/* A value of a column, exactly. */
typedef struct cst_sketch_number {
  char format; /* of Arrow: 'l' int64, 'L' uint64, 'g' double; 0: there is none */
  union {
    int64_t int64;
    uint64_t uint64;
    double float64;
  } value;
} cst_sketch_number;

/* NaN and infinities are counted, and are not part of sums. Undefined results are NaN: the mean and
 * the variances without finite values, and the sample variance of a single value. */
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

/* The results of a sketch of the kind "moments": with `weighted`, by the weights, if there were
 * any; otherwise with weight 1 for each value. Sums are exact, so all results are the doubles
 * nearest to the true values, and results and bytes do not depend on the order of values and
 * merges. Memory: at most 3 KB. */
CST_API cst_status cst_sketch_moments(const cst_sketch *sketch, bool weighted, cst_moments *out,
                                      cst_error *error);

/* ---- "distinct": the number of different values ----
 *
 * Small numbers are exact: up to 1536 for precision 14, 3 / 32 * 2^precision in general. Larger
 * ones are estimated by UltraLogLog (Ertl, VLDB 2024), with a relative standard error of at most
 * 0.76 / sqrt(2^precision): 0.6 % for 14, the default of the option `precision` (4 to 18). Below
 * 2^precision values, the factor is 0.5 instead of 0.76. The bytes depend only on the set of values
 * and on the options, not on the order of values and merges. All NaN are one value, and 0 and -0
 * are one. Weights have no effect: a value of weight 0 counts.
 *
 * Memory: 2^precision bytes (from precision 8 on), less for few values.
 *
 * Values are compared by hashes: two values count as one if their 64 bits are equal, by chance for
 * one pair in 2^64. With the option `seed` known, such values can be constructed. */

/* The estimate, and bounds at a number of standard deviations below and above it: 2 deviations
 * contain the true number in 95 of 100 cases, 3 in 99.7. All three are the exact number while it is
 * known. CST_INVALID_ARGUMENT for a sketch of another kind, and for deviations that are negative or
 * not finite. */
CST_API cst_status cst_sketch_distinct(const cst_sketch *sketch, double deviations,
                                       double *estimate, double *lower, double *upper,
                                       cst_error *error);

/* ---- "kmv": the number of different values, as tfx_bsl counts ----
 *
 * Gives exactly the results of tfx_bsl's KmvSketch with the same `buckets` (16384): by FarmHash's
 * Fingerprint64 of texts, of which the smallest are kept. 0 and -0 are two values here. Use it to
 * read and continue sketches saved by tfx_bsl; "distinct" is more accurate in less memory.
 * cst_sketch_distinct gives its estimate, and bounds with the relative standard deviation 1 /
 * sqrt(buckets - 2). Memory: at most 64 bytes per bucket, twice as much while it grows. */

/* Converts a sketch of "kmv", "heavy_hitters" or "misra_gries" to the serialized KmvSketch or
 * MisraGriesSketch of tfx_bsl (cst_free), and back; TFT's caches contain such bytes. misra_gries
 * keeps everything in a message. For heavy_hitters, the message has at most `size` values, each
 * with its lower bound as in tfx_bsl, and no placeholders; reading a message drops placeholders,
 * the order of ties and extra items, and integers become int64. The number of values is not part of
 * the message, and is 0 after reading. CST_INVALID_ARGUMENT for other kinds, CST_CORRUPT for other
 * bytes, CST_UNSUPPORTED for more buckets than the option allows, and for a placeholder that
 * contains a NUL. */
CST_API cst_status cst_sketch_to_tfx_bsl(const cst_sketch *sketch, char **bytes, size_t *size,
                                         cst_error *error);
CST_API cst_status cst_sketch_from_tfx_bsl(const char *kind, const void *bytes, size_t size,
                                           const cst_allocator *allocator, cst_sketch **out,
                                           cst_error *error);

/* ---- "heavy_hitters": the values with the largest weights ----
 *
 * Each value has a lower and an upper bound that always contain its true weight, in any order and
 * any tree of merges. No interval is wider than (weight of all values) / (size + 1), and no missing
 * value weighs more than that: every heavier value is present. Exact for up to 2 * size different
 * values. The methods are those of Misra and Gries (1982), the bounds of SpaceSaving (2005), and
 * the merging of Agarwal and others (2012).
 *
 * Weights are doubles: whole numbers are added exactly up to 2^53; a sum that would be infinite is
 * the largest double. Values of weight 0 are ignored. All NaN are one value, and 0 and -0 are one.
 *
 * A value longer than the option `longest` (4096 bytes) is kept and returned as its first `longest`
 * bytes; its size and a 64-bit hash distinguish it from others.
 *
 * Memory: at most 2 * size + 1 counters of 40 bytes, 4 to 8 times as many slots of 8 bytes, and for
 * values of more than 8 bytes twice their bytes, up to `longest` each: about 220 KB for short
 * values and the default size 1000; twice as much in total while it grows or merges. */

/* The `most` heaviest values as a struct array: `value` (int64, uint64 or double; large string if
 * all values were strings, otherwise large binary; type null without values), `lower` and `upper`
 * (double). They are sorted by upper bound, the largest first, and equal ones by value; NaN comes
 * last. Times are their numbers. A string is cut between characters. The caller releases *schema
 * and *array. CST_INVALID_ARGUMENT for a sketch of another kind, and for a negative number.
 *
 * For a sketch of the kind misra_gries, see there. */
CST_API cst_status cst_sketch_top(const cst_sketch *sketch, int64_t most,
                                  struct ArrowSchema *schema, struct ArrowArray *array,
                                  cst_error *error);

/* ---- "misra_gries": the values with the largest weights, as tfx_bsl counts ----
 *
 * Gives exactly the results of tfx_bsl's MisraGriesSketch with the same `buckets` (1000): use it to
 * continue sketches saved by tfx_bsl, and to write sketches that it reads. "heavy_hitters" is exact
 * for twice as many values and has narrower bounds. Values are texts: integers in digits (int64 and
 * uint64 may be added to one sketch); floats unchanged, where all NaN of one sign are one value,
 * but 0 and -0 are two. No weight is off by more than (weight of all values) / (buckets + 1).
 *
 * Values without weights may be replaced: bytes that are not UTF-8 by `invalid_text`, values longer
 * than `longest` bytes by `long_text`. Values with weights are never replaced.
 *
 * cst_sketch_top returns at most `buckets` values as large strings, or as large binary if some came
 * from binary columns or from a message: the heaviest first, and of equal ones the smallest, or
 * with `ties=largest` the largest text; then, up to the number of buckets, some whose `lower` is 0.
 * `upper` is the value of tfx_bsl. Floats have six digits ("0.1", "1e-05"), those whose `lower` is
 * 0 the form of "%a" in C, as in tfx_bsl.
 *
 * Memory: for each used bucket, 32 bytes and 2 to 4 slots of 8 bytes, twice as many while it grows
 * or merges, and at most four times the bytes of values of more than 8 bytes. */

/* ---- "histogram": how many numbers lie in buckets of equal width ---- */

/* The `buckets` buckets between the options `low` and `high`, one per row of "buckets", with `low`,
 * `high`, `count` and `weight`. The first row counts values below all buckets, the last row values
 * above; the total "num_nan" counts NaN. A bucket includes its low end, and the last one its high
 * end, too, as in numpy.histogram. Integers are compared as doubles. Results and bytes do not
 * depend on the order of values and merges. Memory: 8 bytes per bucket, with weights 64. *out:
 * cst_findings_free. */
CST_API cst_status cst_sketch_histogram(const cst_sketch *sketch, cst_findings **out,
                                        cst_error *error);

/* ---- "correlation": of the numbers of two columns ---- */

/* Pairs with NaN or an infinity are counted, and ignored otherwise. Undefined results are NaN:
 * without pairs, the correlation if all numbers of a column are equal, and the sample covariance of
 * a single pair. */
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

/* The results of a sketch of the kind "correlation". Sums are exact, so results and bytes do not
 * depend on the order of pairs and merges; all results are the doubles nearest to the true values,
 * except the correlation, which is within three units in the last place. Memory: at most 4 KB. */
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

/* The results of a sketch of the kind "mutual_information". For each column, the option `values`
 * (100) says how many values are counted individually: those with the smallest hashes. All other
 * values share the same number of cells, by their hashes. With more values, the information is
 * therefore that of coarser columns, which is never more than that of the columns. Put numbers that
 * hardly ever repeat into buckets before adding them. Weights have no effect. Results and bytes do
 * not depend on the order of pairs and merges (results up to the logarithms of the machine).
 * Memory: 48 to 96 bytes for each pair of values that occurs, at most 900 * values^2 and 100 KB. */
CST_API cst_status cst_sketch_mutual_information(const cst_sketch *sketch,
                                                 cst_mutual_information *out, cst_error *error);

/* ---- "quantiles": ranks of numbers ----
 *
 * The rank of x is the share of values that are <= x, or of their weight. A rank is wrong by more
 * than the option `error` (0.00001 to 0.5, by default 0.01) in fewer than 1 of 100 sketches: for
 * any values in any order, any weights, and any merges. Few values are exact. The method is KLL
 * (Karnin, Lang and Liberty, 2016), with its sampler.
 *
 * With the option `tails` ("low", "high" or "both"), ranks at that end are exact, and the error is
 * a share of the weight between the end and x, not of the total weight (REQ, Cormode and others,
 * 2021).
 *
 * -0 equals 0. Infinities are ordinary values. NaN has no rank: it is counted among the values, and
 * otherwise ignored; so are values of weight 0. The minimum and the maximum are exact. CST_LIMIT if
 * the sum of the weights is not finite. The same values in another order, or merged in another way,
 * give other bytes, and ranks within the same bound; so does another `seed`.
 *
 * Memory: at most 20 KB for an error of 0.01, 110 KB for 0.001, for any number of values. With
 * tails about 80 KB for a million values (both: 130 KB); it grows with the logarithm of their
 * number. */

/* For each i, the smallest value whose rank is at least ranks[i]; the minimum for 0, the maximum
 * for 1. The result is an array of int64, uint64 or double, as the values were: integers are exact.
 * Without values, all are null. CST_INVALID_ARGUMENT for ranks outside 0 to 1. */
CST_API cst_status cst_sketch_quantiles(const cst_sketch *sketch, const double *ranks,
                                        size_t num_ranks, struct ArrowSchema *schema,
                                        struct ArrowArray *array, cst_error *error);

/* ranks[i]: the share of values <= values[i], or < values[i] unless `is_inclusive`. NaN for NaN,
 * and without values. */
CST_API cst_status cst_sketch_ranks(const cst_sketch *sketch, const double *values,
                                    size_t num_values, bool is_inclusive, double *ranks,
                                    cst_error *error);

typedef enum cst_parts {
  CST_PARTS_EQUAL_DEPTH = 0, /* of the same weight, or nearly */
  CST_PARTS_EQUAL_WIDTH = 1
} cst_parts;

/* bounds[num_parts + 1] and weights[num_parts] of a histogram, by ranks. With equal depth, the
 * bounds run from the minimum to the maximum; a part includes its upper bound but not its lower one
 * (the first part includes both). With equal width, the bounds run from the smallest to the largest
 * finite value; a part includes its lower bound but not its upper one (the last part includes
 * both), and infinities are in no part. Without values, bounds are NaN and weights 0. */
CST_API cst_status cst_sketch_parts(const cst_sketch *sketch, cst_parts kind, size_t num_parts,
                                    double *bounds, double *weights, cst_error *error);

/* The weight of all values except NaN, and the number of NaN; `num_nans` may be NULL. */
CST_API cst_status cst_sketch_ranked(const cst_sketch *sketch, double *weight, int64_t *num_nans,
                                     cst_error *error);

/* Cuts the values into parts of equal or nearly equal weight: values[num_parts + 1], from the
 * minimum to the maximum, and for each the weight of all values up to it, itself included. For the
 * kinds "quantiles" and "quantile_summary"; integers as doubles. Without values, they are NaN and
 * the weights 0. */
CST_API cst_status cst_sketch_cuts(const cst_sketch *sketch, size_t num_parts, double *values,
                                   double *upto, cst_error *error);

/* ---- "quantile_summary": quantiles within a bound that always holds, as in tfx_bsl ----
 *
 * Gives exactly the results of tfx_bsl's QuantilesSketch with the same `error` (its eps; 0.01) and
 * `most` (its max_num_elements; 2^32) for the numbers of one stream, as doubles: use it to continue
 * sketches saved by tfx_bsl, and if results must not depend on chance. The rank of a value of
 * cst_sketch_cuts is wrong by at most the error, as a share of the weight, for up to `most` values
 * in any order, and after any merges; few values are exact. NaN and values of weight 0 are ignored.
 * Memory: about 100 log2(error * most) / error bytes, less for few values; "quantiles" needs less
 * for the same error, and computes ranks. */

/* Compacts a sketch of the kind "quantile_summary", once: a compacted sketch, or one merged with a
 * compacted one, stays unchanged. */
CST_API cst_status cst_sketch_compact(cst_sketch *sketch, cst_error *error);

/* Reads one stream of a pickled QuantilesSketch of tfx_bsl as a sketch of the kind
 * "quantile_summary", which continues as tfx_bsl would. *num_streams: the number of streams; *out
 * is NULL for a stream out of range, else cst_sketch_free. The number of values is not part of the
 * bytes, and is 0. CST_CORRUPT for other bytes. */
CST_API cst_status cst_sketch_from_tfx_bsl_stream(cst_bytes bytes, size_t stream,
                                                  const cst_allocator *allocator, cst_sketch **out,
                                                  size_t *num_streams, cst_error *error);

/* Adds one stream of a pickled QuantilesSketch of tfx_bsl to a sketch: of the kind
 * "quantile_summary", as tfx_bsl merges them, or "quantiles", as the values it kept, with weights
 * that give its ranks. *num_streams: the number of streams; a stream out of range adds nothing.
 * CST_CORRUPT for other bytes; then the sketch can only be freed. */
CST_API cst_status cst_sketch_add_tfx_bsl_stream(cst_sketch *sketch, cst_bytes bytes, size_t stream,
                                                 size_t *num_streams, cst_error *error);
/* Writes sketches of the kinds "quantile_summary" and "quantiles" as the streams of one pickled
 * QuantilesSketch, which tfx_bsl reads and continues; integers as doubles. *bytes: cst_free. */
CST_API cst_status cst_sketch_to_tfx_bsl_streams(const cst_sketch *const *sketches,
                                                 size_t num_sketches, char **bytes, size_t *size,
                                                 cst_error *error);

#ifdef __cplusplus
}
#endif

#endif /* COLUMNSTONE_SKETCH_H */
