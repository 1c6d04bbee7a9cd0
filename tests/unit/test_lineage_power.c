/* Stores when the power goes and when the disk is full.
 *
 * A layer under SQLite (a VFS) knows for each file what was on disk at its last sync, and what was
 * written since. When the power goes, each of these later writes may have reached the disk or not,
 * in any order: the test makes such a disk in a folder of its own, and opens the store there. */
#include <sqlite3.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "lineage_support.h"

enum { MOST_FILES = 4, ADDS = 60, CUTS = 500 /* of each kind of store */ };

/* ---- what a disk holds ---- */

typedef struct pending {
  struct pending *next;
  sqlite3_int64 at;
  int size; /* -1: the file ends at `at` */
  unsigned char bytes[];
} pending;

typedef struct disk_file {
  char name[64]; /* without the folder */
  unsigned char *bytes;
  sqlite3_int64 size;
  pending *first, **last; /* since the sync, the oldest first */
  bool may_be_deleted;    /* the folder was not synced since */
} disk_file;

static disk_file disk[MOST_FILES];
static size_t disk_count;
static uint64_t chance = 1;

static uint64_t draw(uint64_t below) {
  chance = chance * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (chance >> 33) % below;
}

/* Memory for a file of `size` bytes: some more, since most writes make it a little larger. */
static size_t room_for(sqlite3_int64 size) { return ((size_t)size / 65536 + 1) * 65536; }

static void put(unsigned char **bytes, sqlite3_int64 *size, const pending *write) {
  const sqlite3_int64 end = write->at + (write->size >= 0 ? write->size : 0);
  if (end > *size || write->size < 0) {
    unsigned char *grown = *bytes;
    if (grown == NULL || room_for(end) != room_for(*size)) {
      grown = realloc(grown, room_for(end));
    }
    if (grown == NULL) {
      abort();
    }
    if (end > *size) {
      memset(grown + *size, 0, (size_t)(end - *size));
    }
    *bytes = grown;
    *size = end;
  }
  if (write->size > 0) {
    memcpy(*bytes + write->at, write->bytes, (size_t)write->size);
  }
}

static void forget(disk_file *file, bool is_synced) {
  for (pending *write = file->first, *next; write != NULL; write = next) {
    next = write->next;
    if (is_synced) {
      put(&file->bytes, &file->size, write);
    }
    free(write);
  }
  file->first = NULL;
  file->last = &file->first;
}

static disk_file *find_disk_file(const char *path) {
  const char *name = strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path;
  for (size_t i = 0; i < disk_count; i++) {
    if (strcmp(disk[i].name, name) == 0) {
      if (disk[i].may_be_deleted) { /* it is made again */
        forget(&disk[i], false);
        disk[i].size = 0;
        disk[i].may_be_deleted = false;
      }
      return &disk[i];
    }
  }
  if (disk_count == MOST_FILES) {
    abort();
  }
  disk_file *file = &disk[disk_count++];
  *file = (disk_file){.bytes = NULL};
  (void)snprintf(file->name, sizeof file->name, "%s", name);
  file->last = &file->first;
  return file;
}

static void remember(disk_file *file, const void *bytes, int size, sqlite3_int64 at) {
  pending *write = malloc(sizeof *write + (size_t)(size > 0 ? size : 0));
  if (write == NULL) {
    abort();
  }
  *write = (pending){NULL, at, size};
  if (size > 0) {
    memcpy(write->bytes, bytes, (size_t)size);
  }
  *file->last = write;
  file->last = &write->next;
}

static void reset_disk(void) {
  for (size_t i = 0; i < disk_count; i++) {
    forget(&disk[i], false);
    free(disk[i].bytes);
  }
  disk_count = 0;
}

/* The disk as it may be when the power goes now: each write has come, has not, or half of it has.
 */
