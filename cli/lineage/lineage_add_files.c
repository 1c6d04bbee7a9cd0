/* The files of an artifact that is added: which they are, and what examples hold. */
#include <dirent.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lineage/lineage.h"

void cli_added_files_reset(cli_added_files *files) {
  for (size_t i = 0; i < files->num_texts; i++) {
    free(files->texts[i]);
  }
  free(files->texts);
  free(files->list);
  *files = (cli_added_files){NULL, 0, NULL, 0, NULL, NULL};
}

static const char *keep_text(cli_added_files *files, const char *text, size_t size,
                             cst_error *error) {
  char **grown = realloc(files->texts, (files->num_texts + 1) * sizeof *grown);
  char *copy = malloc(size + 1);
  files->texts = grown != NULL ? grown : files->texts;
  if (grown == NULL || copy == NULL) {
    free(copy);
    (void)cli_fail_memory(error);
    return NULL;
  }
  memcpy(copy, text, size);
  copy[size] = '\0';
  files->texts[files->num_texts++] = copy;
  return copy;
}

cst_status cli_added_files_append(cli_added_files *files, const char *path, const char *split,
                                  const char *role, cst_error *error) {
  const char *kept = keep_text(files, path, strlen(path), error);
  cst_lineage_file *grown = realloc(files->list, (files->count + 1) * sizeof *grown);
  files->list = grown != NULL ? grown : files->list;
  if (kept == NULL || grown == NULL) {
    return cli_fail_memory(error);
  }
  files->list[files->count++] = (cst_lineage_file){.path = kept, .split = split, .role = role};
  return CST_OK;
}

