/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The controlling terminal, through ncursesw. The only file that includes <curses.h>. */
#define NCURSES_WIDECHAR 1
#include "term.h"

#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

enum { MAX_PAIRS = 250, KEY_PASTE_BEGIN = 0x1000, KEY_PASTE_END, KEY_WITH_MODIFIERS = 0x1100 };

/* Invariant: `shown` is what curses was told; `dirty` says that it must be told everything. */
typedef struct real {
    ui_term term;
    FILE *in, *out;
    SCREEN *screen;
    ui_grid shown;
    bool dirty, light;
    bool erase_is_h; /* ^H deletes, for the line settings say so; else it is C-h */
    bool kbs_is_h;   /* the terminal's description takes ^H for the backspace key */
    int n_pairs, pairs[MAX_PAIRS][2];
    tg_str paste;
} real;

/* What a crash handler needs, prepared while all is well. */
static struct {
    volatile sig_atomic_t armed;
    int fd;
    struct termios settings;
    char text[256];
    size_t n;
} rescue;

void ui_term_rescue(void)
{
    if (!rescue.armed) return;
    rescue.armed = 0;
    ssize_t done = write(rescue.fd, rescue.text, rescue.n);
    (void)done;
    tcsetattr(rescue.fd, TCSANOW, &rescue.settings);
}

/* Adds a capability without its padding marks. */
static void rescue_add(const char *s)
{
    if (!s || s == (char *)-1) return;
    while (*s && rescue.n < sizeof rescue.text) {
        if (s[0] == '$' && s[1] == '<') {
            while (*s && *s != '>') s++;
            if (*s) s++;
        } else {
            rescue.text[rescue.n++] = *s++;
        }
    }
}

static void rescue_prepare(int fd, const struct termios *settings)
{
    static const char *const caps[] = {"sgr0", "op", "cnorm", "rmkx", "rmcup"};
    static bool at_exit;
    rescue.fd = fd;
    rescue.settings = *settings;
    rescue.n = 0;
    for (size_t i = 0; i < sizeof caps / sizeof *caps; i++) rescue_add(tigetstr((char *)caps[i]));
    rescue.armed = 1;
    if (!at_exit) atexit(ui_term_rescue);
    at_exit = true;
}

static void send_text(const real *r, const char *s)
{
    ssize_t done = write(fileno(r->out), s, strlen(s));
    (void)done;
}

static bool takes_paste(void)
{
    const char *name = termname();
    return strncmp(name, "xterm", 5) == 0 || strncmp(name, "tmux", 4) == 0 ||
           strncmp(name, "screen", 6) == 0 || strncmp(name, "rxvt", 4) == 0;
}

/* Keys that terminal descriptions seldom list: ESC [ 1 ; M X with M one more than the modifiers. */
static const struct {
    char last;
    ui_key key;
} modified[] = {
    {'A', UI_KEY_UP},   {'B', UI_KEY_DOWN}, {'C', UI_KEY_RIGHT},
    {'D', UI_KEY_LEFT}, {'H', UI_KEY_HOME}, {'F', UI_KEY_END},
};

static void define_keys(void)
{
    char text[32];
    define_key("\033[200~", KEY_PASTE_BEGIN);
    define_key("\033[201~", KEY_PASTE_END);
    for (int i = 0; i < (int)(sizeof modified / sizeof *modified); i++) {
        for (int m = 2; m <= 8; m++) {
            snprintf(text, sizeof text, "\033[1;%d%c", m, modified[i].last);
            define_key(text, KEY_WITH_MODIFIERS + i * 8 + m - 1);
        }
    }
    define_key("\033[5;3~", KEY_WITH_MODIFIERS + 0x80);
    define_key("\033[6;3~", KEY_WITH_MODIFIERS + 0x81);
}

static ui_key modified_key(int code)
{
    if (code == KEY_WITH_MODIFIERS + 0x80) return UI_KEY_PRIOR | UI_KEY_META;
    if (code == KEY_WITH_MODIFIERS + 0x81) return UI_KEY_NEXT | UI_KEY_META;
    int bits = (code - KEY_WITH_MODIFIERS) % 8;
    ui_key key = modified[(code - KEY_WITH_MODIFIERS) / 8].key;
    if (bits & 1) key |= UI_KEY_SHIFT;
    if (bits & 2) key |= UI_KEY_META;
    if (bits & 4) key |= UI_KEY_CTRL;
    return key;
}

