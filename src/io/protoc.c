/* .proto files to descriptor sets: what protoc is told, and what it says. */
#include "io/protoc.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "io/process.h"
#include "io/raw.h"

enum { STEP_SIZE = 64 << 10, MOST_BYTES = 256 << 20, PATH_ROOM = PATH_MAX, MOST_ARGUMENTS = 10 };

/* Isolated from the current folder and from PYTHONPATH, in which anybody's grpc_tools may lie. */
static const char python_code[] = "import importlib.util, runpy, sys\n"
                                  "if importlib.util.find_spec('grpc_tools') is None:\n"
                                  "    sys.exit('columnstone-code: UNSUPPORTED')\n"
                                  "sys.argv[0] = 'protoc'\n"
                                  "runpy.run_module('grpc_tools.protoc', run_name='__main__')\n";

typedef struct call {
  char compiler[PATH_ROOM]; /* protoc, or python3 */
  char file[PATH_ROOM];     /* absolute: neither an option nor a file of arguments */
  char folder[PATH_ROOM + 16];
  const char *argv[MOST_ARGUMENTS];
} call;

static cst_status set_file(call *made, const char *path, cst_error *error) {
  char current[PATH_ROOM] = "";
  struct stat info;
  if (stat(path, &info) != 0) {
    return cst__fail_system(error, errno, "cannot open");
  }
  if (path[0] != '/' && getcwd(current, sizeof current) == NULL) {
    return cst__fail_system(error, errno, "the current folder has no name");
  }
  int size = snprintf(made->file, PATH_ROOM, "%s%s%s", current, path[0] != '/' ? "/" : "", path);
  if (size < 0 || size >= PATH_ROOM) {
    return cst__fail_system(error, ENAMETOOLONG, "cannot open");
  }
  int folder = (int)(strrchr(made->file, '/') - made->file);
  (void)snprintf(made->folder, sizeof made->folder, "--proto_path=%.*s", folder > 0 ? folder : 1,
                 made->file);
  return CST_OK;
}

static cst_status fail_missing(cst_error *error) {
  return cst__fail(error, CST_UNSUPPORTED,
                   "apt install protobuf-compiler, or pip install grpcio-tools, or use the output "
                   "of `protoc --include_imports -o FILE`",
                   "reading a .proto file needs protoc on PATH, or grpcio-tools in python3");
}

static cst_status set_call(call *made, const char *path, cst_error *error) {
  size_t n = 0;
  CST__TRY(set_file(made, path, error));
  bool found = cst__process_find("protoc", made->compiler, sizeof made->compiler);
  bool is_python = !found && cst__process_find("python3", made->compiler, sizeof made->compiler);
  if (!found && !is_python) {
    return fail_missing(error);
  }
  made->argv[n++] = made->compiler;
  if (is_python) {
    made->argv[n++] = "-I";
    made->argv[n++] = "-c";
    made->argv[n++] = python_code;
  }
  made->argv[n++] = "--include_imports";
  made->argv[n++] = "--descriptor_set_out=/dev/stdout";
  made->argv[n++] = made->folder;
  made->argv[n++] = made->file;
  made->argv[n] = NULL;
  return CST_OK;
}

static cst_status read_all(cst__process *process, const cst_allocator *allocator, uint8_t **out,
                           size_t *size, cst_error *error) {
  size_t capacity = 0;
  size_t got = STEP_SIZE;
  while (got == STEP_SIZE) {
    if (*size > MOST_BYTES) {
      return cst__fail(error, CST_LIMIT, "keep the files of the message only",
                       "the descriptor set is larger than 256 MiB");
    }
    if (!cst__grow(allocator, (void **)out, &capacity, *size + STEP_SIZE, 1)) {
      return cst__fail_memory(error, *size + STEP_SIZE);
    }
    CST__TRY(cst__process_read(process, *out + *size, STEP_SIZE, &got, error));
    *size += got;
  }
  return CST_OK;
}

/* Its own failure says more than what came of it. */
static cst_status finish(cst__process *process, cst_status read, cst_error *error) {
  if (read != CST_OK) {
    return read;
  }
  cst_status status = cst__process_finish(process, error);
  if (status == CST_UNSUPPORTED) {
    return fail_missing(error);
  }
  if (status == CST_IO && error != NULL) {
    char said[sizeof error->message];
    memcpy(said, error->message, sizeof said);
    return cst__fail(error, CST_SCHEMA,
                     "if it imports files of other folders, make a descriptor set: protoc -I "
                     "FOLDER --include_imports -o FILE",
                     "%s", said);
  }
  return status == CST_IO ? CST_SCHEMA : status;
}

static cst_status compile(call *made, const char *path, const cst_allocator *allocator,
                          uint8_t **out, size_t *size, cst_error *error) {
  cst__process *process;
  CST__TRY(set_call(made, path, error));
  CST__TRY(cst__process_start(made->compiler, made->argv, CST__PROCESS_READS, allocator, &process,
                              error));
  cst_status status = finish(process, read_all(process, allocator, out, size, error), error);
  cst__process_free(process);
  return status;
}

cst_status cst__protoc_compile(const char *path, const cst_allocator *allocator, uint8_t **out,
                               size_t *size, cst_error *error) {
  *out = NULL;
  *size = 0;
  call *made = cst__new(allocator, sizeof *made);
  if (made == NULL) {
    return cst__fail_memory(error, sizeof *made);
  }
  cst_status status = compile(made, path, allocator, out, size, error);
  cst__delete(made);
  if (status != CST_OK) {
    cst__delete(*out);
    *out = NULL;
    cst__error_add_file(error, path);
  }
  return status;
}
