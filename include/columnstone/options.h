/* Options by name and value. Formats (cst_format_option_get, cst_source_options.format_options)
 * and accumulators (cst_accumulators, cst_accumulator_new) have a table of their options, which
 * the program and the packages read: a new option is available in all of them.
 */
#ifndef COLUMNSTONE_OPTIONS_H
#define COLUMNSTONE_OPTIONS_H

#include <columnstone/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The kind of values that an option accepts. */
typedef enum cst_option_kind {
  CST_OPTION_WORD = 0,      /* one of `words` */
  CST_OPTION_SWITCH = 1,    /* "true" or "false" */
  CST_OPTION_TEXT = 2,      /* any text in UTF-8 */
  CST_OPTION_NUMBER = 3,    /* decimal digits */
  CST_OPTION_CHARACTER = 4, /* one of ASCII, neither a quote nor a line end; "\\t" is a tab */
  CST_OPTION_NAMES = 5,     /* between commas, a name that has a comma or a quote in quotes */
  CST_OPTION_REAL = 6       /* a finite number, "0.01" or "-1e-5", with a point in any locale */
} cst_option_kind;

enum { CST_OPTION_WORDS = 8 };

/* An option. Static. */
typedef struct cst_option_info {
  const char *name; /* "skip_lines" */
  cst_option_kind kind;
  const char *words[CST_OPTION_WORDS]; /* WORD: what it may be; NULL after the last */
  int64_t least, most;                 /* NUMBER, REAL: what it may be, both of them too; of a REAL
                                          INT64_MIN and INT64_MAX are no limits */
  const char *usual;  /* its value where nobody sets it, as a text; NULL: nothing, or "false" */
  const char *help;   /* a few words; NULL: docs/messages.md has them */
  char letter;        /* that may stand for it on command lines; 0: none */
  bool reads, writes; /* of a format: whether it matters to reading and to writing */
} cst_option_info;

/* An option with its value. If a name is given several times, the last value counts. */
typedef struct cst_option {
  const char *name;
  const char *value;  /* as its kind says */
  const char *format; /* where options of several formats are in one list, as in those of sources
                         and sinks: it is for this one only, and left out for others. NULL: for
                         whatever takes the list: CST_INVALID_ARGUMENT if that has no such option */
} cst_option;

#ifdef __cplusplus
}
#endif

#endif /* COLUMNSTONE_OPTIONS_H */
