/* Properties, times and ages, as they are written on command lines and shown. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lineage/lineage.h"

enum { MICROSECONDS = 1000000 };

/* ---- properties ---- */

/* `text` is the place of a value, which may be cut by its quotes. */
static void read_value(char *text, cst_lineage_property *property) {
  const size_t size = strlen(text);
  char *end;
  errno = 0;
  const long long number = strtoll(text, &end, 10);
  if (size > 0 && *end == '\0' && errno == 0 && strchr(" \t\n\v\f\r", text[0]) == NULL) {
    property->kind = CST_LINEAGE_INT;
    property->number = number;
    return;
  }
  errno = 0;
  const double real = strtod(text, &end);
  if (size > 0 && *end == '\0' && strspn(text, "+-0123456789.eE") == size) {
    property->kind = CST_LINEAGE_REAL;
    property->real = real;
    return;
  }
  if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0) {
    property->kind = CST_LINEAGE_BOOL;
    property->number = text[0] == 't';
    return;
  }
  const bool is_quoted = size > 1 && text[0] == '"' && text[size - 1] == '"';
  property->kind = CST_LINEAGE_TEXT;
  property->bytes.data = (const uint8_t *)(is_quoted ? text + 1 : text);
  property->bytes.size = is_quoted ? size - 2 : size;
}

cst_status cli_lineage_properties(const char *const *texts, size_t count,
                                  cst_lineage_property **out, cst_error *error) {
  size_t size = (count + 1) * sizeof **out;
  for (size_t i = 0; i < count; i++) {
    size += strlen(texts[i]) + 1;
  }
  cst_lineage_property *list = calloc(1, size);
  if (list == NULL) {
    return cli_fail_memory(error);
  }
  char *text = (char *)(list + count + 1);
  for (size_t i = 0; i < count; i++) {
    memcpy(text, texts[i], strlen(texts[i]) + 1);
    char *next = text + strlen(text) + 1;
    char *equals = strchr(text, '=');
    if (equals == NULL || equals == text) {
      free(list);
      return cli_fail_argument(error, "as in --property span=12",
                               "--property takes NAME=VALUE, not '%.60s'", texts[i]);
    }
    *equals = '\0';
    list[i].name = text;
    read_value(equals + 1, &list[i]);
    text = next;
  }
  *out = list;
  return CST_OK;
}

static const char *quote_of(const char *kind) { return strcmp(kind, "text") == 0 ? "\"" : ""; }

/* A text that would be read as another kind stands in quotes. */
static bool needs_quotes(const char *text) {
  cst_lineage_property property = {.name = ""};
  char *copy = strdup(text);
  bool needs = false;
  if (copy != NULL) {
    read_value(copy, &property);
    needs = property.kind != CST_LINEAGE_TEXT || property.bytes.size != strlen(text);
  }
  free(copy);
  return needs;
}

void cli_lineage_print_value(const cst_findings *found, size_t item) {
  const char *kind = cst_findings_text(found, "properties.kind", item);
  const char *text = cst_findings_text(found, "properties.text", item);
  if (strcmp(kind, "int") == 0) {
    printf("%" PRId64, cst_findings_number(found, "properties.number", item));
  } else if (strcmp(kind, "bool") == 0) {
    printf("%s", cst_findings_number(found, "properties.number", item) > 0 ? "true" : "false");
  } else if (strcmp(kind, "real") == 0) {
    char real[40];
    snprintf(real, sizeof real, "%.15g", cst_findings_real(found, "properties.real", item));
    printf("%s%s", real, strspn(real, "-0123456789") == strlen(real) ? ".0" : "");
  } else if (text != NULL) {
    const char *quote = needs_quotes(text) ? quote_of(kind) : "";
    printf("%s", quote);
    cli_print_text(stdout, text);
    printf("%s", quote);
  } else {
    printf("(bytes)"); /* --json has them */
  }
}

/* ---- times ---- */

static bool read_age(const char *text, int64_t *seconds) {
  static const struct {
    char letter;
    int64_t seconds;
  } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}, {'w', 604800}};
  char *end;
  errno = 0;
  const long long number = strtoll(text, &end, 10);
  if (text[0] < '0' || text[0] > '9' || errno != 0) {
    return false;
  }
  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
    if (*end == units[i].letter && end[1] == '\0') {
      return !__builtin_mul_overflow((int64_t)number, units[i].seconds, seconds) &&
             *seconds < INT64_MAX / MICROSECONDS;
    }
  }
  return false;
}

cst_status cli_lineage_seconds(const char *option, const char *text, int64_t *out,
                               cst_error *error) {
  return read_age(text, out)
             ? CST_OK
             : cli_fail_argument(error, "as in 90s, 15m, 2h, 30d, 4w",
                                 "--%s takes a time with its unit, not '%.40s'", option, text);
}

/* Days since 1970 of a date of the Gregorian calendar. */
static int64_t days_of(int64_t year, int64_t month, int64_t day) {
  const int64_t y = month <= 2 ? year - 1 : year;
  const int64_t era = (y >= 0 ? y : y - 399) / 400;
  const int64_t of_era = y - era * 400;
  const int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

cst_status cli_lineage_time(const char *option, const char *text, int64_t *out, cst_error *error) {
  int year, month, day, hour = 0, minute = 0, second = 0, date = 0, minutes = 0, seconds = 0;
  int64_t age;
  if (read_age(text, &age)) {
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    *out = ((int64_t)now.tv_sec - age) * MICROSECONDS + now.tv_nsec / 1000;
    return CST_OK;
  }
  const int count = sscanf(text, "%4d-%2d-%2d%n%*1[T ]%2d:%2d%n:%2d%n", &year, &month, &day, &date,
                           &hour, &minute, &minutes, &second, &seconds);
  int end = count == 3 ? date : count == 5 ? minutes : count == 6 ? seconds : -1;
  end += end >= 0 && text[end] == 'Z';
  if (end < 0 || text[end] != '\0' || month < 1 || month > 12 || day < 1 || day > 31 || hour < 0 ||
      hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59 || year < 1) {
    return cli_fail_argument(error, "as in 2026-11-29, 2026-11-29T10:30 (UTC), or 7d before now",
                             "--%s takes a time, not '%.40s'", option, text);
  }
  *out = ((days_of(year, month, day) * 24 + hour) * 60 + minute) * 60 + second;
  *out *= MICROSECONDS;
  return CST_OK;
}

const char *cli_lineage_show_time(int64_t time, char room[CLI_TIME]) {
  const time_t seconds = (time_t)(time / MICROSECONDS);
  struct tm parts;
  if (gmtime_r(&seconds, &parts) == NULL ||
      strftime(room, CLI_TIME, "%Y-%m-%d %H:%M:%S", &parts) == 0) {
    snprintf(room, CLI_TIME, "%" PRId64, time);
  }
  return room;
}

/* ---- texts that go to a file ---- */

cst_status cli_lineage_write(const cli_settings *settings, const char *text, size_t size,
                             cst_error *error) {
  const char *path = settings->output;
  if (path == NULL || strcmp(path, "-") == 0) {
    (void)fwrite(text, 1, size, stdout);
    return CST_OK;
  }
  cst_status status = cli_write_file(path, text, size, error);
  if (status == CST_OK) {
    char room[32];
    cli_print_text(stdout, path);
    printf(": %s\n", cli_bytes((double)size, room));
  }
  return status;
}
