package io.warmpath.gateway.selfcheck;

import io.warmpath.fleet.Worker;
import io.warmpath.fleet.probe.EngineTokenizer.Question;
import java.util.function.Supplier;

/**
 * A request that is kept until its answer has ended, to be shown to its engine when their lengths
 * differ. {@code ids}: predicted; may block.
 */
record Witness(Worker worker, Question question, Supplier<int[]> ids, long sinceNanos) {}
