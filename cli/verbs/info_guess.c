/* Which message of --proto-set the records may be: how much of them each one explains. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "info.h"

enum { SHOWN_GUESSES = 5, FEW_BYTES = 100 };

/* ---- the look ---- */

/* Where the i-th value of a column of bytes or text begins: its offset. */
static int64_t value_offset(const struct ArrowSchema *type, const struct ArrowArray *column,
                            int64_t i) {
  const void *offsets = column->buffers[1];
  bool wide = type->format[0] == 'Z' || type->format[0] == 'U';
  return wide ? ((const int64_t *)offsets)[i] : ((const int32_t *)offsets)[i];
}

static bool is_null_slot(const struct ArrowArray *column, int64_t i) {
  const uint8_t *bits = column->buffers[0];
  return column->null_count != 0 && bits != NULL && (bits[i / 8] >> (i % 8) & 1) == 0;
}

static cst_status fail_guess(cst_status code, const char *message, const char *hint,
                             cst_error *error) {
  error->code = code;
  snprintf(error->message, sizeof error->message, "%s", message);
  snprintf(error->hint, sizeof error->hint, "%s", hint);
  return code;
}

cst_status info_guess(info_look *l, const struct ArrowSchema *type, const struct ArrowArray *column,
                      int64_t rows, cst_error *error) {
  info_guesses *g = &l->guesses;
  bool is_binary = type->format[0] != '\0' && type->format[1] == '\0' &&
                   strchr("zZuU", type->format[0]) != NULL && type->dictionary == NULL;
  if (!is_binary) {
    return fail_guess(CST_UNSUPPORTED, "the column of messages holds no binary values",
                      "name another one by --message-column", error);
  }
  cst_bytes *records = calloc((size_t)rows + 1, sizeof *records);
  if (records == NULL) {
    return fail_guess(CST_NO_MEMORY, "out of memory", "", error);
  }
  const uint8_t *data = column->buffers[2];
  size_t count = 0;
  for (int64_t i = column->offset; i < column->offset + rows; i++) {
    int64_t begin = value_offset(type, column, i);
    if (!is_null_slot(column, i)) {
      records[count] = (cst_bytes){data != NULL ? data + begin : NULL,
                                   (size_t)(value_offset(type, column, i + 1) - begin)};
      g->bytes += records[count++].size;
    }
  }
  g->records = count;
  g->count = CST_MOST_GUESSES;
  cst_status status = cst_descriptors_guess(l->settings->message.descriptors, records, count,
                                            g->list, &g->count, error);
  free(records);
  return status;
}

/* ---- what is said of it ---- */

/* Every record parses, and every byte is explained. */
static bool guess_fits(const info_guesses *g, size_t i) {
  return i < g->count && g->list[i].records == g->records && g->list[i].bytes == g->bytes;
}

/* As records are that a newer program has written: all parse, and most bytes are explained. */
static bool is_older_than_records(const info_guesses *g) {
  const cst_message_guess *best = &g->list[0];
  return best->records == g->records && best->bytes < g->bytes && best->bytes >= g->bytes / 2;
}

static bool is_equal_to_best(const info_guesses *g, size_t i) {
  return i < g->count && g->list[i].bytes == g->list[0].bytes &&
         g->list[i].records == g->list[0].records &&
         g->list[i].opaque_bytes == g->list[0].opaque_bytes;
}

/* Rounded, but 0 and 100 only where it is so. */
static int percent_of(uint64_t part, uint64_t whole) {
  if (part == 0 || part >= whole) {
    return part == 0 ? 0 : 100;
  }
  int percent = (int)(100.0 * (double)part / (double)whole + 0.5);
  return percent > 99 ? 99 : percent < 1 ? 1 : percent;
}

