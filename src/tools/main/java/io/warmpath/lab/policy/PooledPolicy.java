package io.warmpath.lab.policy;

/**
 * The reference for engines that share one cache: the least prefill still to be done, as the
 * engines themselves know it.
 */
final class PooledPolicy extends Policy {
    private final World world;
    private final Lowest lowest;

    PooledPolicy(World world) {
        this.world = world;
        lowest = new Lowest(world.random());
    }

    @Override
    public int choose(Call call) {
        lowest.begin();
        for (int i = 0; i < world.engines().size(); i++) {
            if (isHere(i)) {
                lowest.offer(i, world.engines().get(i).prefillMillis());
            }
        }
        return lowest.engine();
    }
}
