/* Finding plug-ins: where they lie, dlopen and the check of what they export, and programs. */
#include "format/plugin/plugin.h"

#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/os.h"
#include "base/thread.h"
#include "format/plugin/plugin_folder.h"

enum { PATH_ROOM = 4096, NAME_ROOM = 64 };

#define FILE_PREFIX "columnstone-"
#define FILE_SUFFIX ".so"
#define PROGRAM_PREFIX "columnstone-format-"

/* ---- the folders ---- */

/* The file that holds this code: the shared library, or a program that is linked with the static
 * one, which dladdr calls by its argv[0]. */
static bool own_file(char real[PATH_MAX]) {
  static const char anchor;
  Dl_info own;
  Dl_info program;
  const void *headers = cst__os_program_headers();
  bool is_library = dladdr(&anchor, &own) != 0 && dladdr(headers, &program) != 0 &&
                    own.dli_fbase != program.dli_fbase && own.dli_fname != NULL;
  return is_library ? own.dli_fname[0] == '/' && realpath(own.dli_fname, real) != NULL
                    : cst__os_program_file(real, PATH_MAX);
}

/* "" if the system does not tell, and with raised privileges: a link to a program can lie in
 * anybody's folder. */
static void own_folder(char buf[PATH_ROOM]) {
  char real[PATH_MAX];
  char *slash = !cst__os_is_privileged() && own_file(real) ? strrchr(real, '/') : NULL;
  buf[0] = '\0';
  if (slash != NULL && slash - real < PATH_ROOM) {
    *slash = '\0';
    memcpy(buf, real, strlen(real) + 1);
  }
}

/* Called with one folder after the other until it returns true. */
typedef bool (*visit_folder)(const char *folder, void *ctx);

static bool visit_list(const char *list, visit_folder visit, void *ctx) {
  while (*list != '\0') {
    size_t size = strcspn(list, ":");
    char folder[PATH_ROOM];
    if (size > 0 && size < sizeof folder) {
      memcpy(folder, list, size);
      folder[size] = '\0';
      if (visit(folder, ctx)) {
        return true;
      }
    }
    list += size + (list[size] == ':');
  }
  return false;
}

#if CST_WHEEL
/* Cuts the last step off a path if it begins as `start` does. */
static bool cut_step(char *path, const char *start) {
  char *slash = strrchr(path, '/');
  if (slash == NULL || strncmp(slash + 1, start, strlen(start)) != 0) {
    return false;
  }
  *slash = '\0';
  return true;
}

/* Where pip has put the programs of a package whose library lies in <packages>/columnstone/lib:
 * in the environment's bin, or in <packages>/bin with --target. */
static bool visit_scripts(const char *own, visit_folder visit, void *ctx) {
  char folder[PATH_ROOM + NAME_ROOM];
  char packages[PATH_ROOM];
  snprintf(packages, sizeof packages, "%s", own);
  if (!cut_step(packages, "lib") || !cut_step(packages, "columnstone")) {
    return false; /* a program: its own folder has them */
  }
  snprintf(folder, sizeof folder, "%s/bin", packages);
  if ((cut_step(packages, "site-packages") || cut_step(packages, "dist-packages")) &&
      cut_step(packages, "python") && cut_step(packages, "lib")) {
    snprintf(folder, sizeof folder, "%s/bin", packages);
  }
  return visit(folder, ctx);
}

static bool visit_near(const char *own, const char *name, visit_folder visit, void *ctx) {
  (void)name;
  return visit(own, ctx) || visit_scripts(own, visit, ctx);
}
#else
/* In a build tree: plugins/<format> beside the folder of the program. */
static bool visit_near(const char *own, const char *name, visit_folder visit, void *ctx) {
  char folder[PATH_ROOM + NAME_ROOM];
  snprintf(folder, sizeof folder, "%s/../build.ninja", own);
  if (access(folder, F_OK) != 0) {
    return false;
  }
  snprintf(folder, sizeof folder, "%s/../plugins/%s", own, name != NULL ? name : "");
  return visit(folder, ctx);
}
#endif

/* The documented folders beside the library or the program; `name` may be NULL. */
static bool visit_own(const char *name, visit_folder visit, void *ctx) {
  char own[PATH_ROOM];
  char folder[PATH_ROOM + NAME_ROOM];
  own_folder(own);
  if (own[0] == '\0') {
    return false;
  }
  snprintf(folder, sizeof folder, "%s/columnstone/plugins", own);
  return visit(folder, ctx) || visit_near(own, name, visit, ctx);
}

