package io.warmpath.wiring.settings;

import io.warmpath.net.FileShortage;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import org.jboss.logging.Logger;

/**
 * A file whose content counts, read again when its size or time has changed; links are followed, as
 * mounted secrets are swapped by them. What cannot be used leaves what was there in force, and is
 * logged once per change. One thread at a time.
 */
public final class WatchedFile {
    private static final Logger LOG = Logger.getLogger(WatchedFile.class);

    /** Takes the content. */
    @FunctionalInterface
    public interface Use {
        /**
         * @throws IllegalArgumentException what is wrong with it; repeats no secret
         */
        void of(String content);
    }

    private final Path file;
    private final String what;
    private final Use use;
    private String stamp;

    /**
     * Reads it for the first time.
     *
     * @param what it is for, such as {@code --api-key-file}
     * @throws StartFailure when it cannot be used
     */
    public WatchedFile(Path file, String what, Use use) {
        this.file = file;
        this.what = what;
        this.use = use;
        this.stamp = stamp();
        try {
            use.of(Files.readString(file, StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new StartFailure("the file " + file + " (" + what + ") cannot be read");
        } catch (IllegalArgumentException e) {
            throw new StartFailure("the file " + file + " (" + what + "): " + e.getMessage());
        }
    }

    /** Blocks on the file. */
    public void look() {
        String before = stamp;
        String now = stamp();
        if (now.equals(before)) {
            return;
        }
        stamp = now;
        try {
            use.of(Files.readString(file, StandardCharsets.UTF_8));
            LOG.infof("read %s (%s) again", file, what);
        } catch (IOException e) {
            if (FileShortage.OF_PROCESS.explains(e)) {
                stamp = before; // looked at again, and the shortage is told of once
                return;
            }
            LOG.errorf("%s (%s) cannot be read; what was there stays in force", file, what);
        } catch (IllegalArgumentException e) {
            LOG.errorf("%s (%s): %s; what was there stays in force", file, what, e.getMessage());
        }
    }

    private String stamp() {
        try {
            BasicFileAttributes is = Files.readAttributes(file, BasicFileAttributes.class);
            return is.size() + " bytes of " + is.lastModifiedTime() + ' ' + is.fileKey();
        } catch (IOException e) {
            return "not there";
        }
    }
}
