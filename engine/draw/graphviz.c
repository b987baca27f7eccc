/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Layouts by Graphviz's dot. It runs in a child process, because it may take minutes, uses global
 * state and cannot be stopped; the child sends the layout in the "plain" format through a pipe.
 */
#include "layout.h"

#include "engine/base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <graphviz/gvc.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { INCH = 72, SLICE_MS = 50 };

static void set(void *object, const char *name, const char *value)
{
    agsafeset(object, (char *)(uintptr_t)name, (char *)(uintptr_t)value, (char *)(uintptr_t) "");
}

static void set_number(void *object, const char *name, double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.3f", value);
    set(object, name, text);
}

static Agraph_t *build(const tg_drawing *d, const tg_layout *l)
{
    char name[32];
    Agraph_t *graph = agopen((char *)(uintptr_t) "g", Agdirected, NULL);
    set(graph, "nodesep", "0.25");
    set(graph, "ranksep", "0.3");
    set(graph, "nslimit", "2"); /* network simplex is what runs away on wide graphs */
    set(graph, "nslimit1", "2");
    set(graph, "mclimit", "0.5");
    Agnode_t **nodes = tg_calloc(d->n_rows + 1, sizeof(Agnode_t *));
    for (uint32_t r = 0; r < d->n_rows; r++) {
        snprintf(name, sizeof name, "%u", r);
        nodes[r] = agnode(graph, name, 1);
        set(nodes[r], "shape", "box");
        set(nodes[r], "fixedsize", "true");
        set(nodes[r], "label", "");
        set_number(nodes[r], "width", l->box_width[r] / INCH);
        set_number(nodes[r], "height", l->box_height / INCH);
    }
    for (size_t i = 0; i < l->edges.n; i++) {
        snprintf(name, sizeof name, "e%zu", i);
        Agedge_t *edge = agedge(graph, nodes[l->edges.v[i].from], nodes[l->edges.v[i].to], name, 1);
        set(edge, "dir", "none"); /* else the line stops short of the box */
    }
    free(nodes);
    return graph;
}

/* In the child: never returns. */
static _Noreturn void lay_out(const tg_drawing *d, const tg_layout *l, int fd)
{
    int null = open("/dev/null", O_RDWR);
    if (null >= 0) dup2(null, 2); /* its warnings would end up on the screen */
    GVC_t *gvc = gvContext();
    Agraph_t *graph = build(d, l);
    FILE *f = fdopen(fd, "w");
    int bad =
        !gvc || !f || gvLayout(gvc, graph, "dot") != 0 || gvRender(gvc, graph, "plain", f) != 0;
    if (f && fflush(f) != 0) bad = 1;
    _exit(bad);
}

/* Reads the child's words until it closes the pipe or time is up. */
static tg_status read_plain(int fd, double limit_s, const tg_job *job, tg_str *text)
{
    int64_t end = tg_clock_ns() + (int64_t)(limit_s * 1e9);
    char piece[16384];
    for (;;) {
        TG_TRY(tg_job_poll(job));
        struct pollfd p = {fd, POLLIN, 0};
        if (poll(&p, 1, SLICE_MS) > 0) {
            ssize_t n = read(fd, piece, sizeof piece);
            if (n < 0 && errno == EINTR) continue;
            if (n <= 0) return TG_OK;
            tg_str_addn(text, piece, (size_t)n);
        }
        if (tg_clock_ns() > end) return tg_fail(TG_LIMIT, "no layout within %g s", limit_s);
    }
}

static tg_status run_child(const tg_drawing *d, double limit_s, const tg_job *job,
                           const tg_layout *l, tg_str *text)
{
    int fd[2], child_status = 0;
    if (pipe2(fd, O_CLOEXEC) != 0) return tg_fail(TG_BACKEND, "no pipe for Graphviz");
    pid_t child = fork();
    if (child < 0) {
        close(fd[0]);
        close(fd[1]);
        return tg_fail(TG_BACKEND, "no process for Graphviz");
    }
    if (child == 0) {
        tg_unprotected_child();
        for (int s = 1; s < 32; s++)
            signal(s, SIG_DFL); /* the explorer's handlers are not for it */
        lay_out(d, l, fd[1]);
    }
    close(fd[1]);
    tg_status status = read_plain(fd[0], limit_s, job, text);
    close(fd[0]);
    if (status != TG_OK) kill(child, SIGKILL);
    while (waitpid(child, &child_status, 0) < 0 && errno == EINTR) {}
    if (status == TG_OK && child_status != 0) return tg_fail(TG_BACKEND, "Graphviz failed");
    return status;
}

static tg_edge *edge_between(tg_layout *l, uint32_t from, uint32_t to)
{
    for (size_t i = 0; i < l->edges.n; i++)
        if (l->edges.v[i].from == from && l->edges.v[i].to == to && !l->edges.v[i].n)
            return &l->edges.v[i];
    return NULL;
}

static bool read_edge(tg_layout *l, char *line)
{
    char *at = line + 4;
    uint32_t from = (uint32_t)strtoul(at, &at, 10), to = (uint32_t)strtoul(at, &at, 10);
    uint32_t n = (uint32_t)strtoul(at, &at, 10);
    tg_edge *e = edge_between(l, from, to);
    if (!e) return false;
    e->first = (uint32_t)l->points.n;
    e->n = n;
    for (uint32_t i = 0; i < n; i++) {
        double x = strtod(at, &at), y = strtod(at, &at);
        tg_vec_push(&l->points, (tg_point){x * INCH, l->height - y * INCH});
    }
    return true;
}

static bool read_line(tg_layout *l, uint32_t n_rows, char *line)
{
    char *at;
    if (strncmp(line, "graph ", 6) == 0) {
        strtod(line + 6, &at);
        l->width = strtod(at, &at) * INCH;
        l->height = strtod(at, &at) * INCH;
        return true;
    }
    if (strncmp(line, "edge ", 5) == 0) return read_edge(l, line);
    if (strncmp(line, "node ", 5) != 0) return true;
    uint32_t r = (uint32_t)strtoul(line + 5, &at, 10);
    if (r >= n_rows) return false;
    double x = strtod(at, &at) * INCH, y = strtod(at, &at) * INCH;
    l->at[r] = (tg_point){x, l->height - y};
    return true;
}

tg_status tg_layout_graphviz(const tg_drawing *d, double limit_s, const tg_job *job, tg_layout *l)
{
    tg_str text = {0};
    tg_status status = run_child(d, limit_s, job, l, &text);
    bool good = status == TG_OK && strstr(tg_str_text(&text), "\nstop") != NULL;
    char *save, *line = good ? strtok_r(text.p, "\n", &save) : NULL;
    for (; line && good; line = strtok_r(NULL, "\n", &save)) good = read_line(l, d->n_rows, line);
    for (size_t i = 0; good && i < l->edges.n; i++) good = l->edges.v[i].n >= 4;
    tg_str_free(&text);
    if (status != TG_OK) return status;
    if (!good) return tg_fail(TG_BACKEND, "Graphviz gave no complete layout");
    l->name = "graphviz";
    return TG_OK;
}