static void visit_folders(const char *name, visit_folder visit, void *ctx) {
  const char *list = cst__os_variable("COLUMNSTONE_PLUGIN_PATH");
  if (list != NULL && (strcmp(list, "none") == 0 || visit_list(list, visit, ctx))) {
    return;
  }
  if (CST_PLUGIN_FOLDER[0] != '\0' && visit(CST_PLUGIN_FOLDER, ctx)) {
    return;
  }
  visit_own(name, visit, ctx);
}

/* ---- one plug-in ---- */

/* The fault of an installation, not of the data. */
static cst_status bad_plugin(const char *path, const char *found, cst_error *error) {
  cst_status status =
      cst__fail(error, CST_IO, "build it against the headers of this version", "%s", found);
  cst__error_add_file(error, path);
  return status;
}

enum { MOST_OPTIONS = 64 };

static bool options_are_sound(const cst_plugin_format *format) {
  for (size_t i = 0; i < format->num_options && i < MOST_OPTIONS; i++) {
    const cst_option_info *info = format->options != NULL ? &format->options[i] : NULL;
    if (info == NULL || info->name == NULL || (uint32_t)info->kind > CST_OPTION_REAL ||
        (info->kind == CST_OPTION_WORD && info->words[0] == NULL)) {
      return false;
    }
  }
  return format->num_options <= MOST_OPTIONS;
}

/* What is wrong with a plug-in's table; NULL if nothing is. */
static const char *table_fault(const cst_plugin_format *format, const char *name) {
  if (format == NULL) {
    return "the plug-in does not work with ABI version 1";
  }
  if (format->size < sizeof(cst_plugin_format) || format->abi_version != CST_PLUGIN_ABI_VERSION) {
    return "the plug-in was built for another ABI version than 1";
  }
  if (format->name == NULL || strcmp(format->name, name) != 0) {
    return "the names of the plug-in's format and file differ";
  }
  bool writes = format->create != NULL;
  if ((format->write != NULL) != writes || (format->finish != NULL) != writes ||
      (format->free != NULL) != writes) {
    return "the plug-in's writer is incomplete";
  }
  if (!writes && format->open == NULL) {
    return "the plug-in neither reads nor writes";
  }
  return options_are_sound(format) ? NULL : "the plug-in's options are invalid";
}

static cst_status load_file(const char *path, const char *name, const cst_plugin_format **out,
                            cst_error *error) {
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) {
    const char *why = dlerror();
    size_t size = strlen(path); /* the message begins with the path, which the error has anyway */
    why = why == NULL ? "it cannot be loaded" : why;
    why += strncmp(why, path, size) == 0 && strncmp(why + size, ": ", 2) == 0 ? size + 2 : 0;
    return bad_plugin(path, why, error);
  }
  cst_plugin_function function;
  void *symbol = dlsym(handle, "cst_plugin");
  memcpy(&function, &symbol, sizeof function); /* ISO C has no cast for it */
  if (symbol == NULL) {
    dlclose(handle);
    return bad_plugin(path, "it does not export the function cst_plugin", error);
  }
  const cst_plugin_format *format = function(CST_PLUGIN_ABI_VERSION);
  const char *fault = table_fault(format, name);
  if (fault != NULL) {
    dlclose(handle);
    return bad_plugin(path, fault, error);
  }
  *out = format; /* the handle is kept: a plug-in is never unloaded */
  return CST_OK;
}

/* ---- by name ---- */

typedef struct load_request {
  const char *name;
  const cst_plugin_format *format;
  cst_status status;
  cst_error *error;
} load_request;

static bool load_from_folder(const char *folder, void *ctx) {
  load_request *request = ctx;
  char path[PATH_ROOM + NAME_ROOM * 3];
  int size = snprintf(path, sizeof path, "%s/" FILE_PREFIX "%s" FILE_SUFFIX, folder, request->name);
  if (size < 0 || (size_t)size >= sizeof path || access(path, F_OK) != 0) {
    return false;
  }
  request->status = load_file(path, request->name, &request->format, request->error);
  return true;
}

/* Names go into paths: nothing but small letters, digits, '-' and '_'. */
static bool name_is_plain(const char *name) {
  size_t size = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_");
  return size > 0 && size < NAME_ROOM && name[size] == '\0';
}

