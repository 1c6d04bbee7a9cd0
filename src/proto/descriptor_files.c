/* The files of a descriptor set: one by one, each once, and those that are built in. */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/utf8.h"
#include "proto/builtin_files.h"
#include "proto/descriptor_build.h"
#include "proto/descriptor_proto.h"

/* ---- bytes that are something else ---- */

static bool set_begins_with(cst_bytes bytes, const char *start) {
  size_t size = strlen(start);
  return bytes.size >= size && memcmp(bytes.data, start, size) == 0;
}

static const char *other_bytes_hint(cst_bytes bytes) {
  if (set_begins_with(bytes, "\x1f\x8b")) {
    return "this is compressed with gzip: decompress it";
  }
  if (set_begins_with(bytes, "\x28\xb5\x2f\xfd")) {
    return "this is compressed with zstd: decompress it";
  }
  if (set_begins_with(bytes, "version https://git-lfs")) {
    return "this is a git-lfs pointer: run git lfs pull";
  }
  size_t look = bytes.size < 1024 ? bytes.size : 1024;
  if (look > 0 && cst__is_text(bytes.data, look)) {
    return "this looks like text; `protoc --include_imports -o SET.desc` makes a descriptor set "
           "from a .proto file";
  }
  return "`protoc --include_imports -o SET.desc` and `buf build -o SET.binpb` write one";
}

/* ---- one file ---- */

static cst_status add_file(cst__set_builder *builder, const cst__set_file *file) {
  if (!cst__grow(&builder->set->arena.allocator, (void **)&builder->files, &builder->files_capacity,
                 builder->num_files + 1, sizeof *builder->files)) {
    return cst__set_no_memory(builder);
  }
  cst__set_file *kept = cst__arena_take(&builder->scratch, sizeof *kept);
  if (kept == NULL || !cst__name_map_add(&builder->file_names, file->name, strlen(file->name),
                                         builder->num_files)) {
    return cst__set_no_memory(builder);
  }
  *kept = *file;
  builder->files[builder->num_files++] = kept;
  return CST_OK;
}

/* Sets that were put together have files twice. */
static cst_status check_same_file(cst__set_builder *builder, const cst__set_file *file,
                                  cst_bytes bytes) {
  if (cst__bytes_equal(file->bytes, bytes)) {
    return CST_OK;
  }
  return cst__fail(builder->error, CST_SCHEMA, "keep one version of the file",
                   "the set contains two different versions of the file %s", file->name);
}

/* Reads one FileDescriptorProto, unless it is there. */
static cst_status read_file(cst__set_builder *builder, cst_bytes bytes, bool is_built_in) {
  cst__message *proto = cst__message_new(&builder->scratch, cst__file_descriptor_def);
  if (proto == NULL) {
    return cst__set_no_memory(builder);
  }
  CST__TRY(cst__message_merge(&builder->scratch, proto, bytes, CST__DEPTH_LIMIT, builder->error));
  cst_bytes name = cst__message_bytes(proto, CST__FILE_NAME);
  const char *copy = cst__arena_copy(&builder->scratch, name.data, name.size);
  if (copy == NULL) {
    return cst__set_no_memory(builder);
  }
  size_t found = cst__name_map_find(&builder->file_names, copy, strlen(copy));
  if (found != SIZE_MAX) {
    return check_same_file(builder, builder->files[found], bytes);
  }
  cst__set_file file = {.name = copy,
                        .bytes = bytes,
                        .proto = proto,
                        .is_built_in = is_built_in,
                        .is_known = cst__builtin_file_find(name) != NULL};
  cst_status status = cst__features_of_file(proto, &file.features, builder->error);
  if (status != CST_OK) {
    cst__error_add_path(builder->error, copy, strlen(copy));
    return status;
  }
  return add_file(builder, &file);
}

/* ---- the set ---- */

/* A FileDescriptorSet has the field 1 and none of the others that a FileDescriptorProto has. */
static cst_status see_what_it_is(cst__set_builder *builder, cst_bytes bytes, bool *is_one_file) {
  cst__wire wire = cst__wire_of(bytes.data, bytes.size);
  cst__wire_field field;
  *is_one_file = false;
  while (cst__wire_next(&wire, CST__DEPTH_LIMIT, &field)) {
    *is_one_file |= field.number > CST__FILE_SET_FILE && field.number <= CST__FILE_LAST;
  }
  if (wire.fault == CST__WIRE_FAULT_NONE) {
    return CST_OK;
  }
  cst_status status = cst__fail(builder->error, CST_CORRUPT, other_bytes_hint(bytes),
                                "not a descriptor set: %s", cst__wire_fault_text(wire.fault));
  cst__error_add_record(builder->error, -1, wire.fault_at - bytes.data);
  return status;
}

static cst_status read_given_files(cst__set_builder *builder, cst_bytes bytes) {
  bool is_one_file;
  CST__TRY(see_what_it_is(builder, bytes, &is_one_file));
  if (is_one_file) {
    return read_file(builder, bytes, false);
  }
  cst__wire wire = cst__wire_of(bytes.data, bytes.size);
  cst__wire_field field;
  while (cst__wire_next(&wire, CST__DEPTH_LIMIT, &field)) {
    if (field.number != CST__FILE_SET_FILE || field.type != CST__WIRE_LEN) {
      continue;
    }
    cst_status status = read_file(builder, field.bytes, false);
    if (status == CST_CORRUPT && cst__error_wanted(builder->error)) {
      builder->error->offset += field.bytes.data - bytes.data;
      cst__error_set_hint(builder->error, other_bytes_hint(bytes));
    }
    CST__TRY(status);
  }
  return CST_OK;
}

/* Brings in what the file imports and nobody gave. */
static cst_status read_imports(cst__set_builder *builder, cst__set_file *file) {
  size_t count = cst__message_count(file->proto, CST__FILE_DEPENDENCY);
  const cst__field *imports = cst__message_find(file->proto, CST__FILE_DEPENDENCY);
  for (size_t i = 0; i < count; i++) {
    cst_bytes name = cst__field_value(imports, i)->bytes;
    if (cst__name_map_find(&builder->file_names, (const char *)name.data, name.size) != SIZE_MAX) {
      continue;
    }
    const cst__builtin_file *known = cst__builtin_file_find(name);
    if (known != NULL) {
      CST__TRY(read_file(builder, known->bytes, true));
    } else if (file->missing_import == NULL) {
      file->missing_import = cst__arena_copy(&builder->scratch, name.data, name.size);
      if (file->missing_import == NULL) {
        return cst__set_no_memory(builder);
      }
    }
  }
  return CST_OK;
}

cst_status cst__set_read_files(cst__set_builder *builder, cst_bytes bytes) {
  CST__TRY(read_given_files(builder, bytes));
  for (size_t i = 0; i < builder->num_files; i++) { /* it grows */
    CST__TRY(read_imports(builder, builder->files[i]));
  }
  return CST_OK;
}