static void cut_power(const char *folder) {
  static const char *const names[] = {"power.db", "power.db-wal", "power.db-shm",
                                      "power.db-journal"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) { /* of the cut before */
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/%s", folder, names[i]);
    (void)remove(path);
  }
  for (size_t i = 0; i < disk_count; i++) {
    char path[4096];
    sqlite3_int64 size = disk[i].size;
    if (disk[i].may_be_deleted && draw(2) == 0) {
      continue;
    }
    unsigned char *bytes = malloc(room_for(size));
    if (bytes == NULL) {
      abort();
    }
    if (size > 0) {
      memcpy(bytes, disk[i].bytes, (size_t)size);
    }
    for (pending *write = disk[i].first; write != NULL; write = write->next) {
      const uint64_t fate = draw(5);
      if (fate == 0) {
        continue;
      }
      if (fate == 1 && write->size > 1024) {
        pending *half = malloc(sizeof *half + 512);
        if (half == NULL) {
          abort();
        }
        *half = (pending){NULL, write->at, 512};
        memcpy(half->bytes, write->bytes, 512);
        put(&bytes, &size, half);
        free(half);
        continue;
      }
      put(&bytes, &size, write);
    }
    (void)snprintf(path, sizeof path, "%s/%s", folder, disk[i].name);
    harness_write_file(path, bytes, (size_t)size);
    free(bytes);
  }
}

/* ---- the layer ---- */

static sqlite3_vfs *below;
static int64_t fails_at; /* number of the write that fails, of all; 0: none */
static int fails_with;
static int64_t num_writes;
static void (*on_write)(void); /* NULL: the power stays, and no disk is kept */

typedef struct layer_file {
  sqlite3_file base;
  bool is_stored; /* a file of the store */
  char name[64];
  sqlite3_file *real;
} layer_file;

static sqlite3_file *real_of(sqlite3_file *file) { return ((layer_file *)(void *)file)->real; }

static int layer_close(sqlite3_file *file) {
  return real_of(file)->pMethods->xClose(real_of(file));
}
static int layer_read(sqlite3_file *file, void *to, int size, sqlite3_int64 at) {
  return real_of(file)->pMethods->xRead(real_of(file), to, size, at);
}
static int layer_write(sqlite3_file *file, const void *from, int size, sqlite3_int64 at) {
  layer_file *own = (layer_file *)(void *)file;
  if (own->is_stored && ++num_writes == fails_at) {
    return fails_with;
  }
  const int code = own->real->pMethods->xWrite(own->real, from, size, at);
  if (code == SQLITE_OK && own->is_stored && on_write != NULL) {
    remember(find_disk_file(own->name), from, size, at);
    on_write();
  }
  return code;
}
static int layer_truncate(sqlite3_file *file, sqlite3_int64 size) {
  layer_file *own = (layer_file *)(void *)file;
  if (own->is_stored && on_write != NULL) {
    remember(find_disk_file(own->name), NULL, -1, size);
  }
  return own->real->pMethods->xTruncate(own->real, size);
}
static int layer_sync(sqlite3_file *file, int flags) {
  layer_file *own = (layer_file *)(void *)file;
  if (own->is_stored && ++num_writes == fails_at) {
    return fails_with == SQLITE_FULL ? SQLITE_IOERR_FSYNC : fails_with;
  }
  (void)flags; /* this machine's own disk need not be asked */
  if (own->is_stored) {
    forget(find_disk_file(own->name), true);
  }
  return SQLITE_OK;
}
static int layer_size(sqlite3_file *file, sqlite3_int64 *size) {
  return real_of(file)->pMethods->xFileSize(real_of(file), size);
}
static int layer_lock(sqlite3_file *file, int kind) {
  return real_of(file)->pMethods->xLock(real_of(file), kind);
}
static int layer_unlock(sqlite3_file *file, int kind) {
  return real_of(file)->pMethods->xUnlock(real_of(file), kind);
}
static int layer_is_reserved(sqlite3_file *file, int *out) {
  return real_of(file)->pMethods->xCheckReservedLock(real_of(file), out);
}
static int layer_control(sqlite3_file *file, int what, void *arg) {
  return real_of(file)->pMethods->xFileControl(real_of(file), what, arg);
}
static int layer_sector(sqlite3_file *file) {
  return real_of(file)->pMethods->xSectorSize(real_of(file));
}
static int layer_traits(sqlite3_file *file) { /* no promises of the file system */
  (void)file;
  return 0;
}
static int layer_shm_map(sqlite3_file *file, int page, int size, int extends, void volatile **out) {
  return real_of(file)->pMethods->xShmMap(real_of(file), page, size, extends, out);
}
static int layer_shm_lock(sqlite3_file *file, int at, int count, int flags) {
  return real_of(file)->pMethods->xShmLock(real_of(file), at, count, flags);
}
static void layer_shm_barrier(sqlite3_file *file) {
  real_of(file)->pMethods->xShmBarrier(real_of(file));
}
static int layer_shm_unmap(sqlite3_file *file, int deletes) {
  return real_of(file)->pMethods->xShmUnmap(real_of(file), deletes);
}