static void print_guess_table(const info_look *l) {
  const info_guesses *g = &l->guesses;
  int width = (int)strlen("message");
  size_t shown = 0;
  while (shown < g->count && shown < SHOWN_GUESSES && g->list[shown].bytes > 0) {
    int size = (int)strlen(g->list[shown++].message);
    width = size > width ? size : width;
  }
  if (shown == 0) {
    return;
  }
  printf("  Of %s%" PRIu64 " record%s, %" PRIu64 " bytes:\n",
         l->exact && l->total == g->records ? "" : "the first ", g->records,
         g->records == 1 ? "" : "s", g->bytes);
  printf("  %-*s  %7s  %15s  %15s\n", width, "message", "parse", "bytes explained",
         "by bytes fields");
  for (size_t i = 0; i < shown; i++) {
    const cst_message_guess *guess = &g->list[i];
    printf("  %-*s  %5d %%  %13d %%  %13d %%\n", width, guess->message,
           percent_of(guess->records, g->records), percent_of(guess->bytes, g->bytes),
           percent_of(guess->opaque_bytes, g->bytes));
  }
}

static void print_equal_names(const info_guesses *g, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const char *before = i == 0 ? "" : i + 1 == count ? " and " : ", ";
    printf("%s%s", before, g->list[i].message);
  }
}

/* Nothing is proved by a guess: it is said what speaks for it, and what else might be. */
static void print_verdict(const info_guesses *g, size_t equal) {
  printf("  ");
  if (g->count == 0 || g->list[0].bytes == 0) {
    printf("none of the messages explains anything of them\n");
  } else if (equal > 1) {
    print_equal_names(g, equal);
    printf(" explain them equally well: these records do not tell which it is\n");
  } else if (is_older_than_records(g)) {
    printf("%s comes nearest: every record parses, and %d %% of the bytes are fields or enum\n"
           "  numbers that it does not have (do newer descriptors have them?)\n",
           g->list[0].message, percent_of(g->bytes - g->list[0].bytes, g->bytes));
  } else if (!guess_fits(g, 0)) {
    printf("none of the messages fits: %s comes nearest\n", g->list[0].message);
  } else if (guess_fits(g, 1)) {
    printf("%s fits; so does %s, with more of them as mere bytes\n", g->list[0].message,
           g->list[1].message);
  } else {
    printf("%s fits: it explains every byte of them, and no other message does\n",
           g->list[0].message);
  }
  if (g->bytes < FEW_BYTES) {
    printf("  but %" PRIu64 " bytes say little\n", g->bytes);
  }
}

/* The records as they are, whatever they may be: what holds them is shown. */
static void print_next_undecoded(const info_look *l) {
  char rest[64] = " --format raw";
  if (l->settings->source.message_column != NULL) {
    rest[0] = '\0';
  } else if (l->settings->source.container != NULL) {
    snprintf(rest, sizeof rest, " --container %s --format raw", l->settings->source.container);
  }
  info_print_next("head", l->path, rest);
}

void info_print_guesses(const info_look *l) {
  const info_guesses *g = &l->guesses;
  size_t equal = 0;
  if (g->bytes == 0) {
    printf("  The records are empty: any message may be.\n");
    return;
  }
  while (equal < SHOWN_GUESSES && is_equal_to_best(g, equal)) {
    equal++;
  }
  print_guess_table(l);
  print_verdict(g, equal);
  if (g->count > 0 && g->list[0].bytes > 0) {
    for (size_t i = 0; i < equal; i++) {
      info_print_next_of(l, guess_fits(g, 0) || is_older_than_records(g) ? "head" : "verify",
                         g->list[i].message);
    }
  } else {
    print_next_undecoded(l);
  }
}

void info_print_guesses_json(const info_look *l) {
  const info_guesses *g = &l->guesses;
  printf(",\n   \"guesses\": {\"records\": %" PRIu64 ", \"bytes\": %" PRIu64 ", \"messages\": [",
         g->records, g->bytes);
  for (size_t i = 0; i < g->count; i++) {
    const cst_message_guess *guess = &g->list[i];
    printf("%s\n    {\"message\": \"%s\", \"fits\": %s, \"records\": %" PRIu64
           ", \"bytes\": %" PRIu64 ", \"opaque_bytes\": %" PRIu64 ", \"values\": %" PRIu64 "}",
           i > 0 ? "," : "", guess->message, guess_fits(g, i) ? "true" : "false", guess->records,
           guess->bytes, guess->opaque_bytes, guess->values);
  }
  printf("]}");
}
