package io.warmpath.api.connection;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * llhttp in a process of its own ({@code src/test/c/http_judge.c}), which {@code ./warmpath test}
 * builds. One thread.
 */
final class HttpJudge implements AutoCloseable {
    private static final Path PROGRAM = Path.of(".tools", "http-judge", "http-judge");

    private final Process process;
    private final DataOutputStream to;
    private final DataInputStream from;

    private HttpJudge(Process process) {
        this.process = process;
        this.to =
                new DataOutputStream(new BufferedOutputStream(process.getOutputStream(), 1 << 16));
        this.from = new DataInputStream(new BufferedInputStream(process.getInputStream(), 1 << 16));
    }

    /** Empty where it was not built. */
    static Optional<HttpJudge> start() throws IOException {
        if (!Files.isExecutable(PROGRAM)) {
            return Optional.empty();
        }
        return Optional.of(
                new HttpJudge(
                        new ProcessBuilder(PROGRAM.toString())
                                .redirectError(ProcessBuilder.Redirect.INHERIT)
                                .start()));
    }

    /** {@link #answers} follows, for as many. */
    void ask(List<byte[]> streams) throws IOException {
        to.writeInt(streams.size());
        for (byte[] stream : streams) {
            to.writeInt(stream.length);
            to.write(stream);
        }
        to.flush();
    }

    List<HttpReading> answers(int streams) throws IOException {
        List<HttpReading> all = new ArrayList<>(streams);
        for (int i = 0; i < streams; i++) {
            HttpReading one = new HttpReading();
            char type;
            do {
                type = (char) from.readByte();
                one.add(type, from.readNBytes(from.readInt()));
            } while (type != HttpReading.STATE);
            all.add(one);
        }
        return all;
    }

    @Override
    public void close() {
        process.destroy();
    }
}
