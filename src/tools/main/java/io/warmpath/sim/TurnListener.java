package io.warmpath.sim;

import io.warmpath.sim.engine.Sequence;
import io.warmpath.sim.session.SimSessionTurn;

/**
 * Tells the session of a request's end, and does what else it asks for, just before the client
 * hears of it. Engine's thread.
 */
record TurnListener(SimSessionTurn turn, int[] tokens, Runnable afterwards, Sequence.Listener then)
        implements Sequence.Listener {
    @Override
    public void started(int cachedTokens, int hostTokens) {
        then.started(cachedTokens, hostTokens);
    }

    @Override
    public void token(int index) {
        then.token(index);
    }

    @Override
    public void finished() {
        turn.finished(tokens);
        afterwards.run();
        then.finished();
    }
}
