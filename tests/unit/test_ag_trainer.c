/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/unit/unit.h"

#include "agent/events.h"
#include "agent/trainer.h"
#include "engine/base/clock.h"
#include "engine/base/crc.h"
#include "engine/base/str.h"
#include "engine/measure/bench.h"
#include "tests/unit/ag_toy.h"

#include <dirent.h>
#include <math.h>
#include <pthread.h>

static const ag_shape small = {.hidden = 16, .heads = 2, .layers = 3, .rule = 4, .head = 32};

static ag_trainer_config config_of(int threads, uint64_t episodes)
{
    ag_trainer_config config = AG_TRAINER_DEFAULT;
    config.threads = threads;
    config.most_episodes = episodes;
    config.rollout.horizon = 20;
    return config;
}

static ag_checkpoint fresh(uint64_t seed)
{
    ag_net *net;
    assert_ok(ag_net_new(&toy_spec, small, &net));
    tg_rng *rng = tg_rng_new(seed);
    ag_checkpoint c = {.policy = ag_policy_new(net, rng)};
    tg_rng_free(rng);
    ag_net_unref(net);
    return c;
}

static ag_trainer *trainer_of(ag_trainer_config config, const char *start, uint64_t seed)
{
    ag_checkpoint c = fresh(seed);
    ag_trainer *t = ag_trainer_new(&c, NULL, &config);
    ag_checkpoint_done(&c);
    if (start) {
        ag_source *source = toy_source(start);
        ag_trainer_follow(t, source);
        ag_source_unref(source);
    }
    assert_ok(ag_trainer_start(t));
    return t;
}

static void it_finds_the_optimum_and_the_way(void **state)
{
    (void)state;
    const char *start = "ABAACBCAACAB";
    double optimum = toy_optimum(start, NULL);
    ag_trainer *t = trainer_of(config_of(2, 300), start, 1);
    assert_true(ag_trainer_wait(t, 300));
    ag_stats s;
    ag_trainer_stats(t, &s);
    assert_int_equal(s.phase, AG_DONE);
    assert_int_equal(s.episodes, 300);
    assert_int_equal(s.version, 38); /* eight episodes each, the last four */
    assert_true(fabs(s.best_ms - optimum) < 1e-9);
    assert_true(s.episodes_per_minute > 0);
    ag_best best;
    assert_true(ag_trainer_best(t, &best));
    ag_env env;
    assert_ok(best.source->class->open(best.source->self, &env));
    for (int i = 0; i < best.n; i++) {
        ag_state *at;
        assert_ok(env.class->observe(env.self, &at));
        assert_ok(env.class->step(env.self, best.actions[i]));
        ag_state_unref(at);
    }
    double cost;
    assert_ok(env.class->cost(env.self, &cost));
    assert_true(fabs(cost - optimum) < 1e-9);
    env.class->free(env.self);
    free(best.actions);
    ag_source_unref(best.source);
    ag_point points[40];
    assert_int_equal(ag_trainer_points(t, 0, 40, points), 38);
    assert_int_equal(points[37].version, 38);
    assert_int_equal(ag_trainer_points(t, 36, 40, points), 2);
    ag_trainer_free(t);
}

/* Trains and returns the parameters. */
static ag_real *trained(int threads, uint64_t seed, size_t *size)
{
    ag_trainer_config config = config_of(threads, 40);
    config.seed = seed;
    ag_trainer *t = trainer_of(config, "ABAACBCAAC", 1);
    assert_true(ag_trainer_wait(t, 300));
    ag_policy *policy = ag_trainer_policy(t);
    *size = policy->net->layout.n * sizeof(ag_real);
    ag_real *value = tg_memdup(policy->value, *size);
    ag_policy_unref(policy);
    ag_trainer_free(t);
    return value;
}

static void a_run_repeats_whatever_the_threads(void **state)
{
    (void)state;
    size_t size;
    ag_real *one = trained(1, 5, &size), *again = trained(1, 5, &size);
    ag_real *three = trained(3, 5, &size), *other = trained(1, 6, &size);
    assert_memory_equal(one, again, size);
    assert_memory_equal(one, three, size);
    assert_true(memcmp(one, other, size) != 0);
    free(one);
    free(again);
    free(three);
    free(other);
}

static void wait_for_version(ag_trainer *t, uint64_t version)
{
    ag_stats s;
    for (int i = 0; i < 3000; i++) {
        ag_trainer_stats(t, &s);
        if (s.version >= version) return;
        usleep(10000);
    }
    fail_msg("no version %d", (int)version);
}

