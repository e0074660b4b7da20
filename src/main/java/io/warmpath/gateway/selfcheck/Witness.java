package io.warmpath.gateway.selfcheck;

import io.warmpath.fleet.EngineTokenizer.Question;
import io.warmpath.fleet.Worker;

/**
 * A request that is kept until its answer has ended, to be shown to its engine when their lengths
 * differ. The arrays are not copied and must not change.
 *
 * @param ids predicted
 */
record Witness(Worker worker, Question question, int[] ids, long sinceNanos) {}
