/* In place of the file that registers the extensions of the Python package: none is compiled. */
static int core_init(const char *unused) __attribute__((unused));
#define sqlite3_sqlean_init NULL
