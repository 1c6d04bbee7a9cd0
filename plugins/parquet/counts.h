/* What a row group delivers, against the numbers of rows and values that the file's footer tells: a
 * reader passes over a page whose header is damaged, and says nothing.
 */
#ifndef PLUGINS_PARQUET_COUNTS_H
#define PLUGINS_PARQUET_COUNTS_H

#include <arrow/record_batch.h>
#include <arrow/status.h>
#include <parquet/arrow/reader.h>

#include <vector>

namespace columnstone_parquet {

// Invalid if the row groups do not make up the file's rows, or the columns of the first one have
// other names than those of the schema: no checksum covers the footer.
arrow::Status CheckFooter(const parquet::arrow::FileReader &file);

// The rows of one row group, and the values of its columns, counted as they come.
class Counts {
 public:
  // leaves: of each column that is read.
  Counts(const parquet::arrow::FileReader &file, int group,
         const std::vector<std::vector<int>> &leaves);
  arrow::Status Add(const arrow::RecordBatch &batch);
  // Invalid if the row group, which has been read to its end, is not complete.
  arrow::Status Check() const;

 private:
  std::unique_ptr<parquet::RowGroupMetaData> group_;
  std::vector<int> leaves_;
  std::vector<int64_t> values_;  // of each leaf
  int64_t rows_ = 0;
};

}  // namespace columnstone_parquet

#endif  // PLUGINS_PARQUET_COUNTS_H
