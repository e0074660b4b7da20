package io.warmpath.lab.workload;

/**
 * Many tenants with a system prompt each, long ones, which they change every now and then; short
 * conversations. What was cached of an old prompt is never asked for again.
 *
 * @param sessions how many; one begins a second at rate 1
 * @param tenants the i-th with weight 1 / i^0.9
 * @param systemTokens mean length of a prompt
 * @param changes a tenant's prompt changes after so many of its sessions, on average
 * @param turns mean of a conversation
 */
public record TenantShape(int sessions, int tenants, int systemTokens, int changes, int turns) {
    private static final int BLOCK = 64;
    private static final int USER = 180;
    private static final int OUTPUT = 220;
    private static final double THINK_MILLIS = 12_000;

    public Workload draw(long seed) {
        Draws d = new Draws(seed);
        WorkloadBuilder to = new WorkloadBuilder(BLOCK);
        Draws.Zipf which = new Draws.Zipf(tenants, 0.9);
        Segments[] prompts = new Segments[tenants];
        double t = 0;
        for (int s = 1; s <= sessions; s++) {
            t += d.exponential(1000);
            int tenant = which.draw(d.random);
            Segments prompt = prompts[tenant];
            if (prompt == null || d.random.nextInt(changes) == 0) {
                int blocks = ChatShape.blocks(d.length(systemTokens, 0.8, BLOCK, 40_000));
                prompt = Segments.EMPTY.plus(to.newIds(blocks), blocks, BLOCK);
                prompts[tenant] = prompt;
            }
            java.util.List<Chain.Turn> list = new java.util.ArrayList<>();
            int count = 1 + (int) Math.min(20, d.exponential(Math.max(1e-9, turns - 1)));
            for (int i = 0; i < count; i++) {
                int pause = i == 0 ? 0 : d.length(THINK_MILLIS, 1, 500, 300_000);
                list.add(
                        new Chain.Turn(
                                d.length(USER, 1, 8, 8000), d.length(OUTPUT, 0.8, 4, 3000), pause));
            }
            Chain.add(to, prompt, list, t, s, new int[0]);
        }
        return to.build();
    }
}
