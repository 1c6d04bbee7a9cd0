/* Turns: in which order the rows of files are read that are read at once.
 *
 * The files of a reading, in their order, are divided into groups of nearly equal numbers of files,
 * as few groups as there can be. The files of a group are read at once: each gives a turn of rows,
 * then the one follows that is behind the others, by its share of the group's bytes, so that all of
 * them end at about the same time. Where a size is not known, all have the same share.
 */
#ifndef SOURCE_PASS_TURNS_H
#define SOURCE_PASS_TURNS_H

#include "base/alloc.h"

/* Files that are read at once, of a reading that may have begun at one of its groups. */
typedef struct cst__at_once {
  size_t files;  /* at most, of a group; 0 or 1: one after the other */
  uint64_t turn; /* rows, at least 1 */
  size_t begun;  /* files of the whole reading before those that are left */
} cst__at_once;

/* Files [begin, end). */
typedef struct cst__group {
  size_t begin;
  size_t end;
} cst__group;

/* The group that has a file, of `num_files` that are read `at_once` at most. */
cst__group cst__group_of(size_t num_files, size_t at_once, size_t file);

typedef struct cst__turn_file {
  uint64_t share;
  uint64_t rows; /* that it has given */
  bool ended;
} cst__turn_file;

/* The files of one group, numbered from 0. Zero-initialised storage. */
typedef struct cst__turns {
  cst__turn_file *files;
  size_t capacity;
  size_t count;
  size_t left;    /* that have not ended */
  size_t current; /* whose turn it is */
  uint64_t turn;
  uint64_t room; /* rows that are left of the current turn; UINT64_MAX: the others have ended */
} cst__turns;

/* Room for groups of so many files; false: no memory. */
bool cst__turns_reserve(cst__turns *turns, const cst_allocator *allocator, size_t most);
void cst__turns_reset(cst__turns *turns);

/* A group of `count` files, at least 1, for which there is room: their sizes have to be told, then
 * the first turn begins. */
void cst__turns_init(cst__turns *turns, size_t count, uint64_t turn);
void cst__turns_tell(cst__turns *turns, size_t file, int64_t size); /* -1: unknown */
void cst__turns_begin(cst__turns *turns);

/* The current file has given rows, no more than there was room for. */
void cst__turns_take(cst__turns *turns, uint64_t rows);
/* It has ended; false if it was the last one. */
bool cst__turns_end(cst__turns *turns);

#endif /* SOURCE_PASS_TURNS_H */
