package io.warmpath.cli;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The terminal of this process, its other screen, each key at once. {@code stty} sets it and tells
 * its size; whichever way the process ends, the terminal is as it was.
 */
final class TtyScreen implements Screen {
    private static final String ENTER = "\u001b[?1049h\u001b[?25l";
    private static final String LEAVE = "\u001b[?25h\u001b[?1049l";
    private static final String HOME = "\u001b[H";
    private static final String TO_LINE_END = "\u001b[K";
    private static final String TO_SCREEN_END = "\u001b[J";

    private final Surroundings around;
    private final String before;
    private final AtomicBoolean open = new AtomicBoolean(true);
    private final BlockingQueue<Integer> keys = new ArrayBlockingQueue<>(16);
    private int columns;
    private int lines;

    private TtyScreen(Surroundings around, String before) {
        this.around = around;
        this.before = before;
        columns = around.columns();
        lines = around.lines();
    }

    /** Throws {@link Trouble} where there is no terminal, or no {@code stty}. */
    static TtyScreen open(Surroundings around) throws Trouble {
        TtyScreen screen;
        try {
            screen = new TtyScreen(around, stty("-g"));
            Runtime.getRuntime().addShutdownHook(new Thread(screen::close, "restore-terminal"));
            stty("-icanon", "-echo", "min", "1");
        } catch (IOException e) {
            throw Trouble.usage(
                    "this terminal cannot be drawn on (" + e.getMessage() + "); try --once.");
        }
        around.out().print(ENTER);
        around.out().flush();
        Thread.ofPlatform().name("keys").daemon().start(() -> screen.read(around.in()));
        return screen;
    }

    private static String stty(String... args) throws IOException {
        List<String> command = new ArrayList<>(List.of(args));
        command.addFirst("stty");
        Process process = new ProcessBuilder(command).redirectInput(new File("/dev/tty")).start();
        try (InputStream out = process.getInputStream()) {
            String answer = new String(out.readAllBytes(), StandardCharsets.UTF_8).strip();
            if (process.waitFor() != 0) {
                throw new IOException("stty " + String.join(" ", args) + " failed");
            }
            return answer;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }

    private void read(InputStream in) {
        try {
            for (int key = in.read(); key >= 0; key = in.read()) {
                keys.put(key);
            }
        } catch (IOException | InterruptedException e) {
            Thread.currentThread().interrupt(); // no more keys; Ctrl-C still ends it
        }
    }

    @Override
    public int columns() {
        return columns;
    }

    @Override
    public int lines() {
        return lines;
    }

    @Override
    public void show(List<String> text) {
        StringBuilder frame = new StringBuilder(HOME);
        int shown = Math.min(text.size(), lines);
        for (int i = 0; i < shown; i++) {
            frame.append(text.get(i)).append(TO_LINE_END).append(i < shown - 1 ? "\r\n" : "");
        }
        around.out().print(frame.append(TO_SCREEN_END));
        around.out().flush();
        measure();
    }

    /** The window may have changed. */
    private void measure() {
        try {
            String[] size = stty("size").split(" ", -1);
            lines = Math.max(Surroundings.MIN_LINES, Integer.parseInt(size[0]));
            columns = Math.max(Surroundings.MIN_COLUMNS, Integer.parseInt(size[1]));
        } catch (IOException | NumberFormatException e) {
            columns = around.columns();
            lines = around.lines();
        }
    }

    @Override
    public int key(Duration most) throws InterruptedException {
        Integer key = keys.poll(most.toMillis(), TimeUnit.MILLISECONDS);
        return key == null ? -1 : key;
    }

    @Override
    public void close() {
        if (!open.getAndSet(false)) {
            return;
        }
        around.out().print(LEAVE);
        around.out().flush();
        try {
            stty(before);
        } catch (IOException e) {
            around.err()
                    .println(
                            "the terminal could not be set back: "
                                    + e.getMessage()
                                    + "; `stty sane` does");
        }
    }
}