static void it_pauses_resumes_and_stops(void **state)
{
    (void)state;
    ag_trainer *t = trainer_of(config_of(2, 0), NULL, 1);
    ag_stats s, later;
    usleep(20000);
    ag_trainer_stats(t, &s);
    assert_int_equal(s.phase, AG_IDLE);
    ag_source *source = toy_source("ABAACBCAACAB");
    ag_trainer_follow(t, source);
    ag_source_unref(source);
    wait_for_version(t, 2);
    ag_trainer_pause(t, true);
    ag_trainer_stats(t, &s);
    assert_int_equal(s.phase, AG_PAUSED);
    usleep(50000);
    ag_trainer_stats(t, &later);
    assert_true(later.version <= s.version + 1);
    ag_trainer_resume(t);
    wait_for_version(t, s.version + 3);
    ag_trainer_stats(t, &s);
    assert_int_equal(s.phase, AG_TRAINING);
    ag_trainer_pause(t, false);
    ag_trainer_free(t); /* also while paused */
}

static void the_start_state_can_be_replaced(void **state)
{
    (void)state;
    ag_trainer *t = trainer_of(config_of(2, 0), "AB", 1);
    wait_for_version(t, 1);
    ag_stats s;
    ag_trainer_stats(t, &s);
    assert_true(fabs(s.first_ms - toy_cost("AB")) < 1e-9);
    for (int i = 0; i < 20; i++) {
        ag_source *source = toy_source(i % 2 ? "ABAACBC" : "BCBC");
        ag_trainer_follow(t, source);
        ag_source_unref(source);
        usleep(3000);
    }
    ag_trainer_stats(t, &s);
    wait_for_version(t, s.version + 2);
    ag_trainer_stats(t, &s);
    assert_true(fabs(s.first_ms - toy_cost("ABAACBC")) < 1e-9);
    ag_trainer_free(t);
}

static tg_status broken_cost(void *env, double *ms)
{
    (void)env;
    *ms = NAN;
    return TG_OK;
}

static tg_status broken_open(void *source, ag_env *env)
{
    static const ag_env_class class = {.reset = toy_reset,
                                       .observe = toy_observe,
                                       .step = toy_step,
                                       .cost = broken_cost,
                                       .free = free};
    *env = toy_open(source);
    env->class = &class;
    return TG_OK;
}

static void a_broken_environment_is_a_state(void **state)
{
    (void)state;
    static const ag_source_class class = {.open = broken_open, .free = free};
    ag_trainer *t = trainer_of(config_of(1, 0), NULL, 1);
    ag_source *source = ag_source_new(&class, tg_strdup("ABC")), *sound = toy_source("ABC");
    ag_trainer_follow(t, source);
    assert_true(ag_trainer_wait(t, 60));
    ag_stats s;
    ag_trainer_stats(t, &s);
    assert_int_equal(s.phase, AG_FAILED);
    assert_contains(s.message, "nan ms");
    ag_trainer_follow(t, sound);
    ag_trainer_resume(t);
    wait_for_version(t, 1);
    ag_source_unref(source);
    ag_source_unref(sound);
    ag_trainer_free(t);
}

static tg_status huge_cost(void *env, double *ms)
{
    const toy *t = env;
    *ms = t->steps ? 1e300 : 1;
    return TG_OK;
}

static tg_status huge_open(void *source, ag_env *env)
{
    static const ag_env_class class = {.reset = toy_reset,
                                       .observe = toy_observe,
                                       .step = toy_step,
                                       .cost = huge_cost,
                                       .free = free};
    *env = toy_open(source);
    env->class = &class;
    return TG_OK;
}

/* Numbers beyond all bounds cost nothing but their update: the last good policy stays. */
static void divergence_leaves_the_last_good_policy(void **state)
{
    (void)state;
    static const ag_source_class class = {.open = huge_open, .free = free};
    ag_trainer *t = trainer_of(config_of(2, 0), "ABAACBC", 1);
    wait_for_version(t, 2);
    ag_source *source = ag_source_new(&class, tg_strdup("ABAACBC")), *sound = toy_source("ABC");
    ag_trainer_follow(t, source);
    assert_true(ag_trainer_wait(t, 60));
    ag_stats s;
    ag_trainer_stats(t, &s);
    assert_int_equal(s.phase, AG_DIVERGED);
    assert_contains(s.message, "not finite");
    ag_policy *policy = ag_trainer_policy(t);
    assert_true(policy->version == s.version);
    for (size_t i = 0; i < policy->net->layout.n; i++) assert_true(isfinite(policy->value[i]));
    ag_policy_unref(policy);
    ag_trainer_follow(t, sound);
    ag_trainer_resume(t);
    wait_for_version(t, s.version + 2);
    ag_source_unref(source);
    ag_source_unref(sound);
    ag_trainer_free(t);
}

static uint64_t steps_of(ag_trainer *t)
{
    ag_stats s;
    ag_trainer_stats(t, &s);
    return s.steps + s.version;
}

