// The Parquet plug-in: its table, and how Arrow's errors look to Columnstone.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

#include "parquet.h"

namespace columnstone_parquet {

std::string Message(const arrow::Status &status) {
  std::string text = status.message();
  text = text.substr(0, text.find('\n'));
  if (!IsSystemFault(status)) return text;
  const std::string system = status.detail()->ToString();  // "[errno 28] No space left on device"
  return text + ": " + system.substr(system.find("] ") == system.npos ? 0 : system.find("] ") + 2);
}

cst_status Fail(cst_status code, const std::string &message, const char *hint, cst_error *error) {
  error->code = code;
  error->record = error->offset = -1;
  error->line = error->column = 0;
  error->path[0] = error->file[0] = '\0';
  std::snprintf(error->message, sizeof error->message, "%s", message.c_str());
  std::snprintf(error->hint, sizeof error->hint, "%s", hint != nullptr ? hint : "");
  return code;
}

// Arrow calls damaged data an I/O error as well; those of the system have its error number with
// them.
bool IsSystemFault(const arrow::Status &status) {
  return status.IsIOError() && status.detail() != nullptr;
}

static cst_status CodeOf(const arrow::Status &status, cst_status otherwise) {
  if (status.IsOutOfMemory()) return CST_NO_MEMORY;
  if (IsSystemFault(status)) return CST_IO;
  if (status.IsNotImplemented()) return CST_UNSUPPORTED;
  return otherwise;
}

cst_status Fail(const arrow::Status &status, cst_status otherwise, const char *hint,
                cst_error *error) {
  const cst_status code = CodeOf(status, otherwise);
  if (code == CST_NO_MEMORY) hint = "use smaller batches or fewer threads";
  if (code == CST_IO) hint = nullptr;
  return Fail(code, Message(status), hint, error);
}

/* A table of text may begin with a column of that name. */
static bool Sniff(const uint8_t *head, size_t size) {
  auto is_control = [](uint8_t c) { return (c < 0x20 && !(c >= '\t' && c <= '\r')) || c == 0x7f; };
  return size >= 4 && std::memcmp(head, "PAR1", 4) == 0 &&
         (size == 4 || std::any_of(head, head + std::min<size_t>(size, 64), is_control));
}

static const char *const kExtensions[] = {".parquet", ".pq", nullptr};

static const cst_plugin_format kFormat = {
    .size = sizeof(cst_plugin_format),
    .abi_version = CST_PLUGIN_ABI_VERSION,
    .name = "parquet",
    .description = "Apache Parquet, by Arrow C++",
    .extensions = kExtensions,
    .sniff = Sniff,
    .open = Open,
    .create = Create,
    .write = Write,
    .finish = Finish,
    .free = Free,
    .options = nullptr,
    .num_options = 0,
};

}  // namespace columnstone_parquet

extern "C" const cst_plugin_format *cst_plugin(uint32_t host_abi_version) {
  return host_abi_version == CST_PLUGIN_ABI_VERSION ? &columnstone_parquet::kFormat : nullptr;
}
