/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "choice.h"

#include <math.h>

double ag_choice_log_p(const ag_state *state, const ag_real *logits, ag_real *log_p)
{
    int n = state->n_candidates;
    double most = -INFINITY, sum = 0, entropy = 0;
    for (int i = 0; i <= n; i++) {
        if (ag_choice_allowed(state, i) && logits[i] > most) most = logits[i];
    }
    for (int i = 0; i <= n; i++) {
        if (ag_choice_allowed(state, i)) sum += exp((double)logits[i] - most);
    }
    double shift = most + log(sum);
    for (int i = 0; i <= n; i++) {
        bool allowed = ag_choice_allowed(state, i);
        double lp = (double)logits[i] - shift;
        log_p[i] = allowed ? (ag_real)lp : -INFINITY;
        if (allowed) entropy -= exp(lp) * lp;
    }
    return entropy;
}

int ag_choice_best(const ag_real *log_p, int n)
{
    int best = 0;
    for (int i = 1; i < n; i++) {
        if (log_p[i] > log_p[best]) best = i;
    }
    return best;
}

int ag_choice_draw(const ag_real *log_p, int n, tg_rng *rng)
{
    double u = tg_rng_uniform(rng), sum = 0;
    int last = n - 1;
    for (int i = 0; i < n; i++) {
        if (isinf((double)log_p[i])) continue;
        sum += exp((double)log_p[i]);
        if (u < sum) return i;
        last = i;
    }
    return last;
}

void ag_choice_back(const ag_real *log_p, int n, int index, double choice, double entropy, double H,
                    ag_real *d_logits)
{
    for (int i = 0; i < n; i++) {
        if (isinf((double)log_p[i])) continue;
        double lp = (double)log_p[i], p = exp(lp);
        d_logits[i] += (ag_real)(choice * ((i == index) - p) - entropy * p * (lp + H));
    }
}