static const sqlite3_io_methods layer_methods = {
    .iVersion = 2,
    .xClose = layer_close,
    .xRead = layer_read,
    .xWrite = layer_write,
    .xTruncate = layer_truncate,
    .xSync = layer_sync,
    .xFileSize = layer_size,
    .xLock = layer_lock,
    .xUnlock = layer_unlock,
    .xCheckReservedLock = layer_is_reserved,
    .xFileControl = layer_control,
    .xSectorSize = layer_sector,
    .xDeviceCharacteristics = layer_traits,
    .xShmMap = layer_shm_map,
    .xShmLock = layer_shm_lock,
    .xShmBarrier = layer_shm_barrier,
    .xShmUnmap = layer_shm_unmap,
};

static int layer_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *out) {
  layer_file *own = (layer_file *)(void *)file;
  (void)vfs;
  own->real = (sqlite3_file *)(void *)(own + 1);
  own->is_stored =
      path != NULL && strstr(path, "/power.db") != NULL && strstr(path, "/cut/") == NULL;
  if (own->is_stored) {
    (void)snprintf(own->name, sizeof own->name, "%s", find_disk_file(path)->name);
  }
  const int code = below->xOpen(below, path, own->real, flags, out);
  own->base.pMethods = own->real->pMethods != NULL ? &layer_methods : NULL;
  return code;
}

static int layer_delete(sqlite3_vfs *vfs, const char *path, int syncs_folder) {
  (void)vfs;
  if (strstr(path, "/power.db") != NULL && strstr(path, "/cut/") == NULL) {
    disk_file *file = find_disk_file(path);
    file->may_be_deleted = true;
    if (syncs_folder) {
      forget(file, false);
      free(file->bytes);
      *file = disk[--disk_count];
      if (file->first == NULL) {
        file->last = &file->first;
      }
    }
  }
  return below->xDelete(below, path, syncs_folder);
}

static sqlite3_vfs layer;

static void put_layer(void) {
  below = sqlite3_vfs_find(NULL);
  layer = *below; /* all but opening is done below */
  layer.zName = "power";
  layer.pNext = NULL;
  layer.szOsFile = (int)sizeof(layer_file) + below->szOsFile;
  layer.xOpen = layer_open;
  layer.xDelete = layer_delete;
  CHECK_EQ(sqlite3_vfs_register(&layer, 1), SQLITE_OK);
  num_writes = fails_at = 0;
  on_write = NULL;
}

static void take_layer_away(void) {
  (void)sqlite3_vfs_unregister(&layer);
  (void)sqlite3_vfs_register(below, 1);
  reset_disk();
}

/* ---- the power goes ---- */

static int num_acknowledged, num_cuts;

static cst_status add_one(cst_lineage *store, int i, cst_error *error) {
  cst_lineage_artifact artifact = CST_LINEAGE_ARTIFACT_INIT;
  const cst_lineage_property properties[] = {int_property("span", i), text_property("a", "b")};
  const cst_lineage_file file = {"s3://bucket/data", NULL, NULL};
  int64_t id;
  artifact.type = "Examples";
  artifact.name = "sessions";
  artifact.files = &file;
  artifact.num_files = 1;
  artifact.properties = properties;
  artifact.num_properties = 2;
  return cst_lineage_add(store, &artifact, &id, NULL, error);
}

/* All that was acknowledged is there, whole; one more may be. */
static void check_store(const char *path, int acknowledged) {
  cst_lineage *store = NULL;
  cst_findings *found = NULL;
  cst_error error = CST_ERROR_INIT;
  cst_lineage_options options = CST_LINEAGE_OPTIONS_INIT;
  options.timeout = 1;
  options.mode = CST_LINEAGE_CREATE; /* the power may have gone before it was made */
  cst_status status = cst_lineage_open(path, &options, &store, &error);
  CHECK_STR(status == CST_OK ? "" : error.message, "");
  CHECK_EQ(cst_lineage_find(store, NULL, &found, NULL), CST_OK);
  const int count = (int)cst_findings_num_rows(found);
  CHECK(count == acknowledged || count == acknowledged + 1);
  for (int i = 0; i < count; i++) {
    size_t begin, end;
    CHECK(cst_findings_items(found, "properties", (size_t)i, &begin, &end));
    CHECK_EQ(end - begin, 2);
    CHECK(cst_findings_items(found, "files", (size_t)i, &begin, &end));
    CHECK_EQ(end - begin, 1);
    CHECK_EQ(cst_findings_number(found, "version", (size_t)i), i + 1);
  }
  cst_findings_free(found);
  CHECK_EQ(cst_lineage_check(store, false, &found, NULL), CST_OK);
  CHECK_EQ(cst_findings_num_rows(found), 0);
  cst_findings_free(found);
  CHECK_EQ(add_one(store, 77, &error), CST_OK); /* and it can be used */
  cst_lineage_free(store);
}

