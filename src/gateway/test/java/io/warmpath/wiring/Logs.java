package io.warmpath.wiring;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;

/** What one class writes into the log, until closed. */
public final class Logs extends Handler {
    private final Logger logger;
    private final Level before;
    private final List<LogRecord> records = new CopyOnWriteArrayList<>();

    public Logs(Class<?> of) {
        logger = Logger.getLogger(of.getName());
        before = logger.getLevel();
        logger.setLevel(Level.INFO);
        logger.addHandler(this);
    }

    /** The sentences of this level. */
    public List<String> at(Level level) {
        return records.stream()
                .filter(r -> r.getLevel().intValue() == level.intValue())
                .map(new SimpleFormatter()::formatMessage)
                .toList();
    }

    @Override
    public void publish(LogRecord record) {
        records.add(record);
    }

    @Override
    public void flush() {}

    @Override
    public void close() {
        logger.removeHandler(this);
        logger.setLevel(before);
    }
}
