/* What the two halves of the Parquet plug-in share: errors of Arrow C++ as cst_error, and the wall
 * that no exception passes.
 */
#ifndef PLUGINS_PARQUET_PARQUET_H
#define PLUGINS_PARQUET_PARQUET_H

#include <arrow/memory_pool.h>
#include <arrow/status.h>
#include <columnstone/format.h>
#include <parquet/exception.h>

#include <exception>
#include <new>
#include <string>

namespace columnstone_parquet {

// Where all of Arrow's memory comes from: Arrow's pool keeps blocks for the next use.
inline arrow::MemoryPool *Pool() { return arrow::default_memory_pool(); }

// The first line of a status' message, without the path of the file, which the host adds; and what
// the system said.
std::string Message(const arrow::Status &status);

// True if the system refused, false if the data is damaged.
bool IsSystemFault(const arrow::Status &status);

// Fills the error; `otherwise` is the code for what Arrow calls invalid, which the hint is for.
cst_status Fail(const arrow::Status &status, cst_status otherwise, const char *hint,
                cst_error *error);
cst_status Fail(cst_status code, const std::string &message, const char *hint, cst_error *error);

// Runs work() -> arrow::Status; exceptions become statuses.
template <typename Work>
arrow::Status Guarded(Work &&work) noexcept {
  try {
    return work();
  } catch (const std::bad_alloc &) {
    return arrow::Status::OutOfMemory("out of memory");
  } catch (const parquet::ParquetStatusException &e) {
    return e.status();
  } catch (const std::exception &e) {
    return arrow::Status::Invalid(e.what());
  } catch (...) {
    return arrow::Status::UnknownError("unknown exception");
  }
}

cst_status Open(const char *path, const cst_plugin_read_options *options,
                struct ArrowArrayStream *out, cst_error *error) noexcept;
cst_status Create(const char *path, const struct ArrowSchema *schema,
                  const cst_plugin_write_options *options, void **writer,
                  cst_error *error) noexcept;
cst_status Write(void *writer, struct ArrowArray *batch, cst_error *error) noexcept;
cst_status Finish(void *writer, cst_error *error) noexcept;
void Free(void *writer) noexcept;

}  // namespace columnstone_parquet

#endif  // PLUGINS_PARQUET_PARQUET_H
