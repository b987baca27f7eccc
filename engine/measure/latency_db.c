/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "latency_db.h"

#include "engine/base/alloc.h"
#include "engine/base/lock.h"
#include "engine/base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Raised when the meaning of the table changes; entries of another version are dropped. */
#define VERSION 1
#define STRING_(x) #x
#define STRING(x) STRING_(x)

/*
 * Invariants: sql is NULL where nothing can be kept; find and put are set while it is not. `file`
 * is what lay at the path when it was opened last.
 */
struct tg_latency_db {
    pthread_mutex_t lock;
    char *path;
    ino_t file;
    sqlite3 *sql;
    sqlite3_stmt *find, *put;
    bool complained;
};

static void close_sql(tg_latency_db *db)
{
    sqlite3_finalize(db->find);
    sqlite3_finalize(db->put);
    sqlite3_close(db->sql);
    db->find = db->put = NULL;
    db->sql = NULL;
}

static int table_version(sqlite3 *sql)
{
    sqlite3_stmt *s;
    int version = -1;
    if (sqlite3_prepare_v2(sql, "PRAGMA user_version", -1, &s, NULL) != SQLITE_OK) return -1;
    if (sqlite3_step(s) == SQLITE_ROW) version = sqlite3_column_int(s, 0);
    sqlite3_finalize(s);
    return version;
}

/* Looks again inside the transaction: another process may have made the table meanwhile. */
static int make_table(sqlite3 *sql)
{
    static const char table[] =
        "DROP TABLE IF EXISTS latency;"
        "CREATE TABLE latency (backend TEXT, device TEXT, threads INTEGER, operator INTEGER,"
        " ms REAL NOT NULL, n INTEGER NOT NULL,"
        " PRIMARY KEY (backend, device, threads, operator)) WITHOUT ROWID;"
        "PRAGMA user_version = " STRING(VERSION);
    if (table_version(sql) == VERSION) return SQLITE_OK;
    int rc = sqlite3_exec(sql, "BEGIN IMMEDIATE", NULL, NULL, NULL);
    if (rc != SQLITE_OK) return rc;
    if (table_version(sql) != VERSION) rc = sqlite3_exec(sql, table, NULL, NULL, NULL);
    if (rc == SQLITE_OK) rc = sqlite3_exec(sql, "COMMIT", NULL, NULL, NULL);
    if (rc != SQLITE_OK) sqlite3_exec(sql, "ROLLBACK", NULL, NULL, NULL);
    return rc;
}

/* A table of this version that has other columns is somebody else's, or damaged. */
static int prepare(tg_latency_db *db)
{
    int rc = sqlite3_prepare_v2(db->sql,
                                "SELECT ms, n FROM latency WHERE backend = ?1 AND device = ?2"
                                " AND threads = ?3 AND operator = ?4",
                                -1, &db->find, NULL);
    if (rc == SQLITE_OK)
        rc =
            sqlite3_prepare_v2(db->sql, "INSERT OR REPLACE INTO latency VALUES (?1,?2,?3,?4,?5,?6)",
                               -1, &db->put, NULL);
    return rc == SQLITE_ERROR ? SQLITE_CORRUPT : rc;
}

static ino_t file_at(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? st.st_ino : 0;
}