static void cut_and_check(void) {
  if (num_cuts >= CUTS / EVERY || draw(3) != 0) {
    return;
  }
  num_cuts++;
  void (*again)(void) = on_write;
  on_write = NULL;
  cut_power(harness_temp_path("cut"));
  check_store(harness_temp_path("cut/power.db"), num_acknowledged);
  on_write = again;
}

static cst_lineage *make_store(bool is_shared) {
  cst_lineage *store = NULL;
  cst_lineage_options options = CST_LINEAGE_OPTIONS_INIT;
  options.mode = CST_LINEAGE_CREATE;
  options.is_shared = is_shared;
  CHECK_EQ(cst_lineage_open(harness_temp_path("power.db"), &options, &store, NULL), CST_OK);
  return store;
}

static void let_power_go(bool is_shared) {
  (void)mkdir(harness_temp_path("cut"), 0700);
  num_cuts = 0;
  for (int round = 0; num_cuts < CUTS / EVERY; round++) {
    cst_error error = CST_ERROR_INIT;
    put_layer();
    num_acknowledged = 0;
    on_write = cut_and_check;
    cst_lineage *store = make_store(is_shared);
    for (int i = 0; i < ADDS; i++) {
      CHECK_EQ(add_one(store, i, &error), CST_OK);
      num_acknowledged++;
    }
    on_write = NULL;
    cst_lineage_free(store);
    take_layer_away();
    (void)remove(harness_temp_path("power.db"));
    CHECK(round < 100);
  }
}

TEST(the_power_goes) { let_power_go(false); }
TEST(the_power_goes_of_a_shared_store) { let_power_go(true); }

/* ---- the disk is full, or fails ---- */

/* Fails the n-th write or sync, for every n: what was acknowledged stays, nothing half is there,
 * and the same store goes on. */
static void fail_each_write(int code, bool is_shared) {
  for (int64_t n = 1;; n += EVERY) {
    cst_error error = CST_ERROR_INIT;
    cst_lineage *store = NULL;
    cst_lineage_options options = CST_LINEAGE_OPTIONS_INIT;
    int added = 0;
    bool has_failed = false;
    options.timeout = 1;
    options.mode = CST_LINEAGE_CREATE;
    options.is_shared = is_shared;
    put_layer();
    fails_at = n;
    fails_with = code;
    if (cst_lineage_open(harness_temp_path("power.db"), &options, &store, &error) != CST_OK) {
      has_failed = true;
      CHECK_EQ(error.code, CST_IO);
      CHECK_EQ(cst_lineage_open(harness_temp_path("power.db"), &options, &store, NULL), CST_OK);
    }
    for (int i = 0; i < 8; i++) {
      cst_status status = add_one(store, i, &error);
      if (status != CST_OK) {
        has_failed = true;
        CHECK_EQ(status, CST_IO);
        CHECK_EQ(add_one(store, i, NULL), CST_OK);
      }
      added++;
    }
    cst_lineage_free(store);
    has_failed = has_failed || num_writes >= n; /* a checkpoint that failed is made up for */
    fails_at = 0;
    check_store(harness_temp_path("power.db"), added);
    take_layer_away();
    (void)remove(harness_temp_path("power.db"));
    if (!has_failed) {
      return;
    }
  }
}

TEST(the_disk_is_full) { fail_each_write(SQLITE_FULL, false); }
TEST(the_disk_fails) { fail_each_write(SQLITE_IOERR_WRITE, false); }
TEST(the_disk_fails_a_shared_store) { fail_each_write(SQLITE_IOERR_WRITE, true); }
