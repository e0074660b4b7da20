package io.warmpath.lab.workload;

/**
 * Batch evaluation: tasks of some hundred short items behind the task's few-shot examples, all
 * items of a task within a short time; several tasks overlap. Answers are a few tokens.
 *
 * @param tasks how many; one begins every {@code items} seconds at rate 1
 * @param items mean number of a task
 * @param headerTokens mean length of the examples
 * @param itemTokens mean length of an item
 * @param outputTokens mean of an answer
 * @param overlap a task's items come in the time in which so many tasks begin
 */
public record EvalShape(
        int tasks, int items, int headerTokens, int itemTokens, int outputTokens, double overlap) {
    private static final int BLOCK = 64;

    public Workload draw(long seed) {
        Draws d = new Draws(seed);
        WorkloadBuilder to = new WorkloadBuilder(BLOCK);
        double t = 0;
        for (int task = 1; task <= tasks; task++) {
            t += d.exponential(1000.0 * items);
            int header = ChatShape.blocks(d.length(headerTokens, 0.7, BLOCK, 40_000));
            Segments prefix = Segments.EMPTY.plus(to.newIds(header), header, BLOCK);
            int count = d.length(items, 0.8, 20, 4000);
            for (int i = 0; i < count; i++) {
                int tokens = prefix.tokens() + d.length(itemTokens, 0.7, 8, 4000);
                int out = d.length(outputTokens, 1, 1, 600);
                int blocks = (tokens + out) / BLOCK;
                int own = to.newIds(blocks - header);
                // The rate that tasks come at is the workload's, so is the one inside a task.
                double at = t + d.random.nextDouble() * 1000 * items * overlap;
                to.add(task, at, tokens, out, 0, new int[0], prefix.ids(blocks, own));
            }
        }
        return to.build();
    }
}