static int open_sql(tg_latency_db *db)
{
    db->file = file_at(db->path);
    int rc =
        sqlite3_open_v2(db->path, &db->sql,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_FULLMUTEX, NULL);
    if (rc == SQLITE_OK) sqlite3_busy_timeout(db->sql, 2000);
    if (rc == SQLITE_OK) rc = sqlite3_exec(db->sql, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_exec(db->sql, "PRAGMA synchronous = NORMAL", NULL, NULL, NULL);
    if (rc == SQLITE_OK) rc = make_table(db->sql);
    if (rc == SQLITE_OK) rc = prepare(db);
    if (rc != SQLITE_OK) close_sql(db);
    else if (!db->file) db->file = file_at(db->path);
    return rc;
}

/* While another process turns the new file into a WAL one, SQLite does not wait by itself. */
static int open_patiently(tg_latency_db *db)
{
    enum { TRIES = 100, WAIT_US = 10000 };
    int rc = open_sql(db);
    for (int i = 0; i < TRIES && ((rc & 0xff) == SQLITE_BUSY || (rc & 0xff) == SQLITE_LOCKED);
         i++) {
        usleep(WAIT_US);
        rc = open_sql(db);
    }
    return rc;
}

static bool is_broken(int rc)
{
    rc &= 0xff; /* without the extended part */
    return rc == SQLITE_NOTADB || rc == SQLITE_CORRUPT;
}

/* The lock of those who set a file aside, in a file beside it; -1 where there can be none. */
static int take_lock(const tg_latency_db *db)
{
    size_t size = strlen(db->path) + 16;
    char *name = tg_malloc(size);
    snprintf(name, size, "%s.lock", db->path);
    int fd = open(name, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    free(name);
    if (fd >= 0) flock(fd, LOCK_EX);
    return fd;
}

/*
 * The file goes to PATH.broken, where a person may look at it; the next one begins empty. Nothing
 * happens if another process has put a new one there meanwhile.
 */
static void set_aside(tg_latency_db *db)
{
    static const char *const extra[] = {"-wal", "-shm"};
    if (file_at(db->path) != db->file) return;
    size_t size = strlen(db->path) + 16;
    char *to = tg_malloc(size);
    snprintf(to, size, "%s.broken", db->path);
    if (rename(db->path, to) == 0)
        tg_log(TG_LOG_WARN, "%s is damaged: set aside as %s.broken, begun anew", db->path,
               db->path);
    for (int i = 0; i < 2; i++) {
        snprintf(to, size, "%s%s", db->path, extra[i]);
        unlink(to);
    }
    free(to);
}

static void close_lock(void *fd)
{
    if (*(int *)fd >= 0) close(*(int *)fd);
}

static int rebuild(tg_latency_db *db)
{
    int lock = take_lock(db);
    tg_unwind_push(close_lock, &lock);
    set_aside(db);
    int rc = open_patiently(db);
    tg_unwind_pop(&lock);
    close_lock(&lock);
    return rc;
}

static void open_or_rebuild(tg_latency_db *db, bool broken)
{
    int rc = broken ? SQLITE_CORRUPT : open_patiently(db);
    if (is_broken(rc)) rc = rebuild(db);
    if (rc != SQLITE_OK)
        tg_log(TG_LOG_NOTE, "latencies are not kept: %s: %s", db->path, sqlite3_errstr(rc));
}

/* Makes the folders above a path. */
static void make_folders(char *path)
{
    for (char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
        *at = 0;
        mkdir(path, 0700);
        *at = '/';
    }
}

static char *default_path(void)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    static const char file[] = "/regraft/latency.sqlite";
    bool given = cache && cache[0] == '/'; /* a relative one counts as unset */
    if (!given && !(home && *home)) return NULL;
    size_t size = strlen(given ? cache : home) + sizeof file + 16;
    char *path = tg_malloc(size);
    snprintf(path, size, "%s%s%s", given ? cache : home, given ? "" : "/.cache", file);
    return path;
}

tg_latency_db *tg_latency_db_open(const char *path)
{
    tg_latency_db *db = tg_calloc(1, sizeof *db);
    pthread_mutex_init(&db->lock, NULL);
    db->path = path ? tg_strdup(path) : default_path();
    if (!db->path) return db;
    if (!path) make_folders(db->path);
    open_or_rebuild(db, false);
    return db;
}

void tg_latency_db_close(tg_latency_db *db)
{
    if (!db) return;
    close_sql(db);
    pthread_mutex_destroy(&db->lock);
    free(db->path);
    free(db);
}

bool tg_latency_db_keeps(const tg_latency_db *db)
{
    return db->sql != NULL;
}

static void bind_key(sqlite3_stmt *s, const tg_latency_key *key)
{
    sqlite3_reset(s);
    sqlite3_bind_text(s, 1, key->backend, -1, SQLITE_TRANSIENT);
    sqlite3_bind_text(s, 2, key->device, -1, SQLITE_TRANSIENT);
    sqlite3_bind_int(s, 3, key->threads);
    sqlite3_bind_int64(s, 4, (sqlite3_int64)key->operator_hash);
}

/* Damage may show late, and a disk may become full. */
static void look_at(tg_latency_db *db, int rc)
{
    if (is_broken(rc)) {
        close_sql(db);
        open_or_rebuild(db, true);
    } else if (rc != SQLITE_ROW && rc != SQLITE_DONE && !db->complained) {
        db->complained = true;
        tg_log(TG_LOG_NOTE, "a latency is not kept: %s: %s", db->path, sqlite3_errstr(rc));
    }
}

bool tg_latency_db_find(tg_latency_db *db, const tg_latency_key *key, double *ms, int *n)
{
    bool found = false;
    tg_lock(&db->lock);
    if (db->sql) {
        bind_key(db->find, key);
        int rc = sqlite3_step(db->find);
        if (rc == SQLITE_ROW) {
            *ms = sqlite3_column_double(db->find, 0);
            *n = sqlite3_column_int(db->find, 1);
            found = true;
        }
        sqlite3_reset(db->find);
        look_at(db, rc);
    }
    tg_unlock(&db->lock);
    return found;
}

void tg_latency_db_put(tg_latency_db *db, const tg_latency_key *key, double ms, int n)
{
    tg_lock(&db->lock);
    if (db->sql) {
        bind_key(db->put, key);
        sqlite3_bind_double(db->put, 5, ms);
        sqlite3_bind_int(db->put, 6, n);
        int rc = sqlite3_step(db->put);
        sqlite3_reset(db->put);
        look_at(db, rc);
    }
    tg_unlock(&db->lock);
}
