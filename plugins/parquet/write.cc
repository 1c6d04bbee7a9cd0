// Record batches to Parquet: zstd, statistics, page checksums, row groups of at most 24 MiB of
// data. Small batches are gathered, so that a column is encoded for many rows at once; with
// threads, the columns in parallel.
#include <arrow/array.h>
#include <arrow/array/concatenate.h>
#include <arrow/c/bridge.h>
#include <arrow/io/file.h>
#include <arrow/record_batch.h>
#include <arrow/type_traits.h>
#include <arrow/util/byte_size.h>
#include <parquet/arrow/writer.h>
#include <parquet/properties.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "parquet.h"

namespace columnstone_parquet {
namespace {

constexpr int64_t kGroupBytes = 24 << 20;

// Batches are gathered to so much data before they are encoded.
constexpr int64_t kPartBytes = 8 << 20;

// A dictionary takes several times its size while it is built, in every column at once, and so does
// an open page. Small limits keep the memory of a row group near the size of its data.
constexpr int64_t kDictionaryBytes = 64 << 10;
constexpr int64_t kPageBytes = 128 << 10;

// So many bytes of addresses must be free before Arrow's threads begin a part: one that gets no
// memory ends the process. When they start, they take more, for their stacks and heaps.
constexpr size_t kFreeToStart = 256 << 20;
constexpr size_t kFreeToGoOn = 64 << 20;

struct Writing {
  std::shared_ptr<arrow::Schema> schema;
  std::shared_ptr<arrow::io::FileOutputStream> sink;
  std::unique_ptr<parquet::arrow::FileWriter> writer;
  int64_t group_bytes = kGroupBytes;
  bool has_threads = false;
  bool has_begun = false;
  bool gathers = false;
  std::vector<std::shared_ptr<arrow::RecordBatch>> gathered;
  int64_t gathered_bytes = 0;
  int64_t pending = 0;  // bytes of data in the row group that is open
  pid_t process = getpid();
};

void ReleaseNothing(struct ArrowSchema *schema) { schema->release = nullptr; }

// Importing takes a schema over; this one is lent.
arrow::Result<std::shared_ptr<arrow::Schema>> ImportLent(const struct ArrowSchema *schema) {
  struct ArrowSchema lent = *schema;
  lent.release = ReleaseNothing;
  return arrow::ImportSchema(&lent);
}

// ---- what Arrow writes, and nobody can read again ----

bool IsStrictList(const arrow::Field &field) {
  return field.type()->id() == arrow::Type::FIXED_SIZE_LIST && !field.nullable();
}

// True if a list of a fixed size that is not nullable is inside of it.
bool HasStrictLists(const arrow::DataType &type) {
  return std::any_of(type.fields().begin(), type.fields().end(), [](const auto &field) {
    return IsStrictList(*field) || HasStrictLists(*field->type());
  });
}

// Of a fixed_size_list of size 0 nothing is left in the file.
arrow::Status CheckType(const arrow::DataType &type) {
  if (type.id() == arrow::Type::FIXED_SIZE_LIST &&
      static_cast<const arrow::FixedSizeListType &>(type).list_size() == 0) {
    return arrow::Status::NotImplemented("Parquet cannot hold a fixed_size_list of size 0");
  }
  for (const auto &field : type.fields()) ARROW_RETURN_NOT_OK(CheckType(*field->type()));
  return arrow::Status::OK();
}

// The items of the lists that are not null.
arrow::Result<std::shared_ptr<arrow::Array>> Items(const arrow::Array &lists) {
  switch (lists.type_id()) {
    case arrow::Type::LIST:
      return static_cast<const arrow::ListArray &>(lists).Flatten();
    case arrow::Type::LARGE_LIST:
      return static_cast<const arrow::LargeListArray &>(lists).Flatten();
    default:
      return static_cast<const arrow::FixedSizeListArray &>(lists).Flatten();
  }
}

// Refuses a null struct with such a list: it has no items in the file then, and its readers expect
// as many as ever. `in_null`: a struct around this one, below all lists, has nulls.
arrow::Status CheckLists(const arrow::Field &field, const arrow::Array &array, bool in_null) {
  if (!IsStrictList(field) && !HasStrictLists(*field.type())) return arrow::Status::OK();
  if (IsStrictList(field) && in_null) {
    return arrow::Status::NotImplemented("field '", field.name(), "': a null struct around ",
                                         field.type()->ToString(), ", which is not nullable");
  }
  const auto inner = [&](int i) -> const arrow::Field & { return *field.type()->field(i); };
  switch (array.type_id()) {
    case arrow::Type::STRUCT: {
      const auto &fields = static_cast<const arrow::StructArray &>(array);
      for (int i = 0; i < fields.num_fields(); i++) {
        ARROW_RETURN_NOT_OK(
            CheckLists(inner(i), *fields.field(i), in_null || array.null_count() > 0));
      }
      return arrow::Status::OK();
    }
    case arrow::Type::LIST:
    case arrow::Type::LARGE_LIST:
    case arrow::Type::FIXED_SIZE_LIST: {
      ARROW_ASSIGN_OR_RAISE(auto items, Items(array));
      return CheckLists(inner(0), *items, false);
    }
    case arrow::Type::MAP: {
      const auto &map = static_cast<const arrow::MapArray &>(array);
      return CheckLists(*map.map_type()->item_field(), *map.items(), false);
    }
    default:
      return arrow::Status::OK();
  }
}

std::shared_ptr<parquet::WriterProperties> Properties(const cst_plugin_write_options &options) {
  parquet::WriterProperties::Builder builder;
  builder.memory_pool(Pool());
  builder.compression(parquet::Compression::ZSTD);
  if (options.level != 0) builder.compression_level(options.level);
  builder.dictionary_pagesize_limit(kDictionaryBytes);
  builder.data_pagesize(kPageBytes);
  builder.enable_statistics();
  builder.enable_page_checksum();
  return builder.build();
}

// Whether arrow::Concatenate copies all that such an array refers to; dictionaries and the blocks
// of views it shares.
bool IsCopiedWhole(const arrow::DataType &type) {
  using arrow::Type;
  switch (type.id()) {
    case Type::STRING:
    case Type::NA:
    case Type::FIXED_SIZE_BINARY:
    case Type::BINARY:
    case Type::LARGE_STRING:
    case Type::LARGE_BINARY:
      return true;
    case Type::LIST:
    case Type::LARGE_LIST:
    case Type::FIXED_SIZE_LIST:
    case Type::MAP:
    case Type::STRUCT:
      return std::all_of(type.fields().begin(), type.fields().end(),
                         [](const auto &field) { return IsCopiedWhole(*field->type()); });
    default:
      return arrow::is_primitive(type.id()) || arrow::is_decimal(type.id());
  }
}

bool MayUseThreads(const cst_plugin_write_options &options) {
  const size_t end = offsetof(cst_plugin_write_options, threads) + sizeof options.threads;
  return options.size >= end && options.threads > 1;
}

arrow::Status OpenWriter(const char *path, const struct ArrowSchema *schema,
                         const cst_plugin_write_options &options, Writing *writing) {
  ARROW_ASSIGN_OR_RAISE(writing->schema, ImportLent(schema));
  ARROW_RETURN_NOT_OK(CheckType(*arrow::struct_(writing->schema->fields())));
  ARROW_ASSIGN_OR_RAISE(writing->sink, arrow::io::FileOutputStream::Open(path));
  parquet::ArrowWriterProperties::Builder arrow_properties;
  writing->has_threads = MayUseThreads(options);
  arrow_properties.store_schema()->set_use_threads(writing->has_threads);
  ARROW_ASSIGN_OR_RAISE(writing->writer, parquet::arrow::FileWriter::Open(
                                             *writing->schema, Pool(), writing->sink,
                                             Properties(options), arrow_properties.build()));
  if (options.group_bytes > 0) writing->group_bytes = options.group_bytes;
  writing->gathers = IsCopiedWhole(arrow::StructType(writing->schema->fields()));
  return arrow::Status::OK();
}

arrow::Status CheckMemory(Writing *writing) {
  if (!writing->has_threads) return arrow::Status::OK();
  const size_t size = std::exchange(writing->has_begun, true) ? kFreeToGoOn : kFreeToStart;
  void *room = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room == MAP_FAILED) return arrow::Status::OutOfMemory("too little memory for threads");
  munmap(room, size);
  return arrow::Status::OK();
}

// Writes rows that fit into one row group, into a new one where the open one has no room for them.
arrow::Status WritePart(Writing *writing, const arrow::RecordBatch &part, int64_t bytes) {
  ARROW_RETURN_NOT_OK(CheckMemory(writing));
  if (writing->pending > 0 && writing->pending + bytes > writing->group_bytes) {
    ARROW_RETURN_NOT_OK(writing->writer->NewBufferedRowGroup());
    writing->pending = 0;
  }
  ARROW_RETURN_NOT_OK(writing->writer->WriteRecordBatch(part));
  writing->pending += bytes;
  return arrow::Status::OK();
}

// Cuts a batch that is larger than a row group into halves.
arrow::Status WriteRows(Writing *writing, const std::shared_ptr<arrow::RecordBatch> &rows) {
  ARROW_ASSIGN_OR_RAISE(int64_t bytes, arrow::util::ReferencedBufferSize(*rows));
  if (bytes <= writing->group_bytes || rows->num_rows() <= 1) {
    return WritePart(writing, *rows, bytes);
  }
  int64_t half = rows->num_rows() / 2;
  ARROW_RETURN_NOT_OK(WriteRows(writing, rows->Slice(0, half)));
  return WriteRows(writing, rows->Slice(half));
}

// The rows of all batches as one, in memory of its own.
arrow::Result<std::shared_ptr<arrow::RecordBatch>> Joined(
    const std::vector<std::shared_ptr<arrow::RecordBatch>> &batches) {
  std::vector<std::shared_ptr<arrow::Array>> columns;
  int64_t num_rows = 0;
  for (const auto &batch : batches) num_rows += batch->num_rows();
  for (int i = 0; i < batches[0]->num_columns(); i++) {
    arrow::ArrayVector pieces;
    for (const auto &batch : batches) pieces.push_back(batch->column(i));
    ARROW_ASSIGN_OR_RAISE(auto column, arrow::Concatenate(pieces, Pool()));
    columns.push_back(std::move(column));
  }
  return arrow::RecordBatch::Make(batches[0]->schema(), num_rows, std::move(columns));
}

arrow::Status WriteGathered(Writing *writing) {
  if (writing->gathered.empty()) return arrow::Status::OK();
  ARROW_ASSIGN_OR_RAISE(auto rows, Joined(writing->gathered));
  writing->gathered.clear();
  writing->gathered_bytes = 0;
  return WriteRows(writing, rows);
}

// Writes the rows, or copies them for later: their memory is lent.
arrow::Status Gather(Writing *writing, const std::shared_ptr<arrow::RecordBatch> &rows) {
  ARROW_ASSIGN_OR_RAISE(int64_t bytes, arrow::util::ReferencedBufferSize(*rows));
  if (!writing->gathers || bytes >= kPartBytes) {
    ARROW_RETURN_NOT_OK(WriteGathered(writing));
    return WriteRows(writing, rows);
  }
  ARROW_ASSIGN_OR_RAISE(auto copy, Joined({rows}));
  writing->gathered.push_back(std::move(copy));
  writing->gathered_bytes += bytes;
  return writing->gathered_bytes >= std::min(kPartBytes, writing->group_bytes)
             ? WriteGathered(writing)
             : arrow::Status::OK();
}

}  // namespace