static bool is_folder(const char *path) {
  struct stat about;
  return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

/* The paths of a pattern, in the order of their bytes. CST_NOT_FOUND: none. */
static cst_status find_pattern(const char *pattern, glob_t *found, cst_error *error) {
  const int code = glob(pattern, GLOB_NOSORT, NULL, found);
  if (code == GLOB_NOSPACE) {
    return cli_fail_memory(error);
  }
  if (code != 0) {
    (void)cli_fail_argument(error, "check the name", "no file matches");
    snprintf(error->file, sizeof error->file, "%s", pattern);
    error->code = CST_NOT_FOUND;
    return CST_NOT_FOUND;
  }
  return CST_OK;
}

static int compare_paths(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The folders Split-NAME of a folder, as TFX makes them. None: CST_OK, and nothing is added. */
static cst_status append_splits(cli_added_files *files, const char *folder, cst_error *error) {
  struct dirent **names;
  cst_status status = CST_OK;
  const int count = scandir(folder, &names, NULL, alphasort);
  for (int i = 0; i < count; i++) {
    const char *name = names[i]->d_name;
    char path[4096];
    const int size = snprintf(path, sizeof path, "%s/%s", folder, name);
    const bool is_split = strncmp(name, "Split-", 6) == 0 && name[6] != '\0' && size > 0 &&
                          (size_t)size < sizeof path && is_folder(path);
    if (status == CST_OK && is_split) {
      const char *split = keep_text(files, name + 6, strlen(name) - 6, error);
      status =
          split != NULL ? cli_added_files_append(files, path, split, NULL, error) : CST_NO_MEMORY;
    }
    free(names[i]);
  }
  if (count >= 0) {
    free(names);
  }
  return status;
}

static cst_status append_path(const cli_settings *settings, bool has_splits, const char *path,
                              cli_added_files *files, cst_error *error) {
  const size_t before = files->count;
  const char *split = settings->lineage.artifact.split;
  if (has_splits && split == NULL && is_folder(path)) {
    cst_status status = append_splits(files, path, error);
    if (status != CST_OK || files->count > before) {
      return status;
    }
  }
  return cli_added_files_append(files, path, split, NULL, error);
}

cst_status cli_added_files_find(const cli_settings *settings, bool has_splits, cli_added_files *out,
                                cst_error *error) {
  cst_status status = CST_OK;
  *out = (cli_added_files){NULL, 0, NULL, 0, NULL, NULL};
  for (size_t i = 1; status == CST_OK && i < settings->num_paths; i++) {
    const char *path = settings->paths[i];
    struct stat about;
    glob_t found = {0};
    if (strpbrk(path, "*?[") == NULL || stat(path, &about) == 0 || strstr(path, "://") != NULL) {
      status = append_path(settings, has_splits, path, out, error);
      continue;
    }
    status = find_pattern(path, &found, error);
    if (status == CST_OK) {
      qsort(found.gl_pathv, found.gl_pathc, sizeof *found.gl_pathv, compare_paths);
    }
    for (size_t k = 0; status == CST_OK && k < found.gl_pathc; k++) {
      status = append_path(settings, has_splits, found.gl_pathv[k], out, error);
    }
    globfree(&found);
  }
  return status;
}

/* ---- what examples hold ---- */

/* The first file of a folder that is none of "_SUCCESS" and ".crc"; NULL: there is none. */
static const char *first_file(const char *path, char *room, size_t size) {
  struct dirent **names;
  const char *found = NULL;
  if (!is_folder(path)) {
    return path;
  }
  const int count = scandir(path, &names, NULL, alphasort);
  for (int i = 0; i < count; i++) {
    const char *name = names[i]->d_name;
    if (found == NULL && name[0] != '.' && name[0] != '_') {
      const int length = snprintf(room, size, "%s/%s", path, name);
      found = length > 0 && (size_t)length < size && !is_folder(room) ? room : NULL;
    }
    free(names[i]);
  }
  if (count >= 0) {
    free(names);
  }
  return found;
}

static const char *payload_of(const char *format) {
  static const char *const payloads[][2] = {{"example", "FORMAT_TF_EXAMPLE"},
                                            {"sequence_example", "FORMAT_TF_SEQUENCE_EXAMPLE"},
                                            {"message", "FORMAT_PROTO"},
                                            {"parquet", "FORMAT_PARQUET"}};
  for (size_t i = 0; i < sizeof payloads / sizeof payloads[0]; i++) {
    if (strcmp(format, payloads[i][0]) == 0) {
      return payloads[i][1];
    }
  }
  return NULL;
}

/* "tfrecords_gzip", as TFX says; of other containers and formats their names. */
static cst_status name_file_format(cst_source *source, cli_added_files *files, cst_error *error) {
  char name[80];
  const char *container = cst_source_container(source);
  const char *compression = NULL;
  cst_status status = cst_source_compression(source, 0, &compression, error);
  if (status != CST_OK) {
    return status;
  }
  const bool is_tfrecord = container != NULL && strcmp(container, "tfrecord") == 0;
  const char *what = is_tfrecord         ? "tfrecords"
                     : container != NULL ? container
                                         : cst_source_format(source);
  const bool is_plain = compression == NULL || strcmp(compression, "none") == 0;
  snprintf(name, sizeof name, "%.40s%s%.30s", what, is_plain ? "" : "_",
           is_plain ? "" : compression);
  files->file_format = keep_text(files, name, strlen(name), error);
  return files->file_format != NULL ? CST_OK : CST_NO_MEMORY;
}

/* Only a tf.SequenceExample has feature lists, and so a struct column at the end. */
static bool has_lists(const struct ArrowSchema *type) {
  const int64_t last = type->n_children - 1;
  return last >= 0 && strcmp(type->children[last]->name, CST_SEQUENCE_COLUMN) == 0;
}

/* Records that are read as tf.Examples unless somebody says so may be sequences of them, or
 * neither: the first ones tell. */
static cst_status tell_records(const char *path, const cst_source_options *given, const char **out,
                               cst_error *error) {
  static const char *const formats[] = {"sequence_example", "example"};
  cst_error ignored = CST_ERROR_INIT;
  *out = NULL;
  for (size_t i = 0; i < 2 && *out == NULL; i++) {
    cst_source_options options = *given;
    cst_source *source;
    struct ArrowSchema type = {.release = NULL};
    options.format = formats[i];
    options.sample_records = 100;
    cst_status status = cst_source_open(&path, 1, &options, &source, error);
    if (status != CST_OK) {
      return status;
    }
    if (cst_source_arrow_schema(source, &type, &ignored) == CST_OK) {
      *out = i == 1 || has_lists(&type) ? formats[i] : NULL;
      type.release(&type);
    }
    cst_source_release(source);
  }
  return CST_OK;
}

static cst_status tell_payload(const cli_settings *settings, const char *path, cst_source *source,
                               cli_added_files *files, cst_error *error) {
  const char *format = cst_source_format(source);
  if (settings->source.format == NULL && strcmp(format, "example") == 0) {
    const cst_source_options options = cli_source_options(settings, NULL);
    cst_status status = tell_records(path, &options, &format, error);
    if (status != CST_OK) {
      return status;
    }
  }
  files->payload = format != NULL ? payload_of(format) : NULL;
  return CST_OK;
}

cst_status cli_added_files_look(const cli_settings *settings, cli_added_files *files,
                                cst_error *error) {
  char room[4096];
  cst_source *source;
  const cst_source_options options = cli_source_options(settings, NULL);
  const char *path = files->count > 0 ? files->list[0].path : NULL;
  if (path == NULL || strstr(path, "://") != NULL ||
      (path = first_file(path, room, sizeof room)) == NULL) {
    return CST_OK;
  }
  cst_status status = cst_source_open(&path, 1, &options, &source, error);
  if (status != CST_OK) {
    return status;
  }
  status = tell_payload(settings, path, source, files, error);
  if (status == CST_OK) {
    status = name_file_format(source, files, error);
  }
  cst_source_release(source);
  return status;
}
