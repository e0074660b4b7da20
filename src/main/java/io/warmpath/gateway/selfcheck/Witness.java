package io.warmpath.gateway.selfcheck;

import io.warmpath.fleet.Worker;

/**
 * A request that is kept until its answer has ended, to be shown to its engine when their lengths
 * differ. The arrays are not copied and must not change.
 *
 * @param model its name on the worker
 * @param request body that was read, in OpenAI's form
 * @param ids predicted
 */
record Witness(Worker worker, String model, byte[] request, int[] ids, long sinceNanos) {}
