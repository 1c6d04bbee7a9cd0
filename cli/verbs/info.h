/* columnstone info in four parts: the look at a file (cmd_info.c), what its features are
 * (info_feature.c), which messages its records may be (info_guess.c), and the print of all this
 * with the command to try next (info_print.c).
 */
#ifndef CLI_INFO_H
#define CLI_INFO_H

#include "cli.h"

/* What the message types of --proto-set explain of the first records, the best one first. */
typedef struct info_guesses {
  cst_message_guess list[CST_MOST_GUESSES];
  size_t count;
  uint64_t records, bytes;
} info_guesses;

typedef struct info_look {
  const cli_settings *settings;
  char **options; /* the arguments of info, also the paths, which are as those of the settings */
  int num_options;
  const char *path;
  char format[32];         /* "example", ... */
  const char *container;   /* of records: "tfrecord", ...; NULL: none */
  const char *compression; /* "gzip", ...; NULL: none */
  int64_t file_bytes;
  uint64_t seen; /* records */
  uint64_t total;
  bool exact;                /* else total is an estimate; 0: none */
  struct ArrowSchema schema; /* of the first records */
  struct ArrowArray batch;
  bool is_guess; /* nobody says which message the records are */
  info_guesses guesses;
  cst_error error; /* code CST_OK: none */
} info_look;

/* ---- info_feature.c ---- */

typedef struct info_feature {
  const struct ArrowSchema *type;
  const struct ArrowArray *values;
  int64_t present, fewest, most; /* of the rows of the sample; values, -1: it is not a list */
  int64_t example;               /* a row; -1: none has a value */
} info_feature;

/* Of the i-th column of the sample. */
info_feature info_feature_of(const info_look *look, int64_t i);

/* "int64", "list of text"; lists of tf.Examples are told by the number of their values. */
void info_name_type(const struct ArrowSchema *type, bool of_example, char *out, size_t room);

/* Text that grows; {0} is empty. Free data. */
typedef struct info_text {
  char *data;
  size_t size, room;
  bool failed;
} info_text;

/* Adds to an info_text, which is ctx. */
void info_text_put(void *ctx, const char *data, size_t size);

/* The value as JSON in *out; NULL: there is none. Free out->data. */
const char *info_example_of(const info_look *look, int64_t i, const info_feature *feature,
                            info_text *out);

/* ---- info_guess.c ---- */

/* Tries the messages on the first `rows` values of a column of bytes. */
cst_status info_guess(info_look *look, const struct ArrowSchema *type,
                      const struct ArrowArray *column, int64_t rows, cst_error *error);
void info_print_guesses(const info_look *look);
/* A member of the file's object. */
void info_print_guesses_json(const info_look *look);

/* ---- the command to try next ---- */

/* A name as a shell takes it. */
void info_print_quoted(const char *name);
/* The command to try next, with `rest` after the path. */
void info_print_next(const char *verb, const char *path, const char *rest);
/* The same with what info was told of the input, which the command has to be told, too. */
void info_print_next_alike(const info_look *look, const char *verb, const char *rest);
/* The command to try next on a message. */
void info_print_next_of(const info_look *look, const char *verb, const char *message);

/* ---- info_print.c ---- */

void info_print(const info_look *look);
void info_print_json(const info_look *look, bool first);
#endif /* CLI_INFO_H */
