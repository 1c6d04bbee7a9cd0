// Parquet to record batches: a FileReader behind an ArrowArrayStream.
#include <arrow/c/bridge.h>
#include <arrow/io/file.h>
#include <arrow/record_batch.h>
#include <parquet/arrow/reader.h>
#include <parquet/arrow/schema.h>
#include <parquet/file_reader.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "counts.h"
#include "parquet.h"
#include "pool.h"

namespace columnstone_parquet {
namespace {

// An open file. The reader of batches needs the reader of the file as long as it lives.
struct Reading {
  explicit Reading(uint64_t max_memory) : pool(LimitedPool::Make(max_memory)) {}
  struct Releaser {
    void operator()(LimitedPool *p) const { p->Release(); }
  };
  std::unique_ptr<LimitedPool, Releaser> pool;  // first: all else may hold memory of it
  std::unique_ptr<parquet::arrow::FileReader> file;
  std::vector<std::vector<int>> leaves;  // of each wanted column
  std::shared_ptr<arrow::Schema> schema;
  int group = 0;                                      // the row group that is read
  std::unique_ptr<arrow::RecordBatchReader> batches;  // of it; NULL between row groups
  std::unique_ptr<Counts> counts;                     // of it
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

bool IsMap(const parquet::arrow::SchemaField &field) {
  return field.field->type()->id() == arrow::Type::MAP;
}

// Adds the leaves that the path leads to from its step `at` on: those of a child of that name,
// below lists, or all of them, where there is no such child, no more steps, or a map, which is read
// whole.
void AddPath(const parquet::arrow::SchemaField &field, const cst_path &path, size_t at,
             std::vector<int> *leaves) {
  const auto type = field.field->type()->id();
  const bool is_list = type == arrow::Type::LIST || type == arrow::Type::LARGE_LIST ||
                       type == arrow::Type::FIXED_SIZE_LIST;
  if (is_list && field.children.size() == 1) return AddPath(field.children[0], path, at, leaves);
  if (at < path.count && !IsMap(field)) {
    for (const auto &child : field.children) {
      if (child.field->name() == path.steps[at]) return AddPath(child, path, at + 1, leaves);
    }
  }
  AddLeaves(field, leaves);
}

// The leaves of a column that are looked at, in the order of the file.
void AddLookedAt(const parquet::arrow::SchemaField &field, const cst_plugin_read_options &options,
                 std::vector<int> *leaves) {
  const bool has_paths =
      options.size >= offsetof(cst_plugin_read_options, num_paths) + sizeof options.num_paths &&
      options.paths != nullptr;
  for (size_t i = 0; has_paths && i < options.num_paths; i++) {
    const cst_path &path = options.paths[i];
    if (field.field->name() == path.steps[0]) AddPath(field, path, 1, leaves);
  }
  if (leaves->empty()) AddLeaves(field, leaves);
  std::sort(leaves->begin(), leaves->end());
  leaves->erase(std::unique(leaves->begin(), leaves->end()), leaves->end());
}

// The leaves of each wanted top-level column, in the wanted order. `*missing`: the first name that
// the file does not have.
std::vector<std::vector<int>> WantedLeaves(const parquet::arrow::SchemaManifest &manifest,
                                           const cst_plugin_read_options &options,
                                           const char **missing) {
  std::vector<std::vector<int>> leaves;
  if (options.columns == nullptr) {
    for (const auto &field : manifest.schema_fields) AddLeaves(field, &leaves.emplace_back());
    return leaves;
  }
  for (size_t i = 0; i < options.num_columns; i++) {
    const auto *field = FindField(manifest, options.columns[i]);
    if (field == nullptr) {
      *missing = options.columns[i];
      return {};
    }
    AddLookedAt(*field, options, &leaves.emplace_back());
  }
  return leaves;
}

arrow::Status OpenFile(const char *path, const cst_plugin_read_options &options, Reading *reading) {
  ARROW_ASSIGN_OR_RAISE(auto input, arrow::io::ReadableFile::Open(path, reading->pool.get()));
  parquet::ReaderProperties properties(reading->pool.get());
  properties.set_page_checksum_verification(true);
  properties.enable_buffered_stream();  // a column chunk is read in parts, not as a whole
  parquet::ArrowReaderProperties arrow_properties(options.threads > 1);
  arrow_properties.set_batch_size(options.batch_size);
  arrow_properties.set_pre_buffer(false);
  parquet::arrow::FileReaderBuilder builder;
  ARROW_RETURN_NOT_OK(builder.Open(std::move(input), properties));
  builder.memory_pool(reading->pool.get());
  builder.properties(arrow_properties);
  return builder.Build(&reading->file);
}

std::vector<int> Joined(const std::vector<std::vector<int>> &leaves) {
  std::vector<int> all;
  for (const auto &some : leaves) all.insert(all.end(), some.begin(), some.end());
  return all;
}

// The schema is that of a reader of no row groups.
arrow::Status OpenBatches(Reading *reading) {
  ARROW_RETURN_NOT_OK(CheckFooter(*reading->file));
  ARROW_RETURN_NOT_OK(
      reading->pool->CheckRows(reading->file->parquet_reader()->metadata()->num_rows()));
  ARROW_ASSIGN_OR_RAISE(auto none,
                        reading->file->GetRecordBatchReader({}, Joined(reading->leaves)));
  reading->schema = none->schema();
  return arrow::Status::OK();
}

// ---- row groups ----

arrow::Status OpenGroup(Reading *reading) {
  ARROW_ASSIGN_OR_RAISE(reading->batches, reading->file->GetRecordBatchReader(
                                              {reading->group}, Joined(reading->leaves)));
  reading->counts = std::make_unique<Counts>(*reading->file, reading->group, reading->leaves);
  return arrow::Status::OK();
}

// The next batch of the row group that is open; NULL at its end, where it has to be complete.
arrow::Status NextOfGroup(Reading *reading, std::shared_ptr<arrow::RecordBatch> *out) {
  if (reading->batches == nullptr) ARROW_RETURN_NOT_OK(OpenGroup(reading));
  ARROW_RETURN_NOT_OK(reading->batches->ReadNext(out));
  return *out != nullptr ? reading->counts->Add(**out) : reading->counts->Check();
}

// What is wrong with the first of the wanted columns that cannot be read alone; OK if all can.
arrow::Status FindDamage(Reading *reading) {
  for (const auto &leaves : reading->leaves) {
    std::string name;
    arrow::Status status = Guarded([&]() -> arrow::Status {
      ARROW_ASSIGN_OR_RAISE(auto batches,
                            reading->file->GetRecordBatchReader({reading->group}, leaves));
      name = batches->schema()->field(0)->name();
      Counts counts(*reading->file, reading->group, {leaves});
      std::shared_ptr<arrow::RecordBatch> batch;
      do {
        ARROW_RETURN_NOT_OK(batches->ReadNext(&batch));
        if (batch != nullptr) ARROW_RETURN_NOT_OK(counts.Add(*batch));
      } while (batch != nullptr);
      return counts.Check();
    });
    if (!status.ok()) return status.WithMessage("column '", name, "': ", Message(status));
  }
  return arrow::Status::OK();
}

// The failure with the row group, and the column that is damaged, if one is by itself.
arrow::Status Placed(Reading *reading, const arrow::Status &status) {
  if (status.IsOutOfMemory() || IsSystemFault(status)) return status;
  arrow::Status damage = FindDamage(reading);
  const arrow::Status &cause = damage.ok() ? status : damage;
  return cause.WithMessage("row group ", reading->group, ": ", Message(cause));
}

arrow::Status Next(Reading *reading, std::shared_ptr<arrow::RecordBatch> *out) {
  *out = nullptr;
  while (*out == nullptr && reading->group < reading->file->num_row_groups()) {
    arrow::Status status = Guarded([&] { return NextOfGroup(reading, out); });
    if (!status.ok()) return Placed(reading, status);
    if (*out == nullptr) {
      reading->batches = nullptr;
      reading->group++;
    }
  }
  return arrow::Status::OK();
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
  if (status.IsOutOfMemory()) return Of(stream)->pool->exceeded() ? EFBIG : ENOMEM;
  if (IsSystemFault(status)) return EIO;
  return status.IsNotImplemented() ? ENOTSUP : EINVAL;
}

int GetSchema(struct ArrowArrayStream *stream, struct ArrowSchema *out) {
  return Errno(stream, Guarded([&] { return arrow::ExportSchema(*Of(stream)->schema, out); }));
}

int GetNext(struct ArrowArrayStream *stream, struct ArrowArray *out) {
  return Errno(stream, Guarded([&]() -> arrow::Status {
                 std::shared_ptr<arrow::RecordBatch> batch;
                 ARROW_RETURN_NOT_OK(Next(Of(stream), &batch));
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

uint64_t MaxMemory(const cst_plugin_read_options &options) {
  const size_t end = offsetof(cst_plugin_read_options, max_memory) + sizeof options.max_memory;
  return options.size >= end ? options.max_memory : UINT64_MAX;
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
    reading = std::make_unique<Reading>(MaxMemory(*options));
    ARROW_RETURN_NOT_OK(OpenFile(path, *options, reading.get()));
    reading->leaves = WantedLeaves(reading->file->manifest(), *options, &missing);
    return missing != nullptr ? arrow::Status::OK() : OpenBatches(reading.get());
  });
  if (status.IsOutOfMemory() && reading != nullptr && reading->pool->exceeded()) {
    return Fail(CST_LIMIT, Message(status), "if you trust the file, raise max_inflation", error);
  }
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
