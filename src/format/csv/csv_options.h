/* The options of the format csv. */
#ifndef FORMAT_CSV_CSV_OPTIONS_H
#define FORMAT_CSV_CSV_OPTIONS_H

#include "base/options.h"

/* RFC 4180 in UTF-8, with or without a byte order mark, lines ended by LF, CRLF or CR. An empty
 * cell without quotes is null. */
typedef struct cst__csv_options {
  const char *const *names; /* of the columns, if the input has no header; NULL: its first line */
  size_t num_names;
  char delimiter;                 /* 0: ',', or a tab for .tsv */
  char comment;                   /* lines that begin with it are passed over; 0: there are none */
  bool keep_blank_lines;          /* a blank line is a row of nulls, instead of nothing */
  bool header;                    /* writing: a line of names */
  int64_t skip_lines;             /* before the header of every file */
  const char *const *multivalent; /* columns whose cells hold several values */
  size_t num_multivalent;
  char secondary_delimiter; /* between those; 0: '|' */
} cst__csv_options;

extern const cst__option_table cst__csv_option_table;

#endif /* FORMAT_CSV_CSV_OPTIONS_H */
