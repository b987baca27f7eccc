/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the agent and the explorer may use of the engine. */
#ifndef TG_ENGINE_H
#define TG_ENGINE_H

#include "engine/base/arena.h"
#include "engine/base/clock.h"
#include "engine/base/hash.h"
#include "engine/base/intern.h"
#include "engine/base/job.h"
#include "engine/base/log.h"
#include "engine/base/rng.h"
#include "engine/base/str.h"
#include "engine/base/vec.h"

#include "engine/ir/build.h"
#include "engine/ir/eval.h"
#include "engine/ir/graph.h"
#include "engine/ir/list.h"
#include "engine/ops/cost.h"
#include "engine/ops/ops.h"

#include "engine/onnx/onnx.h"

#include "engine/rewrite/rule.h"
#include "engine/rewrite/prove.h"
#include "engine/rewrite/sites.h"
#include "engine/rewrite/taso.h"

#include "engine/exec/backend.h"
#include "engine/exec/reference.h"
#include "engine/exec/verify.h"
#include "engine/measure/bench.h"
#include "engine/measure/stats.h"

#include "engine/generate/generate.h"
#include "engine/search/search.h"

#include "engine/draw/diff.h"
#include "engine/draw/picture.h"

#include "engine/history.h"
#include "engine/operators.h"
#include "engine/refine.h"
#include "engine/step.h"

#endif