static ui_key function_key(int code)
{
    static const struct {
        int code;
        ui_key key;
    } map[] = {
        {KEY_UP, UI_KEY_UP},
        {KEY_DOWN, UI_KEY_DOWN},
        {KEY_LEFT, UI_KEY_LEFT},
        {KEY_RIGHT, UI_KEY_RIGHT},
        {KEY_HOME, UI_KEY_HOME},
        {KEY_END, UI_KEY_END},
        {KEY_PPAGE, UI_KEY_PRIOR},
        {KEY_NPAGE, UI_KEY_NEXT},
        {KEY_IC, UI_KEY_INSERT},
        {KEY_DC, UI_KEY_DELETE},
        {KEY_BTAB, UI_KEY_BACKTAB},
        {KEY_BACKSPACE, UI_KEY_DEL},
        {KEY_ENTER, UI_KEY_RET},
        {KEY_SR, UI_KEY_UP | UI_KEY_SHIFT},
        {KEY_SF, UI_KEY_DOWN | UI_KEY_SHIFT},
        {KEY_SLEFT, UI_KEY_LEFT | UI_KEY_SHIFT},
        {KEY_SRIGHT, UI_KEY_RIGHT | UI_KEY_SHIFT},
    };
    if (code >= KEY_F(1) && code <= KEY_F(12)) return UI_KEY_F1 + (ui_key)(code - KEY_F(1));
    if (code >= KEY_WITH_MODIFIERS && code <= KEY_WITH_MODIFIERS + 0x81) return modified_key(code);
    for (size_t i = 0; i < sizeof map / sizeof *map; i++) {
        if (map[i].code == code) return map[i].key;
    }
    return UI_KEY_NONE;
}

/* Everything up to the end mark, or until nothing came for a while: text, never commands. */
static ui_key read_paste(real *r)
{
    tg_str_clear(&r->paste);
    wtimeout(stdscr, 200);
    for (;;) {
        wint_t c;
        int kind = wget_wch(stdscr, &c);
        if (kind == ERR || (kind == KEY_CODE_YES && c == KEY_PASTE_END)) break;
        if (kind != OK) continue;
        char utf8[5];
        ui_utf8_encode(c == '\r' ? '\n' : (uint32_t)c, utf8);
        tg_str_add(&r->paste, utf8);
    }
    wtimeout(stdscr, 0);
    return UI_KEY_PASTE;
}

static ui_key real_read(ui_term *term)
{
    real *r = (real *)term;
    for (;;) {
        wint_t c;
        int kind = wget_wch(stdscr, &c);
        if (kind == ERR) return UI_KEY_NONE;
        if (kind == OK) {
            if (c == '\b' && r->erase_is_h) return UI_KEY_DEL;
            return c == '\n' ? 10 : (ui_key)c;
        }
        if (c == KEY_PASTE_BEGIN) return read_paste(r);
        if (c == KEY_BACKSPACE && r->kbs_is_h && !r->erase_is_h) return '\b';
        ui_key key = function_key((int)c);
        if (key != UI_KEY_NONE) return key;
    }
}

static const char *real_paste(ui_term *term)
{
    return tg_str_text(&((real *)term)->paste);
}

/* The number of a colour pair, made when first needed. */
static int colour_pair(real *r, int fg, int bg)
{
    if (fg < 0 && bg < 0) return 0;
    for (int i = 1; i <= r->n_pairs; i++) {
        if (r->pairs[i - 1][0] == fg && r->pairs[i - 1][1] == bg) return i;
    }
    if (r->n_pairs == MAX_PAIRS || r->n_pairs + 1 >= COLOR_PAIRS) return 0;
    r->pairs[r->n_pairs][0] = fg;
    r->pairs[r->n_pairs][1] = bg;
    r->n_pairs++;
    init_pair((short)r->n_pairs, (short)fg, (short)bg);
    return r->n_pairs;
}

static void put_one(real *r, int y, int x, const ui_cell *cell)
{
    wchar_t text[UI_CELL_CHARS + 1] = {0};
    for (int i = 0; i < UI_CELL_CHARS && cell->cp[i]; i++) text[i] = (wchar_t)cell->cp[i];
    ui_style style = ui_face_style(cell->face, cell->over, r->term.tier, r->light);
    attr_t attrs = 0;
    if (style.attrs & UI_BOLD) attrs |= A_BOLD;
    if (style.attrs & UI_DIM) attrs |= A_DIM;
    if (style.attrs & UI_UNDERLINE) attrs |= A_UNDERLINE;
    if (style.attrs & UI_REVERSE) attrs |= A_REVERSE;
    cchar_t cc;
    setcchar(&cc, text, attrs, (short)colour_pair(r, style.fg, style.bg), NULL);
    mvadd_wch(y, x, &cc);
}

static void real_put(ui_term *term, ui_grid *grid, int y, int x)
{
    real *r = (real *)term;
    if (r->shown.rows != grid->rows || r->shown.cols != grid->cols) {
        ui_grid_resize(&r->shown, grid->rows, grid->cols);
        r->dirty = true;
    }
    for (int i = 0; i < grid->rows; i++) {
        for (int j = 0; j < grid->cols; j++) {
            ui_cell *is = ui_grid_at(&r->shown, i, j), *want = ui_grid_at(grid, i, j);
            if (!r->dirty && ui_cell_equal(is, want)) continue;
            /* the second half of a wide cell is drawn with its first */
            if (want->width) put_one(r, i, j, want);
            *is = *want;
        }
    }
    r->dirty = false;
    move(y < LINES ? y : LINES - 1, x < COLS ? x : COLS - 1);
    refresh();
}

