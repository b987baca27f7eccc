/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "str.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void reserve(tg_str *s, size_t more)
{
    if (s->cap - s->n > more) return;
    size_t cap = s->cap ? s->cap * 2 : 64;
    while (cap - s->n <= more) cap *= 2;
    s->p = tg_realloc(s->p, cap);
    s->cap = cap;
}

void tg_str_addn(tg_str *s, const char *bytes, size_t n)
{
    reserve(s, n);
    memcpy(s->p + s->n, bytes, n);
    s->n += n;
    s->p[s->n] = '\0';
}

void tg_str_add(tg_str *s, const char *text)
{
    tg_str_addn(s, text, strlen(text));
}

void tg_str_addc(tg_str *s, char c)
{
    tg_str_addn(s, &c, 1);
}

void tg_str_vaddf(tg_str *s, const char *fmt, va_list ap)
{
    va_list again;
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    if (n > 0) {
        reserve(s, (size_t)n);
        vsnprintf(s->p + s->n, (size_t)n + 1, fmt, again);
        s->n += (size_t)n;
    }
    va_end(again);
}

void tg_str_addf(tg_str *s, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    tg_str_vaddf(s, fmt, ap);
    va_end(ap);
}

static void add_xml_char(tg_str *s, unsigned char c)
{
    if (c == '&') tg_str_add(s, "&amp;");
    else if (c == '<') tg_str_add(s, "&lt;");
    else if (c == '>') tg_str_add(s, "&gt;");
    else if (c == '"') tg_str_add(s, "&quot;");
    else if (c < 0x20 || c == 0x7f) tg_str_addf(s, "\\x%02x", c);
    else tg_str_addc(s, (char)c);
}

void tg_str_add_xml(tg_str *s, const char *text)
{
    for (; *text; text++) add_xml_char(s, (unsigned char)*text);
}

void tg_str_clear(tg_str *s)
{
    s->n = 0;
    if (s->p) s->p[0] = '\0';
}

void tg_str_free(tg_str *s)
{
    free(s->p);
    *s = (tg_str){0};
}

const char *tg_str_text(const tg_str *s)
{
    return s->p ? s->p : "";
}

bool tg_starts_with(const char *s, const char *prefix)
{
    return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool tg_ends_with(const char *s, const char *suffix)
{
    size_t n = strlen(s), m = strlen(suffix);
    return n >= m && strcmp(s + n - m, suffix) == 0;
}

char *tg_format_bytes(char *buf, double bytes)
{
    static const char *const unit[] = {"B", "kB", "MB", "GB", "TB"};
    int u = 0;
    while (bytes >= 1000 && u < 4) {
        bytes /= 1000;
        u++;
    }
    snprintf(buf, 16, u == 0 ? "%.0f %s" : "%.3g %s", bytes, unit[u]);
    return buf;
}

static void close_file(void *file)
{
    fclose(file);
}

/* What a shell hands over by name, such as <(command): it ends when who writes it does. */
static bool is_handed_over(const char *path)
{
    return strcmp(path, "/dev/stdin") == 0 || tg_starts_with(path, "/dev/fd/") ||
           tg_starts_with(path, "/proc/self/fd/");
}

/* Opening a named pipe waits for who writes to it, and some devices never end. */
static tg_status open_to_read(const char *path, FILE **file)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | (is_handed_over(path) ? 0 : O_NONBLOCK));
    if (fd < 0) return tg_fail(TG_IO, "%s: %s", path, strerror(errno));
    const char *what = NULL;
    if (fstat(fd, &st) != 0) what = strerror(errno);
    else if (S_ISDIR(st.st_mode)) what = "is a folder";
    else if (!S_ISREG(st.st_mode) && !is_handed_over(path)) what = "is not a regular file";
    if (!what) *file = fdopen(fd, "rb");
    if (!what && *file) return TG_OK;
    close(fd);
    return tg_fail(TG_IO, "%s: %s", path, what ? what : strerror(errno));
}

tg_status tg_read_file(const char *path, size_t limit, char **data, size_t *size)
{
    FILE *f;
    TG_TRY(open_to_read(path, &f));
    tg_str s = {0};
    char piece[65536];
    size_t n;
    tg_unwind_push(close_file, f);
    while (s.n <= limit && (n = fread(piece, 1, sizeof piece, f)) > 0) tg_str_addn(&s, piece, n);
    bool bad = ferror(f) != 0;
    int error = errno;
    tg_unwind_pop(f);
    fclose(f);
    if (bad || s.n > limit) {
        bool large = s.n > limit;
        tg_str_free(&s);
        if (large) return tg_fail(TG_LIMIT, "%s: larger than %zu bytes", path, limit);
        return tg_fail(TG_IO, "%s: %s", path, strerror(error));
    }
    if (!s.p) tg_str_addn(&s, "", 0);
    *data = s.p;
    *size = s.n;
    return TG_OK;
}

/* mkstemp makes files private; a saved model should have the usual mode. */
static int open_temporary(char *name)
{
    int fd = mkstemp(name);
    if (fd < 0) return -1;
    mode_t mask = umask(0);
    umask(mask);
    if (fchmod(fd, 0666 & ~mask) != 0) {
        close(fd);
        unlink(name);
        return -1;
    }
    return fd;
}

tg_status tg_write_file(const char *path, const void *data, size_t size)
{
    tg_str name = {0};
    tg_str_addf(&name, "%s.XXXXXX", path);
    int fd = open_temporary(name.p);
    tg_status status = TG_OK;
    if (fd < 0) {
        status = tg_fail(TG_IO, "%s: %s", path, strerror(errno));
        tg_str_free(&name);
        return status;
    }
    FILE *f = fdopen(fd, "wb");
    size_t done = f && size ? fwrite(data, 1, size, f) : 0;
    bool bad = !f || done != size || fflush(f) != 0 || fsync(fd) != 0;
    if (f ? fclose(f) != 0 : close(fd) != 0) bad = true;
    if (!bad && rename(name.p, path) != 0) bad = true;
    if (bad) {
        status = tg_fail(TG_IO, "%s: %s", path, strerror(errno));
        unlink(name.p);
    }
    tg_str_free(&name);
    return status;
}
