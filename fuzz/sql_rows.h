/* Input as rows of SQL tables: a byte that picks a table, then its columns, each a byte that says
 * what it is (null, a small number, any number, a double, a text, bytes) and that. The corpora
 * write them by corpus_files.sql_value.
 */
#ifndef FUZZ_SQL_ROWS_H
#define FUZZ_SQL_ROWS_H

#include <sqlite3.h>
#include <string.h>

#include "fuzz.h"

typedef struct sql_table {
  const char *insert;
  int columns;
} sql_table;

typedef struct sql_input {
  const uint8_t *at, *end;
} sql_input;

static uint8_t take_byte(sql_input *in) { return in->at < in->end ? *in->at++ : 0; }

static uint64_t take_word(sql_input *in) {
  uint64_t word = 0;
  const size_t size = (size_t)(in->end - in->at) < 8 ? (size_t)(in->end - in->at) : 8;
  memcpy(&word, in->at, size);
  in->at += size;
  return word;
}

static void bind_value(sql_input *in, sqlite3_stmt *insert, int column) {
  const uint8_t kind = take_byte(in) % 6;
  if (kind == 1) {
    (void)sqlite3_bind_int64(insert, column, take_byte(in));
  } else if (kind == 2) {
    (void)sqlite3_bind_int64(insert, column, (int64_t)take_word(in));
  } else if (kind == 3) {
    const uint64_t word = take_word(in);
    double real;
    memcpy(&real, &word, sizeof real);
    (void)sqlite3_bind_double(insert, column, real);
  } else if (kind > 3) {
    const int wanted = take_byte(in);
    const int size = wanted < in->end - in->at ? wanted : (int)(in->end - in->at);
    if (kind == 4) {
      (void)sqlite3_bind_text(insert, column, (const char *)in->at, size, SQLITE_TRANSIENT);
    } else {
      (void)sqlite3_bind_blob(insert, column, in->at, size, SQLITE_TRANSIENT);
    }
    in->at += size;
  }
}

/* Inserts the rows of an input, those left out that the tables refuse. */
static void insert_rows(sqlite3 *db, const sql_table *tables, size_t num_tables, sql_input in) {
  enum { MOST_ROWS = 400 };
  FUZZ_ASSERT(sqlite3_exec(db, "BEGIN", NULL, NULL, NULL) == SQLITE_OK);
  for (int i = 0; i < MOST_ROWS && in.at < in.end; i++) {
    const sql_table *table = &tables[take_byte(&in) % num_tables];
    sqlite3_stmt *insert;
    FUZZ_ASSERT(sqlite3_prepare_v2(db, table->insert, -1, &insert, NULL) == SQLITE_OK);
    for (int k = 1; k <= table->columns; k++) {
      bind_value(&in, insert, k);
    }
    (void)sqlite3_step(insert);
    (void)sqlite3_finalize(insert);
  }
  FUZZ_ASSERT(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK);
}

#endif