/* Whoever measures has the machine to itself; also then a trainer can be paused and freed. */
static void it_rests_while_somebody_measures(void **state)
{
    (void)state;
    ag_trainer *t = trainer_of(config_of(2, 0), "ABAACBCAACAB", 1);
    wait_for_version(t, 1);
    assert_ok(tg_measure_turn_acquire(NULL));
    usleep(200000); /* the steps at work end */
    uint64_t before = steps_of(t);
    usleep(300000);
    assert_true(steps_of(t) == before);
    ag_trainer_pause(t, true);
    ag_trainer_resume(t);
    tg_measure_turn_release();
    ag_stats s;
    ag_trainer_stats(t, &s);
    wait_for_version(t, s.version + 2);
    assert_ok(tg_measure_turn_acquire(NULL));
    ag_trainer_free(t);
    tg_measure_turn_release();
}

/* An environment that takes its time, unless it is cancelled. */
typedef struct slow {
    atomic_bool cancelled;
    atomic_int waits;
} slow;

static tg_status slow_open(void *source, ag_env *env)
{
    slow *s = source;
    (void)env;
    atomic_fetch_add(&s->waits, 1);
    for (int i = 0; i < 6000 && !atomic_load(&s->cancelled); i++) usleep(10000);
    return tg_fail(TG_CANCELLED, "cancelled");
}

static void slow_cancel(void *source)
{
    slow *s = source;
    atomic_store(&s->cancelled, true);
}

static void leave_it(void *source)
{
    (void)source;
}

/* What is slow ends when its start state is replaced, and when training does. */
static void sources_are_cancelled(void **state)
{
    (void)state;
    static const ag_source_class class = {
        .open = slow_open, .cancel = slow_cancel, .free = leave_it};
    slow first = {0}, second = {0};
    ag_source *one = ag_source_new(&class, &first), *two = ag_source_new(&class, &second);
    ag_source *sound = toy_source("ABC");
    ag_trainer *t = trainer_of(config_of(1, 0), NULL, 1);
    ag_trainer_follow(t, one);
    while (!atomic_load(&first.waits)) usleep(1000);
    ag_trainer_follow(t, sound);
    wait_for_version(t, 1);
    ag_trainer_follow(t, two);
    while (!atomic_load(&second.waits)) usleep(1000);
    ag_trainer_free(t);
    assert_true(atomic_load(&first.cancelled) && atomic_load(&second.cancelled));
    ag_source_unref(one);
    ag_source_unref(two);
    ag_source_unref(sound);
}

static void checkpoints_come_back(void **state)
{
    (void)state;
    const char *path = unit_temporary("policy.rgc");
    ag_trainer_config config = config_of(1, 20);
    config.checkpoint = path;
    config.save_every = 1;
    ag_trainer *t = trainer_of(config, "ABAACBC", 1);
    assert_true(ag_trainer_wait(t, 60));
    ag_policy *policy = ag_trainer_policy(t);
    ag_trainer_free(t);
    ag_checkpoint c;
    assert_ok(ag_checkpoint_load(path, &toy_spec, &c));
    assert_int_equal(c.policy->version, 3);
    assert_int_equal(c.episodes, 20);
    assert_true(c.adam_steps > 0 && c.first[5] != 0);
    assert_int_equal(c.rules_new, 0);
    assert_int_equal(c.rules_ignored, 0);
    for (size_t i = 0; i < policy->net->layout.tensors.n; i++) {
        const ag_tensor *k = &policy->net->layout.tensors.v[i];
        assert_memory_equal(policy->value + k->at, c.policy->value + k->at,
                            sizeof(ag_real) * (size_t)k->rows * (size_t)k->cols);
    }
    ag_policy_unref(policy);
    ag_checkpoint_done(&c);
    tg_str old = {0};
    tg_str_addf(&old, "%s~", path);
    assert_ok(ag_checkpoint_load(tg_str_text(&old), &toy_spec, &c)); /* the one before */
    assert_int_equal(c.policy->version, 3);                          /* saved again at the end */
    ag_checkpoint_done(&c);
    tg_str_free(&old);
}

/* A build with one rule more, one less, another order, and a new feature. */
static void checkpoints_load_into_other_builds(void **state)
{
    (void)state;
    static const char *const rules[] = {"brand-new", "fuse-ec", "swap-ab", "fuse-bc", "grow-aa"};
    static const char *const node[] = {"groups", "price"};
    ag_spec other = toy_spec;
    other.rules = (ag_names){5, rules};
    other.node = (ag_names){2, node};
    const char *path = unit_temporary("other.rgc");
    ag_checkpoint c = fresh(3), d;
    assert_ok(ag_checkpoint_save(&c, path));
    assert_ok(ag_checkpoint_load(path, &other, &d));
    assert_int_equal(d.rules_new, 1);
    assert_int_equal(d.rules_ignored, 2);
    const ag_real *mine = c.policy->value + c.policy->net->rule;
    const ag_real *theirs = d.policy->value + d.policy->net->rule;
    assert_memory_equal(theirs + 4 * 1, mine + 4 * 3, 4 * sizeof(ag_real)); /* fuse-ec */
    assert_memory_equal(theirs + 4 * 2, mine, 4 * sizeof(ag_real));         /* swap-ab */
    assert_true(theirs[0] != 0);                                            /* drawn */
    assert_memory_equal(d.policy->value + d.policy->net->gnn.node + 16,
                        c.policy->value + c.policy->net->gnn.node, 16 * sizeof(ag_real));
    ag_checkpoint_done(&c);
    ag_checkpoint_done(&d);
}

