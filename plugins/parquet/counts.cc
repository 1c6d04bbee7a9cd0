// Counting the values of Arrow data as Parquet counts them: nulls and empty lists are one.
#include "counts.h"

#include <arrow/array.h>
#include <arrow/extension_type.h>
#include <arrow/util/checked_cast.h>
#include <parquet/file_reader.h>
#include <parquet/metadata.h>

namespace columnstone_parquet {
namespace {

using arrow::internal::checked_cast;

// Takes the counts of one array's leaves in order.
class Leaves {
 public:
  explicit Leaves(std::vector<int64_t> *values) : values_(values) {}

  // `above`: what the lists around the array have without values.
  arrow::Status Visit(const arrow::Array &array, int64_t above) {
    switch (array.type_id()) {
      case arrow::Type::EXTENSION:
        return Visit(*checked_cast<const arrow::ExtensionArray &>(array).storage(), above);
      case arrow::Type::STRUCT:
        return VisitStruct(checked_cast<const arrow::StructArray &>(array), above);
      case arrow::Type::LIST:
      case arrow::Type::MAP:
        return VisitLists(checked_cast<const arrow::ListArray &>(array), above);
      case arrow::Type::LARGE_LIST:
        return VisitLists(checked_cast<const arrow::LargeListArray &>(array), above);
      case arrow::Type::LIST_VIEW:
        return VisitLists(checked_cast<const arrow::ListViewArray &>(array), above);
      case arrow::Type::LARGE_LIST_VIEW:
        return VisitLists(checked_cast<const arrow::LargeListViewArray &>(array), above);
      case arrow::Type::FIXED_SIZE_LIST:
        return VisitLists(checked_cast<const arrow::FixedSizeListArray &>(array), above);
      default:
        return Count(array.length() + above);
    }
  }

  size_t place() const { return place_; }

 private:
  arrow::Status Count(int64_t count) {
    if (place_ >= values_->size()) return arrow::Status::Invalid("the columns are not the file's");
    (*values_)[place_++] += count;
    return arrow::Status::OK();
  }

  arrow::Status VisitStruct(const arrow::StructArray &array, int64_t above) {
    for (int i = 0; i < array.num_fields(); i++) {
      ARROW_RETURN_NOT_OK(Visit(*array.field(i), above));
    }
    return arrow::Status::OK();
  }

  template <typename Lists>
  arrow::Status VisitLists(const Lists &lists, int64_t above) {
    int64_t without = 0;
    for (int64_t i = 0; i < lists.length(); i++) {
      without += lists.IsNull(i) || lists.value_length(i) == 0;
    }
    if constexpr (std::is_base_of_v<arrow::ListArray, Lists> ||
                  std::is_base_of_v<arrow::LargeListArray, Lists>) {
      // What a reader of Parquet makes has no values behind nulls.
      int64_t first = lists.value_offset(0);
      auto values = lists.values()->Slice(first, lists.value_offset(lists.length()) - first);
      return Visit(*values, above + without);
    } else {
      ARROW_ASSIGN_OR_RAISE(auto values, lists.Flatten());
      return Visit(*values, above + without);
    }
  }

  std::vector<int64_t> *values_;
  size_t place_ = 0;
};

}  // namespace

arrow::Status CheckFooter(const parquet::arrow::FileReader &file) {
  std::shared_ptr<parquet::FileMetaData> metadata = file.parquet_reader()->metadata();
  int64_t rows = 0;
  for (int i = 0; i < metadata->num_row_groups(); i++) {
    int64_t count = metadata->RowGroup(i)->num_rows();
    if (count < 0 || __builtin_add_overflow(rows, count, &rows)) {
      return arrow::Status::Invalid("the footer is damaged: row group ", i, " has ", count,
                                    " rows");
    }
  }
  if (rows != metadata->num_rows()) {
    return arrow::Status::Invalid("the footer is damaged: the file has ", metadata->num_rows(),
                                  " rows, but its row groups have ", rows);
  }
  for (int i = 0; metadata->num_row_groups() > 0 && i < metadata->num_columns(); i++) {
    auto chunk = metadata->RowGroup(0)->ColumnChunk(i);
    auto path = metadata->schema()->Column(i)->path();
    if (path->ToDotVector() != chunk->path_in_schema()->ToDotVector()) {
      return arrow::Status::Invalid("the footer is damaged: it has two names for column ", i);
    }
  }
  return arrow::Status::OK();
}

Counts::Counts(const parquet::arrow::FileReader &file, int group,
               const std::vector<std::vector<int>> &leaves)
    : group_(file.parquet_reader()->metadata()->RowGroup(group)) {
  for (const auto &some : leaves) leaves_.insert(leaves_.end(), some.begin(), some.end());
  values_.resize(leaves_.size());
}

arrow::Status Counts::Add(const arrow::RecordBatch &batch) {
  Leaves leaves(&values_);
  rows_ += batch.num_rows();
  for (const auto &column : batch.columns()) ARROW_RETURN_NOT_OK(leaves.Visit(*column, 0));
  return leaves.place() == values_.size()
             ? arrow::Status::OK()
             : arrow::Status::Invalid("the columns are not the file's");
}

arrow::Status Counts::Check() const {
  if (rows_ != group_->num_rows()) {
    return arrow::Status::Invalid("found ", rows_, " rows, expected ", group_->num_rows(),
                                  " as in the footer");
  }
  for (size_t i = 0; i < leaves_.size(); i++) {
    int64_t told = group_->ColumnChunk(leaves_[i])->num_values();
    if (rows_ > 0 && values_[i] != told) {
      return arrow::Status::Invalid("found ", values_[i], " values, expected ", told,
                                    " as in the footer");
    }
  }
  return arrow::Status::OK();
}

}  // namespace columnstone_parquet
