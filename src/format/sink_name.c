/* The names of outputs: where the numbers of shards go, and what is there already. */
#include "format/sink_name.h"

#include <dirent.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arguments.h"
#include "io/output.h"

size_t cst__shard_number_at(const char *path) {
  const char *slash = strrchr(path, '/');
  size_t begin = slash != NULL ? (size_t)(slash + 1 - path) : 0;
  size_t end;
  (void)cst__compression_of(path + begin, &end);
  end += begin;
  size_t dot = end;
  while (dot > begin && path[dot - 1] != '.') {
    dot--;
  }
  return dot > begin + 1 ? dot - 1 : end;
}

/* A link that leads nowhere counts: what is written would be a file that it names, not the path. */
static bool is_file(const char *path) {
  struct stat there;
  return stat(path, &there) == 0 ? S_ISREG(there.st_mode) : lstat(path, &there) == 0;
}

/* True for the name of the first shard of `count` ones, whatever the count. */
static bool is_first_shard(const char *name, const char *output, size_t at) {
  static const char first[] = "-00000-of-";
  size_t digits = 0;
  if (strncmp(name, output, at) != 0 || strncmp(name + at, first, sizeof first - 1) != 0) {
    return false;
  }
  const char *count = name + at + sizeof first - 1;
  while (digits < 5 && count[digits] >= '0' && count[digits] <= '9') {
    digits++;
  }
  return digits == 5 && strcmp(count + digits, output + at) == 0;
}

static bool has_first_shard(const char *path) {
  char folder[PATH_MAX] = ".";
  const char *slash = strrchr(path, '/');
  const char *name = slash == NULL ? path : slash + 1;
  size_t size = (size_t)(name - path);
  if (size >= sizeof folder) {
    return false; /* no file has such a path */
  }
  if (size > 0) {
    memcpy(folder, path, size);
    folder[size] = '\0';
  }
  DIR *files = opendir(folder);
  bool found = false;
  for (struct dirent *entry; files != NULL && !found && (entry = readdir(files)) != NULL;) {
    found = is_first_shard(entry->d_name, name, cst__shard_number_at(name));
  }
  if (files != NULL) {
    closedir(files);
  }
  return found;
}

bool cst_sink_exists(const char *path, const cst_sink_options *options) {
  cst_sink_options own = CST_SINK_OPTIONS_INIT;
  if (path == NULL || cst__read_options(&own, sizeof own, options, NULL) != CST_OK ||
      strcmp(path, "-") == 0 || strncmp(path, "/dev/", 5) == 0) {
    return false;
  }
  bool sharded = own.num_shards > 0 || own.shard_bytes > 0;
  return is_file(path) || (sharded && has_first_shard(path));
}
