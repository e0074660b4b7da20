package io.warmpath.tokens.text;

import java.util.Arrays;
import java.util.Map;

/**
 * Finds a model's added tokens in a text: at each place the leftmost, and of those the longest, as
 * tokenizers do before anything else. What stands between two found tokens is tokenised on its own
 * by every engine, so its ids depend on nothing else. Immutable; any thread. Time: about one
 * comparison per character.
 */
public final class AddedTokens {
    /** Receives the pieces of a text in order; empty pieces of text are left out. */
    public interface Visitor {
        void text(int from, int to);

        void token(int id);
    }

    private static final class Node {
        char[] keys = new char[0];
        Node[] children = new Node[0];
        int id = NONE;

        Node child(char key) {
            for (int i = 0; i < keys.length; i++) {
                if (keys[i] == key) {
                    return children[i];
                }
            }
            return NO_NODE;
        }

        Node addChild(char key) {
            Node existing = child(key);
            if (existing != NO_NODE) {
                return existing;
            }
            keys = Arrays.copyOf(keys, keys.length + 1);
            children = Arrays.copyOf(children, children.length + 1);
            keys[keys.length - 1] = key;
            children[children.length - 1] = new Node();
            return children[children.length - 1];
        }
    }

    private static final int NONE = -1;

    /** Stands for "no such child". */
    private static final Node NO_NODE = new Node();

    private final Node root = new Node();

    /** Contents and their ids; an empty content is ignored, as tokenizers do. */
    public AddedTokens(Map<String, Integer> idsByContent) {
        idsByContent.forEach(this::add);
    }

    private void add(String content, int id) {
        Node node = root;
        for (int i = 0; i < content.length(); i++) {
            node = node.addChild(content.charAt(i));
        }
        if (node != root) {
            node.id = id;
        }
    }

    public void split(String text, Visitor visitor) {
        int start = 0; // of the piece of text that is not reported yet
        int at = nextCandidate(text, 0);
        while (at < text.length()) {
            int id = NONE;
            int end = at;
            Node node = root;
            for (int i = at; i < text.length(); i++) {
                node = node.child(text.charAt(i));
                if (node == NO_NODE) {
                    break;
                }
                if (node.id != NONE) {
                    id = node.id;
                    end = i + 1;
                }
            }
            if (id == NONE) {
                at = nextCandidate(text, at + 1);
                continue;
            }
            if (at > start) {
                visitor.text(start, at);
            }
            visitor.token(id);
            start = end;
            at = nextCandidate(text, end);
        }
        if (start < text.length()) {
            visitor.text(start, text.length());
        }
    }

    /** The next place where some token may begin, or the end of the text. */
    private int nextCandidate(String text, int from) {
        int nearest = text.length();
        if (root.keys.length > 4) {
            for (int i = from; i < nearest; i++) {
                if (root.child(text.charAt(i)) != NO_NODE) {
                    return i;
                }
            }
            return nearest;
        }
        // Few first letters, mostly just '<': the JDK's vectorised search is many times faster.
        for (char key : root.keys) {
            int found = text.indexOf(key, from, nearest);
            nearest = found < 0 ? nearest : found;
        }
        return nearest;
    }
}
