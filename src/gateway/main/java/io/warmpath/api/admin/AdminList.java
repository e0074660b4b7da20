package io.warmpath.api.admin;

import java.util.List;

/** All of a kind, as lists of OpenAI's API look. */
public record AdminList<T>(String object, List<T> data) {
    AdminList(List<T> data) {
        this("list", data);
    }
}
