/* The tables of MLMD's version 10, as ml-metadata 1.17 makes and wants them. */
#ifndef LINEAGE_MLMD_MLMD_TABLES_H
#define LINEAGE_MLMD_MLMD_TABLES_H

/* Statements that make all of them, their indexes, and the types that every store has. */
extern const char cst__mlmd_tables[];

/* The numbers that MLMD has for kinds of types and for those types. */
enum { CST__MLMD_EXECUTIONS = 0, CST__MLMD_ARTIFACTS = 1, CST__MLMD_CONTEXTS = 2 };
enum { CST__MLMD_DATASET = 1, CST__MLMD_MODEL = 2, CST__MLMD_STATISTICS = 4 };

#endif /* LINEAGE_MLMD_MLMD_TABLES_H */
