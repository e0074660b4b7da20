/*
 * Reads streams of HTTP/1 requests with llhttp, and tells what it has read: the third judge of HttpDifferenceTest.
 *
 * Standard input has batches: their number of streams, then each stream with its length before it; numbers have 4 bytes, the
 * highest first. Standard output has for each stream its records: type (1 byte), length (4 bytes), text.
 *
 *   H  a head: "METHOD TARGET MINOR\n", then "NAME:VALUE\n" for each header, without blanks around the value
 *   E  the end of a request: "BODY-LENGTH BODY-HASH OFFSET", the hash FNV-1a of 64 bits
 *   S  the last one: "waiting", "closed" (nothing may follow the last request), "method" (one it does not know), or
 *      "refused " with its reason
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "llhttp.h"

typedef struct {
    char *bytes;
    size_t length;
    size_t room;
} buffer_t;

static buffer_t head;
static buffer_t answer;
static int in_head;
static int last;
static uint64_t body_length;
static uint64_t body_hash;

static void append(buffer_t *to, const char *bytes, size_t length) {
    if (to->length + length > to->room) {
        to->room = 2 * (to->length + length);
        to->bytes = realloc(to->bytes, to->room);
        if (to->bytes == NULL) {
            abort();
        }
    }
    memcpy(to->bytes + to->length, bytes, length);
    to->length += length;
}

static void append_number(buffer_t *to, uint32_t number) {
    char bytes[4] = {(char)(number >> 24), (char)(number >> 16), (char)(number >> 8), (char)number};
    append(to, bytes, sizeof bytes);
}

static void record(char type, const char *bytes, size_t length) {
    append(&answer, &type, 1);
    append_number(&answer, (uint32_t)length);
    append(&answer, bytes, length);
}

static int on_message_begin(llhttp_t *parser) {
    (void)parser;
    head.length = 0;
    in_head = 1;
    body_length = 0;
    body_hash = 14695981039346656037ULL;
    return 0;
}

/* Trailers are behind the head, and nobody reads them. */
static int on_text(llhttp_t *parser, const char *at, size_t length) {
    (void)parser;
    if (in_head) {
        append(&head, at, length);
    }
    return 0;
}

static int on_blank(llhttp_t *parser) {
    (void)parser;
    append(&head, " ", 1);
    return 0;
}

static int on_field_complete(llhttp_t *parser) {
    (void)parser;
    if (in_head) {
        append(&head, ":", 1);
    }
    return 0;
}

static int on_value_complete(llhttp_t *parser) {
    (void)parser;
    if (in_head) {
        while (head.bytes[head.length - 1] == ' ' || head.bytes[head.length - 1] == '\t') {
            head.length--;
        }
        append(&head, "\n", 1);
    }
    return 0;
}

static int on_version_complete(llhttp_t *parser) {
    char minor[2] = {(char)('0' + llhttp_get_http_minor(parser)), '\n'};
    append(&head, minor, sizeof minor);
    return 0;
}

static int on_headers_complete(llhttp_t *parser) {
    (void)parser;
    in_head = 0;
    record('H', head.bytes, head.length);
    return 0;
}

static int on_body(llhttp_t *parser, const char *at, size_t length) {
    (void)parser;
    body_length += length;
    for (size_t i = 0; i < length; i++) {
        body_hash = (body_hash ^ (unsigned char)at[i]) * 1099511628211ULL;
    }
    return 0;
}

static int on_message_complete(llhttp_t *parser) {
    last = parser->upgrade || !llhttp_should_keep_alive(parser);
    return HPE_PAUSED;
}

static void state(const char *text) {
    record('S', text, strlen(text));
}

static void read_stream(const llhttp_settings_t *settings, const char *bytes, size_t length) {
    llhttp_t parser;
    llhttp_init(&parser, HTTP_REQUEST, settings);
    const char *at = bytes;
    last = 0;
    while (at < bytes + length) {
        llhttp_errno_t error = llhttp_execute(&parser, at, (size_t)(bytes + length - at));
        if (error == HPE_OK) {
            break;
        }
        if (error != HPE_PAUSED) {
            char text[128];
            snprintf(text, sizeof text, "refused %s", llhttp_get_error_reason(&parser));
            state(error == HPE_INVALID_METHOD ? "method" : text);
            return;
        }
        at = llhttp_get_error_pos(&parser);
        char text[64];
        int size = snprintf(text, sizeof text, "%llu %016llx %zu", (unsigned long long)body_length,
                            (unsigned long long)body_hash, (size_t)(at - bytes));
        record('E', text, (size_t)size);
        if (last) {
            state("closed");
            return;
        }
        llhttp_resume(&parser);
    }
    state("waiting");
}

static int read_number(uint32_t *number) {
    unsigned char bytes[4];
    if (fread(bytes, 1, sizeof bytes, stdin) != sizeof bytes) {
        return 0;
    }
    *number = (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
    return 1;
}

int main(void) {
    llhttp_settings_t settings;
    llhttp_settings_init(&settings);
    settings.on_message_begin = on_message_begin;
    settings.on_method = on_text;
    settings.on_method_complete = on_blank;
    settings.on_url = on_text;
    settings.on_url_complete = on_blank;
    settings.on_version_complete = on_version_complete;
    settings.on_header_field = on_text;
    settings.on_header_field_complete = on_field_complete;
    settings.on_header_value = on_text;
    settings.on_header_value_complete = on_value_complete;
    settings.on_headers_complete = on_headers_complete;
    settings.on_body = on_body;
    settings.on_message_complete = on_message_complete;
    buffer_t stream = {NULL, 0, 0};
    uint32_t streams;
    while (read_number(&streams)) {
        answer.length = 0;
        for (uint32_t i = 0; i < streams; i++) {
            uint32_t length;
            if (!read_number(&length)) {
                return 1;
            }
            if (length > stream.room) {
                stream.room = length;
                stream.bytes = realloc(stream.bytes, length);
                if (stream.bytes == NULL) {
                    abort();
                }
            }
            if (length > 0 && fread(stream.bytes, 1, length, stdin) != length) {
                return 1;
            }
            read_stream(&settings, stream.bytes, length);
        }
        if (fwrite(answer.bytes, 1, answer.length, stdout) != answer.length || fflush(stdout) != 0) {
            return 1;
        }
    }
    return 0;
}