static void damaged_checkpoints_are_refused(void **state)
{
    (void)state;
    const char *path = unit_temporary("damaged.rgc");
    ag_checkpoint c = fresh(3), d;
    assert_ok(ag_checkpoint_save(&c, path));
    ag_checkpoint_done(&c);
    char *bytes;
    size_t size;
    assert_ok(tg_read_file(path, 1 << 30, &bytes, &size));
    for (size_t at = 0; at < size; at += 1 + size / 50) {
        bytes[at] ^= 0x10;
        assert_ok(tg_write_file(path, bytes, size));
        assert_status(ag_checkpoint_load(path, &toy_spec, &d), TG_FORMAT);
        assert_contains(tg_message(), "damaged.rgc: ");
        bytes[at] ^= 0x10;
        assert_ok(tg_write_file(path, bytes, at));
        assert_status(ag_checkpoint_load(path, &toy_spec, &d), TG_FORMAT);
    }
    free(bytes);
    assert_status(ag_checkpoint_load("/nowhere/x.rgc", &toy_spec, &d), TG_IO);
}

static uint64_t fixed(const unsigned char *p, int bytes)
{
    uint64_t v = 0;
    for (int i = 0; i < bytes; i++) v |= (uint64_t)p[i] << 8 * i;
    return v;
}

static uint32_t unmasked(uint64_t masked)
{
    uint32_t rot = (uint32_t)masked - 0xa282ead8u;
    return rot >> 17 | rot << 15;
}

static void curves_are_written(void **state)
{
    (void)state;
    assert_int_equal(tg_crc32c(0, "123456789", 9), 0xe3069283u);
    const char *folder = unit_temporary("curves");
    static const char *const names[] = {"reward/mean", "loss"};
    ag_events *events;
    assert_ok(ag_events_open(folder, &events));
    assert_ok(ag_events_write(events, 100.5, 1, 2, names, (double[]){1.25, -3}));
    assert_ok(ag_events_write(events, 101.5, 300, 2, names, (double[]){2.5, -4}));
    ag_events_close(events);
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    int records = 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        char *bytes, path[512];
        size_t size;
        if (!tg_starts_with(entry->d_name, "events.out.tfevents.")) continue;
        snprintf(path, sizeof path, "%s/%.200s", folder, entry->d_name);
        assert_ok(tg_read_file(path, 1 << 20, &bytes, &size));
        const unsigned char *p = (const unsigned char *)bytes, *end = p + size;
        for (; p < end; records++) {
            uint64_t length = fixed(p, 8);
            assert_true(unmasked(fixed(p + 8, 4)) == tg_crc32c(0, p, 8));
            assert_true(p + 16 + length <= end);
            assert_true(unmasked(fixed(p + 12 + length, 4)) == tg_crc32c(0, p + 12, length));
            if (records == 1) assert_non_null(memmem(p, length + 12, "reward/mean", 11));
            p += 16 + length;
        }
        free(bytes);
    }
    closedir(dir);
    assert_int_equal(records, 3);
    char path[300], *csv;
    size_t size;
    snprintf(path, sizeof path, "%s/training.csv", folder);
    assert_ok(tg_read_file(path, 1 << 20, &csv, &size));
    assert_string_equal(csv, "time_s,step,reward/mean,loss\n"
                             "100.500,1,1.25,-3\n"
                             "101.500,300,2.5,-4\n");
    free(csv);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(it_finds_the_optimum_and_the_way),
    cmocka_unit_test(a_run_repeats_whatever_the_threads),
    cmocka_unit_test(it_pauses_resumes_and_stops),
    cmocka_unit_test(the_start_state_can_be_replaced),
    cmocka_unit_test(a_broken_environment_is_a_state),
    cmocka_unit_test(divergence_leaves_the_last_good_policy),
    cmocka_unit_test(it_rests_while_somebody_measures),
    cmocka_unit_test(sources_are_cancelled),
    cmocka_unit_test(checkpoints_come_back),
    cmocka_unit_test(checkpoints_load_into_other_builds),
    cmocka_unit_test(damaged_checkpoints_are_refused),
    cmocka_unit_test(curves_are_written),
};
UNIT_MAIN(tests)