static void real_beep(ui_term *term)
{
    (void)term;
    beep();
}

static void real_size(ui_term *term, int *rows, int *cols)
{
    (void)term;
    *rows = LINES;
    *cols = COLS;
}

static void real_redraw(ui_term *term)
{
    real *r = (real *)term;
    struct winsize size;
    if (ioctl(term->fd, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col &&
        (size.ws_row != LINES || size.ws_col != COLS)) {
        resize_term(size.ws_row, size.ws_col);
    }
    r->dirty = true;
    clearok(stdscr, TRUE);
}

static void real_suspend(ui_term *term)
{
    real *r = (real *)term;
    struct sigaction fresh = {.sa_handler = SIG_DFL}, old;
    if (takes_paste()) send_text(r, "\033[?2004l");
    endwin();
    rescue.armed = 0;
    sigaction(SIGTSTP, &fresh, &old);
    kill(0, SIGTSTP);
    sigaction(SIGTSTP, &old, NULL);
    tcgetattr(term->fd, &rescue.settings);
    rescue.armed = 1;
    reset_prog_mode();
    if (takes_paste()) send_text(r, "\033[?2004h");
    real_redraw(term);
}

static void real_close(ui_term *term)
{
    real *r = (real *)term;
    if (takes_paste()) send_text(r, "\033[?2004l");
    /* without an alternate screen the shell goes on at the last line */
    move(LINES - 1, 0);
    clrtoeol();
    refresh();
    endwin();
    rescue.armed = 0;
    delscreen(r->screen);
    ui_grid_done(&r->shown);
    tg_str_free(&r->paste);
    fclose(r->in);
    fclose(r->out);
    free(r);
}

static tg_status check_name(void)
{
    const char *name = getenv("TERM");
    if (!name || !*name) return tg_fail(TG_USAGE, "TERM is not set; try TERM=xterm-256color");
    if (strcmp(name, "dumb") == 0) {
        return tg_fail(TG_USAGE, "a dumb terminal cannot show the explorer; commands such as "
                                 "`regraft export' run without one (see --help)");
    }
    return TG_OK;
}

static tg_status open_streams(real *r)
{
    r->in = fopen("/dev/tty", "r");
    r->out = r->in ? fopen("/dev/tty", "w") : NULL;
    if (r->out) return TG_OK;
    int err = errno;
    if (r->in) fclose(r->in);
    return tg_fail(TG_USAGE, "no terminal: /dev/tty: %s", strerror(err));
}

static ui_tier find_tier(void)
{
    const char *no_color = getenv("NO_COLOR");
    if ((no_color && *no_color) || !has_colors()) return UI_MONO;
    start_color();
    if (use_default_colors() == ERR) return UI_MONO;
    return COLORS >= 256 ? UI_256 : COLORS >= 16 ? UI_16 : UI_8;
}

static void start_screen(real *r, const struct termios *settings)
{
    raw();
    noecho();
    nonl();
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    set_escdelay(50);
    define_keys();
    const char *kbs = tigetstr("kbs");
    r->kbs_is_h = kbs && kbs != (char *)-1 && strcmp(kbs, "\b") == 0;
    r->erase_is_h = settings->c_cc[VERASE] == '\b';
    r->term.tier = find_tier();
    r->term.utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0 && strcmp(termname(), "vt100") != 0;
    rescue_prepare(fileno(r->out), settings);
    if (takes_paste()) send_text(r, "\033[?2004h");
    if (takes_paste()) rescue_add("\033[?2004l");
}

void ui_term_curses_theme(ui_term *term, ui_tier tier, bool light)
{
    real *r = (real *)term;
    if (tier < term->tier) term->tier = tier;
    r->light = light;
    r->dirty = true;
}

tg_status ui_term_curses(ui_term **term)
{
    TG_TRY(check_name());
    real *r = tg_calloc(1, sizeof *r);
    tg_status status = open_streams(r);
    if (status != TG_OK) {
        free(r);
        return status;
    }
    struct termios settings;
    tcgetattr(fileno(r->in), &settings);
    use_tioctl(TRUE);
    r->screen = newterm(NULL, r->out, r->in);
    if (!r->screen) {
        fclose(r->in);
        fclose(r->out);
        free(r);
        return tg_fail(TG_USAGE, "Error opening terminal: %s; try TERM=xterm-256color",
                       getenv("TERM"));
    }
    r->term = (ui_term){
        .fd = fileno(r->in),
        .live = true,
        .size = real_size,
        .put = real_put,
        .read = real_read,
        .paste = real_paste,
        .beep = real_beep,
        .suspend = real_suspend,
        .redraw = real_redraw,
        .close = real_close,
    };
    start_screen(r, &settings);
    *term = &r->term;
    return TG_OK;
}
