package io.warmpath.wiring;

import io.warmpath.fleet.Fleet;
import io.warmpath.load.LoadTracker;
import io.warmpath.replica.ChangeQueue;
import io.warmpath.replica.PeerWork;
import io.warmpath.replica.ReplicaLink;
import io.warmpath.replica.ReplicaLog;
import io.warmpath.replica.ReplicaOptions;
import io.warmpath.replica.ReplicaSync;
import java.time.Duration;

/** A gateway that hears nobody. */
final class TestReplicas {
    private TestReplicas() {}

    static ReplicaSync alone(LoadTracker load, Fleet fleet) {
        return new ReplicaSync(
                new ReplicaOptions(1, 1, "alone", Duration.ofMillis(100)),
                load,
                PeerWork.NONE,
                new ChangeQueue(2, () -> {}),
                fleet,
                new ReplicaLink() {
                    @Override
                    public boolean send(byte[] message, int length) {
                        return false;
                    }

                    @Override
                    public boolean isUp() {
                        return false;
                    }

                    @Override
                    public int maxBytes() {
                        return 1 << 20;
                    }
                },
                System::nanoTime,
                () -> {},
                new ReplicaLog() {
                    @Override
                    public void info(String text) {}

                    @Override
                    public void warn(String text) {}
                });
    }
}
