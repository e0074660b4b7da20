package io.warmpath.wiring.tokens;

import io.warmpath.fleet.FleetListener;
import io.warmpath.fleet.ModelPlaces;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.WorkerState;
import io.warmpath.fleet.probe.EngineTokenizer;
import io.warmpath.gateway.prompt.Engines;
import io.warmpath.tokens.ModelTokens;
import io.warmpath.tokens.model.ModelFolders;
import io.warmpath.tokens.model.ModelSource;
import io.warmpath.tokens.template.PromptInput;
import io.warmpath.tokens.template.PromptInput.Message;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Predicate;
import org.jboss.logging.Logger;

/**
 * Takes the tokenizer of a model that has none here from where its engine has it, when that can be
 * read on this machine. Files are taken only if they give the engine's own tokens of two probes, as
 * far as the engine tells those. Looks when a worker becomes ready, on threads of its own, one
 * worker at a time.
 */
public final class EngineModels implements FleetListener {
    private static final Logger LOG = Logger.getLogger(EngineModels.class);

    private static final String TEXT = "Grüße, 你好! It's 12345 tokens.\n\n  The end";
    private static final String SYSTEM = "You are a helpful assistant.";

    private final ModelTokens tokens;
    private final ModelPlaces places;
    private final ModelFolders folders;
    private final EngineTokenizer engines;
    private final Predicate<Worker> trusted;
    private final Executor threads;
    private final TokenOrigins origins;

    /** Model and place: what was no use once is not looked at again. */
    private final Set<String> useless = ConcurrentHashMap.newKeySet();

    /**
     * @param engines that tell their own tokens of the probes
     * @param trusted whose word on folders of this machine is followed
     * @param threads run what blocks
     * @param origins told what was taken, and of each worker that is ready after the look
     */
    public EngineModels(
            ModelTokens tokens,
            ModelPlaces places,
            ModelFolders folders,
            EngineTokenizer engines,
            Predicate<Worker> trusted,
            Executor threads,
            TokenOrigins origins) {
        this.tokens = tokens;
        this.places = places;
        this.folders = folders;
        this.engines = engines;
        this.trusted = trusted;
        this.threads = threads;
        this.origins = origins;
    }

    @Override
    public void added(Worker worker) {
        look(worker);
    }

    @Override
    public void changed(Worker before, Worker after, String why) {
        look(after);
    }

    private void look(Worker worker) {
        if (worker.state() != WorkerState.READY) {
            return;
        }
        boolean wanted =
                !worker.kind().isPlain()
                        && worker.models().stream().anyMatch(model -> !tokens.knows(model));
        if (!wanted) {
            origins.say(worker);
            return;
        }
        try {
            threads.execute(
                    () -> {
                        try {
                            take(worker);
                        } catch (IOException e) {
                            LOG.debugf(
                                    e, "Worker %s does not say where its model is", worker.name());
                        } finally {
                            origins.say(worker);
                        }
                    });
        } catch (RejectedExecutionException e) {
            LOG.debugf("Worker %s came while the gateway stops", worker.name());
        }
    }

    private synchronized void take(Worker worker) throws IOException {
        if (!trusted.test(worker)) {
            return;
        }
        ModelPlaces.Place place = places.of(worker).orElse(null);
        if (place == null) {
            return;
        }
        Set<String> models = new TreeSet<>();
        for (String model : place.models()) {
            if (!tokens.knows(model) && !useless.contains(model + '\n' + place.where())) {
                models.add(model);
            }
        }
        if (models.isEmpty()) {
            return;
        }
        String problem = take(worker, place, models);
        if (!problem.isEmpty()) {
            models.forEach(model -> useless.add(model + '\n' + place.where()));
            LOG.infof(
                    "Model %s: its files on engine %s (%s) are not used here: %s",
                    String.join(", ", models), worker.name(), place.where(), problem);
        }
    }

    private String take(Worker worker, ModelPlaces.Place place, Set<String> models) {
        Path folder = folders.find(place.where(), place.revision()).orElse(null);
        if (folder == null) {
            return "there is no tokenizer.json of it on this machine";
        }
        String model = models.iterator().next();
        String problem =
                tokens.offer(
                        models, ModelSource.of(folder), trial -> compare(worker, model, trial));
        if (problem.isEmpty()) {
            origins.took(models);
            LOG.infof(
                    "Model %s: tokens are made here, from the files of engine %s (%s)",
                    String.join(", ", models), worker.name(), folder);
        }
        return problem;
    }

    /** What is wrong with the files; empty: nothing that could be seen. */
    private String compare(Worker worker, String model, ModelTokens.Trial files) {
        if (differ(
                worker,
                model,
                "{\"prompt\":\"" + TEXT.replace("\n", "\\n") + "\"}",
                files.ids(new PromptInput.Text(TEXT), Engines.of(worker.kind())))) {
            return "the engine makes other tokens of a text";
        }
        PromptInput chat =
                new PromptInput.Chat(
                        List.of(new Message("system", SYSTEM), new Message("user", TEXT)), true);
        if (differ(
                worker,
                model,
                "{\"messages\":[{\"role\":\"system\",\"content\":\""
                        + SYSTEM
                        + "\"},{\"role\":\"user\",\"content\":\""
                        + TEXT.replace("\n", "\\n")
                        + "\"}]}",
                files.ids(chat, Engines.of(worker.kind())))) {
            return "the engine makes other tokens of a chat";
        }
        return "";
    }

    /** What an engine does not tell, does not differ. */
    private boolean differ(Worker worker, String model, String body, Optional<int[]> ours) {
        try {
            return engines.tokens(
                            worker,
                            new EngineTokenizer.Question(
                                    model, body.getBytes(StandardCharsets.UTF_8), null))
                    .filter(theirs -> !Arrays.equals(theirs, ours.orElse(new int[0])))
                    .isPresent();
        } catch (IOException e) {
            LOG.debugf(e, "Worker %s does not tell its tokens of a probe", worker.name());
            return false;
        }
    }
}