cst_status cst__plugin_load(const char *name, const cst_plugin_format **out, cst_error *error) {
  *out = NULL;
  if (!name_is_plain(name)) {
    return CST_OK;
  }
  load_request request = {.name = name, .status = CST_OK, .error = error};
  visit_folders(name, load_from_folder, &request);
  *out = request.format;
  return request.status;
}

/* ---- all of them ---- */

typedef struct search_request {
  bool (*matches)(const cst_plugin_format *format, void *ctx);
  void *ctx;
  const cst_plugin_format *found;
} search_request;

/* The format's name in a file name of the right form; false for other files. */
static bool name_of_file(const char *file, char name[NAME_ROOM]) {
  size_t prefix = sizeof FILE_PREFIX - 1;
  size_t suffix = sizeof FILE_SUFFIX - 1;
  size_t size = strlen(file);
  if (size <= prefix + suffix || size - prefix - suffix >= NAME_ROOM ||
      memcmp(file, FILE_PREFIX, prefix) != 0 || strcmp(file + size - suffix, FILE_SUFFIX) != 0) {
    return false;
  }
  size -= prefix + suffix;
  memcpy(name, file + prefix, size);
  name[size] = '\0';
  return name_is_plain(name);
}

static int is_plugin_file(const struct dirent *entry) {
  char name[NAME_ROOM];
  return name_of_file(entry->d_name, name);
}

static bool search_folder(const char *folder, void *ctx) {
  search_request *request = ctx;
  struct dirent **entries;
  int count = scandir(folder, &entries, is_plugin_file, alphasort);
  for (int i = 0; i < count; i++) {
    char name[NAME_ROOM];
    char path[PATH_ROOM + 512];
    const cst_plugin_format *format;
    int size = snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
    if (request->found == NULL && name_of_file(entries[i]->d_name, name) && size > 0 &&
        (size_t)size < sizeof path && load_file(path, name, &format, NULL) == CST_OK &&
        request->matches(format, request->ctx)) {
      request->found = format;
    }
    free(entries[i]);
  }
  if (count >= 0) {
    free(entries);
  }
  return request->found != NULL;
}

const cst_plugin_format *cst__plugin_search(bool (*matches)(const cst_plugin_format *, void *),
                                            void *ctx) {
  search_request request = {.matches = matches, .ctx = ctx};
  visit_folders(NULL, search_folder, &request);
  return request.found;
}

/* ---- programs ---- */

typedef struct program_request {
  const char *prefix;
  const char *name;
  char path[PATH_ROOM + NAME_ROOM * 3];
  bool found;
} program_request;

static bool find_in_folder(const char *folder, void *ctx) {
  program_request *request = ctx;
  struct stat info;
  int size = snprintf(request->path, sizeof request->path, "%s/%s%s", folder, request->prefix,
                      request->name);
  request->found = size > 0 && (size_t)size < sizeof request->path &&
                   stat(request->path, &info) == 0 && S_ISREG(info.st_mode) &&
                   access(request->path, X_OK) == 0;
  return request->found;
}

/* Those that have been found are kept: formats point to them. */
static const cst__program *keep_program(const char *name, const char *path) {
  static cst__mutex lock = CST__MUTEX_INIT;
  static const cst__program *all;
  cst__mutex_lock(&lock);
  const cst__program *program = all;
  while (program != NULL &&
         (strcmp(program->path, path) != 0 || strcmp(program->name, name) != 0)) {
    program = program->next;
  }
  if (program == NULL) {
    size_t name_size = strlen(name) + 1;
    size_t path_size = strlen(path) + 1;
    cst__program *made = malloc(sizeof *made + name_size + path_size);
    if (made != NULL) {
      char *text = (char *)(made + 1);
      memcpy(text, name, name_size);
      memcpy(text + name_size, path, path_size);
      *made = (cst__program){.name = text, .path = text + name_size, .next = all};
      all = made;
    }
    program = made;
  }
  cst__mutex_unlock(&lock);
  return program;
}

static const cst__program *find_program(const char *prefix, const char *name) {
  program_request request = {.prefix = prefix, .name = name};
  if (!name_is_plain(name)) {
    return NULL;
  }
  visit_folders(name, find_in_folder, &request);
  return request.found ? keep_program(name, request.path) : NULL;
}

const cst__program *cst__program_find(const char *name) {
  return find_program(PROGRAM_PREFIX, name);
}

const cst__program *cst__url_program(void) { return find_program("columnstone-open-", "url"); }
