/* The formats that the library knows, by their names and by the endings of files. */
#include <string.h>

#include "cli.h"

const cst_format_info *cli_format(const char *name) {
  const cst_format_info *format;
  for (size_t i = 0; (format = cst_format_get(i)) != NULL; i++) {
    if (strcmp(format->name, name) == 0) {
      return format;
    }
  }
  return NULL;
}

bool cli_is_records(const char *format) {
  const cst_format_info *found = cli_format(format);
  return found != NULL && found->is_records;
}

void cli_print_formats(FILE *out, bool writable) {
  const char *separator = "";
  const cst_format_info *format;
  for (size_t i = 0; (format = cst_format_get(i)) != NULL; i++) {
    if (writable ? format->writes : format->reads) {
      fprintf(out, "%s%s", separator, format->name);
      separator = ", ";
    }
  }
}

/* `size` without an ending of `endings` (NULL after the last), or the same. */
static size_t strip_ending(const char *name, size_t size, const char *const *endings) {
  for (; *endings != NULL; endings++) {
    size_t tail = strlen(*endings);
    if (size > tail && strncmp(name + size - tail, *endings, tail) == 0) {
      return size - tail;
    }
  }
  return size;
}

static const char *const compressions[] = {".gz", ".zlib", ".zz", ".zst", NULL};

bool cli_names_container(const char *output) {
  size_t size = strip_ending(output, strlen(output), compressions);
  const cst_container_info *container;
  for (size_t i = 0; (container = cst_container_get(i)) != NULL; i++) {
    if (strip_ending(output, size, container->extensions) < size) {
      return true;
    }
  }
  return false;
}

bool cli_ends_otherwise(const char *output) {
  size_t size = strip_ending(output, strlen(output), compressions);
  const cst_format_info *format;
  for (size_t i = 0; (format = cst_format_get(i)) != NULL; i++) {
    if (!format->is_records && strip_ending(output, size, format->extensions) < size) {
      return true;
    }
  }
  return false;
}

bool cli_is_output_of(const char *format, const char *output, const char *to) {
  size_t size = strlen(output);
  return to != NULL ? strcmp(to, format) == 0
                    : strip_ending(output, size, cli_format(format)->extensions) < size;
}