cst_status Create(const char *path, const struct ArrowSchema *schema,
                  const cst_plugin_write_options *options, void **writer,
                  cst_error *error) noexcept {
  std::unique_ptr<Writing> writing;
  arrow::Status status = Guarded([&] {
    writing = std::make_unique<Writing>();
    return OpenWriter(path, schema, *options, writing.get());
  });
  if (!status.ok()) {
    return Fail(status, CST_UNSUPPORTED, "leave the column out, or write Arrow", error);
  }
  *writer = writing.release();
  return CST_OK;
}

static cst_status EndWrite(const arrow::Status &status, cst_error *error) {
  return status.ok() ? CST_OK
                     : Fail(status, CST_UNSUPPORTED, "leave the column out, or write Arrow", error);
}

cst_status Write(void *writer, struct ArrowArray *batch, cst_error *error) noexcept {
  auto *writing = static_cast<Writing *>(writer);
  if (writing->schema->num_fields() == 0 && batch->length > 0) {
    batch->release(batch);
    return Fail(CST_UNSUPPORTED, "a Parquet file without columns has no rows", "write Arrow",
                error);
  }
  arrow::Status status = Guarded([&]() -> arrow::Status {
    ARROW_ASSIGN_OR_RAISE(auto rows, arrow::ImportRecordBatch(batch, writing->schema));
    for (int i = 0; i < rows->num_columns(); i++) {
      ARROW_RETURN_NOT_OK(CheckLists(*rows->schema()->field(i), *rows->column(i), false));
    }
    return Gather(writing, rows);
  });
  if (batch->release != nullptr) batch->release(batch);
  return EndWrite(status, error);
}

cst_status Finish(void *writer, cst_error *error) noexcept {
  auto *writing = static_cast<Writing *>(writer);
  arrow::Status status = Guarded([&] { return WriteGathered(writing); });
  if (!status.ok()) return EndWrite(status, error);
  status = Guarded([&]() -> arrow::Status {
    ARROW_RETURN_NOT_OK(writing->writer->Close());
    return writing->sink->Close();
  });
  return status.ok() ? CST_OK : Fail(status, CST_IO, nullptr, error);
}

void Free(void *writer) noexcept {
  (void)Guarded([&] {
    auto *writing = static_cast<Writing *>(writer);
    // A forked child would write the end of the file that its parent goes on to write.
    if (writing->process == getpid()) delete writing;
    return arrow::Status::OK();
  });
}

}  // namespace columnstone_parquet
