// Parquet to record batches: a FileReader behind an ArrowArrayStream.
#include <arrow/c/bridge.h>
#include <arrow/io/file.h>
#include <arrow/record_batch.h>
#include <parquet/arrow/reader.h>
#include <parquet/arrow/schema.h>
#include <parquet/file_reader.h>

#include <cerrno>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "parquet.h"

namespace columnstone_parquet {
namespace {

// An open file. The reader of batches needs the reader of the file as long as it lives.
struct Reading {
  std::unique_ptr<parquet::arrow::FileReader> file;
  std::unique_ptr<arrow::RecordBatchReader> batches;
  std::string last_error;
};

void AddLeaves(const parquet::arrow::SchemaField &field, std::vector<int> *leaves) {
  if (field.is_leaf()) leaves->push_back(field.column_index);
  for (const auto &child : field.children) AddLeaves(child, leaves);
}

const parquet::arrow::SchemaField *FindField(const parquet::arrow::SchemaManifest &manifest,
                                             const std::string &name) {
  for (const auto &field : manifest.schema_fields) {
    if (field.field->name() == name) return &field;
  }
  return nullptr;
}

// The leaf columns of the wanted top-level columns, in the wanted order. `*missing`: the first name
// that the file does not have.
std::vector<int> WantedLeaves(const parquet::arrow::SchemaManifest &manifest,
                              const cst_plugin_read_options &options, const char **missing) {
  std::vector<int> leaves;
  if (options.columns == nullptr) {
    for (const auto &field : manifest.schema_fields) AddLeaves(field, &leaves);
    return leaves;
  }
  for (size_t i = 0; i < options.num_columns; i++) {
    const auto *field = FindField(manifest, options.columns[i]);
    if (field == nullptr) {
      *missing = options.columns[i];
      return {};
    }
    AddLeaves(*field, &leaves);
  }
  return leaves;
}

arrow::Status OpenFile(const char *path, const cst_plugin_read_options &options, Reading *reading) {
  ARROW_ASSIGN_OR_RAISE(auto input, arrow::io::ReadableFile::Open(path, Pool()));
  parquet::ReaderProperties properties(Pool());
  properties.set_page_checksum_verification(true);
  properties.enable_buffered_stream();  // a column chunk is read in parts, not as a whole
  parquet::ArrowReaderProperties arrow_properties(options.threads > 1);
  arrow_properties.set_batch_size(options.batch_size);
  arrow_properties.set_pre_buffer(false);
  parquet::arrow::FileReaderBuilder builder;
  ARROW_RETURN_NOT_OK(builder.Open(std::move(input), properties));
  builder.memory_pool(Pool());
  builder.properties(arrow_properties);
  return builder.Build(&reading->file);
}

arrow::Status OpenBatches(const std::vector<int> &leaves, Reading *reading) {
  std::vector<int> row_groups(static_cast<size_t>(reading->file->num_row_groups()));
  std::iota(row_groups.begin(), row_groups.end(), 0);
  return reading->file->GetRecordBatchReader(row_groups, leaves).Value(&reading->batches);
}

// ---- the stream ----

Reading *Of(struct ArrowArrayStream *stream) {
  return static_cast<Reading *>(stream->private_data);
}

// The errno values of the plug-in interface.
int Errno(struct ArrowArrayStream *stream, const arrow::Status &status) {
  if (status.ok()) return 0;
  try {
    Of(stream)->last_error = Message(status);
  } catch (...) {
    return ENOMEM;
  }
  if (status.IsOutOfMemory()) return ENOMEM;
  if (IsSystemFault(status)) return EIO;
  return status.IsNotImplemented() ? ENOTSUP : EINVAL;
}

int GetSchema(struct ArrowArrayStream *stream, struct ArrowSchema *out) {
  return Errno(stream,
               Guarded([&] { return arrow::ExportSchema(*Of(stream)->batches->schema(), out); }));
}

int GetNext(struct ArrowArrayStream *stream, struct ArrowArray *out) {
  return Errno(stream, Guarded([&]() -> arrow::Status {
                 std::shared_ptr<arrow::RecordBatch> batch;
                 ARROW_RETURN_NOT_OK(Of(stream)->batches->ReadNext(&batch));
                 if (batch == nullptr) {
                   out->release = nullptr;
                   return arrow::Status::OK();
                 }
                 return arrow::ExportRecordBatch(*batch, out);
               }));
}

const char *GetLastError(struct ArrowArrayStream *stream) { return Of(stream)->last_error.c_str(); }

void Release(struct ArrowArrayStream *stream) {
  (void)Guarded([&] {
    delete Of(stream);
    return arrow::Status::OK();
  });
  stream->release = nullptr;
}

cst_status FailMissing(const char *name, cst_error *error) {
  Fail(CST_NOT_FOUND, "the Parquet file has no such column", nullptr, error);
  std::snprintf(error->path, sizeof error->path, "%s", name);
  return CST_NOT_FOUND;
}

}  // namespace

cst_status Open(const char *path, const cst_plugin_read_options *options,
                struct ArrowArrayStream *out, cst_error *error) noexcept {
  std::unique_ptr<Reading> reading;
  const char *missing = nullptr;
  arrow::Status status = Guarded([&]() -> arrow::Status {
    reading = std::make_unique<Reading>();
    ARROW_RETURN_NOT_OK(OpenFile(path, *options, reading.get()));
    std::vector<int> leaves = WantedLeaves(reading->file->manifest(), *options, &missing);
    return missing != nullptr ? arrow::Status::OK() : OpenBatches(leaves, reading.get());
  });
  if (!status.ok()) {
    return Fail(status, CST_CORRUPT, "write the file anew, or check that it is Parquet", error);
  }
  if (missing != nullptr) return FailMissing(missing, error);
  out->get_schema = GetSchema;
  out->get_next = GetNext;
  out->get_last_error = GetLastError;
  out->release = Release;
  out->private_data = reading.release();
  return CST_OK;
}

}  // namespace columnstone_parquet
